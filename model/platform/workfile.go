package platform

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
)

// WorkProfile holds the measured tasks of each phase.
type WorkProfile map[string][]WorkRow

// workColumns are the columns of a task table that state the work of the tasks.
var workColumns = []string{
	"task", "map_in_bytes", "map_in_recs", "map_out_bytes", "map_out_recs", "spills", "spilled_recs", "file_bytes_written",
	"shuffle_bytes", "red_in_recs", "red_out_recs", "inmem_merges", "hdfs_bytes_written",
	"read_ms", "collect_ms", "spill_ms", "combine_ms", "merge_ms", "shuffle_ms", "write_ms",
}

// placing are the columns that state when a task ran, ms from the submission of
// its job. Without them no work counts as contended.
var placing = []string{"launch_ms", "jvm_ms", "init_ms", "body_ms", "done_ms", "fetches", "first_event_ms", "fetch_ms", "busy_ms", "shuffle_gross_ms", "copy_ms", "memmerge_ms", "diskmerge_ms", "reduce_in_ms"}

// ReadWork adds a table of measured tasks to the profile, one task per row: type
// (map or reduce), task (its index), counters, and times of phases in ms. Rows of
// one point or app form a group, those of one of its reps a run. A run that has a
// task twice is a mixture of runs, none of whose work counts as contended. The
// time of the combiner belongs to the job, not to the spill.
func (p WorkProfile) ReadWork(r io.Reader) error {
	lines := csv.NewReader(r)
	header, err := lines.Read()
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	at := map[string]int{}
	for i, name := range header {
		if _, twice := at[name]; !twice { // the table has sort_ms twice: the first is that of the map
			at[name] = i
		}
	}
	group := slices.IndexFunc(header, func(s string) bool { return s == "point" || s == "app" })
	for _, name := range append([]string{"type"}, workColumns...) {
		if _, ok := at[name]; !ok || group < 0 {
			return fmt.Errorf("line 1: columns are missing: want type, point (or app), %s", name)
		}
	}
	rep, repeats := at["rep"]
	columns := slices.Clone(workColumns)
	for _, name := range placing {
		if _, ok := at[name]; ok {
			columns = append(columns, name)
		}
	}
	var maps, reduces []measuredTask
	runs := map[string][]measuredTask{}
	partitions := map[string]float64{} // reduces of a group
	err = eachRow(lines, "", func(line int, row []string) error {
		value := map[string]float64{}
		for _, name := range columns {
			if text := row[at[name]]; text != "" {
				v, err := nonNegative(line, name, text)
				if err != nil {
					return err
				}
				value[name] = v
			}
		}
		task := measuredTask{row[group], row[group], row[at["type"]] == "map", value}
		if repeats {
			task.run += " " + row[rep]
		}
		runs[task.run] = append(runs[task.run], task)
		switch kind := row[at["type"]]; kind {
		case "map":
			maps = append(maps, task)
		case "reduce":
			reduces = append(reduces, task)
			partitions[task.group] = math.Max(partitions[task.group], value["task"]+1)
		default:
			return fmt.Errorf("line %d: type %q: want map or reduce", line, kind)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range maps {
		p.addMap(t.value, t.group, partitions[t.group])
	}
	together := map[string]*taskRun{}
	for _, t := range reduces {
		if together[t.run] == nil {
			together[t.run] = newTaskRun(runs[t.run])
		}
		p.addReduce(&t, together[t.run])
	}
	return nil
}

type measuredTask struct {
	group, run string
	isMap      bool
	value      map[string]float64
}

// span is a time in which a task ran, ms from the submission of its job.
type span struct{ from, to float64 }

func (s span) length() float64 { return math.Max(0, s.to-s.from) }

// common returns the time during a span in which any of the others runs.
func (s span) common(others ...span) float64 {
	sum := 0.0
	for _, o := range others {
		sum += span{math.Max(s.from, o.from), math.Min(s.to, o.to)}.length()
	}
	return sum
}

// begin returns when the body of the task begins, ms from the submission of the
// job.
func (t *measuredTask) begin() float64 {
	return t.value["launch_ms"] + t.value["jvm_ms"] + t.value["init_ms"]
}

// work returns when a reduce copies and merges, and when it does the rest. Copies
// of several rounds count from the first round on.
func (t *measuredTask) work() (copies, rest span) {
	v, begin := t.value, t.begin()
	first := begin + v["first_event_ms"]
	return span{first, first + v["busy_ms"]}, span{begin + v["fetch_ms"], begin + v["body_ms"]}
}

// taskRun is the tasks of one run.
type taskRun struct {
	tasks    []measuredTask
	maps     []span
	from, to float64 // of the first and the last map
	atOnce   float64 // most maps that ran when one of them ended
	ran      float64 // sum over all maps
	merged   bool    // a task occurs twice: a mixture of runs
}

func newTaskRun(tasks []measuredTask) *taskRun {
	r := &taskRun{tasks: tasks, from: math.Inf(1)}
	type id struct {
		isMap bool
		task  float64
	}
	seen := map[id]bool{}
	var begun, done []float64
	for i := range tasks {
		t := &tasks[i]
		one := id{t.isMap, t.value["task"]}
		r.merged = r.merged || seen[one]
		seen[one] = true
		if !t.isMap {
			continue
		}
		s := span{t.value["launch_ms"], t.value["done_ms"]}
		r.maps, begun, done = append(r.maps, s), append(begun, s.from), append(done, s.to)
		r.from, r.to, r.ran = math.Min(r.from, s.from), math.Max(r.to, s.to), r.ran+s.to-s.from
	}
	slices.Sort(begun)
	slices.Sort(done)
	for _, at := range done {
		launched, _ := slices.BinarySearch(begun, at)
		ended, _ := slices.BinarySearch(done, at)
		r.atOnce = math.Max(r.atOnce, float64(launched-ended))
	}
	return r
}

// contendedParts returns the shares of a reduce's copies, of its sort and of the
// rest during which other tasks run; 0 in a mixture of runs. A reduce polls for
// map outputs at a fixed interval, that of its first poll without outputs. Outputs
// that it finds before the last map ends count as fetched during maps.
func (t *measuredTask) contendedParts(r *taskRun) (copied, sorted, rest float64) {
	if r.merged {
		return 0, 0, 0
	}
	begin, every := t.begin(), t.value["first_event_ms"]
	early, busy := 0.0, 0.0 // busy: share of the map stage in which the slots have maps
	if every > 0 && begin+every < r.to {
		look := begin + math.Floor((r.to-begin)/every)*every
		for _, m := range r.maps {
			if m.to < look {
				early += 1 / float64(len(r.maps))
			}
		}
	}
	if early > 0 && r.atOnce > 0 {
		busy = math.Min(1, r.ran/(r.atOnce*(r.to-r.from)))
	}
	var others []span
	for i := range r.tasks {
		if o := &r.tasks[i]; !o.isMap && o.value["task"] != t.value["task"] {
			copies, after := o.work()
			others = append(others, copies, after)
		}
	}
	part := func(s span) float64 { return s.common(others...) / math.Max(1e-9, s.length()) }
	copies, after := t.work()
	sort := span{after.from, after.from + t.value["shuffle_gross_ms"] - t.value["fetch_ms"]}
	after.from = sort.to
	return early*busy + (1-early)*math.Min(1, part(copies)), math.Min(1, part(sort)), math.Min(1, part(after))
}

func (p WorkProfile) add(phase string, w Work, ms float64, group string) {
	p[phase] = append(p[phase], WorkRow{Work: w, MS: math.Max(0, ms), Group: group})
}

func (p WorkProfile) addMap(v map[string]float64, group string, partitions float64) {
	w := mapWork(v, partitions)
	p.add("read", w, v["read_ms"], group)
	p.add("collect", w, v["collect_ms"], group)
	p.add("spill", w, v["spill_ms"]-v["combine_ms"], group)
	p.add("merge", w, v["merge_ms"], group)
}

func (p WorkProfile) addReduce(t *measuredTask, r *taskRun) {
	v := t.value
	w, merged := reduceWork(v), inBackground(v)
	copied, sorted, rest := t.contendedParts(r)
	w.CopiesContended, w.MergesContended, w.WriteContended = copied, merged*copied+(1-merged)*sorted, rest
	p.add("shuffle", w, v["shuffle_ms"], t.group)
	row := &p["shuffle"][len(p["shuffle"])-1]
	row.Copies = v["copy_ms"]
	if gross, ok := v["shuffle_gross_ms"]; ok {
		if fetch, ok := v["fetch_ms"]; ok {
			row.Merges = math.Max(0, v["memmerge_ms"]+v["diskmerge_ms"]+gross-fetch)
		}
	}
	if v["reduce_in_ms"] > 0 {
		p.add("input", w, v["reduce_in_ms"], t.group)
	}
	p.add("write", w, v["write_ms"], t.group)
}
