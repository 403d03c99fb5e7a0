package taskplan_test

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/measured"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Every map of the eight jobs on EC2, in its job's configuration.
func TestSpillsOnEC2(t *testing.T) {
	conf := map[string]map[string]string{}
	for _, r := range measured.Records(t, "ec2-starfish/conf.tsv", "\t") {
		if conf[r["job"]] == nil {
			conf[r["job"]] = map[string]string{}
		}
		conf[r["job"]][r["key"]] = r["value"]
	}
	spills := map[string]float64{}
	for _, r := range measured.Records(t, "ec2-starfish/phases.tsv", "\t") {
		if r["type"] == "MAP" {
			spills[r["job"]+" "+r["task"]] = r.Number("spills")
		}
	}
	var count measured.Exact
	for _, r := range measured.Records(t, "ec2-starfish/tasks.tsv", "\t") {
		want, profiled := spills[r["job"]+" "+r["task"]]
		if r["type"] != "MAP" || r["status"] != "SUCCESS" || !profiled {
			continue
		}
		p := planner(t, taskConf(t, conf[r["job"]]), 27, nil)
		m := mapPlan(t, p, taskplan.MapFlow{OutBytes: r.Number("map_output_bytes"), OutRecords: r.Number("map_output_records")})
		count.Check(t, r["job"]+" map "+r["task"], float64(m.Counters.Spills), want)
	}
	count.Report(t, "spills", 1120)
}

// Every map of a TeraSort of 100 GB, Hadoop 1.0.3: two passes over a map of
// eleven spills.
func TestSpilledRecordsOfALOJA(t *testing.T) {
	p := planner(t, defaultConf(), 48, nil)
	var spilled measured.Exact
	for _, r := range measured.Records(t, "aloja/terasort_100g_tasks.tsv", "\t") {
		if r["type"] == "MAP" && r["status"] == "SUCCESS" {
			m := mapPlan(t, p, taskplan.MapFlow{OutBytes: r.Number("map_output_bytes"), OutRecords: r.Number("map_output_records")})
			spilled.Check(t, "map "+r["task"], float64(m.SpilledRecords), r.Number("spilled_records"))
		}
	}
	spilled.Report(t, "spilled records", 384)
}

// Every map of the microbenchmark grid: 100-byte records without a combiner, so
// that the bytes on disk are known too.
func TestMapsOfTheGrid(t *testing.T) {
	conf := map[string]taskplan.Conf{}
	reduces := map[string]int{}
	for _, r := range measured.Records(t, "platform-0.20.2/grid-runs.csv", ",") {
		conf[r["point"]] = taskConf(t, map[string]string{
			"io.sort.mb": r["io_sort_mb"], "io.sort.factor": r["io_sort_factor"],
			"mapred.child.java.opts": "-Xm" + r["heap_mb"] + "m",
		})
		reduces[r["point"]] = int(r.Number("reduces"))
	}
	var spills, spilled, written measured.Exact
	for _, r := range measured.Records(t, "platform-0.20.2/grid-tasks.csv", ",") {
		if r["type"] != "map" {
			continue
		}
		m := mapPlan(t, planner(t, conf[r["point"]], reduces[r["point"]], nil),
			taskplan.MapFlow{OutBytes: r.Number("map_out_bytes"), OutRecords: r.Number("map_out_recs")})
		name := r["point"] + " " + r["task"]
		spills.Check(t, name, float64(m.Counters.Spills), r.Number("spills"))
		spilled.Check(t, name, float64(m.SpilledRecords), r.Number("spilled_recs"))
		written.Check(t, name, float64(m.LocalWriteBytes), r.Number("file_bytes_written"))
	}
	spills.Report(t, "spills", 506)
	spilled.Report(t, "spilled records", 506)
	written.Report(t, "bytes written", 506)
}

var logForms = []struct {
	kind string
	form *regexp.Regexp
}{
	{"spill", regexp.MustCompile(`Finished spill (\d+)`)},
	{"to memory", regexp.MustCompile(`Shuffling (\d+) bytes \((\d+) raw bytes\) into RAM`)},
	{"to disk", regexp.MustCompile(`Shuffling (\d+) bytes \((\d+) raw bytes\) into Local-FS`)},
	{"read", regexp.MustCompile(`Read (\d+) bytes from map-output`)},
	{"merge", regexp.MustCompile(`Initiating in-memory merge with (\d+) segments`)},
	{"merged", regexp.MustCompile(`Merge of the (\d+) files in-memory complete`)},
	{"disk", regexp.MustCompile(`Triggering merge of (\d+) files`)},
	{"evict", regexp.MustCompile(`Merged (\d+) segments, (\d+) bytes to disk to satisfy`)},
	{"last", regexp.MustCompile(`Merging (\d+) files, (\d+) bytes from disk`)},
	{"retain", regexp.MustCompile(`Merging (\d+) segments, (\d+) bytes from memory into reduce`)},
}

// logEvent is a line that a task logged, and the figures in it.
type logEvent struct {
	kind string
	n    [2]float64
}

// taskLogs reads the log lines of one job by attempt, such as r_000000_0.
func taskLogs(t *testing.T, name string) map[string][]logEvent {
	t.Helper()
	logs := map[string][]logEvent{}
	lines := bufio.NewScanner(measured.Open(t, name))
	for lines.Scan() {
		attempt, line, _ := strings.Cut(lines.Text(), " ")
		for _, f := range logForms {
			if m := f.form.FindStringSubmatch(line); m != nil {
				e := logEvent{kind: f.kind}
				for i, text := range m[1:] {
					e.n[i], _ = strconv.ParseFloat(text, 64)
				}
				logs[attempt] = append(logs[attempt], e)
			}
		}
	}
	return logs
}

// replayed counts what of the tasks came out as measured.
type replayed struct{ spills, spilledByMaps, fetches, merges, sorts, spilled, written, read, writtenByMaps measured.Exact }

// loggedReduce is a reduce of a recorded job with its log.
type loggedReduce struct {
	log     []logEvent
	planner *taskplan.Planner
	maps    int     // of the job
	records float64 // into the reduce
	attempt *workload.HistoryAttempt
}

// replay drives a reduce by the fetches and the ends of merges that it logged,
// and compares each merge that the model begins with the log.
func (c *replayed) replay(t *testing.T, name string, logged loggedReduce) {
	t.Helper()
	log, p, maps, records, w := logged.log, logged.planner, logged.maps, logged.records, logged.attempt
	raw := 0.0
	for _, e := range log {
		if strings.HasPrefix(e.kind, "to ") {
			raw += e.n[0] - p.Framing.Partition
		}
	}
	r := p.NewReduce(maps)
	var out taskplan.Segment      // being fetched
	var racing []taskplan.Segment // copied, but perhaps too late for the next merge
	var merge *taskplan.BackgroundMerge
	settle := func() {
		for _, s := range racing {
			r.Listed(s)
		}
		racing = nil
	}
	unexpected := func() {
		settle()
		if m := r.MergeInMemory(); m != nil {
			t.Fatalf("%s: a merge of %d segments that was not logged", name, len(m.Inputs))
		}
	}
	listed, stalled := 0.0, false
	var after []logEvent
	for _, e := range log {
		switch e.kind {
		case "to memory", "to disk":
			out = taskplan.Segment{Raw: e.n[0], Stored: e.n[1], Records: records * (e.n[0] - p.Framing.Partition) / raw}
			c.fetches.Check(t, name+" fetched into memory", truth(r.InMemory(out)), truth(e.kind == "to memory"))
			stalled = r.InMemory(out) && !r.Reserve(out)
			r.Fetch(nil, out)
		case "read":
			if stalled {
				t.Fatalf("%s: read %v bytes without memory for them", name, out.Raw)
			}
			unexpected()
			if !r.InMemory(out) {
				r.Stored(out)
				break
			}
			r.Copied(out)
			racing, listed = []taskplan.Segment{out}, listed+1
		case "merge":
			if e.n[0] == listed {
				settle()
			}
			if merge = r.MergeInMemory(); merge == nil {
				t.Fatalf("%s: no merge of %v segments", name, e.n[0])
			}
			c.merges.Check(t, name+" segments of a merge", float64(len(merge.Inputs)), e.n[0])
			listed -= e.n[0]
		case "merged":
			for _, s := range merge.Inputs {
				r.Free(s)
			}
			r.InMemMerged(merge.File)
			stalled = stalled && !r.Retry(out)
		default:
			after = append(after, e)
		}
	}
	unexpected()
	r.Close()
	sort := r.Sort(func(s []taskplan.Segment) (sum taskplan.Segment) {
		for _, s := range s {
			sum.Stored += s.Stored
			sum.Records += s.Records
		}
		sum.Stored -= float64(len(s)-1) * (p.Framing.Checksum + p.Framing.Partition)
		return sum
	})
	for _, e := range after {
		of := sort.Last
		switch e.kind {
		case "evict":
			of = sort.Evicted
		case "retain":
			of = sort.Retained
		}
		c.sorts.Check(t, name+" segments to "+e.kind, float64(len(of)), e.n[0])
		if e.kind == "last" {
			bytes := 0.0
			for _, s := range of {
				bytes += s.Stored
			}
			c.sorts.Check(t, name+" bytes on disk", bytes, e.n[1])
		}
	}
	plan := r.Finish()
	c.spilled.Check(t, name+" spilled records", float64(plan.SpilledRecords), float64(w.SpilledRecords))
	c.written.Check(t, name+" bytes written", float64(plan.LocalWriteBytes), float64(w.LocalWriteBytes))
	c.read.Check(t, name+" bytes read", float64(plan.LocalReadBytes), float64(w.LocalReadBytes))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// job checks every task of a recorded job against its log and counters.
func (c *replayed) job(t *testing.T, history, logs string, conf taskplan.Conf) {
	t.Helper()
	h, err := trace.Open(measured.Path(t, history))
	if err != nil {
		t.Fatal(err)
	}
	job := &h.Jobs[0]
	lines := taskLogs(t, logs)
	keys, emitted := 0.0, 0.0
	for i := range job.Tasks {
		switch w := job.Tasks[i].Winner(); job.Tasks[i].Kind {
		case workload.Map:
			emitted += float64(w.OutRecords)
		case workload.Reduce:
			keys += float64(w.More.InGroups)
		}
	}
	for i := range job.Tasks {
		w := job.Tasks[i].Winner()
		if w == nil || job.Reduces == 0 {
			continue
		}
		p := planner(t, conf, job.Reduces, func(p *taskplan.Planner) {
			p.Combiner = w.CombineOutRecords > 0
			p.Data.CombineRecsSel, p.Data.CombineSizeSel = 1, 1
			p.Keys = keys
		})
		switch name := fmt.Sprintf("%s %s %d", history, w.Kind, w.Task); w.Kind {
		case workload.Map:
			log := lines[fmt.Sprintf("m_%06d_%d", w.Task, w.Number)]
			m := mapPlan(t, p, taskplan.MapFlow{OutBytes: float64(w.OutBytes), OutRecords: float64(w.OutRecords)})
			done := 0.0
			for _, e := range log {
				done += truth(e.kind == "spill")
			}
			c.spills.Check(t, name+" spills", float64(m.Counters.Spills), done)
			if !p.Combiner && w.OutBytes < 127*w.OutRecords { // the lengths of records take a byte each
				c.writtenByMaps.Check(t, name+" bytes written", float64(m.LocalWriteBytes), float64(w.LocalWriteBytes))
			}
			c.spilledByMaps.Check(t, name+" spilled records", float64(m.SpilledRecords), float64(w.SpilledRecords))
		case workload.Reduce:
			records := float64(w.InRecords)
			if records == 0 { // the reduce of a sleeping job asks for no values
				records = emitted / float64(job.Reduces)
			}
			c.replay(t, name, loggedReduce{log: lines[fmt.Sprintf("r_%06d_%d", w.Task, w.Number)], planner: p, maps: job.Maps, records: records, attempt: w})
		}
	}
}

// Every task of the jobs that kept their logs: five applications of two sizes,
// each several times, and nine jobs on a busy machine.
func TestTasksByTheirLogs(t *testing.T) {
	type counts struct{ maps, writtenByMaps, fetches, merges, sorts, reduces int }
	for _, set := range []struct {
		dir  string
		logs func(history string) string
		conf func(history string) taskplan.Conf
		want counts
	}{
		{
			"platform-0.20.2/histories",
			func(history string) string { return strings.Replace(history, ".history", ".tasklogs", 1) },
			func(string) taskplan.Conf { return defaultConf() },
			counts{maps: 118, writtenByMaps: 48, fetches: 236, merges: 19, sorts: 229, reduces: 58},
		},
		{
			"pseudo-0.20.2",
			func(history string) string {
				id, _, _ := strings.Cut(history, "_root_")
				return id + ".tasklogs.gz"
			},
			func(history string) taskplan.Conf {
				conf := defaultConf()
				if strings.Contains(history, "_0009_") {
					conf.SortMB, conf.SortFactor = 40, 5
				}
				return conf
			},
			counts{maps: 50, writtenByMaps: 42, fetches: 104, merges: 4, sorts: 56, reduces: 14},
		},
	} {
		t.Run(set.dir, func(t *testing.T) {
			names, err := filepath.Glob(filepath.Join(measured.Path(t, set.dir), "*.history.gz"))
			if err != nil {
				t.Fatal(err)
			}
			var c replayed
			for _, path := range names {
				name := filepath.Base(path)
				c.job(t, set.dir+"/"+name, set.dir+"/"+set.logs(name), set.conf(name))
			}
			c.spills.Report(t, "spills", set.want.maps)
			c.spilledByMaps.Report(t, "records spilled by maps", set.want.maps)
			c.writtenByMaps.Report(t, "bytes written by maps", set.want.writtenByMaps)
			c.fetches.Report(t, "fetches", set.want.fetches)
			c.merges.Report(t, "merges in memory", set.want.merges)
			c.sorts.Report(t, "steps of the sort", set.want.sorts)
			c.spilled.Report(t, "records spilled by reduces", set.want.reduces)
			c.written.Report(t, "bytes written by reduces", set.want.reduces)
			c.read.Report(t, "bytes read by reduces", set.want.reduces)
		})
	}
}

// interleaved plays a reduce whose copies come one after the other, as from one
// host, while merges in memory take a random time and threads race as they may.
func interleaved(p *taskplan.Planner, outputs []taskplan.Segment, random *rand.Rand) taskplan.ShuffleCounts {
	r := p.NewReduce(len(outputs))
	var running *taskplan.BackgroundMerge
	copies := 3 * random.Float64() // that a merge takes for each copy it merges
	now, end := 0.0, 0.0
	begin := func() {
		if m := r.MergeInMemory(); m != nil {
			running, end = m, now+copies*float64(len(m.Inputs))
		}
	}
	finish := func() {
		for _, in := range running.Inputs {
			r.Free(in)
		}
		r.InMemMerged(running.File)
		running = nil
		if r.Missing() > 0 {
			if m := r.MergeOnDisk(); m != nil {
				r.OnDiskMerged(m.File)
			}
		}
	}
	for _, out := range outputs {
		if r.InMemory(out) {
			for granted := r.Reserve(out); !granted; {
				now = math.Max(now, end)
				finish()
				if random.IntN(2) == 0 { // the merger looks before the copier wakes
					begin()
				}
				granted = r.Retry(out)
			}
		}
		now++
		for running != nil && end <= now {
			finish()
			begin()
		}
		if !r.InMemory(out) {
			r.Stored(out)
			continue
		}
		r.Copied(out)
		if random.IntN(2) == 0 { // the merger looks before the copier is done
			begin()
		}
		r.Listed(out)
		begin()
	}
	return r.ShuffleCounts
}

// Every reduce of the grid, which kept no log: what goes to memory, and how many
// merges there are. Where copying and merging overlap, the number of merges is
// one of those that some timing of the threads leads to.
func TestReducesOfTheGrid(t *testing.T) {
	var fetches, possibly measured.Exact
	alone := 0
	for _, r := range measured.Records(t, "platform-0.20.2/grid-tasks.csv", ",") {
		if r["type"] != "reduce" {
			continue
		}
		conf := defaultConf()
		if strings.HasPrefix(r["point"], "g2-") {
			conf.SortMB, conf.SortFactor, conf.MapHeap, conf.ReduceHeap = 30, 5, 100<<20, 100<<20
		}
		p := planner(t, conf, 2, nil)
		n := r.Number("fetches")
		bytes := r.Number("shuffle_bytes") / n
		outputs := slices.Repeat([]taskplan.Segment{{Stored: bytes, Raw: bytes - p.Framing.Checksum, Records: r.Number("red_in_recs") / n}}, int(n))
		want := taskplan.ShuffleCounts{InMemFetches: int(r.Number("fetches_mem")), InMemMerges: int(r.Number("inmem_merges")), OnDiskMerges: int(r.Number("disk_merges"))}
		want.OnDiskFetches = int(n) - want.InMemFetches
		got := p.Reduce(outputs).ShuffleCounts
		name := r["point"] + " " + r["task"]
		fetches.Check(t, name+" fetches into memory", float64(got.InMemFetches), float64(want.InMemFetches))
		alone += int(truth(got == want))
		seen := map[taskplan.ShuffleCounts]int{}
		random := rand.New(rand.NewPCG(1, 1))
		for range 2000 {
			seen[interleaved(p, outputs, random)]++
		}
		possibly.Check(t, fmt.Sprintf("%s %v among %v", name, want, seen), truth(seen[want] > 0), 1)
	}
	fetches.Report(t, "fetches", 59)
	possibly.Report(t, "merges with some timing", 59)
	if alone != 51 {
		t.Errorf("one after the other, %d reduces merge as measured; they were 51", alone)
	}
}
