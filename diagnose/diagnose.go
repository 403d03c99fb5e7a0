// Package diagnose explains the time of a job. It reconstructs the dataflow
// from stack samples (Dai et al., HiTune, ATC 2011), finds outliers and the
// correlations that explain them (Guo et al., SONATA, BigData 2013), applies
// rules that name a cause and a change, divides the job's time in a ledger, and
// measures the gain of each change by re-simulation. It works on any table of
// attempts, simulated or recorded. It lists and counts the values that a source
// lacks.
package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Input is the record of a run. Only Jobs is needed.
type Input struct {
	Jobs      iter.Seq[*workload.HistoryJob] // with their attempts unless there are Rows; read once
	Rows      iter.Seq[*workload.Attempt]    // all attempts, in the order of their ends; read once
	Resources []Usage
	Dataflow  *Dataflow             // from sampling records
	Spans     iter.Seq[*model.Span] // read a few times; only those on the critical path are kept
	Offers    []model.Offer
	Question  *model.WhatIf // cluster, scheduler and settings
	Anew      *model.WhatIf // the question with what a recorded cluster decided simulated again, of which changes are tested; nil: the same
	Recorded  bool          // the question has times of tasks that hold for its slots and tasks only
	Replay    bool          // the attempts are a replay: each has its recorded time, on another machine than in the record

	Still string // the machines that stood still in the record of the question, and what becomes of it; empty: none did

	Localised func(*workload.HistoryTask) time.Duration // from the assignment of a task to its start; nil: unknown
}

// Options choose how to diagnose.
type Options struct {
	Thresholds Thresholds
	Job        string // id, name or pattern of jobs; empty: all
	Verify     Verification

	rules []rule // of the user
}

// DefaultOptions tests no change.
func DefaultOptions() Options { return Options{Thresholds: DefaultThresholds()} }

// Finding is a cause, its evidence, and a change that may help.
type Finding struct {
	Rank     int
	Job      string
	Rule     string
	Basis    string
	Cause    string
	Node     string
	Device   string
	Tasks    []string
	Evidence string
	Value    float64
	Peers    float64
	Z        float64
	Account  Account
	Ledger   time.Duration // seconds of the job in that account
	Change   *Change       // nil: no change would test it
	Receipt  Receipt

	saves  float64
	weight float64
	others []*Change
}

// rankedBy is the gain of the mean job by which a finding is ranked.
func (f *Finding) rankedBy() float64 { return f.weight * f.Receipt.ranked }

// Diagnosis is the result. Jobs are in order of submission.
type Diagnosis struct {
	Jobs         []JobDiagnosis
	Correlations []Correlation // of the cluster, over all jobs
	Findings     []Finding     // best first
	Together     *Receipt      // all confirmed changes together; nil: fewer than two
	Without      []Without
	Unknown      []Unknown
	Dataflow     *Dataflow // as it was given
}

// JobDiagnosis is the result for one job.
type JobDiagnosis struct {
	ID             string
	Submit, Finish time.Duration
	Stages         []Summary
	Lines          []Line
	Gap            time.Duration // from the end of the last map to that of the last shuffle
	Outliers       []Outlier
	Correlations   []Correlation
	Ledger         []Step
}

// evidence is the input common to all jobs.
type evidence struct {
	b       *books
	r       *resources
	rates   []deviceRate
	still   []workload.Standstill
	offers  *offerBook
	flow    *Dataflow
	q       *model.WhatIf  // nil: unknown
	asked   map[string]int // jobs of the question
	options *Options
	slots   [2]int // of the cluster, by kind; 0: unknown
	running [2]occupancy
	replay  bool
	slow    []slowNode // where no table of devices measures rates
	levers  []lever    // of the question
}

// Run diagnoses a run.
func Run(ctx context.Context, in Input, o Options) (*Diagnosis, error) {
	if in.Jobs == nil {
		in.Jobs = func(func(*workload.HistoryJob) bool) {}
	}
	b := keep(in.Jobs, in.Rows, in.Localised)
	if len(b.jobs) == 0 && in.Dataflow == nil {
		return nil, fmt.Errorf("got no job: want a result of slotwave run, a history, or sampling records")
	}
	b.assignSlots()
	jobs := slices.DeleteFunc(slices.Clone(b.jobs), func(j *job) bool { return o.Job != "" && !workload.MatchesJob(j.id, j.name, o.Job) })
	for _, j := range jobs {
		b.missing(j)
	}
	e := &evidence{b: b, r: newResources(in.Resources), flow: in.Dataflow, q: in.Question, options: &o, replay: in.Replay}
	if in.Question != nil {
		e.asked, e.levers = map[string]int{}, levers(in.Question)
		for i := range in.Question.Jobs {
			e.asked[in.Question.Jobs[i].ID] = i
		}
	}
	e.rates, e.still = e.r.rates(), b.still(&o.Thresholds)
	e.still = slices.DeleteFunc(e.still, e.r.worked)
	if stopped := b.stopped(e.r); len(stopped) > 0 {
		e.still = stopped
	}
	if len(in.Offers) > 0 {
		e.offers = newOfferBook(in.Offers)
	}
	switch {
	case in.Replay:
		e.still = nil
	case !e.measured():
		e.slow = b.slowNodes(&o.Thresholds)
	}
	e.countSlots()
	if len(b.jobs) > 0 {
		e.missing(&in)
	}
	d := &Diagnosis{Dataflow: in.Dataflow}
	times := &clusterTimes{b, make([]nodeTimes, len(b.nodes.list))}
	for _, j := range jobs {
		d.Jobs = append(d.Jobs, e.job(j, times, d))
	}
	if len(jobs) == 0 && len(b.jobs) > 0 {
		var ids []string
		for _, j := range b.jobs {
			ids = append(ids, j.id)
		}
		like := ids[max(0, input.Nearest(o.Job, ids))]
		return nil, fmt.Errorf("--job: got %q: want the id or name of a job of the run, or a pattern, such as %s", o.Job, like)
	}
	d.Correlations = times.correlations(&o.Thresholds)
	if err := e.ledgers(&in, d); err != nil {
		return nil, err
	}
	d.rank()
	if err := e.verify(ctx, d, &in); err != nil {
		return nil, err
	}
	d.Unknown = b.list
	if in.Dataflow != nil {
		for _, what := range in.Dataflow.problems.order {
			d.Unknown = append(d.Unknown, Unknown{What: what, Count: in.Dataflow.problems.counts[what], Effect: "left out"})
		}
	}
	return d, nil
}

// countSlots takes the slots of the cluster from the question, or else the
// largest number of concurrent attempts.
func (e *evidence) countSlots() {
	if e.q != nil {
		e.slots = e.q.Cluster.Slots()
	}
	for kind := range workload.Kind(2) {
		if e.q == nil {
			e.slots[kind], _ = e.b.slotsUsed(kind)
		}
		e.running[kind] = e.b.newOccupancy(kind, e.slots[kind])
	}
}

// missing lists the tables that were not given.
func (e *evidence) missing(in *Input) {
	for _, t := range []struct {
		what, effect string
		missing      bool
	}{
		{"use of devices", "no correlations with resources, no R01, R02, R04, R07, R09, R11 to R13, R17, R24; some slow network interfaces stay unseen", len(in.Resources) == 0},
		{"offers of slots", "R15 and the ledger give no reasons", len(in.Offers) == 0},
		{"spans of attempts", "the ledger does not separate devices", in.Spans == nil},
		{"cluster and settings", "slots that were never used are not counted, and no change is tested", in.Question == nil},
		{"the machine of each recorded time", "no findings on nodes, for a replay runs tasks on others: diagnose the history itself", in.Replay},
		{in.Still, "gains hold for that (workload.still_hosts)", in.Still != ""},
	} {
		if t.missing {
			e.b.add(t.what, 1, 1, t.effect)
		}
	}
}

// job diagnoses one job and adds the findings of the rules.
func (e *evidence) job(j *job, times *clusterTimes, d *Diagnosis) JobDiagnosis {
	r := JobDiagnosis{ID: j.id, Submit: j.submit, Finish: j.finish}
	var own [2]*stage
	for kind := range workload.Kind(2) {
		st := e.b.newStage(j, kind, e.options)
		if st == nil {
			continue
		}
		own[kind] = st
		times.add(st)
		r.Stages = append(r.Stages, st.summary())
		r.Lines = append(r.Lines, st.equations()...)
		r.Outliers = append(r.Outliers, st.found...)
		r.Correlations = append(r.Correlations, st.correlate(e.r)...)
	}
	r.Gap = e.b.gap(j)
	s := e.newScene(j, own)
	for _, c := range r.Correlations {
		kind := workload.Map
		if c.Stage == workload.Reduce.String() {
			kind = workload.Reduce
		}
		s.correlations[kind] = append(s.correlations[kind], c)
	}
	rules := slices.Concat(rules, e.options.rules)
	hits := make([][]hit, len(rules))
	var fired []advice
	for i := range rules {
		if hits[i] = rules[i].find(s, &rules[i]); len(hits[i]) > 0 {
			fired = append(fired, advice{rules[i].id, rules[i].advice})
		}
	}
	leaveExplained(hits)
	if len(s.heldByWaiting()) == 0 { // else the jobs that start their reduces too early are others
		fired = settleSlowstart(fired, s.pendingMaps(), e.slots[workload.Map])
	}
	for i := range rules {
		rule := &rules[i]
		if !slices.Contains(fired, advice{rule.id, rule.advice}) {
			continue
		}
		for _, h := range hits[i] {
			d.Findings = append(d.Findings, Finding{
				Job: j.id, Rule: rule.id, Basis: rule.basis, Cause: rule.cause, Node: h.node, Device: h.device, Tasks: h.tasks,
				Evidence: h.evidence, Value: h.value, Peers: h.peers, Z: h.z, Account: h.account, Change: h.change,
				Receipt: Receipt{Outcome: Untested}, saves: h.saves, weight: cmp.Or(rule.weight, h.change.weighs(e.q)), others: h.others,
			})
		}
	}
	return r
}

// leaveExplained drops findings where another rule says more: R09, which names a
// node if no other cause is found; R13, if R16 names the interface; R08 and R10,
// if R25 names the reduce or evens all reduces as they would; R26, if another rule
// names the node or the task. Of hits of a rule with one change it keeps the first.
func leaveExplained(hits [][]hit) {
	named := map[string]bool{}
	at := map[string]int{}
	for i := range rules {
		at[rules[i].id] = i
		if slices.Contains([]string{"R01", "R02", "R16", "R17", "R18"}, rules[i].id) {
			for _, h := range hits[i] {
				named[h.node] = true
			}
		}
	}
	for _, id := range []string{"R09", "R13", "R26"} {
		hits[at[id]] = slices.DeleteFunc(hits[at[id]], func(h hit) bool { return named[h.node] })
	}
	for _, skewed := range hits[at["R25"]] {
		for _, id := range []string{"R08", "R10"} {
			hits[at[id]] = slices.DeleteFunc(hits[at[id]], func(h hit) bool {
				return slices.Contains(h.tasks, skewed.tasks[0]) || h.change != nil && skewed.change != nil && h.change.Text == skewed.change.Text
			})
		}
	}
	late := at["R26"]
	for _, id := range []string{"R08", "R10", "R18", "R25"} {
		for _, h := range hits[at[id]] {
			hits[late] = slices.DeleteFunc(hits[late], func(l hit) bool { return slices.Contains(h.tasks, l.tasks[0]) })
		}
	}
	for i := range hits {
		slices.SortStableFunc(hits[i], func(a, b hit) int { return -cmp.Compare(a.saves, b.saves) })
		var kept []hit
		for _, h := range hits[i] {
			same := func(k hit) bool {
				return k.node == h.node && k.device == h.device && k.change != nil && h.change != nil && k.change.Text == h.change.Text
			}
			if !slices.ContainsFunc(kept, same) {
				kept = append(kept, h)
			}
		}
		hits[i] = kept
	}
}

// gap is the time from the end of the last map to that of the last shuffle, 0
// where shuffles are unknown.
func (b *books) gap(j *job) time.Duration {
	last := b.lastMap(j)
	end := last
	for _, row := range j.won[workload.Reduce] {
		if _, to, known := b.at(row).shuffle(); known {
			end = max(end, to)
		}
	}
	return end - last
}

// shuffle is the time in which a reduce fetched its map outputs.
func (a *attempt) shuffle() (from, to time.Duration, known bool) {
	took := a.phases[workload.PhaseShuffle]
	from = a.start + max(0, a.phases[workload.PhaseStartup])
	return from, from + took, workload.Known(took)
}

// ledgers computes all ledgers: first to find which attempts need spans, then
// with the spans, until no new attempt is needed.
func (e *evidence) ledgers(in *Input, d *Diagnosis) error {
	l := e.newLedger()
	walk := func() error {
		for i := range d.Jobs {
			steps, err := l.walk(e.b.jobAt[d.Jobs[i].ID])
			if err != nil {
				return err
			}
			d.Jobs[i].Ledger = steps
		}
		return nil
	}
	if err := walk(); err != nil {
		return err
	}
	for known := 0; in.Spans != nil && known < len(l.visited); { // spans may lead to other attempts
		known = len(l.visited)
		clear(l.spans)
		for s := range in.Spans {
			if id := attemptOf(s); l.visited[id] {
				l.spans[id] = append(l.spans[id], *s)
			}
		}
		if err := walk(); err != nil {
			return err
		}
	}
	sums := map[string][numAccounts]time.Duration{}
	for _, j := range d.Jobs {
		sums[j.ID] = accountSums(j.Ledger)
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		f.Ledger = sums[f.Job][f.Account]
	}
	return nil
}

// rank orders the findings: confirmed ones by their gain, then untested ones by
// the share of the job that they may save, then withdrawn ones.
func (d *Diagnosis) rank() {
	times := map[string]float64{}
	for _, j := range d.Jobs {
		times[j.ID] = max(1e-9, (j.Finish - j.Submit).Seconds())
	}
	whole := 0.0
	for _, t := range times {
		whole += t
	}
	times[meanJob] = whole / float64(max(1, len(times)))
	class := map[Outcome]int{Confirmed: 0, Untested: 1, Withdrawn: 2}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(class[a.Receipt.Outcome], class[b.Receipt.Outcome]), -cmp.Compare(a.rankedBy(), b.rankedBy()),
			-cmp.Compare(a.weight*a.saves/times[a.Job], b.weight*b.saves/times[b.Job]), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Device, b.Device))
	})
	// One cause has one place before all causes have theirs.
	var first, again, rest []Finding
	for i := range d.Findings {
		f := &d.Findings[i]
		switch {
		case f.Receipt.Outcome != Confirmed:
			rest = append(rest, *f)
		case slices.ContainsFunc(first, f.repeats):
			again = append(again, *f)
		default:
			first = append(first, *f)
		}
	}
	d.Findings = slices.Concat(first, again, rest)
	for i := range d.Findings {
		d.Findings[i].Rank = i + 1
	}
}

// repeats reports whether a finding has the change of the cluster that another has for
// another job, or is another change for the same cause: for the same evidence, or to
// another value of the key. Nodes have several faults of one key.
func (f *Finding) repeats(g Finding) bool {
	if f.Change.Text == g.Change.Text && f.Job != g.Job && f.Change.ofCluster() {
		return true
	}
	if f.Job != g.Job && f.Job != meanJob && g.Job != meanJob || f.Node != g.Node || f.Device != g.Device {
		return false
	}
	if f.Rule == g.Rule {
		return f.Evidence == g.Evidence
	}
	return f.Node == "" && f.Change.Key != "" && f.Change.Key == g.Change.Key
}

// together lists the confirmed changes: of alternatives for one cause the first.
func together(findings []Finding) (changes []*Change) {
	var taken []Finding
	for _, f := range findings {
		if f.Receipt.Outcome != Confirmed || slices.ContainsFunc(taken, func(g Finding) bool {
			return f.repeats(g) || f.Change.Text == g.Change.Text && f.Job == g.Job
		}) {
			continue
		}
		taken, changes = append(taken, f), append(changes, f.Change)
	}
	return changes
}

// uncritical takes the word critical from outliers whose task or node was repaired in
// tests of which none gained anything.
func (d *Diagnosis) uncritical() {
	gains := map[[2]string]bool{} // by job, and task or node
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Receipt.Pairs == 0 || f.weight < weightUnusual { // untested, or an ordinary setting
			continue
		}
		for _, what := range append([]string{f.Node}, f.Tasks...) {
			of := [2]string{f.Job, what}
			gains[of] = gains[of] || f.Receipt.Outcome == Confirmed
		}
	}
	for i := range d.Jobs {
		for k := range d.Jobs[i].Outliers {
			o := &d.Jobs[i].Outliers[k]
			gained, tested := false, false
			for _, of := range [][2]string{{o.Job, o.Task}, {o.Job, o.Node}, {meanJob, o.Node}} {
				gain, found := gains[of]
				gained, tested = gained || gain, tested || found && of[1] != ""
			}
			o.Critical = o.Critical && (gained || !tested)
		}
	}
}

func counted(changes int) string {
	if changes == 1 {
		return "change was"
	}
	return fmt.Sprintf("%d changes were", changes)
}

// verify re-simulates the changes of the highest findings, and the confirmed
// ones together.
func (e *evidence) verify(ctx context.Context, d *Diagnosis, in *Input) error {
	if e.q == nil {
		return nil
	}
	if e.options.Verify.Predictor == nil {
		e.suspect(d)
		d.rank()
		return nil
	}
	v := &verifier{Verification: e.options.Verify, ctx: ctx, base: *cmp.Or(in.Anew, e.q), recorded: in.Recorded, least: e.options.Thresholds.Gain, about: cmp.Or(e.options.Job, meanJob)}
	if v.Pairs < 2 || v.MostPairs < v.Pairs {
		return fmt.Errorf("pairs: got %d to %d: want 2 or more", v.Pairs, v.MostPairs)
	}
	v.testAll(d.Findings)
	d.Findings = withProposals(d.Findings, v.propose(d, e.levers))
	d.rank()
	d.uncritical()
	if changes := together(d.Findings); len(changes) > 1 {
		r := v.test(join(changes), v.about, false)
		d.Together = &r
	}
	if v.Without {
		d.Without = v.without(d.Jobs)
	}
	return nil
}
