package platform_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// machine is one on which each parameter of a calibration has an effect of its own.
func machine(curve model.DiskCurve) model.Machine {
	disk := model.Disk{Read: 80e6, Write: 60e6, Curve: curve}
	return model.Machine{
		Name: "m", Cores: 2, Speed: 1, Memory: 4 << 30, NIC: 100e6, Uplink: math.Inf(1), HeapPart: 1, Disks: []model.Disk{disk, disk},
		CPU: model.FrameworkCost{
			HDFSRead: 4, HDFSWrite: 3, LocalRead: 2, LocalWrite: 5, Partition: 100, SerdeRecord: 200, SerdeByte: 1,
			Compare: 110, Merge: 500, Fetch: 2, Open: 1e6,
		},
	}
}

// bench takes the times of phases from sums over the parameters.
func bench(m model.Machine) (platform.Profile, error) {
	if m.NIC > 1e9 {
		return nil, fmt.Errorf("a network of %.3g MB/s", m.NIC/1e6)
	}
	var p platform.Profile
	d, c := &m.Disks[0], &m.CPU
	slow := 1 + d.Curve.Alpha + 1e6/max(1e6, d.Curve.Chunk)
	for _, mb := range []float64{2, 8, 32, 128} {
		for k := range 12 {
			bytes, records := mb*(1<<20), mb*1e4
			add := func(phase string, seconds, ns float64) {
				p.Add(phase, platform.PhaseRow{MB: mb, MS: 1000*(bytes*seconds*slow+ns/1e9/m.Speed) + float64(k)})
			}
			some := bytes * math.Pow(mb, -0.4) // of another shape than the bytes, so that costs of devices and of cores differ
			add("read", 1/d.Read, some*c.HDFSRead+c.Open)
			add("collect", 0, records*c.SerdeRecord+math.Sqrt(c.Cold*records))
			add("spill", 1/d.Write, some*c.LocalWrite+100*records*math.Pow(mb, -0.8)*c.Compare)
			add("merge", 1/d.Read+1/d.Write, records*c.Merge+some*c.LocalRead)
			add("shuffle", 1/m.NIC, bytes*c.Fetch) // which nothing separates
			add("write", 1/d.Write, some*c.HDFSWrite+c.Open)
			if mb > 5 {
				add(platform.SortPhase, 1/d.Read, records*c.Merge)
			}
		}
	}
	return p, nil
}

func calibrated(c *platform.Calibration, err error) string {
	var b strings.Builder
	m := &c.Machine
	if len(m.Disks) > 0 {
		fmt.Fprintf(&b, "%.5g %.5g %.5g %.5g %.5g %.5g %.5g\n", m.Speed, m.NIC, m.Disks[1].Read, m.Disks[1].Write, m.Disks[1].Curve.Alpha, m.Disks[1].Curve.Chunk, m.CPU)
	}
	for _, k := range c.Parameters {
		fmt.Fprintf(&b, "%s %.5g %.5g %.3g %v\n", k.Name, k.Start, k.Found, min(1, k.Error), k.Determined())
	}
	for _, p := range c.Phases {
		fmt.Fprintf(&b, "%s %d %.4f %.4f %.4f %.4f\n", p.Phase, p.Points, p.MeanBefore, p.MeanAfter, p.WorstBefore, p.WorstAfter)
	}
	fmt.Fprintf(&b, "%v, %d runs, %v\n", c.Joint, c.Runs, err)
	return b.String()
}

// Calibrations from several starts stay as they are: what is found, how surely, the errors of
// phases, the alternatives.
func TestCalibrationsStay(t *testing.T) {
	var got strings.Builder
	for _, curve := range []model.DiskCurve{
		{Kind: model.NoCurve}, {Kind: model.LinearCurve, Alpha: 0.3}, {Kind: model.FloorCurve, Alpha: 0.2, Least: 0.2}, {Kind: model.SeekCurve, Chunk: 2e6, Seek: 1e7},
	} {
		measured, err := bench(machine(curve))
		if err != nil {
			t.Fatal(err)
		}
		start := machine(curve)
		for k := range start.Disks {
			start.Disks[k].Read, start.Disks[k].Curve.Alpha = 50e6, 2*start.Disks[k].Curve.Alpha
		}
		start.NIC, start.CPU.Compare, start.CPU.Cold = 60e6, 300, 1000
		for _, contended := range []bool{false, true} {
			c, err := platform.Calibrate(measured, start, contended, bench)
			fmt.Fprintf(&got, "# %s %v\n%s", curve.Kind, contended, calibrated(&c, err))
		}
	}
	measured, _ := bench(machine(model.DiskCurve{Kind: model.NoCurve}))
	fast := machine(model.DiskCurve{Kind: model.NoCurve})
	fast.NIC = 2e9
	c, err := platform.Calibrate(measured, fast, false, bench)
	fmt.Fprintf(&got, "# a bench that fails\n%s", calibrated(&c, err))
	c, err = platform.Calibrate(measured[:2], start(), false, bench)
	fmt.Fprintf(&got, "# phases without rows\n%s", calibrated(&c, err))
	c, err = platform.Calibrate(measured, model.Machine{}, false, bench)
	fmt.Fprintf(&got, "# no machine\n%s", calibrated(&c, err))
	for _, curve := range []model.DiskCurve{{Kind: model.NoCurve}, {Kind: model.SeekCurve, Chunk: 2e6, Seek: 1e7}} {
		m := machine(curve)
		for _, k := range platform.Parameters(&m) {
			before := k.Value(&m)
			k.Scale(&m, 2)
			fmt.Fprintf(&got, "%s %.5g %.5g %.5g %.5g\n", k.Name, before, k.Value(&m), m.Disks[1].Read, m.Disks[1].Curve.Chunk)
		}
	}
	vectortest.Lines(t, "testdata/calibrations.txt", got.String(), *update)
}

func start() model.Machine { return machine(model.DiskCurve{Kind: model.NoCurve}) }

// Platforms that are fitted to random profiles stay, and so do the terms of random work, what
// they predict when a group is left out, and how both are written.
func TestPlatformsStay(t *testing.T) {
	var got strings.Builder
	first, shuffle := platform.Grids()
	fmt.Fprintf(&got, "grids %x\n", sha256.Sum256(fmt.Append(nil, first, shuffle)))
	for _, g := range first[:3] {
		j, p, err := g.Benchmark(platform.BenchmarkRow)
		fmt.Fprintf(&got, "%v %v %v %+v %v\n", j.Maps.Count, j.Maps.InputBytes, j.Reduces.Count, p.Data, err)
	}
	for _, text := range []string{
		"mb_per_map,selectivity,maps,reduces\n2,0.5,4,2\n4,1,8,3\n", "mb_per_map,maps\n", "", "mb_per_map,selectivity,maps,reduces\n",
		"reduces,maps,x,selectivity,mb_per_map\n1,2,z,0.5,8\n1,a,z,1,1\n", "mb_per_map,selectivity,maps,reduces\n2,0.5,0,2\n", "mb_per_map,selectivity,maps,reduces\n-2,0.5,1,2\n",
	} {
		grid, err := platform.ReadGrid(strings.NewReader(text))
		fmt.Fprintf(&got, "%v %v\n", grid, err)
	}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := fittedPlatform()
		p.Merge.B, p.Read.A = float64(r.IntN(60)), float64(r.IntN(400))
		profile := profiled(t, p, []float64{0, 0.03, 0.2}[r.IntN(3)], []float64{0, 0.05}[r.IntN(2)], seed)
		for i := range profile {
			var some []platform.PhaseRow
			for k := r.IntN(5); k < len(profile[i].Rows); k += 5 {
				some = append(some, profile[i].Rows[k])
			}
			profile[i].Rows = some
		}
		o := platform.FitOptions{EqualSpread: r.IntN(2) == 0, Robust: fit.RobustOptions{Weight: append(fit.Weights(), "")[r.IntN(1+len(fit.Weights()))], NonNegative: r.IntN(2) == 0}}
		o.Segment.Continuous = r.IntN(2) == 0
		if r.IntN(3) == 0 {
			o.TwoLines = []string{"read", "shuffle"}
		}
		var out bytes.Buffer
		if err := profile.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := platform.ReadProfile(bytes.NewReader(out.Bytes()))
		fmt.Fprintln(&out, again, err)
		m, fits, err := platform.Fit(profile, o)
		fmt.Fprintln(&out, err)
		for i := range fits {
			fmt.Fprintf(&out, "%s\n", fits[i].Doubt())
		}
		for _, f := range phasesOf(m) {
			fmt.Fprintf(&out, "%.6g %.6g %.6g %.6g %.6g; %.6g\n", f.A, f.B, f.Tau, f.Beyond.A, f.Beyond.B, f.At(100))
		}
		for _, phase := range platform.Phases {
			fmt.Fprintf(&out, "%s %.6g\n", phase, m.Phase(phase, 50))
		}
		var text bytes.Buffer
		err = platform.WriteModel(&text, m)
		read, err2 := platform.ReadModel(text.Bytes())
		var second bytes.Buffer
		err3 := platform.WriteModel(&second, read)
		fmt.Fprintf(&out, "written again alike: %v %v %v %v\n", bytes.Equal(text.Bytes(), second.Bytes()), err, err2, err3)
		b, err := platform.ExpectedBreak(platform.BreakSetup{SortFactor: r.IntN(12), HeapMB: float64(100 * r.IntN(9)), InBuffer: float64(r.IntN(11)) / 10, MergeAt: float64(r.IntN(11)) / 10})
		fmt.Fprintf(&out, "%.6g %v\n", b, err)
		program, err := platform.ProgramOf(randomProfile(r))
		fmt.Fprintf(&out, "%+v %v\n", program, err)
		if testing.Verbose() {
			t.Logf("%d:\n%s", seed, out.String())
		}
		fmt.Fprintf(&got, "%d: %.6x\n", seed, sha256.Sum256(out.Bytes()))
	}
	vectortest.Lines(t, "testdata/platforms.txt", got.String(), *update)
}

// randomProfile is a recorded job that lacks some of its statistics.
func randomProfile(r *rand.Rand) *workload.Profile {
	p := &workload.Profile{Name: "p", Source: []string{"s"}}
	d := &p.Data
	for _, v := range []*float64{
		&d.InputPairWidth, &d.MapSizeSel, &d.MapRecsSel, &d.RecsPerRedGroup, &d.ReduceSizeSel, &d.ReduceRecsSel, &d.CombineRecsSel, &d.CombineSizeSel, &d.ReduceOutPairWidth, &d.MapOutPairWidth,
	} {
		if *v = float64(r.IntN(8)) / 4; r.IntN(6) == 0 {
			*v = math.NaN()
		}
	}
	return p
}

// What is read of the tables, profiles and models of platforms stays, of sound and of damaged
// ones: what they hold or why they are refused. A line of the golden file is a text in one
// state; -v shows what was read.
func TestReadingsStay(t *testing.T) {
	var profile, fitted bytes.Buffer
	measured, err := bench(machine(model.DiskCurve{Kind: model.NoCurve}))
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := platform.Fit(measured, platform.FitOptions{})
	starfish, err2 := os.ReadFile("testdata/starfish.xml")
	if err := errors.Join(err, err2, measured[:2].Write(&profile), platform.WriteModel(&fitted, m)); err != nil {
		t.Fatal(err)
	}
	table := "job\tprofile\tside\tinput_index\tnum_tasks\tkind\tkey\tvalue\n"
	for _, row := range []string{"map\t0\t4\tcost\tREAD_HDFS_IO_COST\t20", "map\t0\t4\tstatistic\tINPUT_PAIR_WIDTH\t100", "map\t1\t2\ttiming\tMAP\t3", "reduce\t\t2\tcost\tNETWORK_COST\t80"} {
		table += "j\tp\t" + row + "\n"
	}
	starfishes := func(text string) (any, error) {
		all, err := platform.ReadStarfish(strings.NewReader(text))
		var read []any
		for i := range all {
			read = append(read, all[i], all[i].Machine(start()))
		}
		return read, err
	}
	var got strings.Builder
	for _, x := range []struct {
		name, text string
		read       func(text string) (any, error)
	}{
		{"grid", "run,maps,mb_per_map,selectivity,reduces\na,4,2,0.5,1\nb,20,64,1.5,5\n", func(text string) (any, error) { return platform.ReadGrid(strings.NewReader(text)) }},
		{"profile", profile.String(), func(text string) (any, error) { return platform.ReadProfile(strings.NewReader(text)) }},
		{"header", "phase,row,data_mb,duration_ms\nread,0,2,3\n", func(text string) (any, error) { return platform.ReadProfile(strings.NewReader(text)) }},
		{"model", fitted.String(), func(text string) (any, error) { return platform.ReadModel([]byte(text)) }},
		{"starfish", string(starfish), starfishes}, {"starfish table", table, starfishes},
	} {
		vectortest.Damaged(x.text, 60, func(state int, text string) {
			what, err := x.read(text)
			h := sha256.New()
			vectortest.Dump(h, what)
			if testing.Verbose() {
				t.Logf("%s %d: %+v %v", x.name, state, what, err)
			}
			fmt.Fprintf(&got, "%s %d: %.3x %v\n", x.name, state, h.Sum(nil), err)
		})
	}
	vectortest.Lines(t, "testdata/readings.txt", got.String(), *update)
}
