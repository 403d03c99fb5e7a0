package diagnose

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/shareddata"
)

// openHiTune reads the samples of HiTune's own Sort.
func openHiTune(t testing.TB) *Dataflow {
	t.Helper()
	r := NewReconstruction(loadSpec(t, "hadoop"))
	for _, name := range []string{"map", "red"} {
		f, err := os.Open(shareddata.Path(t, "data/hitune-sort/instruments_"+name+".csv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Read(z, f.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return r.Dataflow()
}

// What HiTune's own samples say of its Sort. The figures are printed with one or
// three digits: the tolerance is half of the last.
func TestHiTuneSamples(t *testing.T) {
	d := openHiTune(t)
	nodes, err := stageByNode(d.nodeRows("reduce"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if want := map[string]float64{"sr214": 1.114, "sr219": 0.774}[n.Node]; want > 0 && math.Abs(n.Mean-want) > 0.0005 {
			t.Errorf("reduces on %s take %.4f of the mean, want %v", n.Node, n.Mean, want)
		}
	}
	for _, i := range d.Instances {
		if i.Vertex != "shuffle" {
			continue
		}
		rate := float64(i.Samples) / (i.End - i.Start) * 1000
		low, high := 34.0, 40.0
		if i.Node == "sr216" {
			low, high = 15, 16.5
		}
		if rate < low || rate > high {
			t.Errorf("%s on %s: %.2f samples a second, want %v to %v", i.Task, i.Node, rate, low, high)
		}
	}
	for _, c := range []struct {
		vertex, class, name string
		percent, tolerance  float64
	}{
		{"map", "", "org.apache.hadoop.mapred.MapTask$TrackedRecordReader.next", 61, 0.5},
		{"map", "", "MapOutputBuffer.flush", 32, 0.5},
		{"spill", "SpillThread", "WAITING", 99.99, 0.005},
		{"copier", "MapOutputCopier", "RUNNABLE", 61.3, 0.05},
		{"copier", "MapOutputCopier", "BLOCKED", 14.8, 0.05},
		{"copier", "MapOutputCopier", "WAITING", 23.9, 0.05},
		{"merge", "Thread for merging in memory files", "WAITING", 73.0, 0.05},
		{"reduce", "main", "BLOCKED", 52.2, 0.05},
	} {
		if got := 100 * d.share(c.vertex, c.class, c.name); math.Abs(got-c.percent) > c.tolerance {
			t.Errorf("%s of %s: %.3f %% %s, want %v", c.class, c.vertex, got, c.name, c.percent)
		}
	}
	if t.Failed() {
		for _, s := range d.shares {
			t.Logf("%+v", s)
		}
	}
}

// records writes samples of so many reduces, each with ten threads, every 20 ms.
func records(tasks, looks int) []byte {
	var b bytes.Buffer
	b.WriteString(strings.Join(sampleColumns, ",") + "\n")
	for l := range looks {
		for task := range tasks {
			node := fmt.Sprintf("node%02d", task%20)
			for thread := range 10 {
				what := []string{
					"RUNNABLE|MapOutputCopier attempt_201106081729_0001_r_%06d_0.%d|java.net.SocketInputStream.read;org.apache.hadoop.mapred.ReduceTask$ReduceCopier$MapOutputCopier.shuffleInMemory;org.apache.hadoop.mapred.ReduceTask$ReduceCopier$MapOutputCopier.run",
					"WAITING|MapOutputCopier attempt_201106081729_0001_r_%06d_0.%d|java.lang.Object.wait;org.apache.hadoop.mapred.ReduceTask$ReduceCopier$MapOutputCopier.run",
				}[(l+thread)%2]
				fmt.Fprintf(&b, "%d,%s,task,attempt_201106081729_0001_r_%06d_0#%d,"+what+"\n", 20_000_000*l, node, task, thread, task, thread)
			}
		}
		if l%250 == 0 {
			fmt.Fprintf(&b, "%d,node00,cpu,user,0.5\n", 20_000_000*l)
		}
	}
	return b.Bytes()
}

func TestReadSamples(t *testing.T) {
	r := NewReconstruction(loadSpec(t, "hadoop"))
	text := string(records(3, 4)) + "\n" +
		"x,n,task,t#1,RUNNABLE||\n1,n,task,t,RUNNABLE||\n1,n,task,t#1,RUNNABLE\n1,n,cpu,user,much\n1,n\n" +
		"5,n,log,job,something; with | signs\n5,n,gpu,0,1\n" +
		"7,n,task,t#1,RUNNABLE|a%2Cb|x%3By.MapTask.run\n" + strings.Repeat("x", 1<<19)
	if err := r.Read(strings.NewReader(text), "samples.csv"); err != nil {
		t.Fatal(err)
	}
	d := r.Dataflow()
	if len(d.Instances) != 31 || len(d.Stages) != 4 {
		t.Fatalf("%d instances in %d stages, want 30 copiers of 3 reduces and a map: %+v", len(d.Instances), len(d.Stages), d.Stages)
	}
	for _, s := range d.Stages {
		if s.Vertex == "copier" && (s.Start != 0 || s.End != 60 || s.Samples != 40 || s.Idle != 20 || s.Threads != 10) {
			t.Errorf("%+v, want 40 samples of 10 threads from 0 to 60 ms, half of them idle", s)
		}
	}
	if got := d.share("copier", "MapOutputCopier", "org.apache.hadoop.mapred.ReduceTask$ReduceCopier$MapOutputCopier.shuffleInMemory"); got != 0.5 {
		t.Errorf("%v of the copiers' samples fetch, want half, whose top frame is of Java's library", got)
	}
	if s := d.system[seriesKey{"node00", "cpu", "user"}]; s == nil || len(*s) != 1 {
		t.Errorf("system records %v, want one", s)
	}
	for what, n := range map[string]int{
		"records without a time": 1, "task samples without TASK#THREAD": 1, "task samples without STATE|NAME|FRAMES": 1,
		"system records without a number": 1, "records without five columns": 1, "records longer than 256 KiB": 1,
		"records of type gpu, which is none of task, log, cpu, disk, network, net and memory": 1,
	} {
		if d.problems.counts[what] != n {
			t.Errorf("%q: %d, want %d", what, d.problems.counts[what], n)
		}
	}
	for text, want := range map[string]string{"": "got an empty file", "a,b\n": "f:1: got columns \"a,b\""} {
		if err := r.Read(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// What is kept grows with the threads, not with the records.
func TestReconstructionMemory(t *testing.T) {
	measure := func(looks int) uint64 {
		text := records(20, looks)
		r := NewReconstruction(loadSpec(t, "hadoop"))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := r.Read(bytes.NewReader(text), "samples.csv"); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(r)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := measure(10), measure(200)
	// Twenty times the records may cost the system records and the maps' growth.
	if many > few+few/10 {
		t.Errorf("%d bytes for 10 looks, %d for 200: want the same within 10 %%", few, many)
	}
}

func BenchmarkReconstruction(b *testing.B) {
	text := records(100, 200)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReconstruction(loadSpec(b, "hadoop"))
		if err := r.Read(bytes.NewReader(text), "samples.csv"); err != nil {
			b.Fatal(err)
		}
	}
}

// Whatever a file holds, it is read or refused, and what was read can be written.
func FuzzReadSamples(f *testing.F) {
	f.Add(string(records(1, 2)))
	f.Add("time_ns,node,type,target,value\n1,n,task,t#1,RUNNABLE|a%2Cb|x;y.MapTask.run\n0,n,cpu,user,NaN\n")
	f.Add("phase_end,host,phase_count,breakdown_count,phase_start,phase_name,phase_stack,attempt_id,breakdown_name,thread_name,breakdown_type,thread_id,job_id\n9,h,2,1,3,Copier,s,a,WAITING,\"m\",state,1,j\n")
	spec := loadSpec(f, "hadoop")
	f.Fuzz(func(t *testing.T, text string) {
		r := NewReconstruction(spec)
		if err := r.Read(strings.NewReader(text), "samples.csv"); err != nil {
			return
		}
		written(t, &Diagnosis{Dataflow: r.Dataflow()})
	})
}
