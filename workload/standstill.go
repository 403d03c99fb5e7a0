package workload

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Ran is what the search for standstills reads of an attempt.
type Ran struct {
	Node          string
	Kind          Kind
	Job, Number   int
	Near, Won     bool // it read the input of a map from its node; its work was used
	Start, Finish time.Duration
}

// Standstill is a time in which no task of a kind began or ended on a host for many times
// the usual gap, although others went on.
type Standstill struct {
	Host     string
	Kind     Kind
	From, To time.Duration
	Usual    time.Duration // median gap between instants at which something began or ended there
	Held     []int32       // attempts that were held up, or began late
}

// tasksOn are the tasks of a kind on a host.
type tasksOn struct {
	host string
	kind Kind
}

// peers are the tasks of a kind of a job whose work was used.
type peers struct {
	took, starts       []time.Duration
	usual, least       time.Duration // median time, and by how much longer an outlier takes; 0: too few tasks
	halfBegun, lastEnd time.Duration
}

// standstills is the search for standstills among attempts.
type standstills struct {
	at      func(int32) Ran
	overdue []float32 // seconds beyond the median of the peers; 0: no outlier
	of      [numKinds]map[int]*peers
	ends    [][]time.Duration // by host
	hosts   map[string]int
}

// UsualStillGaps is the length of a standstill in usual gaps.
const UsualStillGaps = 10

// Standstills finds the hosts that stood still, in order of time. In such a time none of the
// host's maps, or none of its reduces, began or ended for more than gaps times the usual gap,
// while attempts ended on most other hosts. Most of the attempts that it held meanwhile, in
// at least half of the slots, are outliers that took longer than their peers by most of the
// gap. Or several maps start when the host goes on, whose input it has, of jobs half of
// whose maps had begun before.
func Standstills(n int, at func(int32) Ran, gaps float64) []Standstill {
	const often = 3 // a host with this many standstills is slow instead
	s := &standstills{at: at, overdue: make([]float32, n), hosts: map[string]int{}}
	rows := s.compare()
	var found []Standstill
	byHost := func(a, b tasksOn) int { return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.kind, b.kind)) }
	for _, of := range slices.SortedFunc(maps.Keys(rows), byHost) {
		if own := s.on(of, rows[of], gaps); len(own) < often {
			found = append(found, own...)
		}
	}
	slices.SortFunc(found, func(a, b Standstill) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Host, b.Host)) })
	return found
}

// span is an attempt with its times.
type span struct {
	start, finish time.Duration
	row           int32
}

// compare finds the attempts that took longer than others of their kind and job. It returns
// the attempts by host and kind.
func (s *standstills) compare() map[tasksOn][]span {
	rows := map[tasksOn][]span{}
	var all []*peers
	for kind := range s.of {
		s.of[kind] = map[int]*peers{}
	}
	for i := range int32(len(s.overdue)) {
		a := s.at(i)
		if !Known(a.Start) || !Known(a.Finish) || a.Finish < a.Start {
			continue
		}
		if a.Node != "" {
			host, known := s.hosts[a.Node]
			if !known {
				host = len(s.ends)
				s.hosts[a.Node], s.ends = host, append(s.ends, nil)
			}
			s.ends[host] = append(s.ends[host], a.Finish)
			of := tasksOn{a.Node, a.Kind}
			rows[of] = append(rows[of], span{a.Start, a.Finish, i})
		}
		if a.Won {
			p := s.of[a.Kind][a.Job]
			if p == nil {
				p = &peers{}
				s.of[a.Kind][a.Job], all = p, append(all, p)
			}
			p.took, p.starts, p.lastEnd = append(p.took, a.Finish-a.Start), append(p.starts, a.Start), max(p.lastEnd, a.Finish)
		}
	}
	for _, list := range s.ends {
		slices.Sort(list)
	}
	for _, p := range all {
		const fewest, outlier, normal = 5, 3, 1.4826 // the deviation of normal times is as many median deviations
		slices.Sort(p.starts)
		p.halfBegun = p.starts[len(p.starts)/2]
		if len(p.took) < fewest {
			continue
		}
		p.usual = middle(p.took)
		for i := range p.took {
			p.took[i] = (p.took[i] - p.usual).Abs()
		}
		p.least = Seconds(outlier * max(normal*middle(p.took).Seconds(), 0.02*p.usual.Seconds()))
	}
	for i := range s.overdue {
		a := s.at(int32(i))
		if p := s.of[a.Kind][a.Job]; p != nil && p.usual > 0 && Known(a.Start) && Known(a.Finish) {
			if late := a.Finish - a.Start - p.usual; late >= p.least {
				s.overdue[i] = float32(late.Seconds())
			}
		}
	}
	return rows
}

// middle sorts durations and returns the median.
func middle(d []time.Duration) time.Duration {
	slices.Sort(d)
	n := len(d)
	return (d[(n-1)/2] + d[n/2]) / 2
}

// on finds the standstills of the tasks of a kind on a host.
func (s *standstills) on(of tasksOn, rows []span, gaps float64) (found []Standstill) {
	const heldUp = 0.8 // least delay of an attempt that was held up, as a part of the gap
	slices.SortFunc(rows, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.row, b.row)) })
	var events, ends []time.Duration
	for _, r := range rows {
		ends, events = append(ends, r.finish), append(events, r.start, r.finish)
	}
	slices.Sort(ends)
	slots := 0
	for k, r := range rows {
		ended, _ := slices.BinarySearch(ends, r.start+1)
		slots = max(slots, k+1-ended)
	}
	slices.Sort(events)
	events = slices.Compact(events)
	usual := usualGap(events)
	var held []span // those that run
	next := 0       // of rows, the first one that has not begun
	for k, from := range events[:max(0, len(events)-1)] {
		for ; next < len(rows) && rows[next].start <= from; next++ {
			held = append(held, rows[next])
		}
		held = slices.DeleteFunc(held, func(r span) bool { return r.finish <= from })
		g := Standstill{Host: of.host, Kind: of.kind, From: from, To: events[k+1], Usual: usual}
		gap := (g.To - g.From).Seconds()
		if usual == 0 || gap <= gaps*usual.Seconds() {
			continue
		}
		through := 0
		for _, r := range held {
			if of.kind == Reduce {
				if maps := s.of[Map][s.at(r.row).Job]; maps != nil && maps.lastEnd > from {
					continue // a reduce waits for maps, wherever it runs
				}
			}
			through++
			if float64(s.overdue[r.row]) > heldUp*gap {
				g.Held = append(g.Held, r.row)
			}
		}
		stuck := len(g.Held)
		isHeld := stuck >= 2 && 2*stuck > through && 2*stuck >= slots && stuck*(len(s.ends)-1) >= 2*s.lateElsewhere(&g)
		for _, r := range rows[next:] {
			if r.start > g.To+(g.To-g.From)/10 {
				break
			}
			a := s.at(r.row)
			if maps := s.of[Map][a.Job]; a.Kind == Map && a.Number == 0 && a.Near && maps != nil && maps.halfBegun <= from {
				g.Held = append(g.Held, r.row)
			}
		}
		if (isHeld || through == 0 && len(g.Held) >= 2) && s.othersGoOn(&g) {
			found = append(found, g)
		}
	}
	return found
}

// usualGap returns the median of the gaps between events, and at least a second because the
// clocks of hosts differ. It is 0 for too few.
func usualGap(events []time.Duration) time.Duration {
	const fewest = 5
	var gaps []time.Duration
	for i := 1; i < len(events); i++ {
		gaps = append(gaps, events[i]-events[i-1])
	}
	if len(gaps) < fewest {
		return 0
	}
	return max(time.Second, middle(gaps))
}

// lateElsewhere returns how many attempts of the kind on other hosts ran during a gap and
// are equally late. If there are many, the tasks are of two sizes.
func (s *standstills) lateElsewhere(g *Standstill) int {
	n := 0
	for i, late := range s.overdue {
		if float64(late) <= 0.5*(g.To-g.From).Seconds() {
			continue
		}
		if a := s.at(int32(i)); a.Node != g.Host && a.Kind == g.Kind && a.Start < g.To && a.Finish > g.From {
			n++
		}
	}
	return n
}

// othersGoOn reports whether attempts end on most other hosts during a gap.
func (s *standstills) othersGoOn(g *Standstill) bool {
	active := 0
	for host, list := range s.ends {
		first, _ := slices.BinarySearch(list, g.From+1)
		last, _ := slices.BinarySearch(list, g.To)
		if host != s.hosts[g.Host] && last-first >= 2 {
			active++
		}
	}
	return 2*active > len(s.ends)-1
}
