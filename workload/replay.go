package workload

import (
	"fmt"
	"slices"
	"time"
)

// ReplayOptions choose how recorded durations become those of a replay.
type ReplayOptions struct {
	// Startup and Commit are the parts of a recorded attempt that the simulator
	// adds itself: the start of the JVM and the commit of the output. They
	// apply if the record does not give these parts. They are subtracted, down
	// to zero. If both are zero the recorded durations stay as they are, and a
	// cluster without such costs reproduces them.
	Startup, Commit time.Duration

	// OnlySucceeded leaves out jobs that failed, were killed or have no end.
	OnlySucceeded bool

	// Initialised keeps the recorded instants of job initialisation; otherwise
	// the scheduler decides.
	Initialised bool

	// Speculated launches the recorded speculative attempts again, and no
	// others; otherwise the rule of the JobTracker decides.
	Speculated bool

	// Chains has the jobs that wait for others, by their recorded IDs. Without it all
	// are submitted when they were.
	Chains map[string]Chained

	// Assigned returns the last heartbeat of a machine up to an instant: an attempt
	// that waits for its slot starts later than it is assigned. Nil: not known.
	Assigned func(node string, start time.Duration) time.Duration

	// Rescaled converts the times to another cluster of the same machines: see
	// Job.rescale.
	Rescaled bool

	// Drawn is the seed by which the times of equal tasks of a job are drawn from each
	// other: what one run of it happened to take, another need not. 0: all keep their own.
	Drawn Seed

	// FetchSleep is ReduceTasks.FetchSleep of rescaled jobs, and Heartbeat that of
	// trackers, which tell a reduce of maps and let it commit; 0: at once.
	FetchSleep, Heartbeat time.Duration

	// Bytes is the factor by which the data of the history was multiplied (0: 1):
	// see MapTasks.grow.
	Bytes float64
}

// Replay is a workload with the durations of recorded runs.
type Replay struct {
	Jobs    []Job
	Records []JobRecord // of the same jobs
	Assumed []string    // values that were subtracted or filled in
	Notes   []string    // facts of the record that the replay does not repeat, by job
	Still   []string    // hosts that stand still again

	local localised
}

// Replay makes a workload of the recorded jobs, each job and task exactly once:
// task i of a job is its i-th recorded map or reduce by number. A map takes the
// duration of the attempt whose output was used. A reduce has three parts: its
// shuffle after the last map (end of shuffle minus the later of its own start
// and the end of the last map), its sort and its reduce phase. Failed attempts
// fail again after the same time, even if the task takes less. Killed attempts
// are killed again after the same time. A job that did not succeed
// ends as recorded. Sizes that are not recorded are zero. If a job has no recorded tasks, they are made from its
// counters, and a note says so. If the counters lack the task time, that is an
// error.
func (h *History) Replay(o ReplayOptions) (Replay, error) {
	var r Replay
	if o.Startup > 0 {
		r.Assumed = append(r.Assumed, fmt.Sprintf("%v of each recorded attempt is the start of its JVM", o.Startup))
	}
	if o.Commit > 0 {
		r.Assumed = append(r.Assumed, fmt.Sprintf("%v of each recorded reduce is the commit of its output", o.Commit))
	}
	if o.Rescaled {
		r.Assumed = append(r.Assumed, "recorded maps are rescaled to where they run, shuffles follow from bytes or from those recorded")
	}
	if o.Bytes > 0 && o.Bytes != 1 {
		r.Assumed = append(r.Assumed, fmt.Sprintf("%g times the data are %g times the maps, of recorded sizes; reduces keep their number and grow with the data", o.Bytes, o.Bytes))
	}
	taken := make(map[string]bool, len(h.Jobs))
	for i := range h.Jobs {
		taken[h.Jobs[i].ID] = true
	}
	r.local = h.localisation()
	still, reduces := h.StillHosts(), h.reduceTimes()
	r.Still = namesOf(still)
	if r.local != nil {
		r.Assumed = append(r.Assumed, "attempts start on their machine as long after their assignment as recorded")
	}
	without := h.WithoutSetupCleanup()
	if without {
		r.Assumed = append(r.Assumed, "jobs run no set-up and clean-up tasks, since no attempt of any is recorded")
	}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		if o.OnlySucceeded && j.Outcome != Succeeded {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %v, left out", j.ID, j.Outcome))
			continue
		}
		again := o.job(j, h.Site, &r)
		h.showSlowstart(j, reduces, &again, &r)
		again.NoSetupCleanup = without
		again.SetupTime, again.CleanupTime = o.serviceTime(j, Setup, r.local), o.serviceTime(j, Cleanup, r.local)
		again.SetupEnds, again.CleanupEnds = o.serviceEnds(j, Setup), o.serviceEnds(j, Cleanup)
		if announced, recorded := max(0, j.Maps)+max(0, j.Reduces), again.Maps.Count+again.Reduces.Count; announced > 0 && recorded == 0 && j.Outcome == Succeeded {
			if err := again.tasksFromCounters(j); err != nil {
				return r, err
			}
			r.Assumed = append(r.Assumed, fmt.Sprintf("%s: %d maps and %d reduces of the same time each, made from the job's counters: no task is recorded", j.ID, again.Maps.Count, again.Reduces.Count))
		}
		if own := j.Conf.String(OriginalID, ""); own != "" && !taken[own] {
			again.ID, taken[own] = own, true
		}
		if o.Bytes > 0 {
			again.Maps.grow(o.Bytes)
		}
		r.Jobs = append(r.Jobs, again)
		r.Records = append(r.Records, j.record(again.ID, still, r.local))
	}
	var submitted []time.Duration
	for i := range r.Jobs {
		submitted = append(submitted, r.Jobs[i].Submit)
	}
	if o.chain(h, r.Jobs) {
		r.Assumed = append(r.Assumed, "jobs that waited for others are submitted as long after their ends as recorded")
	}
	if note := atOnce(submitted); note != "" {
		r.Notes = slices.Insert(r.Notes, 0, note)
	}
	return r, nil
}

// chain lets jobs wait for the others that they waited for, if all of them are replayed.
func (o *ReplayOptions) chain(h *History, jobs []Job) (found bool) {
	replayed, next := map[string]*Job{}, 0
	for i := range h.Jobs {
		if !o.OnlySucceeded || h.Jobs[i].Outcome == Succeeded {
			replayed[h.Jobs[i].ID] = &jobs[next]
			next++
		}
	}
	for i := range h.Jobs {
		c, waited := o.Chains[h.Jobs[i].ID]
		own := Chained{Delay: c.Delay}
		for _, id := range c.After {
			if before := replayed[id]; before != nil {
				own.After = append(own.After, before.ID)
			}
		}
		if j := replayed[h.Jobs[i].ID]; j != nil && waited && len(own.After) == len(c.After) {
			own.Hold(j)
			found = true
		}
	}
	return found
}

// AtOnce returns a note that a replay submits all jobs at once; empty: it does not.
func (h *History) AtOnce() string {
	var submitted []time.Duration
	for i := range h.Jobs {
		submitted = append(submitted, max(0, h.Jobs[i].Earliest()))
	}
	return atOnce(submitted)
}

func atOnce(submitted []time.Duration) string {
	n := len(submitted)
	if n < 2 || slices.ContainsFunc(submitted, func(at time.Duration) bool { return at != submitted[0] }) {
		return ""
	}
	return fmt.Sprintf("all %d jobs are submitted at once: if the record lacks times of submission, take them one by one (--job)", n)
}

// tasksFromCounters makes the tasks of a job without recorded tasks: the
// announced number, with equal data, each with the mean time that an attempt of
// its kind held a slot.
func (j *Job) tasksFromCounters(h *HistoryJob) error {
	mean := func(tasks int, launched, millis int64, what, counter string) (time.Duration, error) {
		switch {
		case tasks <= 0:
			return 0, nil
		case millis == Unknown:
			return 0, fmt.Errorf("%s: %s: no task is recorded and %s is missing: want a history with tasks, or this counter", h.ID, Counted(tasks, what, what+"s"), counter)
		}
		return Seconds(float64(millis) / 1000 / float64(max(launched, int64(tasks)))), nil
	}
	t := &h.Totals
	maps, err := mean(h.Maps, t.LaunchedMaps, t.SlotMillisMaps, "map", "SLOTS_MILLIS_MAPS")
	if err != nil {
		return err
	}
	reduces, err := mean(h.Reduces, t.LaunchedReduces, t.SlotMillisReduces, "reduce", "SLOTS_MILLIS_REDUCES")
	if err != nil {
		return err
	}
	j.Maps = MapTasks{Count: max(0, h.Maps), InputBytes: max(0, t.Map.HDFSReadBytes, t.All.HDFSReadBytes), Time: Durations{All: maps}}
	j.Reduces = ReduceTasks{
		Count: max(0, h.Reduces), Time: Durations{All: reduces}, ShuffleData: max(0, t.Reduce.ShuffleBytes),
		OutputBytes: max(0, t.Reduce.HDFSWriteBytes, t.All.HDFSWriteBytes),
	}
	return nil
}

func (o ReplayOptions) job(h *HistoryJob, site Conf, r *Replay) Job {
	note := func(format string, args ...any) {
		r.Notes = append(r.Notes, h.ID+": "+fmt.Sprintf(format, args...))
	}
	j := Job{
		ID: h.ID, Name: h.Name, User: h.User, Pool: h.Pool, Queue: h.Queue, Priority: h.Priority,
		Submit: max(0, h.Earliest()), Conf: site.Over(h.Conf),
	}
	j.Commits = o.Commit == 0
	if o.Initialised && Known(h.Launch) {
		j.Init = max(j.Submit, h.Launch)
	}
	if !Known(h.Submit) {
		note("its submission is not recorded: it is submitted at the earliest recorded time")
	}
	if h.Outcome == Running {
		note("no end of the job is recorded")
	}
	if j.Ends = h.ended(); o.Speculated {
		j.Conf = j.Conf.Over(noSpeculation)
	}
	lastMap := h.LastMap()
	unsized, never, repeated := 0, 0, 0
	shuffled, wrote := false, false  // times known of a reduce
	var winners [2][]*HistoryAttempt // of each map and reduce; nil: none
	for i := range h.Tasks {
		t := &h.Tasks[i]
		if t.Kind != Map && t.Kind != Reduce {
			continue
		}
		j.neverLaunched(h, t.Kind, t.Number, &winners)
		w := t.Winner()
		if h.Outcome == Succeeded && (w == nil || !Known(w.Start) || !Known(w.Finish)) {
			never++
		}
		ends, again := o.recordedEnds(h, t)
		repeated += again
		winners[t.Kind] = append(winners[t.Kind], w)
		if t.Kind == Map {
			m := &j.Maps
			m.Ends = m.Ends.with(m.Count, ends)
			m.Count++
			m.Localise.Each = append(m.Localise.Each, r.local[t])
			m.Time.Each = append(m.Time.Each, o.mapTime(w))
			s := Split{Hosts: t.Split.Hosts, Bytes: t.inputBytes()}
			if s.Bytes == Unknown {
				unsized++
				s.Bytes = 0
			}
			m.InputBytes += s.Bytes
			m.Splits = append(m.Splits, s)
			continue
		}
		d := &j.Reduces
		d.Ends = d.Ends.with(d.Count, ends)
		d.Count++
		d.Localise.Each = append(d.Localise.Each, r.local[t])
		d.FromLastMap = true
		shuffle, sort, reduce := o.reduceTimes(w, lastMap)
		d.Shuffle.Each = append(d.Shuffle.Each, shuffle)
		d.Sort.Each = append(d.Sort.Each, sort)
		d.Time.Each = append(d.Time.Each, reduce)
		if w != nil {
			shuffled = shuffled || w.ShuffleBytes != Unknown
			wrote = wrote || w.HDFSWriteBytes != Unknown
			d.ShuffleData += max(0, w.ShuffleBytes)
			d.OutputBytes += max(0, w.HDFSWriteBytes)
		}
	}
	j.neverLaunched(h, Map, h.Maps, &winners)
	j.neverLaunched(h, Reduce, h.Reduces, &winners)
	if r.local == nil {
		j.Maps.Localise, j.Reduces.Localise = Durations{}, Durations{}
	}
	if j.Reduces.Count > 0 && !shuffled {
		j.Reduces.ShuffleData = h.mapOutput()
	}
	if j.Reduces.Count > 0 {
		j.Maps.Output = h.rawOutput(j.Conf)
	}
	j.share(winners)
	if o.Rescaled {
		never -= j.rescale(h, winners, &o) // these take the mean
	}
	if j.Reduces.Count > 0 && !wrote {
		j.Reduces.OutputBytes = max(0, h.Totals.Reduce.HDFSWriteBytes, h.Totals.All.HDFSWriteBytes)
	}
	if h.unplaced() {
		note("the locality of its maps is recorded, but the replicas of its input are not: they are placed again")
		j.Maps.Splits = nil
	}
	if repeated > 0 {
		note("%s launched again because the output was lost: not repeated", Counted(repeated, "task was", "tasks were"))
	}
	if never > 0 {
		note("%s no successful attempt of known duration: replayed with zero time", Counted(never, "task has", "tasks have"))
	}
	if unsized > 0 {
		note("the input of %s is not recorded: taken as zero bytes", Counted(unsized, "map", "maps"))
	}
	return j
}

// share divides the data of a job among its tasks as recorded, if the record has
// the data of every task.
func (j *Job) share(winners [2][]*HistoryAttempt) {
	in := shares(winners[Map], func(c *Counters) int64 { return c.InRecords })
	bytes := shares(winners[Map], func(c *Counters) int64 { return c.OutBytes })
	records := shares(winners[Map], func(c *Counters) int64 { return c.OutRecords })
	if in != nil && bytes != nil && records != nil {
		for i := range in {
			input := 1 / float64(len(in))
			if j.Maps.InputBytes > 0 {
				input = float64(j.Maps.Splits[i].Bytes) / float64(j.Maps.InputBytes)
			}
			j.Maps.Shares = append(j.Maps.Shares, MapShare{input, in[i], bytes[i], records[i]})
		}
	}
	j.Reduces.Shares = shares(winners[Reduce], func(c *Counters) int64 { return c.ShuffleBytes })
}

// shares returns the part of a counter that each task has, or nil if it is not
// known of all.
func shares(winners []*HistoryAttempt, of func(*Counters) int64) []float64 {
	sum, parts := 0.0, make([]float64, len(winners))
	for i, w := range winners {
		if w == nil || of(&w.Counters) == Unknown {
			return nil
		}
		parts[i] = float64(of(&w.Counters))
		sum += parts[i]
	}
	if sum == 0 {
		return nil
	}
	for i := range parts {
		parts[i] /= sum
	}
	return parts
}

// mapOutput returns what is known of the map output of a job.
func (h *HistoryJob) mapOutput() (sum int64) {
	for _, w := range h.Of(Map) {
		if w != nil {
			out := w.MaterializedBytes
			if out == Unknown {
				out = w.OutBytes
			}
			sum += max(0, out)
		}
	}
	return sum
}

// rawOutput returns the job's map output before combiner and codec, if it is
// recorded.
func (h *HistoryJob) rawOutput(conf Conf) MapOutput {
	var out MapOutput
	var spilled, reduced int64                      // records of maps, records into reduces
	counted, merged, unknown := false, false, false // unknown: what came into some reduce
	for _, w := range h.Of(Reduce) {
		unknown = unknown || w == nil || w.InRecords == Unknown
		if w != nil {
			out.MergedIn += max(0, w.CombineInRecords)
			out.MergedOut += max(0, w.CombineOutRecords)
			reduced += max(0, w.InRecords)
		}
	}
	for _, w := range h.Of(Map) {
		if w == nil {
			continue
		}
		spilled += max(0, w.SpilledRecords)
		counted, merged = counted || w.CombineInRecords != Unknown, merged || w.LocalReadBytes > 0
		if w.OutBytes == Unknown {
			return MapOutput{}
		}
		out.RawBytes += w.OutBytes
		out.Records += max(0, w.OutRecords)
		out.CombineIn += max(0, w.CombineInRecords)
		out.CombineOut += max(0, w.CombineOutRecords)
	}
	switch {
	case reduced == 0:
	case out.CombineIn > 0 && out.CombineOut == 0:
		out.combined(spilled, reduced)
	case !counted && !unknown && h.Outcome == Succeeded && float64(reduced) < mostCombined*float64(out.Records):
		out.uncounted(spilled, reduced, merged)
	}
	if compressed, err := conf.Truth("mapred.compress.map.output"); err == nil && compressed {
		out.Codec = conf.Text("mapred.map.output.compression.codec")
	}
	return out
}

// combined derives the records out of combiners, which Rumen does not have. What
// maps combine beyond their output, they combined in spills before; they write it
// and the fetched records to disk. Reduces read what they fetch, or less if they
// combine.
func (o *MapOutput) combined(spilled, reduced int64) {
	again := max(0, o.CombineIn-o.Records)
	fetched := reduced
	if o.MergedIn > 0 {
		fetched = max(reduced, o.MergedIn, min(spilled-again, reduced+o.MergedIn))
		o.MergedOut = o.MergedIn - (fetched - reduced)
	}
	o.CombineOut = again + fetched
}

// mostCombined is the largest part of the records that an inferred combiner leaves. Reduces
// do not count values that they leave unread, so a few may be missing without a combiner;
// one that removes so few hardly changes any time.
const mostCombined = 0.95

// uncounted derives what a combiner did in a record that does not count its records, but
// of whose map output fewer records came into the reduces.
func (o *MapOutput) uncounted(spilled, reduced int64, merged bool) {
	spills := max(spilled, reduced)
	o.CombineIn, o.CombineOut = o.Records, spills
	switch {
	case merged:
		spills = max(reduced, spilled-reduced)
		o.CombineIn, o.CombineOut = o.Records+spills, spills+reduced
	case float64(reduced) < mostCombined*float64(spills):
		o.MergedIn, o.MergedOut = spills, reduced
	}
}

// Placed returns a property that says whether the input of a job had replicas that
// are not recorded, for formats without the locality of maps. Its value is empty
// if it had none.
func (h *HistoryJob) Placed() (key, value string) {
	if h.unplaced() {
		value = "true"
	}
	return placedInput, value
}

const placedInput = "slotwave.input.placed"

// unplaced reports whether the input of a job had replicas that are not recorded:
// its maps ran near them.
func (h *HistoryJob) unplaced() bool {
	near := h.Conf.String(placedInput, "") == "true"
	for i := range h.Tasks {
		t := &h.Tasks[i]
		if len(t.Split.Hosts) > 0 {
			return false
		}
		for k := range t.Attempts {
			near = near || t.Kind == Map && t.Attempts[k].Locality <= RackLocal
		}
	}
	return near
}

// inputBytes returns the bytes that a map read: by its input format, or from
// HDFS.
func (t *HistoryTask) inputBytes() int64 {
	if t.Split.Bytes != Unknown {
		return t.Split.Bytes
	}
	w := t.Winner()
	switch {
	case w == nil:
		return Unknown
	case w.HDFSReadBytes > 0:
		return w.HDFSReadBytes
	}
	return w.InBytes
}

// spent returns how long the child process of an attempt ran.
func (o ReplayOptions) spent(a *HistoryAttempt) time.Duration {
	if !Known(a.Start) || !Known(a.Finish) {
		return 0
	}
	return max(0, a.Duration()-o.startup(a))
}

func (o ReplayOptions) startup(a *HistoryAttempt) time.Duration {
	if Known(a.Phases[PhaseStartup]) {
		return a.Phases[PhaseStartup]
	}
	return o.Startup
}

// commit returns the commit time of an attempt that the simulator adds.
func (o ReplayOptions) commit(w *HistoryAttempt) time.Duration {
	if o.Commit > 0 && Known(w.Phases[PhaseCommit]) {
		return w.Phases[PhaseCommit]
	}
	return 0
}

func (o ReplayOptions) mapTime(w *HistoryAttempt) time.Duration {
	if w == nil {
		return 0
	}
	return max(0, o.spent(w)-o.commit(w))
}

// reduceTimes splits a reduce at the end of the last map, of the shuffle and of
// the sort. Without these marks all of its time counts as the reduce phase.
func (o ReplayOptions) reduceTimes(w *HistoryAttempt, lastMap time.Duration) (shuffle, sort, reduce time.Duration) {
	if w == nil || !Known(w.Start) || !Known(w.Finish) {
		return 0, 0, 0
	}
	commit := max(o.Commit, o.commit(w))
	began := w.Start + o.startup(w)
	end := w.Finish - commit
	if !Known(w.Phases[PhaseShuffle]) {
		return 0, 0, max(0, end-max(began, lastMap))
	}
	shuffled := w.Start + w.Phases[PhaseShuffle]
	if Known(w.Phases[PhaseStartup]) {
		shuffled += w.Phases[PhaseStartup]
	}
	shuffle = max(0, shuffled-max(began, lastMap))
	if Known(w.Phases[PhaseMerge]) {
		sort = w.Phases[PhaseMerge]
	}
	return shuffle, sort, max(0, end-shuffled-sort)
}

// noSpeculation turns the rule of the JobTracker off.
var noSpeculation = func() (conf Conf) {
	conf.Set("mapred.map.tasks.speculative.execution", "false")
	conf.Set("mapred.reduce.tasks.speculative.execution", "false")
	return conf
}()
