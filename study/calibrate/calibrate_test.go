package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// combines is a recorded job: its combiner works in spills and in merges, and costs as
// much as its map function.
const combines = `
fidelity = %q
[cluster]
hadoop = "1.0.4"
nodes = 2
platform = "dl145-g3"
[conf]
"io.sort.mb" = 20
[[job]]
name = "words"
profile = "wordcount"
input = "150m"
reduces = 2
`

// What a calibration writes takes as long as the calibration says, for each format of
// the record and each fidelity.
func TestCalibrationsAreReproduced(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates by many simulations")
	}
	for _, fidelity := range []string{"phase", "device"} {
		record := filepath.Join(t.TempDir(), "record")
		scenario := trace.File{Name: "s.toml", Write: func(w io.Writer) error {
			_, err := fmt.Fprintf(w, combines, fidelity)
			return err
		}}
		s, err := study.Open(filepath.Join(writeFiles(t, []trace.File{scenario}), scenario.Name), study.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.Scenario.NoPlots = true
		d, err := resultdir.Create(record, resultdir.Purpose{})
		if err != nil {
			t.Fatal(err)
		}
		runs, err := s.Simulate(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(d, runs); err != nil {
			t.Fatal(err)
		}
		if err := d.Commit(resultdir.Manifest{}); err != nil {
			t.Fatal(err)
		}
		h, err := trace.Open(record)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range trace.Formats() {
			if !f.Reads() || !f.Writes() || slices.Contains([]string{"swim", "sls"}, f.Name) {
				continue // these two have no tasks
			}
			t.Run(fidelity+" "+f.Name, func(t *testing.T) {
				out, err := f.Write(h)
				if err != nil {
					t.Fatal(err)
				}
				folder := writeFiles(t, out.Files)
				c, err := CalibrateRuns([]string{folder}, scenarios.Reading{}, Calibrating{Start: "dl145-g3", Fidelity: fidelity, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				again, err := study.Open(filepath.Join(writeFiles(t, c.Files("")), scenarioName), study.Options{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				q := again.Scenario.Runs[0].Question
				job := q.Jobs[0].ID
				times := runTimes{job: &jobTimes{spec: &q.Jobs[0], submit: q.Jobs[0].Submit}}
				if _, err := (sim.Simulator{Recorder: times}).Predict(q); err != nil {
					t.Fatal(err)
				}
				var got platform.Profile
				times[job].rows(&got, job)
				for _, row := range runRows {
					said, took := rowOf(c.simulated, row+" "+job), rowOf(got, row+" "+job)
					if math.Abs(took-said) > 0.01*said+1 {
						t.Errorf("%s: %.0f ms: the calibration said %.0f", row, took, said)
					}
				}
			})
		}
	}
}

// writeFiles writes files into a new folder.
func writeFiles(t *testing.T, files []trace.File) string {
	t.Helper()
	folder := t.TempDir()
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := errors.Join(f.Write(&b), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Programs whose data agree share costs if their recorded times per record agree too: of
// the processor within a quarter, or else of tasks within a factor of two.
func TestGroupsOfPrograms(t *testing.T) {
	groups := func(row string, times ...float64) (list []int) {
		c := RunCalibration{records: map[string][2]float64{}}
		for i, ms := range times {
			job := fmt.Sprint("job", i)
			c.Programs = append(c.Programs, model.Program{Title: job})
			c.jobs = append(c.jobs, []string{job})
			c.records[job] = [2]float64{1000 * float64(i+1), 0}
			c.recorded.Add(row+" "+job, platform.PhaseRow{MS: ms * float64(i+1)})
		}
		c.group()
		for _, group := range c.alike {
			list = append(list, group[0])
		}
		return list
	}
	for _, test := range []struct {
		row   string
		times []float64
		want  []int
	}{
		{mapCPURow, []float64{100, 120, 100, 130}, []int{0, 0, 0, 3}}, // the second and the last agree, but not with the first
		{mapRow, []float64{100, 190, 210}, []int{0, 0, 2}},
	} {
		if got := groups(test.row, test.times...); !slices.Equal(got, test.want) {
			t.Errorf("%s %v: got %v: want %v", test.row, test.times, got, test.want)
		}
	}
}

// Counters of the processor say how much equal tasks differ: by factors of 0.7 and 1.4
// here. Those of a few milliseconds, of another number of records or too few say nothing.
func TestCountedScatter(t *testing.T) {
	scatter := func(tasks int, millis, records int64) float64 {
		c := RunCalibration{Programs: []model.Program{{}}, jobs: [][]string{{"job"}}, alike: [][]int{{0}}, tasks: []jobAttempts{{job: "job"}}}
		for i := range tasks {
			var a workload.Attempt
			a.Kind, a.State, a.InRecords, a.CPUMillis = workload.Map, workload.Succeeded, 1000, millis*int64(7+7*(i%2))
			c.tasks[0].attempts = append(c.tasks[0].attempts, a)
		}
		var odd workload.Attempt
		odd.Kind, odd.State, odd.InRecords, odd.CPUMillis = workload.Map, workload.Succeeded, records, 1000*millis
		c.tasks[0].attempts = append(c.tasks[0].attempts, odd)
		c.countScatter()
		return c.Programs[0].CV[workload.Map]
	}
	// Logarithms are 0.693 apart: their deviation is 0.36 for 12, and the coefficient 0.37.
	if got := scatter(12, 1000, 10); math.Abs(got-0.37) > 0.02 {
		t.Errorf("got a coefficient of %.3f: want 0.37", got)
	}
	if few, small := scatter(4, 1000, 10), scatter(12, 1, 10); few != 0 || small != 0 {
		t.Errorf("got %.3f of four tasks and %.3f of small ones: want 0", few, small)
	}
}

// A scatter is added where recorded tasks differ more than simulated ones: there are
// enough of both, what is missing changes times that are printed, and chance does not
// explain it.
func TestMissingScatter(t *testing.T) {
	of := func(cv, part float64) fit.Scatter { // its error is that part of it
		return fit.Scatter{Variance: cv * cv, Error: part * cv * cv}
	}
	for _, c := range []struct {
		scatter taskScatter
		want    bool
	}{
		{taskScatter{Known: true, Recorded: of(0.3, 0.2), Simulated: of(0.1, 0.2)}, true},
		{taskScatter{Known: false, Recorded: of(0.3, 0.2), Simulated: of(0.1, 0.2)}, false},
		{taskScatter{Known: true, Recorded: of(0.3, 0.9), Simulated: of(0.1, 0.9)}, false},
		{taskScatter{Known: true, Recorded: of(0.1, 0.2), Simulated: of(0.3, 0.2)}, false},
		{taskScatter{Known: true, Recorded: of(0.009, 0.2), Simulated: of(0.001, 0.2)}, false},
		{taskScatter{Known: true, Recorded: of(0.3, 0.2)}, true},
		{taskScatter{Known: true}, false},
	} {
		if got := c.scatter.more(); got != c.want {
			t.Errorf("%+v: got %v: want %v", c.scatter, got, c.want)
		}
	}
}

// A key that is yes or no is told as the machine has it.
func TestSwitchesAreTold(t *testing.T) {
	k := &Calibrating{}
	q := &model.WhatIf{Cluster: model.Cluster{Nodes: make([]model.Node, 1), Machines: []model.Machine{{Disks: make([]model.Disk, 1)}}}}
	told := 0
	for _, u := range k.unknowns(q) {
		for _, v := range []float64{0.5, u.Likely, 2} {
			m := model.Machine{Disks: make([]model.Disk, 1)}
			u.set(&m, v)
			got := (&foundKey{key: u.Name}).text(v)
			if got != "yes" && got != "no" {
				continue
			}
			told++
			if on := m.Overlap || m.PageCache; on != (got == "yes") {
				t.Errorf("%s at %v is told as %s: the machine has %v", u.Name, v, got, on)
			}
		}
	}
	if told != 6 {
		t.Errorf("%d answers: want three of two keys", told)
	}
}
