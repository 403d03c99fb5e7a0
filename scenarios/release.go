package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// defaultRelease is simulated if neither the scenario nor a trace shows another.
const defaultRelease = "1.2.1"

// releaseOf returns the release of a trace: the one that it names, or the one that
// its heartbeats or counters show.
func (t clusterTable) releaseOf(l *load) string {
	if t.has("hadoop") || !l.recorded() {
		return defaultRelease
	}
	recorded, err := model.FindRelease(l.history.Release)
	known := l.history.Release != "" && err == nil
	if l.onYARN || known && recorded.YARN != nil {
		release := usualYARN
		if known && recorded.YARN != nil {
			release = l.history.Release
		}
		t.assume("the record is of YARN and is replayed on slots; cluster.hadoop = %s replays it on YARN", release)
	} else if known {
		t.assume("hadoop = %s, as the trace says", l.history.Release)
		return l.history.Release
	}
	if release, known := model.ReleaseOf(l.common()); known {
		t.assume("hadoop = %s, as the trace's configuration says", release)
		return release
	}
	release, knownBy := InferRelease(l.whole)
	release = cmp.Or(release, defaultRelease)
	t.assume("hadoop = %s (%s)", release, knownBy)
	return release
}

// InferRelease returns the release of Hadoop that the starts of tasks or the
// counters of a history show, and what shows it. If nothing does, the release is
// empty.
func InferRelease(h *workload.History) (release, knownBy string) {
	conf, older := h.Common(), generation(h)
	if _, late := conf.Lookup("mapreduce.job.speculative.speculativecap"); late {
		return "0.21.0", "its configuration has the properties of this release"
	}
	for _, key := range []string{"mapreduce.tasktracker.outofband.heartbeat", "mapred.heartbeats.in.second"} {
		if _, known := conf.Lookup(key); known && older == "0.20.2" {
			older = "1.0.4"
		}
	}
	as := assignedIn(h)
	switch {
	case as.beats(3*time.Second) != nil:
		return cmp.Or(older, "0.20.2"), "tasks of a machine start whole intervals of 3 s apart, as heartbeats do"
	case as.beats(300*time.Millisecond) != nil:
		return defaultRelease, "tasks of a machine start whole intervals of 0.3 s apart, as heartbeats do"
	}
	g := startGaps(h)
	switch {
	case g.slow+g.quick < fewestGaps:
		knownBy = "too few starts of tasks to see the heartbeats"
	case g.slow > 2*g.beside && g.slow > g.quick:
		return cmp.Or(older, "0.20.2"), "tasks of a machine start 3 s apart, as heartbeats do"
	case g.quick > 3*g.slow:
		return defaultRelease, "tasks of a machine start 0.3 s apart, as heartbeats do"
	default:
		knownBy = "starts of tasks show no clear heartbeat"
	}
	if older == "0.20.2" {
		return older, "tasks have no counter of CPU time, which later releases have"
	}
	return "", knownBy
}

// generation returns the release with heartbeats of 3 s or more to which the
// counters of a history belong: those of 0.20.203 and later have the CPU time and
// the stored map output. It is empty if there are no counters.
func generation(h *workload.History) string {
	counters := false
	for _, a := range h.Each() {
		if max(a.CPUMillis, a.MaterializedBytes) > 0 {
			return "1.0.4"
		}
		counters = counters || max(a.InRecords, a.OutRecords, a.HDFSReadBytes) > 0
	}
	if !counters {
		return ""
	}
	return "0.20.2"
}

// fewestGaps is the number of gaps of about a heartbeat from which a release is
// inferred.
const fewestGaps = 20

// gaps counts the gaps between starts of tasks on one machine. slow counts gaps of
// about 3 s, the least heartbeat interval up to 1.0.4. beside counts those in an
// equally wide range next to it, for comparison. quick counts gaps of about 0.3 s,
// the least interval of 1.2.1. Starts at one heartbeat are closer together, because
// only the JVMs start at different speeds.
type gaps struct{ slow, beside, quick int }

func startGaps(h *workload.History) (g gaps) {
	starts := map[string][]time.Duration{}
	for t, a := range h.Each() {
		if a.Node != "" && workload.Known(a.Start) && (t.Kind == workload.Map || t.Kind == workload.Reduce) {
			starts[a.Node] = append(starts[a.Node], a.Start)
		}
	}
	beside := 0
	for _, node := range slices.Sorted(maps.Keys(starts)) {
		times := starts[node]
		slices.Sort(times)
		for i := range times[1:] {
			switch ms := (times[i+1] - times[i]).Milliseconds(); {
			case ms >= 2800 && ms < 3200:
				g.slow++
			case ms >= 2200 && ms < 2600, ms >= 3400 && ms < 3800:
				beside++
			case ms >= 200 && ms < 400:
				g.quick++
			}
		}
	}
	g.beside = beside / 2
	return g
}
