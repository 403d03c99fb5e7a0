package scenarios

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// hardware holds the machine types of a cluster and the programs that run on
// them. Only questions at fidelity phase or device have any.
type hardware struct {
	file     *File
	scenario *Scenario
	fidelity model.Fidelity
	machines []model.Machine
	programs []model.Program
	nic      float64 // bytes/s that replace those of the platforms; 0: the platform's
	uplink   float64

	own     bool // the cluster and the scheduler of a trace are its own, as far as the scenario says
	varies  bool // the run is one of several that differ
	seed    workload.Seed
	yarn    *model.YARNRelease // nil: tasks of Hadoop 0.20 and 1
	volumes float64            // factor on the bytes of every job
}

func (m *hardware) planned() bool { return m.fidelity >= model.Phase }

// readNetwork reads [network]: values in place of those of the platforms, and
// how exactly transfers are simulated.
func (m *hardware) readNetwork(t *table, n *model.Network) {
	if t.given("nic_mb") {
		m.nic = t.rate("nic_mb")
	}
	if t.given("uplink_mb") {
		m.uplink = t.rate("uplink_mb")
	}
	n.Slack = t.number("slack", 0, 0, 0.1)
	n.ExactFetches = t.integer("exact_fetches", model.DefaultExactFetches, 1, math.MaxInt32)
	if !m.planned() {
		t.idleAtFidelity(m.fidelity, "nic_mb")
	}
	if m.fidelity != model.Device {
		t.idleAtFidelity(m.fidelity, "uplink_mb", "slack", "exact_fetches")
	}
	t.done()
}

// machineKeys are the keys that change a platform for some nodes. On YARN the memory is
// that of containers.
func (t *table) machineKeys() []string {
	keys := []string{"platform", "cores", "disks", "nic_mb", "disk_slowdown", "cpu_slowdown", "nic_slowdown"}
	if t.yarn == nil {
		keys = append(keys, "memory")
	}
	return keys
}

// readMachine reads the machine type of the cluster or of a group and returns
// its index. A group without one has the cluster's.
func (m *hardware) readMachine(t *table, common int) int {
	keys := t.machineKeys()
	t.asked = append(t.asked, keys...)
	own := slices.ContainsFunc(keys, t.has)
	switch {
	case !m.planned():
		m.described(t, t.str("platform", ""))
		for _, key := range keys {
			if t.has(key) {
				t.idleAt(t.line(key), "%s has no effect at fidelity %v: want phase or device", join(t.path, key), m.fidelity)
			}
		}
		return 0
	case !own:
		return common
	}
	var machine model.Machine
	if name := t.str("platform", ""); name != "" {
		var ok bool
		if machine, ok = m.platform(t, name); !ok {
			return common
		}
	} else if common >= 0 {
		machine = m.machines[common]
	} else {
		return common
	}
	if t.has("disks") {
		machine.Disks = slices.Repeat(machine.Disks[:1], t.integer("disks", 1, 1, 1000))
	}
	machine.Cores = t.integer("cores", machine.Cores, 1, 1<<20)
	if t.has("nic_mb") {
		machine.NIC = t.rate("nic_mb")
	}
	if t.yarn == nil {
		machine.Memory = t.memory(machine.Memory)
		if m.fidelity != model.Device || !machine.PageCache {
			t.idle("want fidelity device and a platform with page_cache", "memory")
		}
	}
	machine.Disks = slices.Clone(machine.Disks)
	t.slowDisks(machine.Disks)
	machine.Speed /= t.number("cpu_slowdown", 1, 1e-3, 1e3)
	machine.NIC /= t.number("nic_slowdown", 1, 1e-3, 1e3)
	m.machines = append(m.machines, machine)
	return len(m.machines) - 1
}

// slowDisks reads factors on the time of a machine's disks: one for all, or one
// for each.
func (t *table) slowDisks(disks []model.Disk) {
	v, ok := t.values["disk_slowdown"]
	if !ok {
		return
	}
	list, isList := v.([]any)
	if !isList {
		list = slices.Repeat([]any{v}, len(disks))
	}
	for i, x := range list {
		f, ok := asNumber(x)
		if !ok || f < 1e-3 || f > 1e3 || len(list) != len(disks) {
			t.want("disk_slowdown", v, fmt.Sprintf("a factor on the time of the disks, or a list of one for each of the %d disks of a node", len(disks)))
			return
		}
		disks[i].Read /= f
		disks[i].Write /= f
	}
}

// described reads the description of the platform with a name.
func (m *hardware) described(t *table, name string) (machine model.Machine, ok bool) {
	if name == "" {
		return machine, false
	}
	data, file, err := m.file.described(m.scenario, "platforms", name, Platforms())
	switch {
	case err != nil:
	case strings.EqualFold(filepath.Ext(file), ".json"):
		machine, err = m.fitted(t, name, file, data)
	default:
		machine, err = readPlatform(data, file)
	}
	if err != nil {
		t.failf("platform", "%v", err)
	}
	return machine, err == nil
}

// platform reads the platform with a name, with the rates of [network].
func (m *hardware) platform(t *table, name string) (model.Machine, bool) {
	machine, ok := m.described(t, name)
	if !ok {
		return machine, false
	}
	for _, a := range machine.Assumed {
		t.assume("platform %s: %s", name, a)
	}
	if machine.Fitted != nil {
		return machine, true
	}
	machine.Described = machine.Describe()
	if m.nic > 0 {
		machine.NIC = m.nic
	}
	if m.uplink > 0 {
		machine.Uplink = m.uplink
	}
	return machine, true
}

// fitted reads a platform model that fit wrote. It has no devices, so tasks cannot
// compete for them.
func (m *hardware) fitted(t *table, name, file string, data []byte) (model.Machine, error) {
	p, err := platform.ReadModel(data)
	if err != nil {
		return model.Machine{}, fmt.Errorf("%s: %w", file, err)
	}
	if m.fidelity != model.Phase {
		t.failf("platform", "%q: a fitted platform has no devices: want fidelity = \"phase\", got %v", name, m.fidelity)
	}
	for _, key := range []string{"disks", "disk_slowdown"} {
		if t.has(key) {
			t.failf(key, "a fitted platform has no disks: want %s for a platform of devices only", key)
		}
	}
	return model.FittedMachine(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), &p), nil
}

// program reads the profile with the work of tasks.
func (m *hardware) program(t *table) *model.Program {
	name := t.str("profile", "")
	if name == "" {
		t.lacks("%s: missing: fidelity %v needs a profile of the work of the tasks, such as --set %s.profile=terasort (slotwave list)", join(t.path, "profile"), m.fidelity, inList.ReplaceAllString(t.path, ".$1"))
		return nil
	}
	if i := slices.IndexFunc(m.programs, func(p model.Program) bool { return p.Name == name }); i >= 0 {
		return &m.programs[i]
	}
	data, file, err := m.file.described(m.scenario, "profiles", name, Profiles())
	var p model.Program
	if err == nil {
		p, err = readProfile(data, file)
	}
	if err != nil {
		t.failf("profile", "%v", err)
		return nil
	}
	for _, a := range p.Assumed {
		t.assume("profile %s: %s", name, a)
	}
	p.Name = name
	m.programs = append(m.programs, p)
	return &m.programs[len(m.programs)-1]
}

// programsIn reads the profiles of a folder, by the names of jobs, which are
// their titles. It returns nil without a folder.
func (m *hardware) programsIn(t *table) map[string]model.Program {
	path, names, ok := m.folder(t, "profiles")
	if !ok {
		return nil
	}
	programs := make(map[string]model.Program)
	for _, name := range names {
		file := filepath.Join(path, name)
		data, err := os.ReadFile(file)
		var p model.Program
		if err == nil {
			m.scenario.note(Input{Name: file})
			p, err = readProfile(data, file)
		}
		if _, twice := programs[p.Title]; err == nil && twice {
			err = fmt.Errorf("%s: a second profile with the title %.80q: want one", file, p.Title)
		}
		if err != nil {
			t.failf("profiles", "%v", err)
			continue
		}
		p.Name = strings.TrimSuffix(name, ".toml")
		for _, a := range p.Assumed {
			t.assume("profile %s: %s", p.Name, a)
		}
		programs[p.Title] = p
	}
	if len(programs) == 0 && len(t.problems) == 0 {
		t.failf("profiles", "%s: holds no profiles (.toml)", path)
	}
	return programs
}

// folder lists the TOML files of a folder that a key names.
func (m *hardware) folder(t *table, key string) (path string, names []string, ok bool) {
	path = t.str(key, "")
	if path == "" {
		return "", nil, false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.file.folder, path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.failf(key, "%v", plain(err))
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".toml" {
			names = append(names, entry.Name())
		}
	}
	return path, names, err == nil
}

// alternatives lists the calibrations of the folder that the workload names. The
// platform NAME.toml in it belongs to the profiles in the folder profiles-NAME.
// They do not count if another platform or other profiles are set.
func (m *hardware) alternatives(t *table) {
	if m.file.sets("cluster.platform") || m.file.sets("workload.profiles") {
		return
	}
	path, names, ok := m.folder(t, "alternatives")
	for _, name := range names {
		m.scenario.note(Input{Name: filepath.Join(path, name)})
		m.scenario.Alternatives = append(m.scenario.Alternatives, []string{
			"cluster.platform=" + workload.TOMLText(filepath.Join(t.str("alternatives", ""), name)),
			"workload.profiles=" + workload.TOMLText(t.str("profiles", "")+"-"+strings.TrimSuffix(name, ".toml")),
		})
	}
	if ok && len(m.scenario.Alternatives) == 0 {
		t.failf("alternatives", "%s: holds no platforms (.toml)", path)
	}
}

// shaped returns the program of a job of a trace, with the volumes of the
// trace. Records are as wide as those of the given program, and each map reads
// at least one.
func (m *hardware) shaped(like *model.Program, j *workload.Job) {
	p := *like
	p.Name = like.Name + " as " + j.ID
	if j.Maps.InputBytes == 0 {
		j.Maps.InputBytes = int64(math.Ceil(float64(j.Maps.Count) * p.Data.InputPairWidth))
	}
	in, out := float64(max(1, j.Maps.InputBytes)), float64(j.Reduces.OutputBytes)
	between := float64(j.Reduces.ShuffleData)
	if j.Reduces.Count == 0 {
		between, out = out, 0
	}
	d := &p.Data
	width := d.InputPairWidth
	if d.MapRecsSel > 0 {
		width *= d.MapSizeSel / d.MapRecsSel
	}
	if raw := j.Maps.Output; raw.RawBytes > 0 && between > 0 && j.Reduces.Count > 0 {
		between = combined(&p, &raw, between, float64(j.Maps.Count)*float64(j.Reduces.Count))
		d.MapSizeSel = float64(raw.RawBytes) / in
		beyondKeys(&p, j, m.yarn)
	} else {
		d.MapSizeSel = between / in
	}
	d.MapRecsSel = d.MapSizeSel * d.InputPairWidth / width
	if between > 0 {
		selectivity := out / between
		if d.ReduceSizeSel > 0 {
			d.ReduceRecsSel *= selectivity / d.ReduceSizeSel
		}
		d.ReduceSizeSel = selectivity
	}
	m.programs = append(m.programs, p)
	j.Program = p.Name
}

// combined derives the combiner and the codec of a recorded job from its map
// output and the bytes fetched, so that neither is applied twice. The fetched
// bytes are in the given number of partitions. It returns the bytes that enter
// the reduces.
func combined(p *model.Program, out *workload.MapOutput, fetched, partitions float64) float64 {
	bytes, records := float64(out.RawBytes), float64(out.Records)
	p.Combiner = out.CombineIn > 0 || lessFetched(out, fetched)
	p.Data.CombineSizeSel, p.Data.CombineRecsSel = 1, 1
	fetched -= float64(partitions * taskplan.IFile.Checksum)
	framed := func() float64 { // bytes in the files beside keys and values
		return float64(partitions*taskplan.IFile.Partition) + float64(records*taskplan.IFile.Record)
	}
	if p.Combiner {
		spills, merges := min(1, fetched/bytes), 1.0 // what combining leaves in spills, and in merges of maps
		left := spills
		if out.CombineOut > 0 { // Rumen has only the records into the combiner
			spills = min(1, float64(out.CombineOut)/float64(out.CombineIn))
		}
		if again := float64(out.CombineIn) - records; records > 0 && out.CombineIn > 0 && again > 0 {
			spills = min(1, again/records)
			merges = min(1, left/spills)
			if out.CombineOut > 0 {
				merges = min(1, max(0, float64(out.CombineOut)-again)/again)
			}
			p.Again = &taskplan.Selectivity{Size: merges, Records: merges}
		} else if out.MergedIn > 0 {
			left := min(1, float64(out.MergedOut)/float64(out.MergedIn))
			p.Again = &taskplan.Selectivity{Size: left, Records: left}
		}
		records *= spills * merges
		p.Data.CombineSizeSel, p.Data.CombineRecsSel = spills, spills
		if out.Codec == "" && merges > 0 { // then bytes show it better than records
			p.Data.CombineSizeSel = min(1, max(0, fetched-framed())/(bytes*merges))
		}
		bytes *= p.Data.CombineSizeSel * merges
	}
	if codec, err := model.FindCodec(out.Codec); err == nil && out.Codec != "" && bytes > 0 {
		p.Ratios = maps.Clone(p.Ratios)
		if p.Ratios == nil {
			p.Ratios = make(map[string]float64)
		}
		p.Ratios[codec.Name] = min(1, max(0, fetched)/(bytes+framed()))
	}
	if out.MergedIn > 0 && records > 0 {
		bytes *= max(0, 1-float64(out.MergedIn-out.MergedOut)/records)
	}
	return bytes
}

// lessFetched reports whether something that is not recorded made less of the map
// output before it was fetched: without a codec only a combiner does.
func lessFetched(out *workload.MapOutput, fetched float64) bool {
	return out.CombineIn == 0 && out.Codec == "" && fetched < 0.95*float64(out.RawBytes)
}

// readLoads reads the foreign loads on devices.
func (m *hardware) readLoads(t *table, c *model.Cluster) {
	for i, in := range t.tables("load") {
		l := model.Load{Streams: in.number("streams", 0, 0, 1e6), Share: in.number("share", 0, 0, 1)}
		devices := []string{"disk", "cpu", "network"}
		device := in.oneOf("device", devices[0], devices...)
		l.Device = model.LoadDevice(slices.Index(devices, device))
		l.From, l.Until = in.duration("from", 0), in.duration("until", 0)
		node := in.str("node", "")
		l.Node = slices.IndexFunc(c.Nodes, func(n model.Node) bool { return n.Name == node })
		l.Disk = in.integer("disk", -1, 0, 1000)
		switch {
		case l.Node < 0:
			in.failf("node", "%q: want one of %s", node, nodesNear(c, node))
		case m.fidelity != model.Device:
			t.idleAt(t.lines[index("cluster.load", i)], "cluster.load has no effect at fidelity %v", m.fidelity)
		case l.Disk >= len(c.Machines[c.Nodes[l.Node].Machine].Disks):
			in.failf("disk", "%d: want one of the node's %d disks, from 0", l.Disk, len(c.Machines[c.Nodes[l.Node].Machine].Disks))
		case l.Streams == 0 && l.Share == 0:
			in.lacks("%s: want streams or share", in.path)
		case l.Until > 0 && l.Until <= l.From:
			in.failf("until", "want a time after from")
		}
		in.done()
		c.Loads = append(c.Loads, l)
	}
}

// shares reads the shares of the reduces in the map output: "uniform", { zipf =
// s }, where the n-th reduce gets 1/n^s of the first one's share, or a list.
func (t *table) shares(reduces int) []float64 {
	v, ok := t.ask("skew")
	if !ok || v == "uniform" {
		return nil
	}
	parts := make([]float64, reduces)
	switch v := v.(type) {
	case map[string]any:
		in := t.inner("skew")
		s := in.quantity("zipf", 0, 100)
		in.done()
		for i := range parts {
			parts[i] = math.Pow(float64(i+1), -s)
		}
	case []any:
		for i := range min(len(v), reduces) {
			parts[i], ok = asNumber(v[i])
			if !ok || parts[i] < 0 {
				t.want(index("skew", i), v[i], "a share of at least 0")
			}
		}
		ok = len(v) == reduces
	default:
		ok = false
	}
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	if !ok || reduces > 0 && !(sum > 0) {
		t.want("skew", v, `"uniform", { zipf = 0.8 } or the part of each reduce`)
		return nil
	}
	if sum > 1.01 && slices.Max(parts) < 1 {
		t.warnAt(t.line("skew"), "%s: shares that sum to %.4g: each is divided by the sum", join(t.path, "skew"), sum)
	}
	for i := range parts {
		parts[i] /= sum
	}
	return parts
}

// beyondKeys raises what a combiner with a limited number of keys leaves of a spill.
// The recorded share is the mean of spills that reached the limit and of others.
// Of the latter more is left; the planner limits the former.
func beyondKeys(p *model.Program, j *workload.Job, release *model.YARNRelease) {
	if !p.Combiner || p.Keys == 0 || p.Data.CombineRecsSel == 0 {
		return
	}
	spills, in := spillsOf(j, release)
	share := p.Data.CombineRecsSel
	left := func(sel float64) (records float64) {
		for _, n := range spills {
			records += min(float64(sel*n), p.Keys)
		}
		return records
	}
	least, most := share, 1.0
	for range 50 {
		if mid := (least + most) / 2; left(mid) < share*in {
			least = mid
		} else {
			most = mid
		}
	}
	p.Data.CombineSizeSel *= least / share
	p.Data.CombineRecsSel = least
}

// spillsOf returns the records of each spill of a job's maps, and their sum.
func spillsOf(j *workload.Job, release *model.YARNRelease) (spills []float64, sum float64) {
	conf, err := (&model.Release{YARN: release}).TaskConf(j.Conf)
	if err != nil {
		return nil, 0 // reported when the job is planned
	}
	out := &j.Maps.Output
	for i := range j.Maps.Count {
		share := workload.MapShare{OutBytes: 1 / float64(j.Maps.Count), OutRecords: 1 / float64(j.Maps.Count)}
		if j.Maps.Shares != nil {
			share = j.Maps.Shares[i]
		}
		of, err := conf.SortBuffer().Spills(float64(out.Records)*share.OutRecords, float64(out.RawBytes)*share.OutBytes)
		if err != nil {
			return nil, 0
		}
		for _, s := range of {
			spills = append(spills, s.Records)
			sum += s.Records
		}
	}
	return spills, sum
}

// nodesNear names the first and the last node of a cluster, and one that may have been meant.
func nodesNear(c *model.Cluster, name string) string {
	var names []string
	for i := range c.Nodes {
		names = append(names, c.Nodes[i].Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return names[0] + " to " + names[len(names)-1] + input.DidYouMean(name, names)
}
