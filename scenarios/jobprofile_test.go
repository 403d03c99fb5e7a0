package scenarios

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// recordedJob has something in every table of a profile.
func recordedJob() *workload.Profile {
	history := "job,task,kind,attempt,state,node,locality,start_ns,finish_ns,p_startup_ns,p_shuffle_ns,p_merge_ns,in_records,in_bytes,out_records,out_bytes,shuffle_bytes\n" +
		"\"a \"\"b\"\"\",0,map,0,SUCCEEDED,n1,node,0,4000000000,1000000000,,,3,70,7,20,\n" +
		"\"a \"\"b\"\"\",1,map,0,SUCCEEDED,n1,off,4000000000,9500000001,1000000000,,,2,30,5,10,\n" +
		"\"a \"\"b\"\"\",0,reduce,0,SUCCEEDED,n1,none,2000000000,20000000000,1000000000,9000000000,1000000000,12,,1,5,30\n"
	var p workload.Profiler
	h, err := trace.ReadOptions{FS: fstest.MapFS{"a.csv": {Data: []byte(history)}}}.Open("a.csv")
	if err != nil {
		panic(err)
	}
	for i := range h.Jobs {
		p.Add(&h.Jobs[i])
	}
	one := p.Profiles()[0]
	one.Source = []string{"a.csv"}
	return one
}

// TestJobProfileRoundTrip: what is written is read, to the last bit.
func TestJobProfileRoundTrip(t *testing.T) {
	want := recordedJob()
	var file bytes.Buffer
	if err := trace.WriteProfile(&file, want); err != nil {
		t.Fatal(err)
	}
	got, err := readJobProfile(file.Bytes(), "a.toml")
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if d := cmp.Diff(want, got, same); d != "" {
		t.Errorf("written (-) and read (+):\n%s\n%s", d, &file)
	}
	if want.MapTime.N != 2 || want.Data.MapSizeSel != 0.3 || want.MapMinusJVM.N != 2 {
		t.Errorf("the profile is not what it was: %+v", want)
	}
}

// TestJobProfileCosts: what the cluster adds to a task comes off its recorded
// time, unless the record has it apart.
func TestJobProfileCosts(t *testing.T) {
	p := recordedJob() // maps of 4 and 5.5 s with a second of JVM, the reduce's first shuffle 3.5 s and its reduce phase 7 s
	p.TypicalShuffle, p.ShuffleFromFirst = workload.NewSample([]float64{6}), false
	for _, x := range []struct {
		apart                     bool
		maps, first, later, phase float64
	}{{true, 3.75, 3.5, 6, 6.8}, {false, 2.75, 3.5, 4, 6.8}} {
		if !x.apart {
			p.MapMinusJVM = workload.NewSample(nil)
		}
		dir := t.TempDir()
		var file bytes.Buffer
		if err := trace.WriteProfile(&file, p); err != nil {
			t.Fatal(err)
		}
		const scenario = "fidelity = \"profile\"\n[cluster]\nnodes = 2\n[cluster.costs]\nlaunch = \"2s\"\ncommit = \"200ms\"\n[[job]]\nprofile = \"p.toml\"\nreduces = 4\n"
		for name, text := range map[string]string{"p.toml": file.String(), "s.toml": scenario} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		f, err := Open(filepath.Join(dir, "s.toml"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		j := s.Runs[0].Question.Jobs[0]
		if j.Maps.Count != 2 || j.Reduces.Count != 4 || j.Maps.InputBytes != 100 || len(s.Inputs) != 2 {
			t.Errorf("%d maps of %d bytes, %d reduces, inputs %v", j.Maps.Count, j.Maps.InputBytes, j.Reduces.Count, s.Inputs)
		}
		for _, d := range []struct {
			what string
			of   *workload.Durations
			want float64
		}{{"map", &j.Maps.Time, x.maps}, {"first shuffle", &j.Reduces.FirstWave, x.first}, {"later shuffle", &j.Reduces.Shuffle, x.later}, {"reduce", &j.Reduces.Time, x.phase}} {
			if got, _ := d.of.Expect(1); math.Abs(got-d.want) > 1e-6 {
				t.Errorf("JVM apart %v, %s: %v s, want %v", x.apart, d.what, got, d.want)
			}
		}
	}
}

func TestJobProfileErrors(t *testing.T) {
	const head = "source = \"x\"\n"
	for _, x := range []struct{ text, want string }{
		{head, "a.toml: no [recorded]: want a profile"},
		{"[recorded]\nmaps = -1\n", "a.toml:2: recorded.maps: -1: want a whole number of at least 0"},
		{"[recorded]\n", "source: missing"},
		{head + "[recorded]\nmap_tme = 3\n", "a.toml:3: unknown key recorded.map_tme (did you mean recorded.map_time?)"},
		{head + "[recorded.map_time]\nn = 2\n", "recorded.map_time.quantiles: want quantiles if n is above 0"},
		{head + "[recorded.map_time]\nn = 2\nquantiles = [3.0]\n", "a.toml:4: recorded.map_time.quantiles: want a list of two numbers or more"},
		{head + "[recorded.time_by_locality.far]\nn = 2\n", "unknown key recorded.time_by_locality.far"},
		{"x = " + strings.Repeat("[", 100), "nested deeper than 64"},
	} {
		if _, err := readJobProfile([]byte(x.text), "a.toml"); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", x.text, err, x.want)
		}
	}
}

// FuzzJobProfile reads anything as a profile; what is read must be fit to draw
// from and to write.
func FuzzJobProfile(f *testing.F) {
	var file bytes.Buffer
	if err := trace.WriteProfile(&file, recordedJob()); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte("source = \"x\"\n[recorded]\nruns = 1\n[recorded.map_time]\nn = 2\nquantiles = [3.0, 4]\n[[recorded.map_by_wave]]\nn = 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readJobProfile(data, "fuzz")
		if err != nil {
			return
		}
		for _, s := range append(p.MapByWave, p.MapTime, p.FirstShuffle, p.ReduceTime) {
			d := s.Durations(time.Second)
			if d.At(0, workload.Seed(1).Stream(0, 0)) < 0 {
				t.Errorf("a negative time of %+v", s)
			}
		}
		var again bytes.Buffer
		if err := trace.WriteProfile(&again, p); err != nil {
			t.Fatal(err)
		}
	})
}

// Programs that spill for years are refused, and so is a cluster that does nothing
// but send heartbeats.
func TestMostWork(t *testing.T) {
	text, ok := Text("terasort")
	if !ok {
		t.Fatal("terasort is not shipped")
	}
	for is, want := range map[string]string{"map_size_sel = 100000": "map_size_sel: 100000: want a number from 0 to 1000", "map_records_sel = 1000000": "map_records_sel: 1e+06 leaves records of 0.0001 bytes: want 0.01 or more"} {
		key, _, _ := strings.Cut(is, " ")
		changed := regexp.MustCompile("(?m)^"+key+" = .*$").ReplaceAllString(text, is)
		if _, err := readProfile([]byte(changed), "p.toml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", is, err, want)
		}
	}
	f, err := Open("two-jobs", "cluster.heartbeat=1ns")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Scenario(1); err == nil || !strings.Contains(err.Error(), "cluster.heartbeat: 1ns: want at least 1ms") {
		t.Errorf("a heartbeat each nanosecond: %v", err)
	}
}
