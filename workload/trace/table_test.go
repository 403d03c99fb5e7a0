package trace

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// TestHiTune checks what data/README.md says was measured.
func TestHiTune(t *testing.T) {
	h := mustOpen(t, filepath.Dir(shared(t, "hitune-sort/job.csv.gz")))
	if len(h.Problems) > 0 || len(h.Jobs) != 1 {
		t.Fatalf("%d jobs, problems %v", len(h.Jobs), h.Problems[:min(3, len(h.Problems))])
	}
	j := &h.Jobs[0]
	if j.User != "lyan" || j.Name != "sorter" || j.ID != "job_201106081729_0001" {
		t.Errorf("%s %q of %q", j.ID, j.Name, j.User)
	}
	if h.Topology.Hosts() != 8 || len(h.Topology.Racks) != 1 {
		t.Errorf("%d hosts in %d racks, want 8 in 1", h.Topology.Hosts(), len(h.Topology.Racks))
	}
	firstMap, shuffleEnds, ends := time.Duration(math.MaxInt64), []time.Duration{}, []time.Duration{}
	local, killed, started := 0, 0, 0
	for i := range j.Tasks {
		for k := range j.Tasks[i].Attempts {
			a := &j.Tasks[i].Attempts[k]
			switch {
			case a.State == workload.Killed:
				killed++
			case a.Kind == workload.Map:
				firstMap = min(firstMap, a.Start)
				if a.Locality == workload.NodeLocal {
					local++
				}
				if workload.Known(a.Phases[workload.PhaseStartup]) {
					started++
				}
			case a.Kind == workload.Reduce:
				begin := time.Duration(0)
				if workload.Known(a.Phases[workload.PhaseStartup]) {
					begin = a.Phases[workload.PhaseStartup]
				}
				shuffleEnds = append(shuffleEnds, a.Start+begin+a.Phases[workload.PhaseShuffle])
				ends = append(ends, a.Finish)
				if sum := begin + a.Phases[workload.PhaseShuffle] + a.Phases[workload.PhaseMerge] + a.Phases[workload.PhaseReduce]; sum != a.Duration() {
					t.Errorf("phases of reduce %d add up to %v, it ran %v", a.Task, sum, a.Duration())
				}
			}
		}
	}
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"first map", firstMap.Seconds(), 4.8}, {"last map", j.LastMap().Seconds(), 229.5},
		{"first shuffle end", slices.Min(shuffleEnds).Seconds(), 232.9}, {"last shuffle end", slices.Max(shuffleEnds).Seconds(), 263.6},
		{"first reduce end", slices.Min(ends).Seconds(), 338.6}, {"last reduce end", slices.Max(ends).Seconds(), 659.2},
	} {
		if math.Abs(x.got-x.want) > 0.05 {
			t.Errorf("%s: %.2f s, want %.1f", x.what, x.got, x.want)
		}
	}
	if local != 631 || killed != 25 { // set-up and clean-up have no split
		t.Errorf("%d node-local maps and %d killed attempts, want 631 and 25", local, killed)
	}
	if started < 630 {
		t.Errorf("the start of the JVM is known of %d maps, want nearly all 640", started)
	}
}

// TestStarfishTables: attempts, settings and measurements of one job come from
// four files.
func TestStarfishTables(t *testing.T) {
	h := mustOpen(t, filepath.Dir(shared(t, "ec2-starfish/tasks.tsv"))+"/tasks.tsv", shared(t, "ec2-starfish/conf.tsv"),
		shared(t, "ec2-starfish/jobs.tsv"), shared(t, "ec2-starfish/phases.tsv"))
	for i := range h.Jobs {
		j := &h.Jobs[i]
		want := 27
		if j.ID == "201102151322_0201" { // one is empty where a number belongs
			want = 26
		}
		if n := len(j.Conf.Keys()); n != want {
			t.Errorf("%s: %d settings, want %d", j.ID, n, want)
		}
		local, measured := int64(0), 0
		for k := range j.Tasks {
			w := j.Tasks[k].Winner()
			if w == nil || w.Kind != workload.Map {
				continue
			}
			if w.Locality == workload.NodeLocal {
				local++
			}
			if w.More.SpillRawBytes != workload.Unknown {
				measured++
			}
		}
		if local != j.Totals.NodeLocalMaps {
			t.Errorf("%s: %d node-local maps, the job counted %d", j.ID, local, j.Totals.NodeLocalMaps)
		}
		if want := map[bool]int{true: 0, false: j.Maps}[j.ID == "201102151322_0201"]; measured != want { // not profiled
			t.Errorf("%s: %d maps measured, want %d", j.ID, measured, want)
		}
	}
}

// TestOracleTables reads the attempts and jobs of a recorded case.
func TestOracleTables(t *testing.T) {
	h := mustOpen(t, shared(t, "oracle/fifo-task-failures/run1/attempts.csv.gz"), shared(t, "oracle/fifo-task-failures/run1/jobs.csv"))
	log := mustOpen(t, shared(t, "oracle/fifo-task-failures/run1/history.log.gz"))
	if len(h.Problems) > 0 {
		t.Fatal(h.Problems)
	}
	table, history := &h.Jobs[0], &log.Jobs[0]
	cleaners, _ := table.Count(workload.TaskCleanup)
	if cleaners == 0 {
		t.Error("no attempts that clean up after failures")
	}
	for _, k := range []workload.Kind{workload.Map, workload.Reduce} {
		a, b := tasksOf(table, k), tasksOf(history, k)
		if len(a) != len(b) {
			t.Fatalf("%d %vs, history %d", len(a), k, len(b))
		}
		for i := range a {
			x, y := a[i].Winner(), b[i].Winner()
			if x.Start != y.Start || x.Node != y.Node || len(a[i].Attempts) != len(b[i].Attempts) {
				t.Errorf("%v %d: %v on %s, history %v on %s", k, i, x.Start, x.Node, y.Start, y.Node)
			}
		}
	}
}

func tasksOf(j *workload.HistoryJob, k workload.Kind) []workload.HistoryTask {
	var list []workload.HistoryTask
	for i := range j.Tasks {
		if j.Tasks[i].Kind == k {
			list = append(list, j.Tasks[i])
		}
	}
	return list
}

const tableSample = `job,task,kind,attempt,state,node,rack,slot,pool,locality,start_ns,finish_ns,p_map_ns,in_bytes,spills
a,0,map,0,FAILED,n1,r1,0,p,node,1000000000,2000000000,,,
a,0,map,1,SUCCEEDED,n2,r1,1,p,rack,2000000001,4000000000,1999999999,5,2
a,0,reduce,0,SUCCEEDED,n2,r1,0,p,none,3000000000,5000000000,,,
`

func TestTableColumns(t *testing.T) {
	h := readString(t, "attempts.csv", tableSample)
	j := &h.Jobs[0]
	won, reduce := j.Tasks[0].Winner(), j.Tasks[1].Winner()
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"job", j.ID, "a"}, {"pool", j.Pool, "p"}, {"start", won.Start, 2*time.Second + 1}, {"number", won.Number, 1},
		{"locality", won.Locality, workload.RackLocal}, {"slot", won.Slot, 1}, {"map phase", won.Phases[workload.PhaseMap], 2*time.Second - 1},
		{"read phase", won.Phases[workload.PhaseRead], workload.UnknownTime}, {"input", won.InBytes, int64(5)}, {"spills", won.Spills, int64(2)},
		{"output", won.OutBytes, int64(workload.Unknown)}, {"reduce", reduce.Finish, 5 * time.Second}, {"in rack", rackOf(&h.Topology, "n2"), "r1"},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
}

// The number of a set-up or clean-up tells the type of its slot, on machines of any slots.
// Where maps and reduces are as many, the slot does.
func TestSlotsOfSetupAndCleanup(t *testing.T) {
	const tasks = "job,task,kind,attempt,state,node,slot,start_ns,finish_ns\na,0,map,0,SUCCEEDED,n1,0,1,2\na,1,map,0,SUCCEEDED,n1,%d,1,2\na,0,reduce,0,SUCCEEDED,n2,1,3,4\n%s"
	for _, c := range []struct {
		lastMap int // slot
		more    string
		want    [2]bool // set-up and clean-up in reduce slots
	}{
		{0, "a,2,setup,0,SUCCEEDED,n1,0,0,1\na,2,cleanup,0,SUCCEEDED,n1,1,4,5\n", [2]bool{true, false}},
		{1, "a,3,setup,0,SUCCEEDED,n1,1,0,1\na,1,cleanup,0,SUCCEEDED,n1,0,4,5\n", [2]bool{false, true}},
		{0, "a,1,reduce,0,SUCCEEDED,n2,1,3,4\na,3,setup,0,SUCCEEDED,n1,0,0,1\na,2,cleanup,0,SUCCEEDED,n1,1,4,5\n", [2]bool{false, true}},
	} {
		h := readString(t, "attempts.csv", fmt.Sprintf(tasks, c.lastMap, c.more))
		var got [2]bool
		for i, kind := range []workload.Kind{workload.Setup, workload.Cleanup} {
			got[i] = tasksOf(&h.Jobs[0], kind)[0].ReduceSlot
		}
		if got != c.want {
			t.Errorf("%s: in reduce slots %v, want %v", c.more, got, c.want)
		}
	}
}

func TestTableDamage(t *testing.T) {
	testDamage(t, tableSample, []damage{
		{"truncated", cutAfter(3, 20), 4, "line is lost", 1},
		{"stray quote", replaceIn(2, "n1", `n"1`), 2, "line is lost", 2},
		{"not a number", replaceIn(3, ",5,2", ",x,2"), 3, "in_bytes", 2},
		{"negative", replaceIn(3, "2000000001", "-2000000001000000"), 3, "want a time", 2},
		{"ends before its start", replaceIn(4, "5000000000", "2"), 4, "before it starts", 2},
		{"twice", func(_ *testing.T, l []string) []string { return append(l, l[2]) }, 5, "occurs twice", 2},
		{"unknown kind", replaceIn(4, "reduce", "combine"), 4, "none of map, reduce", 1},
	})
}

const slsSample = `{
  "am.type" : "mapreduce", "job.start.ms" : 1000, "job.end.ms" : 9000, "job.queue.name" : "q", "job.id" : "job_1", "job.user" : "u",
  "job.tasks" : [
    { "container.host" : "/r1/n1", "container.start.ms" : 2000, "container.end.ms" : 4000, "container.priority" : 20, "container.type" : "map" },
    { "container.host" : "/r1/n2", "container.start.ms" : 2500, "container.end.ms" : 5000, "container.priority" : 20, "container.type" : "map" },
    { "container.host" : "/r2/n3", "container.start.ms" : 5000, "container.end.ms" : 8000, "container.priority" : 10, "container.type" : "reduce" }
  ]
}
`

func TestSLS(t *testing.T) {
	h := readString(t, "sls.json", slsSample)
	j := &h.Jobs[0]
	if got := tallyOf(h); got != (tally{1, 2, 1, 0, 3}) || len(h.Problems) > 0 {
		t.Fatalf("got %+v, problems %v", got, h.Problems)
	}
	if j.Submit != 0 || j.Finish != 8*time.Second || j.Tasks[1].Attempts[0].Start != 1500*time.Millisecond || j.Queue != "q" {
		t.Errorf("submitted %v, finished %v, map 1 %v, queue %q", j.Submit, j.Finish, j.Tasks[1].Attempts[0].Start, j.Queue)
	}
	nodes := readString(t, "nodes.json", `{"rack":"r1","nodes":[{"node":"a"},{"node":"b"}]}`+"\n"+`{"rack":"r2","nodes":[{"node":"c"}]}`)
	if nodes.Topology.Hosts() != 3 || rackOf(&nodes.Topology, "c") != "r2" {
		t.Errorf("topology %v", nodes.Topology)
	}
	testDamage(t, slsSample, []damage{
		{"unknown type", replaceIn(6, `"reduce"`, `"am"`), 1, "none of map, reduce", 2},
		{"ends before its start", replaceIn(4, "4000", "400"), 1, "before it starts", 3},
		{"a line before it", insertAt(1, "{oops}"), 1, "is lost", 3},
	})
}

// TestComment: a licence before the header is no loss in any format.
func TestComment(t *testing.T) {
	for _, text := range []string{mrv1Sample, jhistSample, tableSample, slsSample} {
		for _, comment := range []string{
			"# Licensed to the ASF\n# under one or more\n\n", "/* Licensed\n * under ** \n **/\n", "<!-- a - b -- c\n--->\n", "// x\r\n",
		} {
			h := readString(t, "f", comment+text)
			if len(h.Jobs) != 1 || len(h.Problems) > 0 {
				t.Errorf("%q before %.20q: %d jobs, %v", comment, text, len(h.Jobs), h.Problems)
			}
		}
	}
	h := readString(t, "f", "# one\n# two\n"+strings.Replace(tableSample, "reduce", "x", 1))
	if len(h.Problems) != 1 || h.Problems[0].Line != 6 {
		t.Errorf("want a problem in line 6: %v", h.Problems)
	}
}

// An empty value of a number or a switch is the default, as in Hadoop; of a class
// it is the value.
func TestEmptySettings(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "conf.tsv"), "job\tkey\tvalue\na\tio.sort.mb\t\na\tmapred.compress.map.output\t\na\tmapred.map.output.compression.codec\t\n")
	writeFile(t, filepath.Join(dir, "tasks.tsv"), "job\ttype\ttask\tstart_s\tfinish_s\tnode\na\tmap\t0\t1\t5\tn\n")
	conf := mustOpen(t, dir).Jobs[0].Conf
	for key, want := range map[string]bool{"io.sort.mb": false, "mapred.compress.map.output": false, "mapred.map.output.compression.codec": true} {
		if value, set := conf.Lookup(key); set != want || value != "" {
			t.Errorf("%s: %q, set: %v, want %v", key, value, set, want)
		}
	}
}
