package scenarios

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

func (r *Reading) check() error {
	var known []string
	for _, f := range trace.Formats() {
		if f.Reads() {
			known = append(known, f.Name)
		}
	}
	if r.Format != "" && !slices.Contains(known, r.Format) {
		return fmt.Errorf("--format: got %q: want one of %s%s", r.Format, strings.Join(known, ", "), input.DidYouMean(r.Format, known))
	}
	if r.Topology != "" {
		if _, err := trace.Detect(r.Topology); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--topology %s: want a file with the racks and machines alone: an object with name and children, or a table of them (slotwave help formats)", r.Topology)
		}
		jobs := errors.New("holds jobs")
		h, err := trace.ReadOptions{}.Each([]string{r.Topology}, func(*workload.HistoryJob) error { return jobs })
		if err == nil && len(h.Problems) > 0 {
			return fmt.Errorf("--topology %v", h.Problems[0])
		}
		if errors.Is(err, jobs) || err == nil && h.Topology.Hosts() == 0 {
			return fmt.Errorf("--topology %s: want a file with the racks and machines alone", r.Topology)
		}
		if err != nil {
			return fmt.Errorf("--topology: %w", plain(err))
		}
	}
	for _, pattern := range r.Jobs {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("--job: got %q: want a pattern such as 'sort*' or job_201301?????_0007", pattern)
		}
	}
	return nil
}

// partsOfResult are files of a result that hold no tasks.
var partsOfResult = []string{"jobs.csv", "summary.json", "predictions.csv", "resources.csv", "run.log", "manifest.json"}

// PartOfResult refuses a file of a result that holds no tasks.
func PartOfResult(name string) error {
	folder := filepath.Dir(name)
	if !hasFile(folder, "manifest.json") || !slices.Contains(partsOfResult, filepath.Base(name)) {
		return nil
	}
	return fmt.Errorf("%s: a part of a result, without tasks: want %s, the whole result", name, folder)
}

func hasFile(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// isHistory reports whether a file or folder holds recorded runs, and not a
// scenario or a recorded case. Its content decides.
func (r *Reading) isHistory(name string, info fs.FileInfo) (bool, error) {
	switch {
	case info.IsDir():
		return true, nil
	case filepath.Ext(name) == ".toml":
		return false, nil
	case r.Format != "":
		return true, nil
	}
	if err := PartOfResult(name); err != nil {
		return false, err
	}
	if folder := filepath.Dir(name); strings.HasPrefix(filepath.Base(name), "attempts.csv") && hasFile(folder, "jobs.csv") && hasFile(folder, "manifest.json") {
		return false, fmt.Errorf("%s: a part of a result, without submissions and settings: want %s, the whole result", name, folder)
	}
	format, err := trace.Detect(name)
	var foreign trace.ForeignError
	switch {
	case (err != nil || format == "conf") && info.Size() <= maxFile && isQueues(name):
		return false, fmt.Errorf("%s: the queues of a cluster on YARN, without jobs: want --workload FILE, a history or a scenario with the jobs", name)
	case errors.As(err, &foreign):
		return false, err
	case err != nil:
		return false, nil
	case format == "conf" || format == "topology":
		return false, trace.NoJobs(&workload.History{}, name)
	}
	return format != "properties", nil
}

// replayOf makes the file a scenario that replays a history.
func (f *File) replayOf(name string) {
	base := filepath.Base(filepath.Clean(name))
	slug := strings.TrimSuffix(base, ".gz")
	if len(slug) > len(filepath.Ext(slug)) {
		slug = strings.TrimSuffix(slug, filepath.Ext(slug))
	}
	// Not the bare name: out/a would be replayed into itself.
	f.slug = slugOf(cut(slugOf(slug), 57) + "-replay")
	f.folder = "."
	f.simulatedWith(name)
	if f.reading.Anonymise {
		f.slug, base = "history-replay", "a history"
	}
	f.data = fmt.Appendf(nil, "title = %s\n[workload]\ntrace = %s\n", workload.TOMLText("Replay of "+base), workload.TOMLText(name))
}

// simulatedWith reads from the summary of a result what its tables do not state:
// release and scheduler of the run.
func (f *File) simulatedWith(folder string) {
	var summary struct{ Schema, Hadoop, Scheduler string }
	data, err := os.ReadFile(filepath.Join(folder, "summary.json"))
	if err != nil || json.Unmarshal(data, &summary) != nil {
		return
	}
	if is, err := workload.SummarySchema.Reads(summary.Schema, ""); !is || err != nil {
		return // the reader of the tables refuses a result that is newer
	}
	if r, err := model.FindRelease(summary.Hadoop); err == nil && r.YARN != nil {
		return // its attempts are replayed on slots, unless the user says otherwise
	}
	f.State("cluster.hadoop", summary.Hadoop, "of the simulated run")
	// The others need queues or deadlines, which a result does not hold.
	if slices.Contains([]string{"fifo", "fair1", "fair2"}, summary.Scheduler) {
		f.State("scheduler.name", summary.Scheduler, "of the simulated run")
	}
}

// State gives a key of a replayed history a value that counts if nothing else gives it
// one, and is listed as assumed. The value is written as in a setting.
func (f *File) State(key, value, why string) {
	f.stated = maps.Clone(f.stated)
	if f.stated == nil {
		f.stated = map[string]stated{}
	}
	f.stated[key] = stated{value, why}
}

// adopt gives keys of the scenario the values that a result states of its run. On YARN
// a scheduler of slots says nothing.
func (f *File) adopt(t *table) {
	for _, full := range slices.Sorted(maps.Keys(f.stated)) {
		section, key, _ := strings.Cut(full, ".")
		if t.gives(section, key) || section == "scheduler" && t.yarn != nil {
			continue
		}
		values, _ := t.values[section].(map[string]any)
		if values = maps.Clone(values); values == nil {
			values = map[string]any{}
		}
		one, err := parseSetting("value=" + f.stated[full].value)
		if err != nil {
			t.fail(0, "%s: %v", full, err)
			continue
		}
		values[key] = one.value["value"]
		t.values = maps.Clone(t.values)
		t.values[section] = values
		t.assume("%s = %s (%s)", full, f.stated[full].value, f.stated[full].why)
	}
}

// Open reads histories and leaves the jobs that were asked for, which must be of one
// cluster.
func (r *Reading) Open(paths ...string) (*workload.History, error) {
	return r.open(paths, r.OneCluster)
}

// OpenAll reads histories of any number of clusters and leaves the jobs that were asked
// for.
func (r *Reading) OpenAll(paths ...string) (*workload.History, error) {
	return r.open(paths, func(*workload.History) error { return nil })
}

func (r *Reading) open(paths []string, check func(*workload.History) error) (*workload.History, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	h, err := trace.ReadOptions{Format: r.Format}.Open(r.withTopology(paths)...)
	if err != nil {
		return nil, plain(err)
	}
	if err := check(h); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	if err := r.choose(h); err != nil {
		return h, err
	}
	return r.named(h), nil
}

// Each passes the jobs that were asked for to f, one by one, and returns the rest of
// the histories.
func (r *Reading) Each(paths []string, f func(*workload.HistoryJob) error) (*workload.History, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	all, taken, names := 0, 0, newNames()
	var seen []string // names of jobs, for a hint
	h, err := trace.ReadOptions{Format: r.Format}.Each(r.withTopology(paths), func(j *workload.HistoryJob) error {
		if all++; !r.takes(j.ID, j.Name) {
			if len(seen) < 1000 {
				seen = append(seen, cmp.Or(j.Name, j.ID))
			}
			return nil
		}
		taken++
		if r.Anonymise {
			renamed := names.Job(j)
			j = &renamed
		}
		return f(j)
	})
	if err == nil && all > 0 && taken == 0 {
		err = r.noMatch(all, seen)
	}
	if err != nil {
		return h, err
	}
	return r.named(h), nil
}

// newNames are those for all histories of one call: equal names become equal ones.
func newNames() *workload.Names { return &workload.Names{Seed: workload.Seed(1).Named("names")} }

// named returns the history with new names, if they are wanted.
func (r *Reading) named(h *workload.History) *workload.History {
	if !r.Anonymise {
		return h
	}
	if release, known := model.ReleaseOf(h.Common()); known {
		h.Release = release
	}
	return h.Anonymise(newNames())
}

func (r *Reading) withTopology(paths []string) []string {
	if r.Topology == "" {
		return paths
	}
	return append(slices.Clone(paths), r.Topology)
}

// takes reports whether a job was asked for: a pattern matches its id or name.
func (r *Reading) takes(id, name string) bool {
	return len(r.Jobs) == 0 || slices.ContainsFunc(r.Jobs, func(pattern string) bool { return workload.MatchesJob(id, name, pattern) })
}

// noMatch names a job that may have been meant, else the first one.
func (r *Reading) noMatch(jobs int, names []string) error {
	hint := ""
	if i := input.Nearest(r.Jobs[0], names); i >= 0 {
		hint = fmt.Sprintf(" (did you mean %q?)", names[i])
	} else if len(names) > 0 {
		hint = fmt.Sprintf(", such as %q", names[0])
	}
	return fmt.Errorf("--job %s: matches none of %s%s", strings.Join(r.Jobs, ", "), workload.Counted(jobs, "job", "jobs"), hint)
}

// namesOf lists the names of jobs, or their IDs where they have none.
func namesOf(h *workload.History) (names []string) {
	for i := range h.Jobs {
		names = append(names, cmp.Or(h.Jobs[i].Name, h.Jobs[i].ID))
	}
	for i := range h.Swim {
		names = append(names, h.Swim[i].ID)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// clusters returns the clusters of a history with jobs that were asked for.
func (r *Reading) clusters(h *workload.History) []workload.History {
	return slices.DeleteFunc(h.Clusters(), func(c workload.History) bool {
		return !slices.ContainsFunc(c.Jobs, func(j workload.HistoryJob) bool { return r.takes(j.ID, j.Name) })
	})
}

// mostClusters is how many clusters an error lists.
const mostClusters = 10

// OneCluster leaves the cluster of the jobs that were asked for. If they are of several,
// it returns an error with the flags that choose the jobs of each.
func (r *Reading) OneCluster(h *workload.History) error {
	asked := r.clusters(h)
	if len(asked) == 1 {
		*h = asked[0]
	}
	if len(asked) < 2 {
		return nil
	}
	text := fmt.Sprintf("got jobs of %d clusters, without a JobTracker or machine in common: want those of one:", len(asked))
	for i := range asked {
		if i == mostClusters {
			text += fmt.Sprintf("\nand %d more, which slotwave inspect lists", len(asked)-i)
			break
		}
		c := &asked[i]
		workers := c.Workers()
		text += fmt.Sprintf("\n--job '%s' for %s on %s", strings.Join(ClusterPatterns(c, h), "' --job '"),
			workload.Counted(len(c.Jobs), "job", "jobs"), workload.Counted(workers.Hosts(), "machine", "machines"))
	}
	return errors.New(text)
}

// narrow leaves the jobs of the JobTrackers that had the jobs that were asked for.
func (r *Reading) narrow(h *workload.History) {
	h.WithTrackersOf(func(j *workload.HistoryJob) bool { return r.takes(j.ID, j.Name) })
}

// choose leaves the jobs that were asked for, and the machines that their clusters had
// under their JobTrackers.
func (r *Reading) choose(h *workload.History) error {
	if len(r.Jobs) == 0 {
		return nil
	}
	whole := *h
	asked := r.clusters(h)
	if len(asked) == 1 { // an inspection may be of several
		*h = asked[0]
	}
	if len(asked) > 0 {
		r.narrow(h)
	}
	h.Jobs = slices.DeleteFunc(slices.Clone(h.Jobs), func(j workload.HistoryJob) bool { return !r.takes(j.ID, j.Name) })
	h.Swim = slices.DeleteFunc(slices.Clone(h.Swim), func(j workload.SwimJob) bool { return !r.takes(j.ID, "") })
	if all := len(whole.Jobs) + len(whole.Swim); len(h.Jobs)+len(h.Swim) == 0 && all > 0 {
		return r.noMatch(all, namesOf(&whole))
	}
	return nil
}

// Anew returns the file as one that asks about another cluster is simulated: what the
// cluster of a record decided is decided again.
func (f *File) Anew() *File {
	again := *f
	again.anew = true
	return &again
}

// AsRecorded returns the file of a history without the settings that change it. Anew, it
// is simulated as a question about another cluster is, unless settings say otherwise.
func (f *File) AsRecorded(changed []string, anew bool) (*File, error) {
	settings := []string{"workload.initialised=simulated", "workload.replay=rescaled"}
	as, err := f.With(slices.DeleteFunc(settings, func(s string) bool {
		key, _, _ := strings.Cut(s, "=")
		return !anew || f.sets(key)
	})...)
	if err != nil {
		return nil, err
	}
	as.fork = nil
	as.set = slices.DeleteFunc(as.set, func(s setting) bool {
		_, varies := s.value["vary"]
		return varies || slices.Contains(changed, workload.WithoutSecrets(s.text))
	})
	return as, nil
}

// asRecorded are the keys that say how a record is read or what is written of its
// replay. Any other setting asks about another cluster or workload.
var asRecorded = []string{
	"fidelity", "name", "title", "source", "attempts", "plots",
	"models.platform_model", "models.statistics", "models.small", "models.history", "models.literal", "models.causes",
	"workload.trace", "workload.format", "workload.job", "workload.startup", "workload.commit", "workload.initialised", "workload.only_succeeded", "workload.replay",
}

// ClusterPatterns returns patterns for --job that match the ids of all jobs of one
// of the clusters of a history and of no other: what its ids begin with, or else
// what the ids of each of its JobTrackers begin with.
func ClusterPatterns(c, h *workload.History) []string {
	prefix := c.Jobs[0].ID
	for i := range c.Jobs {
		for !strings.HasPrefix(c.Jobs[i].ID, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if prefix == c.Jobs[0].ID {
		return []string{prefix}
	}
	if strings.Count(prefix, "_") == strings.Count(c.Jobs[0].ID, "_") { // all but the number of the job
		prefix = prefix[:strings.LastIndexByte(prefix, '_')+1]
	}
	all := 0
	for i := range h.Jobs {
		if strings.HasPrefix(h.Jobs[i].ID, prefix) {
			all++
		}
	}
	if all == len(c.Jobs) {
		return []string{prefix + "*"}
	}
	var patterns []string
	for i := range c.Jobs {
		id := c.Jobs[i].ID
		patterns = append(patterns, id[:strings.LastIndexByte(id, '_')+1]+"*")
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}
