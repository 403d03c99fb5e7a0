package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Account is a use of a job's time.
type Account uint8

// The accounts of the ledger.
const (
	queueTime Account = iota
	initialisation
	setUp
	heartbeatTime
	schedulerLimit
	slotHeld
	startUp
	cpuOwn
	diskOwn
	networkOwn
	deviceSharing
	slowDevice
	foreignLoad
	localityTime
	sortSpill
	mergeTime
	waitsForSpill
	waitsForFetch
	waitsForMemory
	commitTime
	cleanUp
	givenTime
	lostAttempts
	readTime // of phases without spans of threads
	workTime
	shuffleTime
	writeTime
	betweenAttempts
	unknownTime
	numAccounts
)

// slowstartLimit is one of the scheduler's limits: reduces may not start yet.
const slowstartLimit = schedulerLimit

var accountNames = [numAccounts]string{
	"queue", "initialisation", "set-up", "heartbeat", "scheduler limit", "slot held", "start-up", "CPU own", "disk own", "network own",
	"sharing", "slow device", "foreign load", "locality", "sort and spill", "merge", "wait for spill", "wait for fetch", "wait for memory",
	"commit", "clean-up", "given", "lost attempts", "read", "map and reduce", "shuffle", "write", "between attempts", "unknown",
}

func (a Account) String() string { return accountNames[a] }

// Step is a part of a job's time in the ledger. Steps of a job are consecutive
// from its submission to its end.
type Step struct {
	Job      string
	From, To time.Duration
	Account  Account
	Attempt  string
	Node     string
	Device   string
	By       string // job that held the slot, or the scheduler's reason
}

// ledger explains the time of jobs, from their end back to their submission.
type ledger struct {
	b       *books
	offers  [2][]model.Offer // those with a free slot, by kind
	spans   map[attemptKey][]model.Span
	byPlace map[place][]int32 // by finish
	rates   map[string]float64
	use     map[string]*useSeries
	visited map[attemptKey]bool
	free    [2]freeSlots  // by kind, where the question is known
	beat    time.Duration // interval of heartbeats; negative: unknown
	shared  bool          // a slot serves both kinds
}

// place is a sequence of consecutive attempts: a slot or a node.
type place struct {
	node int32
	kind workload.Kind
}

// newLedger prepares the ledger. spans may be empty: visited then lists the
// attempts that need spans.
func (e *evidence) newLedger() *ledger {
	l := &ledger{
		b: e.b, spans: map[attemptKey][]model.Span{}, byPlace: map[place][]int32{}, rates: map[string]float64{}, use: map[string]*useSeries{}, visited: map[attemptKey]bool{},
	}
	if e.offers != nil {
		for _, o := range e.offers.offers {
			for kind, free := range o.Free {
				if free > 0 {
					l.offers[kind] = append(l.offers[kind], o)
				}
			}
		}
	}
	l.shared = e.q != nil && e.q.Cluster.SharedSlots
	for i := range int32(l.b.rows) {
		a := l.b.at(i)
		if a.timed() && a.kind <= workload.Reduce {
			p := l.place(a.node, a.kind)
			l.byPlace[p] = append(l.byPlace[p], i)
		}
	}
	for _, rows := range l.byPlace {
		l.b.sortRows(rows, func(a *attempt) int64 { return int64(a.finish) })
	}
	l.beat = -1
	if q := e.q; q != nil {
		if l.beat = heartbeatOf(q); l.beat >= 0 {
			for kind := range workload.Kind(2) {
				l.free[kind] = l.b.newFreeSlots(&q.Cluster, kind)
			}
		}
	}
	for _, d := range e.rates {
		if d.slow(&e.options.Thresholds) {
			l.rates[d.node+"/"+d.device] = d.rate
		}
	}
	for _, s := range e.r.series {
		l.use[s.node+"/"+s.device] = s
	}
	return l
}

// place returns the place of attempts of a kind on a node.
func (l *ledger) place(node int32, kind workload.Kind) place {
	if l.shared {
		kind = workload.Map
	}
	return place{node, kind}
}

// heartbeatOf returns the interval of heartbeats, negative if it is unknown.
func heartbeatOf(q *model.WhatIf) time.Duration {
	if q.Cluster.Heartbeat > 0 {
		return q.Cluster.Heartbeat
	}
	r, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		return -1
	}
	if r.HeartbeatMin == 0 { // no heartbeats
		return 0
	}
	beat, err := r.HeartbeatOf(&q.Cluster, len(q.Cluster.Nodes))
	if err != nil {
		return -1
	}
	return beat
}

func (l *ledger) id(a *attempt) attemptKey { return l.b.attemptID(a) }

func (b *books) attemptID(a *attempt) attemptKey {
	return attemptKey{b.jobs[a.job].id, a.kind, int(a.task), int(a.number)}
}

// walk goes back from the end of one job.
type walk struct {
	*ledger
	job   *job
	at    time.Duration // explained from here to the end
	steps []Step        // last first
	seen  map[attemptKey]bool
}

// walk explains a job's time.
func (l *ledger) walk(j *job) ([]Step, error) {
	w := &walk{ledger: l, job: j, at: j.finish, seen: map[attemptKey]bool{}}
	a := w.relieve(w.end())
	for a != nil && w.at > j.submit {
		id := l.id(a)
		if w.seen[id] {
			break // times that contradict each other
		}
		w.seen[id], l.visited[id] = true, true
		if next := w.body(a); next != nil {
			a = w.relieve(next)
			continue
		}
		a = w.launch(a)
	}
	w.begin()
	slices.Reverse(w.steps)
	return w.steps, balance(j, w.steps)
}

// ErrUnbalanced is a ledger whose steps do not add up to the time of a job.
var ErrUnbalanced = errors.New("the ledger does not balance")

// balance checks that the steps follow one another from submission to end.
func balance(j *job, steps []Step) error {
	at := j.submit
	for _, s := range steps {
		if s.From != at || s.To < s.From {
			return fmt.Errorf("%s: %w: got a step from %d to %d ns: want it to begin at %d ns", j.id, ErrUnbalanced, s.From, s.To, at)
		}
		at = s.To
	}
	if at != j.finish {
		return fmt.Errorf("%s: %w: the last step ends at %d ns: want the end of the job, %d ns", j.id, ErrUnbalanced, at, j.finish)
	}
	return nil
}

// emit adds a step for the time since from, but not before the submission.
func (w *walk) emit(from time.Duration, s Step) {
	from = max(from, w.job.submit)
	if from >= w.at {
		return
	}
	s.Job, s.From, s.To = w.job.id, from, w.at
	w.at = from
	if n := len(w.steps); n > 0 { // one step for repeated time in one account
		last := &w.steps[n-1]
		if same := (Step{last.Job, s.From, s.To, last.Account, last.Attempt, last.Node, last.Device, last.By}); same == s {
			last.From = from
			return
		}
	}
	w.steps = append(w.steps, s)
}

// between explains the delay until the JobTracker learned of an end, or a tracker
// of a launch.
func (w *walk) between(from time.Duration, a *attempt) {
	account := betweenAttempts
	if w.beat >= 0 {
		account = heartbeatTime
	}
	w.emit(from, Step{Account: account, Attempt: w.b.name(a), Node: w.b.node(a)})
}

// end explains the clean-up and returns the attempt that ended last before it: one that
// succeeded, unless the job did not.
func (w *walk) end() *attempt {
	var cleanup, last *attempt
	for _, row := range w.job.attempts {
		a := w.b.at(row)
		if !a.timed() || a.state != workload.Succeeded && !w.job.unsuccessful || a.finish > w.at {
			continue
		}
		switch a.kind {
		case workload.Cleanup:
			if cleanup == nil || a.finish > cleanup.finish {
				cleanup = a
			}
		case workload.Map, workload.Reduce:
			if last == nil || a.finish > last.finish || a.finish == last.finish && a.kind > last.kind {
				last = a
			}
		}
	}
	if cleanup != nil && (last == nil || cleanup.start >= last.finish) {
		w.between(cleanup.finish, cleanup)
		w.emit(cleanup.start, Step{Account: cleanUp, Attempt: w.b.name(cleanup), Node: w.b.node(cleanup)})
	}
	if last != nil {
		w.between(last.finish, last)
	}
	return last
}

// relieve goes from an attempt that ended last because of slow devices or foreign load
// to the one that would have ended last without them. What the first delayed the job
// by is the time between their ends.
func (w *walk) relieve(a *attempt) *attempt {
	for a != nil && w.at >= a.finish && a.kind <= workload.Reduce {
		w.visited[w.id(a)] = true
		delay, by := w.delay(a)
		var next *attempt
		for _, row := range w.job.won[a.kind] {
			b := w.b.at(row)
			if before := b.finish < a.finish || b.finish == a.finish && b.task < a.task; before && !w.seen[w.id(b)] &&
				(next == nil || b.finish > next.finish || b.finish == next.finish && b.task > next.task) {
				next = b
			}
		}
		if next == nil || a.finish-next.finish >= delay {
			return a
		}
		w.emit(next.finish, by)
		a = next
	}
	return a
}

// delay returns by how much slow devices and foreign load delayed the end of an
// attempt, and the longest of these delays.
func (w *walk) delay(a *attempt) (sum time.Duration, by Step) {
	alone := walk{ledger: w.ledger, job: w.job, at: a.finish, seen: w.seen}
	alone.body(a)
	name := w.b.name(a)
	for _, s := range alone.steps {
		if s.Attempt != name || s.Account != slowDevice && s.Account != foreignLoad {
			continue
		}
		if sum += s.To - s.From; by.To-by.From < s.To-s.From {
			by = s
		}
	}
	return sum, by
}

// begin explains the remaining time: set-up, initialisation, and the queue.
func (w *walk) begin() {
	if setup := w.b.setupBefore(w.job, w.at); setup != nil {
		w.between(setup.finish, setup)
		w.emit(setup.start, Step{Account: setUp, Attempt: w.b.name(setup), Node: w.b.node(setup)})
		if before := w.launch(setup); before != nil {
			w.between(before.finish, before)
		}
		w.between(w.job.launch, setup)
	}
	if w.job.launch > w.job.submit {
		w.emit(w.job.launch, Step{Account: w.otherwise(heartbeatTime)})
		if limit := cmp.Or(w.limited(workload.Map, w.job.submit), w.limited(workload.Reduce, w.job.submit)); limit != "" {
			w.emit(w.job.submit, Step{Account: schedulerLimit, By: limit})
		}
		w.emit(w.job.submit, Step{Account: initialisation})
	}
	w.emit(w.job.submit, Step{Account: w.otherwise(queueTime)})
}

// otherwise returns an account for simulated runs, and unknown for recorded
// ones.
func (w *walk) otherwise(a Account) Account {
	if w.beat >= 0 {
		return a
	}
	return unknownTime
}

// body explains an attempt back to its start. It returns the map that kept the
// shuffle open, if the walk continues there.
func (w *walk) body(a *attempt) *attempt {
	if w.at <= a.start {
		return nil
	}
	if a.state != workload.Succeeded { // what follows it is explained by its end
		w.emit(a.start, w.step(a, lostAttempts, ""))
		return nil
	}
	spans := w.spans[w.id(a)]
	if len(spans) == 0 {
		return w.bodyByPhases(a)
	}
	var lastMap *attempt
	if a.kind == workload.Reduce {
		lastMap = w.openedBy()
	}
	start := max(a.start, w.job.submit)
	for w.at > start {
		s := latest(spans, w.at, func(s *model.Span) bool { return s.Thread == model.MainThread })
		if s == nil || min(s.End, w.at) <= start {
			break
		}
		w.emit(s.End, w.step(a, unknownTime, "")) // no thread has a span for this time
		switch s.Wait {
		case model.WaitSpill:
			w.others(a, spans, max(s.Begin, start), waitsForSpill)
			continue
		case model.WaitFetch:
		default:
			w.span(a, s, max(s.Begin, start))
			continue
		}
		if next := w.shuffle(a, spans, max(s.Begin, start), lastMap); next != nil {
			return next
		}
	}
	w.emit(a.start, w.step(a, unknownTime, ""))
	return nil
}

func (w *walk) step(a *attempt, account Account, device string) Step {
	return Step{Account: account, Attempt: w.b.name(a), Node: w.b.node(a), Device: device}
}

// latest returns, of the spans that match, the one that lasts longest before t.
func latest(spans []model.Span, t time.Duration, want func(*model.Span) bool) *model.Span {
	var best *model.Span
	for i := range spans {
		if s := &spans[i]; s.Begin < t && s.End > s.Begin && want(s) && (best == nil || min(s.End, t) > min(best.End, t) ||
			min(s.End, t) == min(best.End, t) && s.Begin > best.Begin) {
			best = s
		}
	}
	return best
}

// openedBy returns the map whose output kept the shuffles of the job's reduces open.
func (w *walk) openedBy() *attempt {
	var found *attempt
	for _, row := range w.job.won[workload.Map] {
		if m := w.b.at(row); found == nil || m.finish > found.finish {
			found = m
		}
	}
	return found
}

// shuffle explains the time in which the main thread of a reduce waited, by its
// copiers and merging threads, back to the end of the map that kept it open.
func (w *walk) shuffle(a *attempt, spans []model.Span, begin time.Duration, lastMap *attempt) *attempt {
	until := begin
	if lastMap != nil {
		until = max(begin, lastMap.finish)
	}
	w.others(a, spans, until, waitsForFetch)
	if lastMap != nil && lastMap.finish > begin && w.at <= lastMap.finish {
		return lastMap
	}
	return nil
}

// others explains the time since until, in which the main thread waited, by the other
// threads of the attempt. Time in which they did nothing has the account of the wait.
func (w *walk) others(a *attempt, spans []model.Span, until time.Duration, wait Account) {
	for w.at > until {
		s := latest(spans, w.at, func(s *model.Span) bool {
			return s.Thread != model.MainThread && s.Wait != model.WaitFetch && s.End > until
		})
		if s == nil {
			break
		}
		w.emit(max(s.End, until), w.step(a, wait, ""))
		w.span(a, s, max(s.Begin, until))
	}
	w.emit(until, w.step(a, wait, ""))
}

var waitAccounts = [...]Account{model.WaitSpill: waitsForSpill, model.WaitFetch: waitsForFetch, model.WaitMemory: waitsForMemory, model.WaitCommit: commitTime}

// span divides the time of a thread since from: the delays by foreign load and a slow
// device, then its own time and the delay by sharing. A slow device makes sharing as
// much longer as the work itself, so it has its part of both.
func (w *walk) span(a *attempt, s *model.Span, from time.Duration) {
	length := w.at - from
	step := func(account Account) Step {
		st := w.step(a, account, s.Device)
		st.Node = cmp.Or(s.DeviceOf, st.Node)
		return st
	}
	if s.Wait != model.NoWait {
		w.emit(from, step(waitAccounts[s.Wait]))
		return
	}
	account := w.ownAccount(s)
	if s.Device == "" {
		w.emit(from, step(account))
		return
	}
	key := step(account).Node + "/" + s.Device
	rest, foreign, slow := length, time.Duration(0), time.Duration(0)
	if u := w.use[key]; u != nil {
		if share, ok := u.mean(u.foreign, from, w.at); ok {
			foreign = min(rest, workload.Seconds(share*length.Seconds()))
		}
	}
	part := length.Seconds() / (s.End - s.Begin).Seconds()
	rest -= foreign
	own := min(rest, workload.Seconds(s.Own.Seconds()*part))
	if rate, ok := w.rates[key]; ok && rate < 1 {
		slow = min(rest-own, workload.Seconds(rest.Seconds()*(1-rate)))
	}
	rest -= own + slow
	w.emit(w.at-rest, step(deviceSharing))
	w.emit(w.at-foreign, step(foreignLoad))
	w.emit(w.at-slow, step(slowDevice))
	w.emit(from, step(account))
}

// ownAccount returns the account of a span's own time.
func (w *walk) ownAccount(s *model.Span) Account {
	switch {
	case s.Phase == workload.PhaseStartup:
		return startUp
	case s.Phase == workload.PhaseCommit:
		return commitTime
	case s.Phase == workload.PhaseSpill:
		return sortSpill
	case s.Phase == workload.PhaseMerge || s.Thread == model.MemoryMergeThread || s.Thread == model.DiskMergeThread:
		return mergeTime
	case s.Phase == workload.PhaseRead && s.FromNode != "":
		return localityTime
	}
	switch devicesOf(s.Device) {
	case "cpu":
		return cpuOwn
	case "disk":
		return diskOwn
	case "network":
		return networkOwn
	}
	return unknownTime
}

// phaseAccounts are the accounts of phases without spans.
var phaseAccounts = [workload.NumPhases]Account{
	workload.PhaseStartup: startUp, workload.PhaseRead: readTime, workload.PhaseMap: workTime, workload.PhaseCollect: workTime,
	workload.PhaseSpill: sortSpill, workload.PhaseShuffle: shuffleTime, workload.PhaseMerge: mergeTime,
	workload.PhaseReduce: workTime, workload.PhaseWrite: writeTime, workload.PhaseCommit: commitTime,
}

// bodyByPhases explains an attempt by its phases, which are consecutive.
func (w *walk) bodyByPhases(a *attempt) *attempt {
	sum := time.Duration(0)
	for _, d := range a.phases {
		if workload.Known(d) {
			sum += d
		}
	}
	if !slices.ContainsFunc(a.phases[:], workload.Known) { // all that is known is that it ran
		w.emit(a.start, w.step(a, workTime, ""))
		return nil
	}
	begin := a.finish - sum // the time that no phase covers comes first
	if begin < a.start || a.finish < w.at {
		w.emit(a.start, w.step(a, unknownTime, ""))
		return nil
	}
	from := a.finish
	for p := int(workload.NumPhases) - 1; p >= 0; p-- {
		d := a.phases[p]
		if !workload.Known(d) || d <= 0 {
			continue
		}
		from -= d
		if workload.Phase(p) == workload.PhaseShuffle {
			if m := w.openedBy(); m != nil && m.finish > from && m.finish <= w.at {
				w.emit(m.finish, w.step(a, shuffleTime, ""))
				return m
			}
		}
		w.emit(from, w.step(a, phaseAccounts[p], ""))
	}
	w.emit(a.start, w.step(a, unknownTime, ""))
	return nil
}

// launch explains why an attempt did not start earlier. It returns the attempt on
// which that depends, or nil if only the beginning of the job is left. An attempt
// that takes over from one that still runs depends on that one.
func (w *walk) launch(a *attempt) *attempt {
	w.emit(a.assigned(), w.step(a, startUp, ""))
	ready := w.job.submit
	switch {
	case a.kind == workload.Setup:
		ready = max(ready, w.job.launch)
	case workload.Known(a.runnable):
		ready = max(ready, a.runnable)
	}
	previous := w.b.previous(a)
	if previous != nil {
		if previous.finish > a.start {
			w.emit(previous.start, w.step(previous, lostAttempts, ""))
			return previous
		}
		ready = max(ready, previous.finish)
	}
	before := w.freedBy(a)
	for w.at > ready {
		at := w.at
		if w.declined(a, ready) {
			before = w.lastOn(a, w.at, w.place(a.node, a.kind))
		}
		if by := w.unused(a, ready); by != nil {
			before = by
		}
		if before == nil || before.finish <= ready || before.start >= w.at {
			break
		}
		w.between(before.finish, before)
		if before.job == a.job {
			return before
		}
		w.emit(max(ready, before.start), Step{
			Account: slotHeld, Attempt: w.b.name(before), Node: w.b.node(before), By: w.b.jobs[before.job].id,
		})
		if w.at == at {
			break // times that contradict each other
		}
		before = w.freedBy(before)
	}
	account := betweenAttempts
	switch {
	case w.beat >= 0:
		account = heartbeatTime
	case !workload.Known(a.runnable):
		account = unknownTime
	}
	w.emit(ready, w.step(a, account, ""))
	if previous != nil {
		w.emit(previous.start, w.step(previous, lostAttempts, "")) // and until its loss was known
		return previous
	}
	return w.enabledBy(a)
}

// unused explains the time in which a slot was free for more than an interval of
// heartbeats, although the task could have run: its tracker has offered it, and
// the scheduler has launched nothing there. It returns the attempt that had held
// the slot before.
func (w *walk) unused(a *attempt, ready time.Duration) *attempt {
	if w.beat < 0 || a.kind > workload.Reduce || !workload.Known(a.runnable) || a.number > 0 {
		return nil
	}
	slot := w.free[a.kind].before(w.at)
	from := max(slot.since, ready)
	if slot.node < 0 || w.at-from <= w.beat {
		return nil
	}
	w.emit(from+w.beat, Step{Account: schedulerLimit, Attempt: w.b.name(a), Node: w.b.nodes.list[slot.node], By: w.limited(a.kind, ready)})
	w.emit(from, Step{Account: heartbeatTime, Attempt: w.b.name(a), Node: w.b.nodes.list[slot.node]})
	return w.lastOn(&attempt{slot: -1}, from, w.place(slot.node, a.kind))
}

// declined explains the time since the first offer that left a slot of the kind
// free, or of which a limit kept the job, although the task could have run. It reports
// whether there was such an offer.
func (w *walk) declined(a *attempt, ready time.Duration) bool {
	any := false
	if a.kind > workload.Reduce {
		return false
	}
	offers := w.before(a.kind, w.at)
	for i := len(offers) - 1; i >= 0 && offers[i].Time >= ready; i-- {
		o := &offers[i]
		reason, by := o.Reason[a.kind], o.Reason[a.kind].String()
		if limit := limitOn(o, a.kind, w.job.id); limit != nil {
			reason, by = limit.Reason, limitText(limit)
		}
		if reason == model.NotDeclined || reason == model.NothingWaiting {
			break // the slot was used: from here on slots were busy
		}
		account := schedulerLimit
		if reason == model.LocalityWait {
			account = localityTime
		}
		w.emit(o.Time, Step{Account: account, Attempt: w.b.name(a), Node: o.Node, By: by})
		any = true
	}
	return any
}

// limited returns the limit of the last offer since from of which a limit kept the job,
// "" if there is none. Between offers the limit holds too: a heartbeat that could
// launch nothing is not simulated.
func (w *walk) limited(kind workload.Kind, from time.Duration) string {
	offers := w.before(kind, w.at)
	for i := len(offers) - 1; i >= 0 && offers[i].Time >= from; i-- {
		if limit := limitOn(&offers[i], kind, w.job.id); limit != nil {
			return limitText(limit)
		}
	}
	return ""
}

// before lists the offers of a kind before a time.
func (l *ledger) before(kind workload.Kind, t time.Duration) []model.Offer {
	i, _ := slices.BinarySearchFunc(l.offers[kind], t, func(o model.Offer, t time.Duration) int { return cmp.Compare(o.Time, t) })
	return l.offers[kind][:i]
}

// limitOn returns the limit of a pool, queue or user that kept a job from an offer, or
// nil.
func limitOn(o *model.Offer, kind workload.Kind, job string) *model.Asked {
	for i := range o.Asked {
		if a := &o.Asked[i]; a.Kind == kind && a.Job == job && a.Task < 0 && a.Figures.Limit > 0 && a.Reason.IsLimit() {
			return a
		}
	}
	return nil
}

// limitText names a limit, whose it is, and its value.
func limitText(a *model.Asked) string {
	return fmt.Sprintf("%s (%s, %d)", a.Reason, a.Figures.Pool, a.Figures.Limit)
}

// freedBy returns the attempt whose slot this one took. A set-up takes one of
// either kind.
func (w *walk) freedBy(a *attempt) *attempt {
	before := w.lastOn(a, a.assigned(), w.place(a.node, min(a.kind, workload.Reduce)))
	if a.kind <= workload.Reduce {
		return before
	}
	if other := w.lastOn(a, a.assigned(), w.place(a.node, workload.Map)); before == nil || other != nil && other.finish > before.finish {
		before = other
	}
	return before
}

// lastOn returns the attempt that runs on a's node at t, or ended last there before. If
// the slot is known, the attempt must be on the same slot; else it has ended.
func (w *walk) lastOn(a *attempt, t time.Duration, p place) *attempt {
	rows := w.byPlace[p]
	i, _ := slices.BinarySearchFunc(rows, t+1, func(row int32, t time.Duration) int { return cmp.Compare(w.b.at(row).finish, t) })
	for _, row := range rows[i:] {
		if next := w.b.at(row); next != a && a.slot >= 0 && next.slot == a.slot {
			if next.start < t {
				return next
			}
			break
		}
	}
	for i--; i >= 0; i-- {
		if before := w.b.at(rows[i]); before != a && (a.slot < 0 || before.slot == a.slot) && before.start < t {
			return before
		}
	}
	return nil
}

// enabledBy returns the map whose end let a reduce start; nil for maps.
func (w *walk) enabledBy(a *attempt) *attempt {
	if a.kind != workload.Reduce {
		return nil
	}
	var last *attempt
	for _, row := range w.job.won[workload.Map] {
		if m := w.b.at(row); m.finish <= w.at && (last == nil || m.finish > last.finish) {
			last = m
		}
	}
	if last != nil {
		w.between(last.finish, last)
	}
	return last
}

// accountSums returns the time of a job's steps by account.
func accountSums(steps []Step) [numAccounts]time.Duration {
	var sums [numAccounts]time.Duration
	for _, s := range steps {
		sums[s.Account] += s.To - s.From
	}
	return sums
}
