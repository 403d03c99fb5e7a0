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
	if err := d.Text(&b); err != nil {
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
		limits, err := Limits(p.world.input().Jobs, p.question)
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
	const whole, runs = 6, 240
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
	golden(t, "random-digests.txt", digests.Bytes())
}

// firedRules lists the findings of a run under thresholds, without the order.
func (p *randomRun) firedRules(t testing.TB, limits Thresholds) []Finding {
	d, err := Run(context.Background(), p.input(), Options{Thresholds: limits})
	if err != nil {
		t.Fatal(err)
	}
	return d.Findings
}

// Which rules hold if a threshold equals the value of a finding.
func TestAtThresholds(t *testing.T) {
	var digests bytes.Buffer
	for seed := range uint64(6) {
		p := newRandomRun(1000 + seed)
		var values []float64
		limits := DefaultThresholds()
		for _, f := range p.firedRules(t, limits) {
			values = append(values, f.Value)
		}
		slices.Sort(values)
		values = append(slices.Compact(values), 0, 1)
		var text strings.Builder
		for i, name := range thresholdNames() {
			for _, v := range values {
				limits := DefaultThresholds()
				reflect.ValueOf(&limits).Elem().Field(i).SetFloat(v)
				fmt.Fprintf(&text, "%s = %.6g:", name, v)
				for _, f := range p.firedRules(t, limits) {
					fmt.Fprintf(&text, " %s%s%s", f.Rule, f.Node, f.Device)
				}
				text.WriteByte('\n')
			}
		}
		fmt.Fprintf(&digests, "%d %x\n", seed, sha256.Sum256([]byte(text.String())))
		if testing.Verbose() {
			t.Log(text.String())
		}
	}
	golden(t, "thresholds-digests.txt", digests.Bytes())
}
