package validation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A drawnWorld is a cluster and its jobs. Every key of a platform, a cluster, a scheduler
// and a program is drawn over the range that machines and clusters from 2006 to 2020 had.
type drawnWorld struct {
	seed   uint64
	format string            // of its history
	files  map[string]string // scenario.toml and what it names
	facts  string            // the platform that an owner of the machines could write down

	nodes, mapSlots, reduceSlots int
	slow                         []float64 // factors of the first nodes
	loaded                       bool      // the first node, by others
	cores, disks                 int
	nicMB                        float64
	sortMB, heapMB               int
	blockMB                      int
	compressed                   bool // map output
	outputCompressed             bool
	slowstart                    float64
	scheduler                    string
	masterSets                   []string // what the masters' configuration has, for --set
	jobs                         []worldJob
}

type worldJob struct {
	program, reduces int
	bytes            int64
}

// dice draws numbers of a world.
type dice struct{ *rand.Rand }

func (d dice) between(least, most float64) float64 { return least + (most-least)*d.Float64() }

// log draws with equal chance for each factor between two numbers.
func (d dice) log(least, most float64) float64 {
	return least * math.Exp(d.Float64()*math.Log(most/least))
}

func (d dice) whole(least, most int) int {
	return min(most, int(d.log(float64(least), float64(most+1))))
}

func (d dice) chance(p float64) bool { return d.Float64() < p }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// lines is a file of TOML in the making.
type lines struct{ strings.Builder }

func (l *lines) add(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

const mib = 1 << 20

// drawWorld draws the world of a seed.
func drawWorld(seed uint64) *drawnWorld {
	d := dice{rand.New(rand.NewPCG(seed, 26))}
	w := &drawnWorld{seed: seed, files: map[string]string{}, format: pick(d, "history", "jhist", "rumen")}
	w.nodes = d.whole(3, 12)
	if d.chance(0.15) {
		w.nodes = d.whole(13, 40)
	}
	w.cores = d.whole(1, 32)
	w.mapSlots = min(24, max(1, int(math.Round(float64(w.cores)*d.log(0.5, 2.5)))))
	w.reduceSlots = max(1, int(math.Round(float64(w.mapSlots)*d.between(0.25, 1))))
	w.heapMB = 10 * int(d.log(20, 200))
	racks := 1
	if d.chance(0.35) {
		racks = d.whole(2, 4)
	}
	w.drawPlatform(d, racks)
	var s lines
	s.add("title = \"drawn world %d\"\nfidelity = \"device\"\nplots = \"none\"\n", seed)
	w.drawCluster(d, &s, racks)
	queues := w.drawScheduler(d, &s)
	w.drawConf(d, &s)
	w.drawJobs(d, &s, queues)
	w.drawLoad(dice{rand.New(rand.NewPCG(seed, 30))}, &s)
	w.files["scenario.toml"] = s.String()
	return w
}

// drawPlatform draws the machine of each node.
func (w *drawnWorld) drawPlatform(d dice, racks int) {
	heaps := float64(w.mapSlots+w.reduceSlots) * float64(w.heapMB) / 1024
	memory := int(math.Ceil(heaps*d.log(1.15, 4) + 1)) // GiB
	w.disks = d.whole(1, 12)
	w.nicMB = math.Round(pick(d, d.log(20, 1250), 125, 125))
	var known lines // what an owner of the machines knows
	known.add("cores = %d", w.cores)
	if d.chance(0.3) {
		known.add("smt = [1, %.2f]", d.between(1.1, 1.6))
	}
	known.add("memory = \"%dg\"", memory)
	if d.chance(0.5) {
		known.add("dirty = \"%dm\"", int(float64(memory)*1024*d.between(0.05, 0.4)))
	}
	known.add("overlap = %v\npage_cache = %v", d.chance(0.6), d.chance(0.5))
	known.add("nic_mb = %v", w.nicMB)
	if racks > 1 {
		known.add("uplink_mb = %.0f", w.nicMB*math.Ceil(float64(w.nodes)/float64(racks))/d.log(1, 8))
	}
	w.facts = known.String()

	read := d.log(25, 250)
	curve := pick(d, "seek", "seek", "linear", "floor", "none")
	if d.chance(0.2) { // flash
		read, curve = d.log(200, 2000), pick(d, "none", "linear")
	}
	p := &lines{}
	p.add("title = \"drawn machine %d\"\nsource = [\"drawn\"]\nspeed = %.3f\n%s", w.seed, d.log(0.15, 1.5), known.String())
	p.add("[[disk]]\ncount = %d\nread_mb = %.1f\nwrite_mb = %.1f\n[disk.curve]\nkind = \"%s\"", w.disks, read, read*d.between(0.4, 1), curve)
	switch curve {
	case "seek":
		p.add("chunk = %d\nseek = \"%.1fms\"", int(d.log(256<<10, 8<<20)), d.between(4, 15))
	case "linear":
		p.add("alpha = %.3f", d.log(0.01, 0.2))
	case "floor":
		p.add("alpha = %.3f\nleast = %.2f", d.log(0.02, 0.4), d.between(0.2, 0.8))
	}
	p.add("[jvm]\nstart = \"%.1fs\"\nheap_part = %.3f", d.log(0.3, 3), d.between(0.85, 1))
	p.add("[cpu]")
	for _, c := range []struct {
		key  string
		cost float64
	}{
		{"hdfs_read_byte", 4.1}, {"hdfs_write_byte", 2.9}, {"local_read_byte", 1}, {"local_write_byte", 1},
		{"partition_record", 100}, {"serde_record", 200}, {"serde_byte", 0.4}, {"compare", 110}, {"merge_record", 500},
	} {
		p.add("%s = %.4g", c.key, c.cost*d.log(0.4, 2.5))
	}
	if d.chance(0.5) {
		p.add("fetch_byte = %.3g\nopen_file = %.3g\ncold_records = %d", d.log(0.3, 5), d.log(1e4, 5e6), d.whole(100, 100_000))
	}
	if d.chance(0.5) {
		p.add("[codec.default]\ncompress_byte = %.3g\ndecompress_byte = %.3g\nratio = %.3f", d.log(5, 60), d.log(1, 8), d.between(0.15, 0.7))
	}
	w.files["platform.toml"] = p.String()
}

// nodeName is the name of a node of a cluster of equal nodes.
func nodeName(i, nodes int) string { return fmt.Sprintf("node%0*d", len(fmt.Sprint(nodes)), i) }

func (w *drawnWorld) drawCluster(d dice, s *lines, racks int) {
	s.add("[cluster]\nplatform = \"platform.toml\"\nhadoop = \"%s\"\nnodes = %d\nracks = %d", pick(d, "0.20.2", "0.21.0", "1.0.4", "1.2.1", "1.2.1"), w.nodes, racks)
	s.add("map_slots = %d\nreduce_slots = %d", w.mapSlots, w.reduceSlots)
	if d.chance(0.08) {
		s.add("shared_slots = true")
		w.masterSets = append(w.masterSets, "cluster.shared_slots=true")
	}
	if d.chance(0.15) {
		heartbeat := fmt.Sprintf("%.1fs", d.log(0.5, 10))
		s.add("heartbeat = %q", heartbeat)
		w.masterSets = append(w.masterSets, "cluster.heartbeat="+heartbeat)
	}
	if d.chance(0.6) {
		s.add("[cluster.costs]\nlaunch = \"%.1fs\"\nsetup = \"%.1fs\"\ncleanup = \"%.1fs\"\ncommit = \"%.1fs\"\ntask_cleanup = \"%.1fs\"",
			d.log(0.2, 4), d.log(0.2, 3), d.log(0.2, 3), d.log(0.1, 2), d.log(0.2, 2))
	}
	if d.chance(0.2) {
		s.add("[cluster.slowdowns]")
		for range d.whole(1, 2) { // of the nodes that every smaller cluster keeps
			w.slow = append(w.slow, math.Round(100*d.between(1.1, 2))/100)
			s.add("%s = %v", nodeName(len(w.slow), w.nodes), w.slow[len(w.slow)-1])
		}
	}
	s.add("")
}

// A schedulerTable is a pool or a queue.
type schedulerTable struct {
	list string
	keys []any // key, value, ...
}

// drawScheduler returns the line that gives each job its pool or queue, by program.
func (w *drawnWorld) drawScheduler(d dice, s *lines) []string {
	w.scheduler = pick(d, "fifo", "fifo", "fair1", "fair2", "capacity")
	tables := []schedulerTable{{"", []any{"name", w.scheduler}}}
	lines := []string{""}
	switch {
	case strings.HasPrefix(w.scheduler, "fair"):
		tables[0].keys = append(tables[0].keys, "mapred.fairscheduler.assignmultiple", d.chance(0.5))
		if d.chance(0.5) {
			tables = append(tables,
				schedulerTable{"pool", []any{"name", "a", "weight", math.Round(10*d.log(0.5, 4)) / 10, "min_maps", d.IntN(w.nodes)}},
				schedulerTable{"pool", []any{"name", "b", "max_running_jobs", d.whole(1, 3)}})
			lines = []string{`pool = "a"`, `pool = "b"`}
		}
	case w.scheduler == "capacity" && d.chance(0.7):
		share := 10 * d.whole(1, 9)
		tables = append(tables,
			schedulerTable{"queue", []any{"name", "a", "capacity", share, "user_limit_factor", d.whole(1, 4)}},
			schedulerTable{"queue", []any{"name", "b", "capacity", 100 - share}})
		lines = []string{`queue = "a"`, `queue = "b"`}
	}
	for i, table := range tables {
		at := "scheduler"
		if i == 0 {
			s.add("[scheduler]")
		} else {
			at = fmt.Sprintf("scheduler.%s.%d", table.list, i-1)
			s.add("[[scheduler.%s]]", table.list)
		}
		for pair := range slices.Chunk(table.keys, 2) {
			s.add("%q = %#v", pair[0], pair[1])
			w.masterSets = append(w.masterSets, fmt.Sprintf("%s.%v=%v", at, pair[0], pair[1]))
		}
	}
	s.add("")
	return lines
}

func (w *drawnWorld) drawConf(d dice, s *lines) {
	w.sortMB = max(20, int(float64(w.heapMB)*d.between(0.1, 0.6)))
	w.blockMB = pick(d, 32, 64, 64, 128, 256)
	w.compressed, w.outputCompressed = d.chance(0.4), d.chance(0.15)
	w.slowstart = pick(d, 0.05, 0.05, d.between(0, 1), 1)
	s.add("[conf]\n\"mapred.child.java.opts\" = \"-Xmx%dm\"\n\"io.sort.mb\" = %d\n\"dfs.block.size\" = %d", w.heapMB, w.sortMB, w.blockMB*mib)
	s.add("\"mapred.compress.map.output\" = %v\n\"mapred.output.compress\" = %v", w.compressed, w.outputCompressed)
	const codec = "org.apache.hadoop.io.compress.%sCodec"
	s.add("\"mapred.map.output.compression.codec\" = \""+codec+"\"", pick(d, "Default", "Default", "Gzip", "Snappy"))
	s.add("\"mapred.output.compression.codec\" = \""+codec+"\"", pick(d, "Default", "Gzip", "Snappy"))
	s.add("\"mapred.reduce.slowstart.completed.maps\" = %.2f", w.slowstart)
	speculative := d.chance(0.25)
	s.add("\"mapred.map.tasks.speculative.execution\" = %v\n\"mapred.reduce.tasks.speculative.execution\" = %v", speculative, speculative)
	for _, c := range []struct{ key, value string }{
		{"io.sort.factor", fmt.Sprint(d.whole(5, 100))},
		{"io.sort.record.percent", fmt.Sprintf("%.2f", d.log(0.05, 0.3))},
		{"io.sort.spill.percent", fmt.Sprintf("%.2f", d.between(0.6, 0.98))},
		{"mapred.reduce.parallel.copies", fmt.Sprint(d.whole(3, 20))},
		{"mapred.inmem.merge.threshold", fmt.Sprint(d.whole(50, 1000))},
		{"mapred.job.shuffle.input.buffer.percent", fmt.Sprintf("%.2f", d.between(0.4, 0.8))},
		{"mapred.job.reduce.input.buffer.percent", fmt.Sprintf("%.2f", d.between(0.1, 0.6))},
		{"dfs.replication", fmt.Sprint(d.whole(1, 3))},
	} {
		if d.chance(0.4) {
			s.add("\"%s\" = %s", c.key, c.value)
		}
	}
	s.add("")
}

// drawJobs draws one to four programs and up to six jobs of them, of 10 to 300 maps each.
func (w *drawnWorld) drawJobs(d dice, s *lines, queues []string) {
	programs := 1 + d.IntN(4)
	for i := range programs {
		w.files[fmt.Sprintf("program%d.toml", i)] = drawProgram(d, i)
	}
	slots, left := w.nodes*w.mapSlots, 250
	gap := d.log(5, 300)
	submit := 0.0
	rare := dice{rand.New(rand.NewPCG(w.seed, 29))}
	for i := range max(programs, 1+d.IntN(6)) {
		j := worldJob{program: d.IntN(programs)}
		if i < programs {
			j.program = i
		}
		maps := min(left, max(10, min(300, int(float64(slots)*d.log(0.3, 8)))))
		if left -= maps; left < 10 {
			left = 10
		}
		j.bytes = int64((float64(maps) - pick(d, 0, d.Float64()*0.9)) * float64(w.blockMB*mib))
		if d.chance(0.9) {
			j.reduces = max(1, min(40, int(float64(w.nodes*w.reduceSlots)*d.log(0.1, 2.5))))
		}
		w.jobs = append(w.jobs, j)
		s.add("[[job]]\nname = \"program%d-%d\"\nsubmit = \"%.1fs\"\nprofile = \"program%d.toml\"\ninput = %d\nreduces = %d\nuser = \"%s\"",
			j.program, i, submit, j.program, j.bytes, j.reduces, pick(d, "ann", "bob", "eve"))
		s.add("%s", queues[j.program%len(queues)])
		if d.chance(0.3) && j.reduces > 1 {
			s.add("skew = { zipf = %.2f }", d.between(0.1, 0.8))
		}
		if d.chance(0.15) {
			s.add("fresh_input = true")
		}
		priority := ""
		if d.chance(0.15) {
			priority = pick(d, "HIGH", "LOW")
		}
		if rare.chance(0.1) {
			s.add("map_fail_ms = { \"%d\" = [%d] }", rare.IntN(maps), rare.whole(500, 20_000))
		}
		if priority != "" { // as a client states it, so that the record has it
			s.add("[job.conf]\n\"mapred.job.priority\" = %q", priority)
		}
		submit += gap * d.ExpFloat64()
	}
}

// drawLoad has others use a disk, the cores or the network of the first node.
func (w *drawnWorld) drawLoad(d dice, s *lines) {
	if w.loaded = d.chance(0.08); w.loaded {
		s.add("[[cluster.load]]\nnode = %q\ndevice = %q\nshare = %.2f", nodeName(1, w.nodes), pick(d, "disk", "cpu", "network"), d.between(0.1, 0.6))
	}
}

// drawProgram draws the data and the costs of a program: from filters that keep a
// thousandth to programs that emit three times what they read.
func drawProgram(d dice, i int) string {
	var p lines
	width := d.log(20, 3000)
	size := d.log(0.002, 3)
	pair := d.log(8, 1500) // bytes of a record of map output
	records := size * width / pair
	p.add("title = \"program%d\"\nsource = [\"drawn\"]", i)
	if d.chance(0.1) {
		p.add("input_codec = \"%s\"", pick(d, "gzip", "default"))
	}
	p.add("[data]\ninput_pair_width = %.1f\nmap_size_sel = %.4g\nmap_records_sel = %.4g", width, size, records)
	combines := d.chance(0.35)
	group := pick(d, 1, d.log(1, 1000))
	if combines {
		group = d.log(1, 10)
	}
	p.add("records_per_group = %.4g\nreduce_size_sel = %.4g\nreduce_records_sel = %.4g", group, d.log(0.01, 1.5), d.log(0.01, 1))
	if combines && d.chance(0.5) {
		p.add("keys = %d", d.whole(50, 1_000_000))
	}
	p.add("[cpu]\nmap_record = %.4g\nreduce_record = %.4g", width*d.log(0.5, 150), pair*d.log(0.5, 100))
	if d.chance(0.5) {
		p.add("map_cv = %.3f\nreduce_cv = %.3f", d.log(0.02, 0.5), d.log(0.02, 0.5))
	}
	if combines {
		sel := d.log(0.001, 0.8)
		p.add("[combiner]\nsize_sel = %.4g\nrecords_sel = %.4g\nrecord = %.4g", sel, sel, d.log(100, 2000))
		if d.chance(0.3) {
			p.add("again_size_sel = %.3f\nagain_records_sel = %.3f", 1.0, 1.0)
		}
	}
	if d.chance(0.6) {
		r := d.between(0.1, 0.6)
		p.add("[ratio]\ndefault = %.3f\ngzip = %.3f\nsnappy = %.3f", r, r, min(0.9, r*d.between(1.1, 1.6)))
	}
	return p.String()
}

// record puts the files of a world into a folder, and its history into past. Real
// histories have the replicas of the input; those of a simulation come back by its seed,
// so it is the default.
func (w *drawnWorld) record(t *testing.T, dir string) {
	t.Helper()
	for name, text := range w.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	world := filepath.Join(dir, "world")
	verb(t, "run", filepath.Join(dir, "scenario.toml"), "--quiet", "--workers", "1", "--out", world)
	verb(t, "convert", world, "--to", w.format, "--quiet", "--out", filepath.Join(dir, "past"))
}
