package trace

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/workload"
)

var scenarioFormat = Format{
	Name: "toml", About: "scenario that replays the jobs",
	chains: true,
	Files:  "scenario.toml",
	write: func(h *workload.History) (Output, error) {
		return Output{Files: []File{{"scenario.toml", func(w io.Writer) error { return writeScenario(w, h) }}}}, nil
	},
	needs: func(h *workload.History) error {
		if err := needsJobs(h); err != nil || h.Topology.Hosts() > 0 {
			return err
		}
		return errors.New("--to toml: no machines found: want a trace that names them")
	},
}

// cleanupWithJVM is the time of the clean-up of an attempt, with the start of its JVM,
// that a replay without a launch of its own assumes.
const cleanupWithJVM = 1500 * time.Millisecond

// writeScenario writes a history as a complete scenario of slotwave that
// replays its jobs on the machines it names. A scenario needs machines. The
// release may be unknown.
func writeScenario(w io.Writer, h *workload.History) error {
	startup, commit := meanPhase(h, workload.PhaseStartup), meanPhase(h, workload.PhaseCommit)
	r, err := h.Replay(workload.ReplayOptions{Startup: startup, Commit: commit, Initialised: true, Speculated: true})
	if err != nil {
		return err
	}
	conf := h.Common()
	exceeded := exceedsLimits(h, conf)
	if exceeded != "" {
		var none workload.Conf
		for _, key := range memoryLimits {
			none.Set(key, "-1")
		}
		conf = conf.Over(none)
	}
	common := meaningful(conf)
	assumed := append(slices.Clone(r.Assumed), "racks: the machines spread evenly over them, in the order of their names")

	if exceeded != "" {
		assumed = append(assumed, fmt.Sprintf("memory limits of the cluster: none, since %s asks for more than those of its configuration and ran", exceeded))
	}
	if version := h.Common().String("hadoop.common.configuration.version", ""); version != "" && h.Release == "" {
		assumed = append(assumed, "hadoop: the default, since the release of the trace's configuration, "+version+", is not known here")
	}

	if h.Inferred.Release != "" && h.Release != "" {
		assumed = append(assumed, "hadoop: "+h.Inferred.Release)
	}

	workers := h.Workers()
	beats := beatsOf(h, &workers)
	if beats != nil {
		assumed = append(assumed, "phases: heartbeats come when tasks were assigned")
	}
	if idle := h.Topology.Hosts() - workers.Hosts(); idle > 0 {
		assumed = append(assumed, fmt.Sprintf("nodes: without %s that only hold input", workload.Counted(idle, "machine", "machines")))
	}
	t := newTOMLWriter(w)
	t.pair("title", fmt.Sprintf("replay of %d recorded jobs", len(h.Jobs)))
	slots := map[workload.Kind]int{}
	for _, x := range []struct {
		kind     workload.Kind
		key      string
		property string
	}{{workload.Map, "map_slots", "mapred.tasktracker.map.tasks.maximum"}, {workload.Reduce, "reduce_slots", "mapred.tasktracker.reduce.tasks.maximum"}} {
		if _, told := common.Lookup(x.property); !told {
			slots[x.kind] = h.MostOnMachine(x.kind)
			assumed = append(assumed, x.key+": the most attempts at once on a machine")
		}
	}
	t.pair("assumed", assumed)
	t.pair("fidelity", "replay")
	t.table("cluster")
	if h.Release != "" {
		t.pair("hadoop", h.Release)
	}
	if beats != nil {
		t.pair("phases", beats)
	}
	t.pair("racks", len(workers.Racks))
	if n, ok := slots[workload.Map]; ok {
		t.pair("map_slots", n)
	}
	if n, ok := slots[workload.Reduce]; ok {
		t.pair("reduce_slots", n)
	}
	t.table("cluster.costs")
	t.pair("launch", startup.String())
	if startup == 0 { // the clean-up of an attempt, which no history records, starts a JVM too
		t.pair("task_cleanup", cleanupWithJVM.String())
	}
	if commit > 0 { // otherwise the times include it and its cost
		t.pair("commit", commit.String())
	}
	for _, x := range []struct {
		kind workload.Kind
		key  string
	}{{workload.Setup, "setup"}, {workload.Cleanup, "cleanup"}} {
		if d := meanTime(h, x.kind); workload.Known(d) {
			t.pair(x.key, max(0, d-startup).String())
		}
	}
	known := make(map[string]bool, workers.Hosts())
	for _, rack := range workers.Racks {
		for _, host := range rack.Hosts {
			t.table("[cluster.group]")
			t.pair("name", host)
			known[host] = true
		}
	}
	t.conf("conf", common)
	chains := h.Chains()
	for i := range r.Jobs {
		j := &r.Jobs[i]
		dropHosts(j.Maps.Splits, known)
		if c, ok := chains[j.ID]; ok {
			c.Hold(j)
		}
		t.job(j, common)
	}
	return t.Flush()
}

// beatsOf lists the first heartbeats of all workers, or none.
func beatsOf(h *workload.History, workers *workload.Topology) (beats []string) {
	for _, rack := range workers.Racks {
		for _, host := range rack.Hosts {
			beat, known := h.Inferred.Beats[host]
			if !known {
				return nil
			}
			beats = append(beats, beat.String())
		}
	}
	return beats
}

// dropHosts removes the hosts that are no workers from the splits.
func dropHosts(splits []workload.Split, workers map[string]bool) {
	for i := range splits {
		splits[i].Hosts = slices.DeleteFunc(slices.Clone(splits[i].Hosts), func(host string) bool { return !workers[host] })
	}
}

// memoryLimits are the limits of the capacity scheduler on a job's memory.
var memoryLimits = []string{
	"mapred.cluster.map.memory.mb", "mapred.cluster.reduce.memory.mb", "mapred.cluster.max.map.memory.mb", "mapred.cluster.max.reduce.memory.mb",
}

// exceedsLimits returns a job whose tasks ask for more memory than the recorded
// limits allow. Then the JobTracker had other limits than the client that
// submitted the job.
func exceedsLimits(h *workload.History, common workload.Conf) string {
	for i := range h.Jobs {
		conf := common.Over(h.Jobs[i].Conf)
		for _, kind := range []string{"map", "reduce"} {
			asked, err1 := conf.Whole("mapred.job." + kind + ".memory.mb")
			most, err2 := conf.Whole("mapred.cluster.max." + kind + ".memory.mb")
			if err1 == nil && err2 == nil && most > 0 && asked > most {
				return h.Jobs[i].ID
			}
		}
	}
	return ""
}

// meaningful keeps only the valid properties that matter if task times are
// given.
func meaningful(c workload.Conf) (kept workload.Conf) {
	for _, key := range c.Keys() {
		value := c.String(key, "")
		if p, ok := workload.FindProperty(key); ok && !p.OnYARN() && !p.Phases && p.Check(value) == nil {
			kept.Set(key, value)
		}
	}
	return kept
}

func (w tomlWriter) conf(path string, c workload.Conf) {
	if len(c.Keys()) == 0 {
		return
	}
	w.table(path)
	for _, key := range c.Keys() {
		w.pair(workload.TOMLText(key), c.String(key, ""))
	}
}

func (w tomlWriter) job(j *workload.Job, common workload.Conf) {
	w.table("[job]")
	pair := func(given bool, key string, value any) {
		if given {
			w.pair(key, value)
		}
	}
	m, r := &j.Maps, &j.Reduces
	w.pair("name", j.ID)
	pair(j.User != "", "user", j.User)
	pair(j.Pool != "", "pool", j.Pool)
	pair(j.Queue != "", "queue", j.Queue)
	pair(j.Priority != workload.Normal, "priority", j.Priority.String())
	pair(len(j.After) > 0, "after", j.After)
	w.pair("submit", j.Submit.String())
	pair(j.Commits, "commits", true)
	pair(r.FromLastMap, "from_last_map", true)
	pair(j.Init > 0, "initialised", j.Init.String())
	pair(j.NoSetupCleanup, "setup_cleanup", false)
	pair(j.SetupTime > 0, "setup", j.SetupTime.String())
	pair(j.CleanupTime > 0, "cleanup", j.CleanupTime.String())
	w.pair("maps", m.Count)
	w.pair("input", m.InputBytes)
	w.times("map_ms", &m.Time)
	w.localised("map_localise_ms", &m.Localise)
	var hosts [][]string
	some := false
	for _, s := range m.Splits {
		hosts = append(hosts, s.Hosts)
		some = some || len(s.Hosts) > 0
	}
	pair(some, "split_hosts", hosts)
	w.pair("reduces", r.Count)
	if r.Count > 0 {
		w.times("reduce_shuffle_ms", &r.Shuffle)
		w.times("reduce_sort_ms", &r.Sort)
		w.times("reduce_ms", &r.Time)
		w.localised("reduce_localise_ms", &r.Localise)
		w.pair("shuffle_bytes", r.ShuffleData)
		w.pair("output_bytes", r.OutputBytes)
	}
	pair(j.Ends.After > 0, "ends", j.Ends.State.String()+" "+j.Ends.After.String())
	w.ends("job.map_ends", m.Ends, m.Count)
	w.ends("job.reduce_ends", r.Ends, r.Count)
	var own workload.Conf
	conf := meaningful(j.Conf)
	for _, key := range conf.Keys() {
		value := conf.String(key, "")
		// Limits of memory are properties of the cluster, not of the job.
		if was, ok := common.Lookup(key); (!ok || was != value) && !slices.Contains(memoryLimits, key) {
			own.Set(key, value)
		}
	}
	w.conf("job.conf", own)
}

func milliseconds(list []time.Duration) []float64 {
	ms := make([]float64, len(list))
	for i, d := range list {
		ms[i] = float64(d) / 1e6
	}
	return ms
}

// times writes a time for each task, or a single one if all are equal.
func (w tomlWriter) times(key string, d *workload.Durations) {
	ms := milliseconds(d.Each)
	if len(d.Each) == 0 && d.All != 0 {
		ms = milliseconds([]time.Duration{d.All})
	}
	if len(slices.Compact(slices.Clone(ms))) == 1 {
		w.pair(key, ms[0])
		return
	}
	w.pair(key, ms)
}

// localised writes the times from assignment to start, if some are recorded.
func (w tomlWriter) localised(key string, d *workload.Durations) {
	if slices.ContainsFunc(d.Each, func(t time.Duration) bool { return t > 0 }) {
		w.times(key, d)
	}
}

func (w tomlWriter) ends(path string, ends map[int][]workload.AttemptEnd, tasks int) {
	if len(ends) == 0 {
		return
	}
	w.table(path)
	for task := range tasks {
		var texts []string
		for _, e := range ends[task] {
			texts = append(texts, e.String())
		}
		if len(texts) > 0 {
			w.pair(strconv.Itoa(task), texts)
		}
	}
}

// meanPhase returns the mean time of a phase in successful attempts; zero if it
// is not recorded.
func meanPhase(h *workload.History, p workload.Phase) time.Duration {
	return h.Mean(func(t *workload.HistoryTask, w *workload.HistoryAttempt) time.Duration {
		if t.Kind > workload.Reduce || p == workload.PhaseCommit && t.Kind != workload.Reduce {
			return workload.UnknownTime
		}
		return w.Phases[p]
	}, 0)
}

// meanTime returns the mean time of successful attempts of a kind.
func meanTime(h *workload.History, k workload.Kind) time.Duration {
	return h.Mean(func(t *workload.HistoryTask, w *workload.HistoryAttempt) time.Duration {
		if t.Kind != k || !workload.Known(w.Start) || !workload.Known(w.Finish) {
			return workload.UnknownTime
		}
		return w.Duration()
	}, workload.UnknownTime)
}
