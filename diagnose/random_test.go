package diagnose

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model/vectortest"
)

// report is all that a user can read of a run: the text, the files, what each
// change does, the limits, and the explanations of tasks and nodes.
func (p *randomRun) report(t testing.TB, o Options) string {
	var b bytes.Buffer
	in := p.input()
	samples := p.samples(t)
	if p.sampled {
		in.Dataflow = samples
	}
	d, err := Run(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Text(&b, true); err != nil {
		t.Fatal(err)
	}
	files := written(t, d)
	for _, name := range sortedKeys(files) {
		fmt.Fprintf(&b, "## %s\n%s", name, files[name])
	}
	b.WriteString("## changes\n")
	for _, f := range d.Findings {
		fmt.Fprintf(&b, "%s %s %s: saves %.6g s, weight %.6g: %s\n", f.Rule, f.Node, f.Device, f.saves, f.weight, changed(f.Change, p.question))
		for _, c := range f.others {
			fmt.Fprintf(&b, "or %s: %s\n", c.Text, changed(c, p.question))
		}
	}
	if p.question != nil {
		limits, err := Limits(p.world.input().Jobs, p.question, p.world.offers, nil)
		fmt.Fprintf(&b, "## limits\n%v %v\n", limits, err)
	}
	vertices, edges := samples.Graph()
	b.WriteString("## graph\n")
	for _, v := range vertices {
		fmt.Fprintf(&b, "%s %d %.6g %.6g\n", v.Name, v.Stages, v.Busy, v.Idle)
	}
	fmt.Fprintf(&b, "%v\n## explanations\n", edges)
	explain := func(what Explained) {
		fmt.Fprintf(&b, "# %+v\n", what)
		if err := Explain(&b, p.input(), what); err != nil {
			fmt.Fprintln(&b, err)
		}
	}
	for _, j := range p.jobs {
		for _, name := range []string{"m/0", "m/7", "m/20", "r/0", "r/3", "setup", "cleanup"} {
			explain(Explained{Task: j.ID + "/" + name})
		}
	}
	for _, at := range []time.Duration{0, 20 * s, 50 * s} {
		explain(Explained{Node: "n1", At: at})
	}
	for i := range min(9, len(p.offers)) {
		b.WriteString(DecisionText(&p.offers[i], p.question))
	}
	return b.String()
}

// samples are the records that agents would have collected, written and read back.
func (p *randomRun) samples(t testing.TB) *Dataflow {
	var b bytes.Buffer
	if err := WriteSamples(&b, p.input(), Sampling{Tasks: 700 * time.Millisecond, System: 8 * s}); err != nil {
		t.Fatal(err)
	}
	r := NewReconstruction(loadSpec(t, SpecificationNames[0]))
	if err := r.Read(&b, "samples.csv"); err != nil {
		t.Fatal(err)
	}
	return r.Dataflow()
}

// options of a run: every other run is verified by re-simulation.
func (p *randomRun) options(seed uint64) Options {
	o := DefaultOptions()
	if seed%2 == 0 {
		o.Verify = DefaultVerification(roughPredictor{})
		o.Verify.Workers, o.Verify.Without, o.Verify.Pairs = 1, seed%4 == 0, 2
		if seed%3 == 0 {
			o.Verify.Measured = p.measured
		}
	}
	return o
}

// What is written about random runs. Of some the golden file holds all of the text,
// of the others a digest of each part: a difference names the part, and -v shows it.
func TestRandomRuns(t *testing.T) {
	t.Parallel()
	const whole, all = 6, 240
	runs := layers.Draws(100, all)
	if *update {
		runs = all
	}
	var texts, digests bytes.Buffer
	for seed := range uint64(runs) {
		p := newRandomRun(seed)
		text := p.report(t, p.options(seed))
		if seed < whole {
			fmt.Fprintf(&texts, "==== run %d\n%s", seed, text)
		}
		fmt.Fprintf(&digests, "%d", seed)
		for _, part := range strings.Split(text, "\n## ") {
			fmt.Fprintf(&digests, " %.6x", sha256.Sum256([]byte(part)))
		}
		digests.WriteByte('\n')
	}
	golden(t, "random.txt", texts.Bytes())
	vectortest.FirstLines(t, "testdata/random-digests.txt", digests.String(), *update)
}

// limits are the thresholds with which each rule compares the value that it states.
var limits = map[string][]string{
	"R01": {"cpu_starved"}, "R02": {"disk_high"}, "R03": {"sort_spill", "map_output"}, "R04": {"wait_fetch", "wait_shared"},
	"R05": {"shuffle", "map_output"}, "R06": {"codec", "codec_time"}, "R07": {"cluster_idle"}, "R08": {"input_skew"}, "R10": {"input_skew"},
	"R11": {"cpu_drop", "late_shuffle"}, "R12": {"network_high"}, "R14": {"reduce_heavy"}, "R15": {"free_waiting"}, "R16": {"slow_device", "slow_node"},
	"R17": {"foreign_busy"}, "R18": {"still"}, "R19": {"wait_memory"}, "R20": {"last_wave"}, "R21": {"startup"}, "R22": {"remote_reads", "task_ratio"},
	"R23": {"lost"}, "R24": {"link_full"}, "R25": {"data_skew"},
}

// eased are the parts of their thresholds that rules are content with where a change
// can be tested.
var eased = map[string]float64{"R15": 6, "R21": 3}

// with is the default thresholds but for one.
func with(name string, value float64) Thresholds {
	t := DefaultThresholds()
	reflect.ValueOf(&t).Elem().Field(slices.Index(thresholdNames(), name)).SetFloat(value)
	return t
}

// Whether a rule holds if its threshold is just below, at, and just above the value
// that it states, and likewise for the eased threshold. For the other thresholds, all
// that holds if they are 0, 1 or 2.
func TestAtThresholds(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	compared := map[string]bool{}
	for _, names := range limits {
		for _, name := range names {
			compared[name] = true
		}
	}
	for seed := range uint64(layers.Draws(40, 40)) {
		p := newRandomRun(1000 + seed)
		findings := func(o Thresholds) []Finding {
			d, err := Run(context.Background(), p.input(), Options{Thresholds: o})
			if err != nil {
				t.Fatal(err)
			}
			return d.Findings
		}
		for _, f := range findings(DefaultThresholds()) {
			for _, name := range limits[f.Rule] {
				fmt.Fprintf(&text, "run %d: %s %s %s of %.6g, %s:", seed, f.Rule, f.Node, f.Device, f.Value, name)
				parts := []float64{1}
				if part, ok := eased[f.Rule]; ok {
					parts = append(parts, part)
				}
				for _, part := range parts {
					for _, by := range []float64{1 - 1e-6, 1, 1 + 1e-6} {
						same := func(o Finding) bool { return o.Rule == f.Rule && o.Node == f.Node && o.Device == f.Device }
						fmt.Fprintf(&text, " %v", slices.ContainsFunc(findings(with(name, f.Value*by*part)), same))
					}
				}
				text.WriteByte('\n')
			}
		}
		if seed >= 6 {
			continue
		}
		for _, name := range thresholdNames() {
			if compared[name] {
				continue
			}
			var all strings.Builder
			for _, v := range []float64{0, 1, 2} {
				for _, f := range findings(with(name, v)) {
					fmt.Fprintf(&all, "%s %s %s %.6g\n", f.Rule, f.Node, f.Device, f.Value)
				}
			}
			fmt.Fprintf(&text, "run %d, %s: %.6x\n", seed, name, sha256.Sum256([]byte(all.String())))
		}
	}
	golden(t, "thresholds.txt", text.Bytes())
}
