// Package inspect says what a history records, and what that determines.
//
//	Inspect -> Inspection    text and JSON (answer)
//	Files   -> pictures and tables of the recorded attempts
package inspect

import (
	"cmp"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study/calibrate"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Inspect sums up what histories record: the cluster, the jobs, and what is
// missing for which question. It returns the histories too.
func Inspect(paths []string, r scenarios.Reading) (*Inspection, *workload.History, error) {
	h, err := r.OpenAll(paths...)
	if err != nil {
		return nil, nil, err
	}
	if len(h.Jobs)+len(h.Swim) == 0 {
		return nil, nil, trace.NoJobs(h, paths...)
	}
	formats, err := formatsOf(paths, r)
	if err != nil {
		return nil, nil, err
	}
	workers := h.Workers()
	s := &Inspection{
		Schema: inspectionSchema, Paths: paths, Formats: formats,
		Machines: workers.Hosts(), Racks: len(workers.Racks), Idle: h.IdleWorkers(), OnlyInput: h.Topology.Hosts() - workers.Hosts(),
		Epoch: h.Epoch, Problems: len(h.Problems) + h.Dropped,
		Slots: []RecordedSlots{}, Names: []RecordedName{}, Attempts: []RecordedKind{},
		Still: []StoodStill{}, Missing: []MissingFact{}, Warnings: append([]string{}, h.Lost()...),
	}
	if r.Anonymise {
		s.Paths = []string{"a history"}
	}
	s.Release, s.KnownBy = releaseOf(h, s.Formats)
	in := inspected{h, s}
	in.clusters()
	in.jobs()
	in.names()
	in.slots(workload.Map)
	in.slots(workload.Reduce)
	in.attempts()
	for _, x := range h.StillHosts() {
		s.Still = append(s.Still, StoodStill{Machine: text.Escape(x.Host), Tasks: x.Kind.String() + "s", From: int64(x.From), To: int64(x.To), Usual: int64(x.Usual)})
	}
	for _, f := range calibrate.FactorsOf(h) {
		if f.Tasks > 0 {
			s.Speeds = append(s.Speeds, recordedSpeed{text.Escape(f.Host), f.Factor, f.Low, f.High, f.Tasks, f.Differs})
		}
	}
	if release, err := model.FindRelease(s.Release); err == nil {
		s.OnYARN = release.YARN != nil
	} else {
		s.OnYARN = slices.ContainsFunc(s.Formats, scenarios.HasContainers)
	}
	if s.OnYARN && len(s.Clusters) == 0 {
		s.Waited = h.Waited()
	}
	in.missing()
	s.Tells = scenarios.FactsOf(h, s.OnYARN)
	if note := h.AtOnce(); note != "" {
		s.Warnings = append(s.Warnings, note)
	}
	return s, h, nil
}

// formatsOf names the formats of the files, each once.
func formatsOf(paths []string, r scenarios.Reading) (formats []string, err error) {
	if r.Format != "" {
		return []string{r.Format}, nil
	}
	files, err := trace.ReadOptions{}.Files(paths...)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if format, err := trace.Detect(file); err == nil && !slices.Contains(formats, format) {
			formats = append(formats, format)
		}
	}
	slices.Sort(formats)
	return formats, nil
}

// inspected is a history and what was found in it.
type inspected struct {
	*workload.History
	found *Inspection
}

// eachAttempt calls f for every attempt.
func (in *inspected) eachAttempt(f func(*workload.HistoryTask, *workload.HistoryAttempt)) {
	for i := range in.Jobs {
		for k := range in.Jobs[i].Tasks {
			t := &in.Jobs[i].Tasks[k]
			for n := range t.Attempts {
				f(t, &t.Attempts[n])
			}
		}
	}
}

func hasSpan(a *workload.HistoryAttempt) bool {
	return workload.Known(a.Start) && workload.Known(a.Finish) && a.Finish >= a.Start
}

// clusters lists the clusters that wrote the history, if they are several.
func (in *inspected) clusters() {
	clusters := in.Clusters()
	if len(clusters) == 1 {
		return
	}
	for i := range clusters {
		c := &clusters[i]
		workers := c.Workers()
		part := recordedPart{Patterns: scenarios.ClusterPatterns(c, in.History), Jobs: len(c.Jobs), Machines: workers.Hosts(), Epoch: c.Epoch}
		for k := range part.Patterns {
			part.Patterns[k] = text.Escape(part.Patterns[k])
		}
		in.found.Clusters = append(in.found.Clusters, part)
	}
}

// jobs counts the jobs by their end and finds the time from the first submission
// to the last end.
func (in *inspected) jobs() {
	n := &in.found.Jobs
	n.Jobs, n.Volumes = len(in.Jobs)+len(in.Swim), len(in.Swim)
	first, last := workload.UnknownTime, workload.UnknownTime
	for i := range in.Jobs {
		j := &in.Jobs[i]
		switch j.Outcome {
		case workload.Succeeded:
			n.Succeeded++
		case workload.Failed:
			n.Failed++
		case workload.Killed:
			n.Killed++
		default:
			n.Unfinished++
		}
		if at := j.Earliest(); workload.Known(at) && (!workload.Known(first) || at < first) {
			first = at
		}
		last = max(last, j.Finish)
	}
	in.eachAttempt(func(_ *workload.HistoryTask, a *workload.HistoryAttempt) { last = max(last, a.Finish) })
	for i := range in.Swim {
		first, last = max(first, 0), max(last, in.Swim[i].Submit)
	}
	if workload.Known(first) && workload.Known(last) {
		in.found.Span = int64(last - first)
	}
}

// names sums up the jobs of each name, those with the most slot time first.
func (in *inspected) names() {
	place := map[string]int{}
	var times [][]time.Duration
	for i := range in.Jobs {
		j := &in.Jobs[i]
		name := cmp.Or(j.Name, j.ID)
		k, known := place[name]
		if !known {
			k = len(in.found.Names)
			place[name] = k
			in.found.Names = append(in.found.Names, RecordedName{Name: text.Escape(name)})
			times = append(times, nil)
		}
		n := &in.found.Names[k]
		n.Jobs++
		maps, _ := j.Count(workload.Map)
		reduces, _ := j.Count(workload.Reduce)
		n.Maps += max(maps, j.Maps)
		n.Reduces += max(reduces, j.Reduces)
		for t := range j.Tasks {
			if w := j.Tasks[t].Winner(); w != nil && j.Tasks[t].Kind == workload.Map {
				n.InBytes += max(0, w.HDFSReadBytes, w.InBytes)
			}
			for _, a := range j.Tasks[t].Attempts {
				if hasSpan(&a) {
					n.SlotTime += int64(a.Finish - a.Start)
				}
			}
		}
		if len(j.Tasks) == 0 {
			n.SlotTime += int64(time.Millisecond) * (max(0, j.Totals.SlotMillisMaps) + max(0, j.Totals.SlotMillisReduces))
		}
		if workload.Known(j.Submit) && workload.Known(j.Finish) {
			times[k] = append(times[k], j.Finish-j.Submit)
		}
	}
	for k := range times {
		in.found.Names[k].Median = int64(median(times[k]))
	}
	slices.SortStableFunc(in.found.Names, func(a, b RecordedName) int { return cmp.Compare(b.SlotTime, a.SlotTime) })
}

// median is 0 for no times.
func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[(len(times)-1)/2]
}

// slots finds how many slots of a kind were in use at once.
func (in *inspected) slots(kind workload.Kind) {
	busy := time.Duration(0)
	most := workload.MostAtOnce(func(yield func(start, finish time.Duration) bool) {
		in.eachAttempt(func(t *workload.HistoryTask, a *workload.HistoryAttempt) {
			if t.SlotKind() == kind && hasSpan(a) {
				busy += a.Finish - a.Start
				yield(a.Start, a.Finish)
			}
		})
	})
	if most == 0 {
		return
	}
	s := RecordedSlots{Type: kind.String(), Most: most, PerMachine: in.MostOnMachine(kind)}
	if in.found.Span > 0 {
		s.Busy = text.Share(float64(busy) / float64(most) / float64(in.found.Span))
	}
	var waves []int
	for i := range in.Jobs {
		if tasks, _ := in.Jobs[i].Count(kind); tasks > 0 {
			waves = append(waves, (tasks+most-1)/most)
		}
	}
	slices.Sort(waves)
	if n := len(waves); n > 0 {
		s.Waves = results.Waves{Jobs: n, Median: waves[(n-1)/2], Max: waves[n-1]}
	}
	in.found.Slots = append(in.found.Slots, s)
}

// attempts counts attempts by kind and end, and maps by locality.
func (in *inspected) attempts() {
	var kinds [workload.ReduceTaskCleanup + 1]RecordedKind
	var times [workload.ReduceTaskCleanup + 1][]time.Duration
	in.eachAttempt(func(t *workload.HistoryTask, a *workload.HistoryAttempt) {
		k := &kinds[t.Kind]
		k.Attempts++
		switch a.State {
		case workload.Succeeded:
			k.Succeeded++
			if hasSpan(a) {
				times[t.Kind] = append(times[t.Kind], a.Finish-a.Start)
			}
		case workload.Failed:
			k.Failed++
		case workload.Killed:
			k.Killed++
		}
		if t.Kind != workload.Map {
			return
		}
		switch l := &in.found.Locality; {
		case a.Node == "" || a.Locality == workload.NoLocality:
			l.Unknown++
		case a.Locality == workload.NodeLocal:
			l.Node++
		case a.Locality == workload.RackLocal:
			l.Rack++
		default:
			l.Off++
		}
	})
	for i := range kinds {
		if kinds[i].Attempts > 0 {
			kinds[i].Kind, kinds[i].Median = workload.Kind(i).String(), int64(median(times[i]))
			in.found.Attempts = append(in.found.Attempts, kinds[i])
		}
	}
}

// releaseOf is the release that wrote a history, and how that is known.
func releaseOf(h *workload.History, formats []string) (release, knownBy string) {
	if h.Release != "" {
		return h.Release, "stated"
	}
	if release, known := model.ReleaseOf(h.Common()); known {
		return release, "stated by the configuration"
	} else if release != "" {
		return release, "stated by the configuration; not one that is simulated"
	}
	if slices.Contains(formats, "jhist") {
		return "2.x", "format of the history; replayed on slots, or on YARN with --set cluster.hadoop=3.3.6"
	}
	return scenarios.InferRelease(h)
}

// missing lists what no attempt or job of the history states, apart from what
// scenarios.FactsOf says of the cluster.
func (in *inspected) missing() {
	var hosts, bytes, records, shuffle, tasks, start bool
	in.eachAttempt(func(t *workload.HistoryTask, a *workload.HistoryAttempt) {
		tasks = true
		hosts = hosts || len(t.Split.Hosts) > 0
		bytes = bytes || max(a.InBytes, a.OutBytes, a.HDFSReadBytes, a.ShuffleBytes) > 0
		records = records || max(a.InRecords, a.OutRecords) > 0
		shuffle = shuffle || t.Kind == workload.Reduce && workload.Known(a.Phases[workload.PhaseShuffle])
		start = start || workload.Known(a.Phases[workload.PhaseStartup])
	})
	var submit, finish, launch, reduces bool
	ofTasks := "a replay task by task; they are made from counters"
	for i := range in.Jobs {
		j := &in.Jobs[i]
		submit = submit || workload.Known(j.Submit)
		finish = finish || workload.Known(j.Finish)
		launch = launch || workload.Known(j.Launch)
		reduces = reduces || j.Reduces > 0
		if t := &j.Totals; len(j.Tasks) == 0 && (j.Maps > 0 && t.SlotMillisMaps == workload.Unknown || j.Reduces > 0 && t.SlotMillisReduces == workload.Unknown) {
			in.found.NoTimes = true
			ofTasks = "any replay: SLOTS_MILLIS_MAPS and SLOTS_MILLIS_REDUCES, from which they are made, are missing too"
		}
	}
	for _, m := range []struct {
		recorded       bool
		what, question string
	}{
		{len(in.Swim) == 0, "times of jobs and tasks: volumes only", "a replay; times follow from [workload.rates]"},
		{tasks || len(in.Swim) > 0, "tasks", ofTasks},
		{submit || len(in.Swim) > 0, "submission of jobs", "the error of a replay (recorded against simulated)"},
		{finish || len(in.Swim) > 0, "end of jobs", "the error of a replay (recorded against simulated)"},
		{launch || !tasks, "end of initialisation", "delays before the first task, and whether containers or slots stood free while tasks waited"},
		{hosts || !tasks, "machines with the input of maps", "locality with other nodes or another scheduler"},
		{bytes || !tasks, "bytes of tasks", "other disks, networks, codecs, block sizes"},
		{records || !tasks, "records of tasks", "costs per record (slotwave convert --to profile)"},
		{shuffle || !tasks || !reduces, "end of the shuffle of reduces", "slowstart, and other numbers of maps"},
		{start || !tasks, "start of the JVM", "start-up costs separate from the work: set workload.startup"},
		{in.Common().Len() > 0, "configuration", "sort buffer and other settings of tasks: give them with --set"},
	} {
		if !m.recorded {
			in.found.Missing = append(in.found.Missing, MissingFact{What: m.what, Question: m.question})
		}
	}
}
