package scenarios

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
)

// Platforms names the shipped platforms.
func Platforms() []string { return namesIn("platforms") }

// Profiles names the shipped job profiles.
func Profiles() []string { return namesIn("profiles") }

// Platform reads a shipped platform or one in a file.
func Platform(name string) (model.Machine, error) {
	if data, err := os.ReadFile(name); err == nil && !slices.Contains(Platforms(), name) {
		return readPlatform(data, name)
	}
	data, err := shippedIn("platforms", name, Platforms())
	if err != nil {
		return model.Machine{}, err
	}
	return readPlatform(data, ShippedPrefix+"platforms/"+name+".toml")
}

func shippedIn(folder, name string, names []string) ([]byte, error) {
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("%s: not one of the shipped %s%s: want one of %s", name, folder, input.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return shipped.ReadFile(folder + "/" + name + ".toml")
}

// described reads a shipped text or a file relative to the scenario's
// directory, and adds it to the inputs of the scenario.
func (f *File) described(to *Scenario, folder, name string, names []string) (data []byte, file string, err error) {
	if slices.Contains(names, name) {
		data, err = shippedIn(folder, name, names)
		file = ShippedPrefix + folder + "/" + name + ".toml"
		to.note(Input{Name: file, Data: data})
		return data, file, err
	}
	file = name
	if !filepath.IsAbs(name) {
		file = filepath.Join(f.folder, name)
	}
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		inside, _ := filepath.Glob(filepath.Join(file, "platform.*"))
		return nil, file, fmt.Errorf("%s: a folder: want a file%s", name, strings.TrimRight(" in it, such as "+strings.Join(inside, " or "), " "))
	case err != nil && !strings.Contains(name, ".") && !strings.ContainsRune(name, filepath.Separator):
		_, err = shippedIn(folder, name, names)
		return nil, "", err
	case errors.Is(err, fs.ErrNotExist) && len(names) > 0:
		return nil, file, fmt.Errorf("%s: no such file%s: want a file or one of the shipped %s: %s", name, input.DidYouMean(name, names), folder, strings.Join(names, ", "))
	case err != nil:
		return nil, file, err
	case info.Size() > maxFile:
		return nil, file, fmt.Errorf("%s: %d bytes: want at most %d", file, info.Size(), maxFile)
	}
	if data, err = os.ReadFile(file); err == nil {
		to.note(Input{Name: file})
	}
	return data, file, err
}

// provenance is the source of the values of a file.
type provenance struct {
	name, title     string
	source, assumed []string
}

// readProvenance reports a file that neither gives a source nor lists each
// value as assumed.
func (t *table) readProvenance() provenance {
	p := provenance{
		name:   strings.TrimSuffix(path.Base(t.file), ".toml"),
		source: t.texts("source"), assumed: t.texts("assumed"),
	}
	p.title = t.str("title", p.name)
	if len(p.source) == 0 {
		t.lacks("source: missing: want where the values come from")
	}
	keys := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(t.lines)) {
		keys[inList.ReplaceAllString(key, "")] = true
	}
	for _, a := range p.assumed {
		if key, why, ok := strings.Cut(a, ": "); !ok || !keys[key] || strings.TrimSpace(why) == "" {
			t.failf("assumed", "%q: want KEY: why, with a key of this file", a)
		}
	}
	return p
}

// quantity reads a required number.
func (t *table) quantity(key string, least, most float64) float64 {
	if !t.given(key) {
		t.lacks("%s: missing: want %s", join(t.path, key), aNumber(least, most))
	}
	return t.number(key, math.Max(least, 0), least, most)
}

// rate reads MB/s (a MB is a million bytes) and returns bytes/s.
func (t *table) rate(key string) float64 { return 1e6 * t.quantity(key, 0.01, 1e9) }

// readPlatform reads a platform file. One error lists all mistakes in it.
func readPlatform(data []byte, file string) (model.Machine, error) {
	t, err := parse(data, file)
	if err != nil {
		return model.Machine{}, err
	}
	if what, next := kindOf(t); what != "a platform" && (t.has("cluster") || t.has("data") || t.has("scenario")) {
		return model.Machine{}, fmt.Errorf("%s: got %s: want a platform (slotwave show dl145-g3 prints one); %s", file, what, next)
	}
	p := t.readProvenance()
	m := model.Machine{Name: p.name, Title: p.title, Source: p.source, Assumed: p.assumed}
	m.Cores = t.integer("cores", 1, 1, 1<<20)
	m.SMT = t.rising("smt")
	m.Speed = t.quantity("speed", above, 1e6)
	m.Memory = t.memory(1 << 30)
	m.Dirty = t.size("dirty", 0)
	m.NIC = t.rate("nic_mb")
	m.Uplink = math.Inf(1)
	if t.has("uplink_mb") {
		m.Uplink = t.rate("uplink_mb")
	}
	disks := t.tables("disk")
	if len(disks) == 0 {
		t.lacks("disk: missing: want one table [[disk]] or more")
	}
	for _, d := range disks {
		disk := model.Disk{Read: d.rate("read_mb"), Write: d.rate("write_mb"), Curve: d.curve()}
		m.Disks = append(m.Disks, slices.Repeat([]model.Disk{disk}, d.integer("count", 1, 1, 1000))...)
		d.done()
	}
	m.Overlap = t.boolean("overlap", false)
	m.WriteTurn = t.size("write_turn", 0)
	m.PageCache = t.boolean("page_cache", false)
	jvm := t.inner("jvm")
	m.JVMStart = jvm.duration("start", 0)
	m.HeapPart = jvm.quantity("heap_part", above, 1)
	jvm.done()
	m.CPU = model.MeasuredCost
	cpu := t.inner("cpu")
	for _, c := range m.CPU.Named() {
		*c.NS = cpu.number(c.Key, *c.NS, 0, math.Inf(1))
	}
	cpu.done()
	m.Codecs = t.readCodecs()
	with := t.inner("measured_with")
	for i, key := range measuredWith {
		m.MeasuredWith[i] = with.oneOf(key, "", append(model.CodecNames(), "")...)
	}
	with.done()
	for _, key := range []string{"cores", "memory"} {
		if !t.has(key) {
			t.lacks("%s: missing: want it in a platform", key)
		}
	}
	t.done()
	if err := t.err(); err != nil {
		return model.Machine{}, err
	}
	return m, m.Check()
}

// WritePlatform writes a machine with equal disks as a platform file. Reading
// the file gives the same machine, to six digits.
func WritePlatform(w io.Writer, m *model.Machine) error {
	var b writer
	b.about(m.Title, m.Source, m.Assumed)
	b.line("\ncores = %d\nspeed = %s\nmemory = %d", m.Cores, sixDigits(m.Speed), m.Memory)
	if m.SMT != nil {
		var gains []string
		for _, g := range m.SMT {
			gains = append(gains, sixDigits(g))
		}
		b.line("smt = [%s]   # what a core with 1, 2, ... threads gets done", strings.Join(gains, ", "))
	}
	if m.Dirty > 0 {
		b.line("dirty = %d   # bytes that may wait in memory to be written", m.Dirty)
	}
	if m.Overlap {
		b.line("overlap = true   # reads ahead, writes behind")
	}
	if m.WriteTurn > 0 {
		b.line("write_turn = %d   # bytes that a task reads, computes and writes to HDFS in turn", m.WriteTurn)
	}
	if m.PageCache {
		b.line("page_cache = true   # what was written is read from memory")
	}
	b.line("nic_mb = %s   # MB/s each way", sixDigits(m.NIC/1e6))
	if !math.IsInf(m.Uplink, 1) {
		b.line("uplink_mb = %s   # of a rack", sixDigits(m.Uplink/1e6))
	}
	d := &m.Disks[0]
	b.line("\n[[disk]]\ncount = %d\nread_mb = %s   # one stream, MB/s\nwrite_mb = %s", len(m.Disks), sixDigits(d.Read/1e6), sixDigits(d.Write/1e6))
	b.line("[disk.curve]")
	b.text("kind", string(d.Curve.Kind))
	switch d.Curve.Kind {
	case model.FloorCurve:
		b.line("least = %s\nalpha = %s", sixDigits(d.Curve.Least), sixDigits(d.Curve.Alpha))
	case model.LinearCurve:
		b.number("alpha", d.Curve.Alpha)
	case model.SeekCurve:
		b.line("chunk = %.0f", d.Curve.Chunk)
		b.text("seek", d.Curve.Seek.String())
	}
	b.line("\n[jvm]")
	b.text("start", m.JVMStart.String())
	b.number("heap_part", m.HeapPart)
	b.line("\n[cpu]   # ns of a core of speed 1")
	for _, c := range m.CPU.Named() {
		b.number(c.Key, *c.NS)
	}
	for _, c := range m.Codecs {
		b.line("\n[codec.%s]\ncompress_byte = %s\ndecompress_byte = %s\nratio = %s", c.Name, sixDigits(c.Compress), sixDigits(c.Decompress), sixDigits(c.Ratio))
	}
	if m.MeasuredWith != [2]string{} {
		b.line("\n[measured_with]   # codecs whose work is in the costs")
		for i, key := range measuredWith {
			b.text(key, m.MeasuredWith[i])
		}
	}
	return b.to(w)
}

// measuredWith are the keys of Machine.MeasuredWith.
var measuredWith = [2]string{"map_output", "output"}

func (t *table) curve() model.DiskCurve {
	c := t.inner("curve")
	var kinds []string
	for _, k := range model.CurveKinds {
		kinds = append(kinds, string(k))
	}
	curve := model.DiskCurve{Kind: model.CurveKind(c.oneOf("kind", string(model.NoCurve), kinds...))}
	const sector, steepest, longestSeek = 512, 100, time.Second // beyond them a job takes years
	switch curve.Kind {
	case model.FloorCurve:
		curve.Least = c.quantity("least", 0.001, 1)
		curve.Alpha = c.quantity("alpha", 0, steepest)
	case model.LinearCurve:
		curve.Alpha = c.quantity("alpha", 0, steepest)
	case model.SeekCurve:
		chunk := c.size("chunk", 128<<10)
		if chunk < sector {
			c.want("chunk", chunk, "at least a sector of 512 bytes")
		}
		curve.Chunk = float64(chunk)
		if curve.Seek = c.duration("seek", 0); curve.Seek > longestSeek {
			c.want("seek", curve.Seek, "at most 1s")
		}
	}
	c.done()
	return curve
}

// readCodecs reads the codecs that differ from the defaults.
func (t *table) readCodecs() []model.Codec {
	in := t.inner("codec")
	var own []model.Codec
	for _, c := range model.Codecs {
		if !in.given(c.Name) {
			continue
		}
		given := in.inner(c.Name)
		c.Compress = given.number("compress_byte", c.Compress, 0, math.Inf(1))
		c.Decompress = given.number("decompress_byte", c.Decompress, 0, math.Inf(1))
		c.Ratio = given.number("ratio", c.Ratio, above, 1)
		given.done()
		own = append(own, c)
	}
	in.done()
	return own
}
