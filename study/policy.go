package study

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// A search for a scheduler replays a history at most so often, and simulates at most so
// many tasks in all.
const (
	mostPolicies     = 120
	mostToFindPolicy = 2_000_000
)

// policyWithout returns the scheduler of a history without some settings, if the file
// runs so.
func (o *Options) policyWithout(f *scenarios.File, without []string) (found Policy, err error) {
	p := o.policies
	p.Lock()
	defer p.Unlock()
	key := strings.Join(slices.Compact(slices.Sorted(slices.Values(without))), "\n")
	if found, known := p.without[key]; known {
		return found, nil
	}
	as, err := f.AsRecorded(without, false)
	if err != nil {
		return found, err
	}
	if first, err := as.Scenario(o.Seed); err == nil {
		if found, err = schedulerOf(as, first, o.Seed); err != nil {
			return found, err
		}
	}
	p.without[key] = found
	return found, nil
}

// findScheduler gives a history whose scheduler nothing states the one whose replay
// meets the recorded jobs best. A scheduler that a setting names and that meets them less
// well is not a statement, but a question: pools and queues stay where it has such. The
// file is the whole one without some settings.
func (o *Options) findScheduler(whole *scenarios.File, without []string, f *scenarios.File, first *scenarios.Scenario) (found bool, err error) {
	run := &first.Runs[0]
	without = slices.Concat(without, run.Changed)
	if !slices.ContainsFunc(run.Stated, func(s string) bool { return strings.HasPrefix(s, "scheduler.name=") }) {
		if !run.AnyScheduler {
			return false, nil
		}
		policy, err := o.policyWithout(whole, without)
		policy.state(f)
		return policy.Name != "", err
	}
	policy, err := o.policyWithout(whole, slices.Concat(without, run.Stated))
	if err != nil || !policy.searched {
		return false, err // too large, or it runs only with the settings
	}
	asStated, err := whole.AsRecorded(without, false)
	if err != nil {
		return false, err
	}
	s := &policySearch{file: asStated, seed: o.Seed, left: 1, errors: map[string]float64{}, texts: map[string]string{}}
	if s.errorOf(Policy{}) <= policy.off || s.failed != nil {
		return false, s.failed
	}
	if family := strings.TrimRight(run.Question.Scheduler.Name, "12"); !strings.HasPrefix(policy.Name, family) {
		policy.Settings = policy.In("cluster")
	}
	policy.Name = cmp.Or(policy.Name, "fifo")
	policy.state(f)
	return true, nil
}

// SchedulerOf returns the scheduler of a history that states none, if the replay under
// another than Hadoop's default meets its jobs clearly better.
func SchedulerOf(name string, o Options) (Policy, error) {
	f, err := o.open(name)
	if err != nil {
		return Policy{}, err
	}
	first, err := f.Scenario(o.Seed)
	if err != nil {
		return Policy{}, err
	}
	return schedulerOf(f, first, o.Seed)
}

// A replay that is off by less than good needs no other scheduler. Another setting of a
// scheduler, or one that the release does not have, has to be clearly better: its error
// is half of that without.
const good, clearly = 0.005, 0.5

// policySearch finds the scheduler of a history by its replays.
type policySearch struct {
	file   *scenarios.File // without the settings that ask about something else
	anew   *scenarios.File // the same, with initialisations that are not recorded; nil: not looked at
	seed   uint64
	left   int // replays
	errors map[string]float64
	texts  map[string]string // of the errors, as the summary of a run has them
	failed error
}

func schedulerOf(f *scenarios.File, first *scenarios.Scenario, seed uint64) (found Policy, err error) {
	run := &first.Runs[0]
	tasks := max(1, run.Question.Tasks())
	if !run.AnyScheduler || mostToFindPolicy/tasks < 6 {
		return Policy{}, nil
	}
	s := &policySearch{seed: seed, left: min(mostPolicies, mostToFindPolicy/tasks), errors: map[string]float64{}, texts: map[string]string{}}
	if s.file, err = f.AsRecorded(run.Changed, false); err == nil {
		s.file, err = s.file.With("fidelity=\"replay\"")
	}
	if err != nil {
		return Policy{}, err
	}
	fifo := Policy{Name: "fifo"}
	usual := s.errorOf(fifo)
	if s.failed != nil || usual < good {
		return Policy{searched: true, off: usual}, s.failed
	}
	fair := func(name string, multiple bool) Policy {
		return Policy{Name: name, Settings: []PolicySetting{{"scheduler", "mapred.fairscheduler.assignmultiple", fmt.Sprint(multiple)}}}
	}
	own, other := []Policy{fair("fair2", true), fair("fair2", false)}, []Policy{fair("fair1", false), fair("fair1", true)}
	if strings.HasPrefix(run.Question.Cluster.Hadoop, "0.20") { // others gave it the newer one too
		own, other = other, own
	}
	likely := []Policy{own[0], {Name: "capacity"}}
	tried := slices.Concat(likely, own[1:], other)
	for _, settings := range run.AlsoFits {
		for _, p := range append([]Policy{fifo}, slices.Clone(tried)...) {
			p.Settings = slices.Clone(p.Settings)
			for _, s := range settings {
				p.Settings = append(p.Settings, PolicySetting{"cluster", s[0], s[1]})
			}
			tried = append(tried, p)
		}
	}
	least := usual
	together := overlap(run.Recorded)
	queued := slices.ContainsFunc(run.Question.Jobs, func(j workload.Job) bool { return j.Queue != "" && j.Queue != "default" })
	for i, p := range tried {
		bar := clearly * least
		switch {
		case !together:
			bar = min(least, good)
		case i < len(likely):
			bar = min(least, clearly*usual)
		}
		if off := s.errorOf(p); off < bar {
			found, least = p, off
		}
	}
	slices.SortStableFunc(tried, func(a, b Policy) int { return cmp.Compare(s.errorOf(a), s.errorOf(b)) })
	// What-ifs initialise jobs anew: the limits of pools and queues have to explain when.
	anew := &policySearch{file: s.file, seed: seed, left: s.left, errors: map[string]float64{}, texts: map[string]string{}}
	if anew.anew, err = s.file.With(`workload.initialised="simulated"`); err != nil {
		return Policy{}, err
	}
	for _, by := range []*policySearch{anew, s} { // or else the times of jobs alone
		unrefined := found
		if least = by.errorOf(fifo); found.Name != "" {
			least = by.errorOf(found)
		}
		bar := clearly * least
		for _, p := range tried {
			if least < good || !together && !(queued && p.Name == "capacity") { // its queues limit a lone job too
				continue
			}
			if q, off := by.refine(p, run.Question.Jobs, run.Question.Cluster.Slots()[workload.Map]); off < bar && off < least {
				found, least = q, off
			}
		}
		if found.String() != unrefined.String() {
			break
		}
	}
	least = usual
	if found.Name != "" {
		s.left = 1
		least = s.errorOf(found)
	}
	found.Why = fmt.Sprintf("no record states it; replay: %s; under fifo: %s", s.texts[found.String()], s.texts[fifo.String()])
	found.searched, found.off = true, least
	return found, errors.Join(s.failed, anew.failed)
}

// A share is what a scheduler gives a pool or queue.
type share struct {
	name                        string
	weight                      float64 // of a pool, or per cent of a queue
	minMaps, running, ofOneUser int     // pool: least maps and most running jobs, 0: any; queue: user_limit_factor
}

// refine returns a scheduler with the pools or queues of the recorded jobs, each of which
// is varied as long as the error becomes less.
func (s *policySearch) refine(p Policy, jobs []workload.Job, slots int) (best Policy, least float64) {
	best, least = p, s.errorOf(p)
	var shares []share
	queues := p.Name == "capacity"
	for i := range jobs {
		name := jobs[i].Pool
		if queues {
			name = jobs[i].Queue
		}
		if name != "" && !slices.ContainsFunc(shares, func(s share) bool { return s.name == name }) {
			shares = append(shares, share{name: name, weight: 1})
		}
	}
	if queues {
		if len(shares) == 1 { // what it does not have is for queues without a job
			rest := "default"
			if shares[0].name == rest {
				rest = "other"
			}
			shares = append(shares, share{name: rest})
		}
		for i := range shares {
			shares[i].weight = 100 / float64(len(shares))
		}
	}
	try := func(changed []share) bool {
		q := p.with(changed)
		if off := s.errorOf(q); off < 0.8*least {
			shares, best, least = changed, q, off
			return true
		}
		return false
	}
	for better := true; better && least >= good; {
		better = false
		for i := range shares {
			vary := func(set func(*share, int), values ...int) {
				from := shares
				for _, v := range values {
					changed := slices.Clone(from)
					set(&changed[i], v)
					better = try(changed) || better
				}
			}
			if !queues {
				vary(func(s *share, v int) { s.running = v }, 1, 2, 3, 5)
				vary(func(s *share, v int) { s.weight *= math.Exp2(float64(v) / 4) }, -8, -4, -2, -1, 1, 2, 4, 8)
				vary(func(s *share, v int) { s.minMaps = v }, slots/8, slots/4, slots/2, slots)
				continue
			}
			if i < len(shares)-1 { // the last one has the rest
				from := shares
				for percent := 10.0; percent < 100; percent += 10 {
					changed := slices.Clone(from)
					for k := range changed {
						changed[k].weight *= (100 - percent) / (100 - from[i].weight)
					}
					changed[i].weight = percent
					better = try(changed) || better
				}
			}
			vary(func(s *share, v int) { s.ofOneUser = v }, 2, 3, 4)
		}
	}
	return best, least
}

// with returns the scheduler with pools or queues.
func (p Policy) with(shares []share) Policy {
	var list []string
	key := "pool"
	for _, s := range shares {
		text := "name = " + workload.TOMLText(s.name)
		add := func(key string, value any, differs bool) {
			if differs {
				text += fmt.Sprintf(", %s = %v", key, value)
			}
		}
		weight, _ := strconv.ParseFloat(fmt.Sprintf("%.2g", s.weight), 64)
		if p.Name == "capacity" {
			key = "queue"
			add("capacity", weight, true)
			add("user_limit_factor", s.ofOneUser, s.ofOneUser > 0)
		} else {
			add("weight", weight, weight != 1)
			add("min_maps", s.minMaps, s.minMaps > 0)
			add("max_running_jobs", s.running, s.running > 0)
		}
		list = append(list, "{"+text+"}")
	}
	p.Settings = append(slices.Clone(p.Settings), PolicySetting{"scheduler", key, "[" + strings.Join(list, ", ") + "]"})
	return p
}

// overlap reports whether a job was submitted while another ran: otherwise schedulers
// differ only in how many tasks they assign at a heartbeat.
func overlap(jobs []workload.JobRecord) bool {
	end := time.Duration(-1)
	for _, j := range slices.SortedFunc(slices.Values(jobs), func(a, b workload.JobRecord) int { return cmp.Compare(a.Submit, b.Submit) }) {
		if j.Submit < end {
			return true
		}
		end = max(end, j.Finish)
	}
	return false
}

// errorOf returns the mean relative error of the jobs of the history under a scheduler, as
// recorded, or the mean of that and the error with jobs that are initialised anew: infinite
// if it cannot serve them, or if no replay is left.
func (s *policySearch) errorOf(p Policy) float64 {
	key := p.String()
	if off, known := s.errors[key]; known {
		return off
	}
	s.errors[key] = math.Inf(1)
	if s.left <= 0 || s.failed != nil {
		return s.errors[key]
	}
	off, text := s.replay(s.file, p)
	if s.anew != nil && !math.IsInf(off, 1) {
		again, _ := s.replay(s.anew, p)
		off = (off + again) / 2
	}
	s.errors[key], s.texts[key] = off, text
	return off
}

// replay returns the error of the history under a scheduler, also as the summary of a run
// has it.
func (s *policySearch) replay(file *scenarios.File, p Policy) (off float64, text string) {
	s.left--
	f, err := file.With()
	if err != nil {
		s.failed = err
		return math.Inf(1), ""
	}
	p.state(f)
	first, err := f.Scenario(s.seed)
	if err != nil {
		if p.Name == "fifo" {
			s.failed = err
		}
		return math.Inf(1), ""
	}
	run := (&Study{Scenario: first, Options: Options{Seed: s.seed}}).newRun(0)
	if run.Predictions[0], err = Predict(sim.Simulator{}, run.Question); err != nil {
		if !sim.Endless(err) {
			s.failed = fmt.Errorf("%s: %w", run.Question.Name, err)
		}
		return math.Inf(1), ""
	}
	return meanError(run), run.ReplaySummary().Errors()
}
