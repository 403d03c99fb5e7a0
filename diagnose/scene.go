package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// scene holds the input of the rules: one job on its cluster.
type scene struct {
	*evidence
	job     *job
	stages  [2]*stage // nil where the job has none
	t       *Thresholds
	conf    workload.Conf
	hasConf bool
	facts   [2]facts
	unknown [2][]string // names of facts without a value for it

	correlations [2][]Correlation // of the stages
}

// lever returns what the table of keys changes of one: its first value, or some steps up
// or down. It is nil where the question has no such key.
func (s *scene) lever(key string, steps int) *Change {
	for _, l := range s.levers {
		switch {
		case l.key != key:
		case steps != 0 && l.step != nil:
			return l.step(steps)
		case steps == 0 && len(l.to) > 0:
			return l.to[0]
		}
	}
	return nil
}

// newScene collects the facts of a job's stages. Unknown facts are NaN, or are listed
// as unknown, so that no condition of a rule of a file on them holds.
func (e *evidence) newScene(j *job, stages [2]*stage) *scene {
	s := &scene{evidence: e, job: j, stages: stages, t: &e.options.Thresholds, conf: j.conf, hasConf: j.conf.Len() > 0}
	if s.q != nil {
		s.conf, s.hasConf = s.q.Cluster.Conf, true
		if i, ok := e.asked[j.id]; ok {
			s.conf = s.conf.Over(s.q.Jobs[i].Conf)
		}
	}
	for kind, stage := range stages {
		if stage != nil {
			s.facts[kind] = s.stageFacts(stage)
		}
	}
	return s
}

func (s *scene) stageFacts(st *stage) facts {
	f := facts{
		Kind: st.kind.String(), Critical: st.facts.Critical, SameNode: st.facts.SameNode && !s.replay, InputRatio: st.facts.InputRatio,
		CPUNode: notNumber(), CPUCluster: notNumber(), CPUDrop: notNumber(), IONodeRatio: notNumber(), DiskNodeRatio: notNumber(),
		DiskJobShare: notNumber(), NetNodeShare: notNumber(), ShareWaitFetch: notNumber(), CodecCPUShare: notNumber(),
	}
	unknown := func(name string, is bool) {
		if is {
			s.unknown[st.kind] = append(s.unknown[st.kind], name)
		}
	}
	var err error
	f.Compressed, err = s.conf.Truth("mapred.compress.map.output")
	unknown("compressed", err != nil || !s.hasConf)
	f.SharedSlots = s.q != nil && s.q.Cluster.SharedSlots
	unknown("shared_slots", s.q == nil)
	unknown("net_slow_nodes", len(s.rates) == 0)
	unknown("input_ratio", slices.ContainsFunc(st.rows, func(row int32) bool { return s.b.at(row).input(st.kind) < 0 }))
	f.ShareSortSpill = st.share(workload.PhaseSpill)
	f.ShareShuffle = st.share(workload.PhaseShuffle)
	f.ShareReduce = st.share(workload.PhaseReduce)
	var spills []float64
	var shuffle, wait time.Duration
	for _, row := range st.rows {
		a := s.b.at(row)
		if a.Spills >= 0 {
			spills = append(spills, float64(a.Spills))
		}
		if workload.Known(a.waitFetch) && workload.Known(a.phases[workload.PhaseShuffle]) {
			shuffle, wait = shuffle+a.phases[workload.PhaseShuffle], wait+a.waitFetch
		}
	}
	if f.Spills = -1; len(spills) > 0 {
		f.Spills = int(median(spills))
	}
	unknown("spills", f.Spills < 0)
	if shuffle > 0 {
		f.ShareWaitFetch = wait.Seconds() / shuffle.Seconds()
	}
	f.MapsPending = st.kind == workload.Reduce && s.pendingMaps() > 0
	f.IdleOtherSlots = s.idleSlots(st)
	s.useFacts(&f, st)
	return f
}

// pendingMaps returns the number of maps that had not started when the first
// reduce did.
func (s *scene) pendingMaps() int {
	maps, reduces := s.stages[workload.Map], s.stages[workload.Reduce]
	if maps == nil || reduces == nil {
		return 0
	}
	n := 0
	for _, row := range maps.rows {
		if s.b.at(row).start > reduces.begin {
			n++
		}
	}
	return n
}

// useFacts sets the facts about devices of the stage's critical node, or of all
// nodes.
func (s *scene) useFacts(f *facts, st *stage) {
	node := ""
	if f.SameNode {
		node = *st.facts.Node
	}
	if cpu := s.r.means("cpu", st.begin, st.end); len(cpu.all) > 0 {
		f.CPUCluster = mean(cpu.all)
		f.CPUNode = f.CPUCluster
		if m, ok := cpu.of[node]; ok {
			f.CPUNode = m
		}
	}
	var disk, foreign float64
	ratios := map[string]float64{}
	for _, device := range s.r.names {
		if !isIODevice(device) {
			continue
		}
		m := s.r.bytes(device, st.begin, st.end)
		others := m.without(node)
		own, ok := m.of[node]
		if ok && len(others) > 0 && median(others) > 0 {
			ratios[deviceKind(device)] = max(ratios[deviceKind(device)], own/median(others))
		}
		for _, u := range s.r.devices[device] {
			if u.node != node || deviceKind(device) != "disk" {
				continue
			}
			if n := len(u.rows); n > 0 {
				disk, foreign = disk+u.work[n-1], foreign+u.foreign[n-1]
			}
		}
		if ok && deviceKind(device) != "disk" {
			if busy := s.r.means(device, st.begin, st.end); len(busy.all) > 0 {
				f.NetNodeShare = max(busy.of[node], cmp.Or(zeroNaN(f.NetNodeShare), 0))
			}
		}
	}
	if r, ok := ratios["disk"]; ok {
		f.DiskNodeRatio, f.IONodeRatio = r, r
	}
	if disk+foreign > 0 {
		f.DiskJobShare = disk / (disk + foreign)
	}
	if len(s.r.names) > 0 {
		for _, d := range s.rates {
			if deviceKind(d.device) != "disk" && isIODevice(d.device) && d.rate < s.t.SlowDevice && d.z < -3 {
				f.NetSlowNodes++
			}
		}
	}
	if critical := st.critical(); len(critical) > 0 {
		a := s.b.at(st.rows[critical[0]])
		third := (a.finish - a.start) / 3
		first, ok1 := s.r.means("cpu", a.start, a.start+third).of[s.b.node(a)]
		last, ok2 := s.r.means("cpu", a.finish-third, a.finish).of[s.b.node(a)]
		if ok1 && ok2 && first > 0 {
			f.CPUDrop = (first - last) / first
		}
	}
}

func zeroNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// nodeMeans are one mean per node.
type nodeMeans struct {
	of  map[string]float64
	all []float64
	by  []string
}

func (m *nodeMeans) without(node string) []float64 {
	var others []float64
	for i, n := range m.by {
		if n != node {
			others = append(others, m.all[i])
		}
	}
	return others
}

// means returns the busy share of a device on each node, and its bytes per
// second.
func (r *resources) means(device string, from, until time.Duration) nodeMeans {
	return r.nodeMeans(device, from, until, func(s *useSeries) []float64 { return s.work })
}

func (r *resources) bytes(device string, from, until time.Duration) nodeMeans {
	return r.nodeMeans(device, from, until, func(s *useSeries) []float64 { return s.bytes })
}

func (r *resources) nodeMeans(device string, from, until time.Duration, sums func(*useSeries) []float64) nodeMeans {
	m := nodeMeans{of: map[string]float64{}}
	for _, s := range r.devices[device] {
		if v, ok := s.mean(sums(s), from, until); ok {
			m.of[s.node] = v
			m.all, m.by = append(m.all, v), append(m.by, s.node)
		}
	}
	return m
}

// worked reports whether the processors of a node were busy although it seems to
// stand still.
func (r *resources) worked(p workload.Standstill) bool {
	const asUsual = 0.25 // of the mean over the run
	for _, u := range r.devices["cpu"] {
		if u.node != p.Host || len(u.rows) == 0 {
			continue
		}
		within, ok := u.mean(u.work, p.From, p.To)
		overall, _ := u.mean(u.work, u.rows[0].Time, u.rows[len(u.rows)-1].Time+1)
		return ok && within > asUsual*overall
	}
	return false
}

// stopped finds the times at which others had all processors and disks of a
// node, for several steps of the table of devices.
func (b *books) stopped(r *resources) []workload.Standstill {
	const (
		all   = 0.95
		steps = 3
	)
	var found []workload.Standstill
	for _, cpu := range r.devices["cpu"] {
		var others []*useSeries
		for _, s := range r.series {
			if s.node == cpu.node && deviceKind(s.device) == "disk" {
				others = append(others, s)
			}
		}
		from, n := time.Duration(0), 0
		for i := range cpu.rows {
			u := &cpu.rows[i]
			still := u.ForeignBusy > all
			for _, s := range others {
				still = still && i < len(s.rows) && s.rows[i].Time == u.Time && s.rows[i].ForeignBusy > all
			}
			if still && n == 0 {
				from = u.Time
			}
			if still {
				n++
			}
			if last := i == len(cpu.rows)-1; n > 0 && (!still || last) {
				if p := (workload.Standstill{Host: cpu.node, From: from, To: u.Time}); n >= steps {
					p.Usual = workload.Seconds(cpu.length(i))
					p.Held = b.during(cpu.node, p.From, p.To)
					found = append(found, p)
				}
				n = 0
			}
		}
	}
	return found
}

// during lists the attempts that ran on a node at some time.
func (b *books) during(node string, from, until time.Duration) []int32 {
	var rows []int32
	for i := range int32(b.rows) {
		if a := b.at(i); a.timed() && b.node(a) == node && a.start < until && a.finish > from {
			rows = append(rows, i)
		}
	}
	return rows
}

// idleSlots is the mean number of slots of the other kind that are idle while
// tasks of this stage have yet to start.
func (s *scene) idleSlots(st *stage) int {
	other := workload.Reduce - st.kind
	until := st.begin
	for _, row := range st.rows {
		until = max(until, s.b.at(row).start)
	}
	if s.slots[other] == 0 || until <= st.begin {
		return 0
	}
	busy := s.running[other].slotTime(until) - s.running[other].slotTime(st.begin)
	return max(0, int(float64(s.slots[other])-busy/(until-st.begin).Seconds()))
}

// offerBook sums the offers of a run.
type offerBook struct {
	offers []model.Offer // in order of time
	counts [2][model.NumReasons]int
	free   [2]int // offers of a slot of the kind while tasks waited
}

func newOfferBook(offers []model.Offer) *offerBook {
	b := &offerBook{offers: slices.Clone(offers)}
	slices.SortStableFunc(b.offers, func(a, c model.Offer) int { return cmp.Compare(a.Time, c.Time) })
	for _, o := range b.offers {
		for kind, free := range o.Free {
			if free > 0 && o.Waiting[kind] > 0 {
				b.free[kind] += 1 + o.Repeats
				b.counts[kind][o.Reason[kind]] += 1 + o.Repeats
			}
		}
	}
	return b
}

// declined returns the share of the offers of a kind, with tasks waiting, that
// left a slot free. It also returns the most frequent reason.
func (b *offerBook) declined(kind workload.Kind) (float64, model.Reason) {
	if b.free[kind] == 0 {
		return 0, model.NotDeclined
	}
	n, best := 0, model.NotDeclined
	for r := model.NothingWaiting + 1; r < model.NumReasons; r++ {
		if r == model.SetupOrCleanupFirst {
			continue
		}
		n += b.counts[kind][r]
		if best == model.NotDeclined || b.counts[kind][r] > b.counts[kind][best] {
			best = r
		}
	}
	return float64(n) / float64(b.free[kind]), best
}

// freeWhileWaiting computes from the attempts alone the share of the slots that
// were free while runnable tasks waited, over the seconds from the first runnable
// task of a stage to its end.
func (s *scene) freeWhileWaiting(st *stage) (share, length float64) {
	if s.slots[st.kind] == 0 || st.length() <= 0 || s.facts[st.kind].SharedSlots {
		return notNumber(), st.length()
	}
	spans := make([][2]time.Duration, 0, len(st.rows))
	for _, row := range st.rows {
		a := s.b.at(row)
		if !workload.Known(a.runnable) {
			return notNumber(), st.length()
		}
		spans = append(spans, [2]time.Duration{a.runnable, max(a.start, a.runnable)})
	}
	slices.SortFunc(spans, func(a, b [2]time.Duration) int { return cmp.Compare(a[0], b[0]) })
	free, until := 0.0, time.Duration(math.MinInt64)
	for _, span := range spans {
		if from := max(span[0], until); span[1] > from {
			free += s.running[st.kind].freeTime(span[1]) - s.running[st.kind].freeTime(from)
			until = span[1]
		}
	}
	length = (st.end - min(st.begin, spans[0][0])).Seconds()
	return free / length, length
}

// occupancy is the time of the slots of a kind until some time, from the first submission
// to the last attempt.
type occupancy struct {
	slotTime func(time.Duration) float64 // seconds of slots in use
	freeTime func(time.Duration) float64 // seconds times the share of free slots
}

// newOccupancy counts the attempts of a kind; with 0 slots none is ever free.
func (b *books) newOccupancy(kind workload.Kind, slots int) occupancy {
	var e startsAndEnds
	for i := range int32(b.rows) {
		if a := b.at(i); a.kind == kind && a.timed() {
			e.add(a)
		}
	}
	if len(e.starts) > 0 { // until the first one all slots are free
		e.starts, e.ends = append(e.starts, b.begin), append(e.ends, b.begin)
	}
	return occupancy{
		workload.Integral(e.starts, e.ends, func(running int) float64 { return float64(running) }),
		workload.Integral(e.starts, e.ends, func(running int) float64 {
			if running >= slots {
				return 0
			}
			return 1 - float64(running)/float64(slots)
		}),
	}
}

// startsAndEnds are the times of attempts. Two lists are sorted faster than one of
// both: tables have attempts in the order of their ends.
type startsAndEnds struct{ starts, ends []time.Duration }

func (e *startsAndEnds) add(a *attempt) {
	e.starts, e.ends = append(e.starts, a.start), append(e.ends, a.finish)
}

func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }
