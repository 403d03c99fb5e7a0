package validation

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/sim"
)

// hidden is a machine to be found again.
func hidden(m model.Machine) model.Machine {
	d := m.Disks[0]
	d.Read, d.Write, d.Curve.Chunk = 85e6, 66e6, 1.2e6
	m.Disks = []model.Disk{d, d}
	m.NIC = 95e6
	m.CPU.HDFSRead, m.CPU.HDFSWrite = 6, 2.2
	m.CPU.SerdeRecord, m.CPU.Compare, m.CPU.Merge = 320, 85, 720
	return m
}

// unseen are jobs that no benchmark is like.
var unseen = []platform.GridPoint{{InputMB: 48, MapSel: 0.9, Maps: 50, Reduces: 12}, {InputMB: 64, MapSel: 2.5, Maps: 30, Reduces: 24}, {InputMB: 20, MapSel: 1.1, Maps: 80, Reduces: 6}}

// A platform is found from what its benchmarks show: on jobs that were not
// among them, phases take what they take on the true one.
func TestCalibrate(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates by many simulations")
	}
	bed := open(t, "dl145-g3", "phase")
	truth := bed.with(hidden(bed.Cluster.Machines[0]))
	profile, err := truth.Profile(platform.BenchmarkRow)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	profile.Write(&text)
	path := filepath.Join(t.TempDir(), "found.toml")
	code, report, errs := call("", "platform", "calibrate", write(t, "profile.csv", text.String()), "--out", path)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	t.Log(report)
	// Writing adds a disk to a processor, and what the sort tells of the disk it
	// tells beside merging.
	if !strings.Contains(report, "Determined only jointly: disk.write_mb, cpu.hdfs_write_byte, cpu.merge_record\n") || strings.Count(report, "not determined") != 1 {
		t.Error("it is not said what the profile does not tell")
	}
	alike(t, truth, open(t, path, "phase"), bed)
}

// The same with contention, where the search takes minutes.
func TestCalibrateContended(t *testing.T) {
	if !*update {
		t.Skip("runs with -update alone")
	}
	bed := open(t, "dl145-g3", "device")
	truth := bed.with(hidden(bed.Cluster.Machines[0]))
	profile, err := truth.Profile(platform.BenchmarkRow)
	if err != nil {
		t.Fatal(err)
	}
	found, err := bed.Calibrate(profile, platform.BenchmarkRow)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(calibrated(t, &found))
	alike(t, truth, bed.with(found.Machine), bed)
}

// Six rows do not tell eight values, however well they are met.
func TestCalibrateFewRows(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates by many simulations")
	}
	profile := "phase,row,data_mb,duration_ms\n"
	for _, phase := range platform.Phases {
		profile += phase + ",1,64,3000\n"
	}
	code, report, errs := call("", "platform", "calibrate", write(t, "profile.csv", profile))
	if code != 0 || strings.Count(report, "not determined") < 5 {
		t.Errorf("exit %d: %s\n%s", code, errs, report)
	}
}

// alike wants phases of unseen jobs within 5 % of the true ones.
func alike(t *testing.T, truth, found, start testbed) {
	t.Helper()
	for _, g := range unseen {
		want, got, before := truth.phases(t, g), found.phases(t, g), start.phases(t, g)
		for i, ms := range want {
			t.Logf("%v MB x %v, %d maps, %d reduces: %s %.0f ms, found %.0f, at the start %.0f", g.InputMB, g.MapSel, g.Maps, g.Reduces, platform.Phases[i], ms, got[i], before[i])
			if math.Abs(got[i]-ms) > 0.05*ms {
				t.Errorf("%+v: %s takes %.0f ms, want %.0f", g, platform.Phases[i], got[i], ms)
			}
		}
	}
}

// phases are the mean times of a benchmark's phases over several placements of
// its blocks, ms.
func (b testbed) phases(t *testing.T, g platform.GridPoint) []float64 {
	t.Helper()
	const placements = 5
	ms := make([]float64, len(platform.Phases))
	for seed := range uint64(placements) {
		j, p, err := g.Benchmark(platform.BenchmarkRow)
		var o observer
		if err == nil {
			q := b.Job(j, p)
			q.Seed = 100 + seed
			_, err = sim.Simulator{Recorder: &o}.Predict(q)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, phase := range o.Profile[:len(ms)] {
			for _, r := range phase.Rows {
				ms[i] += r.MS / float64(len(phase.Rows)) / placements
			}
		}
	}
	return ms
}
