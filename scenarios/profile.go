package scenarios

import (
	"io"
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
)

// Keys of the coefficients of variation, and their limit: half of the tasks then
// take less than a tenth of the mean.
var cvKeys = [...]string{"map_cv", "reduce_cv"}

const mostCV = 10

// readProfile reads a file that describes a job's own code. One error lists all
// mistakes in it.
func readProfile(data []byte, file string) (model.Program, error) {
	t, err := parse(data, file)
	if err != nil {
		return model.Program{}, err
	}
	p := t.readProvenance()
	program := model.Program{Name: p.name, Title: p.title, Source: p.source, Assumed: p.assumed}

	flow := t.inner("data")
	d := &program.Data
	const mostGrowth = 1000 // of data, in one function: beyond it a map spills for years
	d.InputPairWidth = flow.quantity("input_pair_width", above, math.Inf(1))
	d.MapSizeSel = flow.quantity("map_size_sel", 0, mostGrowth)
	d.MapRecsSel = flow.quantity("map_records_sel", 0, math.Inf(1))
	if (d.MapSizeSel == 0) != (d.MapRecsSel == 0) {
		flow.failf("map_size_sel", "%v with map_records_sel %v: want both 0 or neither", d.MapSizeSel, d.MapRecsSel)
	}
	const leastWidth = 0.01 // bytes: a history may count records before its combiner and bytes after it
	if width := d.InputPairWidth * d.MapSizeSel / d.MapRecsSel; d.MapSizeSel > 0 && width < leastWidth {
		flow.failf("map_records_sel", "%v leaves records of %.3g bytes: want %v or more", d.MapRecsSel, width, leastWidth)
	}
	d.RecsPerGroup = flow.number("records_per_group", 1, 1, math.Inf(1))
	d.ReduceSizeSel = flow.quantity("reduce_size_sel", 0, mostGrowth)
	d.ReduceRecsSel = flow.quantity("reduce_records_sel", 0, math.Inf(1))
	program.Keys = flow.number("keys", 0, 1, math.Inf(1))
	flow.done()

	cpu := t.inner("cpu")
	program.MapCPU = cpu.quantity("map_record", 0, math.Inf(1))
	program.ReduceCPU = cpu.quantity("reduce_record", 0, math.Inf(1))
	for kind, key := range cvKeys {
		program.CV[kind] = cpu.number(key, 0, 0, mostCV)
	}
	cpu.done()
	program.Misfit = t.number("misfit", 0, above, math.Inf(1))

	d.CombineSizeSel, d.CombineRecsSel = 1, 1
	if program.Combiner = t.given("combiner"); program.Combiner {
		c := t.inner("combiner")
		d.CombineSizeSel = c.quantity("size_sel", 0, 1)
		d.CombineRecsSel = c.quantity("records_sel", 0, 1)
		program.CombineCPU = c.quantity("record", 0, math.Inf(1))
		if c.has("again_size_sel") || c.has("again_records_sel") {
			program.Again = &taskplan.Selectivity{Size: c.quantity("again_size_sel", 0, 1), Records: c.quantity("again_records_sel", 0, 1)}
		}
		c.asked = append(c.asked, "again_size_sel", "again_records_sel")
		c.done()
	}

	var codecs []string
	for _, c := range model.Codecs[1:] {
		codecs = append(codecs, c.Name)
	}
	if t.given("input_codec") {
		program.InCodec = t.oneOf("input_codec", codecs[0], codecs...)
	}
	ratios := t.inner("ratio")
	program.Ratios = map[string]float64{}
	for _, name := range codecs {
		if ratios.given(name) {
			program.Ratios[name] = ratios.quantity(name, above, 1)
		}
	}
	ratios.done()
	t.ask("recorded") // recorded part, read elsewhere
	t.done()
	return program, t.err()
}

// WriteProgram writes the data flow and the costs of a job's own code as a
// profile file.
func WriteProgram(w io.Writer, p *model.Program) error {
	var b writer
	b.about(p.Title, p.Source, p.Assumed)
	if p.InCodec != "" {
		b.text("input_codec", p.InCodec)
	}
	if p.Misfit > 0 {
		b.line("misfit = %.4g   # recorded time of its jobs, relative to the simulated", p.Misfit)
	}
	d := &p.Data
	b.line("\n[data]")
	b.number("input_pair_width", d.InputPairWidth)
	b.number("map_size_sel", d.MapSizeSel)
	b.number("map_records_sel", d.MapRecsSel)
	b.number("records_per_group", d.RecsPerGroup)
	b.number("reduce_size_sel", d.ReduceSizeSel)
	b.number("reduce_records_sel", d.ReduceRecsSel)
	if p.Keys > 0 {
		b.number("keys", p.Keys)
	}
	b.line("\n[cpu]   # ns of a core of speed 1")
	b.number("map_record", p.MapCPU)
	b.number("reduce_record", p.ReduceCPU)
	for kind, key := range cvKeys {
		if p.CV[kind] > 0 {
			b.number(key, p.CV[kind])
		}
	}
	if p.Combiner {
		b.line("\n[combiner]")
		b.number("size_sel", d.CombineSizeSel)
		b.number("records_sel", d.CombineRecsSel)
		b.number("record", p.CombineCPU)
		if p.Again != nil {
			b.number("again_size_sel", p.Again.Size)
			b.number("again_records_sel", p.Again.Records)
		}
	}
	if len(p.Ratios) > 0 {
		b.line("\n[ratio]   # compressed/uncompressed")
		for _, c := range model.Codecs[1:] {
			if r, ok := p.Ratios[c.Name]; ok {
				b.number(c.Name, r)
			}
		}
	}
	return b.to(w)
}
