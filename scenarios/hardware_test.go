package scenarios

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// written is a scenario of one job on devices, with lines laid over it.
func written(t *testing.T, lines ...string) (*Scenario, error) {
	t.Helper()
	text := `fidelity = "device"
[cluster]
nodes = 4
platform = "hitune-xeon"
`
	extra, job := strings.Join(lines, "\n"), ""
	if i := strings.Index(extra, "[[job]]"); i >= 0 {
		extra, job = extra[:i], extra[i:]
	} else {
		job = "[[job]]\nprofile = \"terasort\"\ninput = \"1 GB\"\nreduces = 4\n"
	}
	name := filepath.Join(t.TempDir(), "case.toml")
	if err := os.WriteFile(name, []byte(text+extra+"\n"+job), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return f.Scenario(1)
}

func TestWorkOnMachines(t *testing.T) {
	s, err := written(t, `disks = 2`, `cpu_slowdown = 2`, `nic_slowdown = 4`, `disk_slowdown = [1, 4]`,
		`[[cluster.load]]`, `node = "node3"`, `streams = 2`, `until = "1m"`,
		`[network]`, `nic_mb = 10`, `uplink_mb = 20`, `slack = 0.01`, `exact_fetches = 50`,
		`[[job]]`, `profile = "wordcount"`, `input = "1 GB"`, `reduces = 3`, `skew = { zipf = 1 }`, `fresh_input = true`)
	if err != nil {
		t.Fatal(err)
	}
	q := &s.Runs[0].Question
	m, stock := &q.Cluster.Machines[q.Cluster.Nodes[3].Machine], mustPlatform(t, "hitune-xeon")
	if len(m.Disks) != 2 || m.Disks[0] != stock.Disks[0] || m.Disks[1].Read != stock.Disks[0].Read/4 {
		t.Errorf("disks %+v", m.Disks)
	}
	if m.Speed != stock.Speed/2 || m.NIC != 10e6/4 || m.Uplink != 20e6 {
		t.Errorf("speed %v, interface %v, uplink %v", m.Speed, m.NIC, m.Uplink)
	}
	if q.Network.Slack != 0.01 || q.Network.Exact() != 50 {
		t.Errorf("network %+v", q.Network)
	}
	if !q.Jobs[0].Maps.Fresh || !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "job[0].fresh_input has no effect") }) {
		t.Errorf("fresh input %v, warnings %q: the platform has no page cache", q.Jobs[0].Maps.Fresh, s.Warnings)
	}
	if l := q.Cluster.Loads; len(l) != 1 || l[0].Node != 2 || l[0].Device != model.LoadDisk || l[0].Disk >= 0 || l[0].Streams != 2 {
		t.Errorf("loads %+v", l)
	}
	if q.Jobs[0].Program != "wordcount" || len(q.Programs) != 1 || !q.Programs[0].Combiner {
		t.Errorf("program %q of %d", q.Jobs[0].Program, len(q.Programs))
	}
	sum := 0.0
	for i, x := range q.Jobs[0].Reduces.Shares {
		sum += x
		if want := q.Jobs[0].Reduces.Shares[0] / float64(i+1); math.Abs(x-want) > 1e-12 {
			t.Errorf("share %d is %v, want %v", i, x, want)
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("shares add up to %v", sum)
	}
}

func mustPlatform(t *testing.T, name string) model.Machine {
	t.Helper()
	m, err := Platform(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What is missing or wrong is said with its line.
func TestWorkOnMachinesWantsAll(t *testing.T) {
	for _, c := range []struct{ name, want, lines string }{
		{"no profile", "case.toml:6: job[0].profile: missing: fidelity device needs a profile", "[[job]]\ninput = \"1 GB\""},
		{"no input", "case.toml:8: job[0]: want input", "[[job]]\nprofile = \"terasort\"\nmaps = 3"},
		{"unknown profile", "case.toml:7: job[0].profile: terrasort", "[[job]]\nprofile = \"terrasort\"\ninput = 1"},
		{"disks", "case.toml:5: cluster.disk_slowdown", "disk_slowdown = [1, 2]"},
		{"node", "case.toml:6: cluster.load[0].node: \"node9\"", "[[cluster.load]]\nnode = \"node9\"\nstreams = 1"},
		{"nothing", "cluster.load[0]: want streams or share", "[[cluster.load]]\nnode = \"node1\""},
		{"network", "unknown key network.nic", "[network]\nnic = 3"},
		{"slack", "network.slack: 0.5: want a number from 0 to 0.1", "[network]\nslack = 0.5"},
		{"skew", "job[0].skew", "[[job]]\nprofile = \"terasort\"\ninput = \"1 GB\"\nreduces = 2\nskew = [1, 2, 3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := written(t, c.lines)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: want %q", err, c.want)
			}
		})
	}
}

// TestCombinedOutput: 2000 bytes of map output combined to two fifths and
// compressed to 240: the reduces take in 800, and the codec leaves 0.3 of them.
func TestCombinedOutput(t *testing.T) {
	var p model.Program
	out := workload.MapOutput{RawBytes: 2000, CombineIn: 100, CombineOut: 40, Codec: "org.apache.hadoop.io.compress.DefaultCodec"}
	codec, err := model.FindCodec(out.Codec)
	if err != nil {
		t.Fatal(err)
	}
	if got := combined(&p, &out, 240, 0); got != 800 || !p.Combiner || p.Data.CombineSizeSel != 0.4 || p.Ratios[codec.Name] != 0.3 {
		t.Errorf("%v bytes into reduces, %+v", got, p)
	}
	p = model.Program{Combiner: true}
	out.CombineIn, out.CombineOut = 0, 0
	if got := combined(&p, &out, 240, 0); got != 2000 || p.Combiner || p.Ratios[codec.Name] != 0.12 {
		t.Errorf("%v bytes into reduces, %+v", got, p)
	}
}

// The rate of the network counts in the equations of phases too; links between
// racks do not.
func TestNetworkOfPhases(t *testing.T) {
	s := scenarioOf(t, "fidelity = \"phase\"\n[cluster]\nnodes = 4\nplatform = \"hitune-xeon\"\n[network]\nnic_mb = 10\nuplink_mb = 20\n"+
		"[[job]]\nprofile = \"terasort\"\ninput = \"1 GB\"\nreduces = 4\n")
	warned := func(key string) bool {
		return slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, key+" has no effect at fidelity phase") })
	}
	if warned("network.nic_mb") || !warned("network.uplink_mb") {
		t.Errorf("%q: want a warning of uplink_mb alone", s.Warnings)
	}
}

// A map of 8 million records of 10 bytes spills by the records that the buffer of
// Hadoop 1 has entries for, 262,144 spills' worth of 80 %; in that of Hadoop 2 records
// and their metadata of 16 bytes share the 80 MiB that are filled.
func TestSpillsByRelease(t *testing.T) {
	r, err := model.FindRelease("3.3.6")
	if err != nil {
		t.Fatal(err)
	}
	j := &workload.Job{Maps: workload.MapTasks{Count: 1, Output: workload.MapOutput{Records: 8e6, RawBytes: 80e6}}}
	first := func(release *model.YARNRelease) float64 {
		spills, sum := spillsOf(j, release)
		if sum < 8e6-1 || sum > 8e6+1 {
			t.Errorf("the spills hold %g records: want 8e6", sum)
		}
		return spills[0]
	}
	if got, want := first(nil), 262144.0; got < want-2 || got > want+2 {
		t.Errorf("Hadoop 1: the first spill has %g records: want %g", got, want)
	}
	if got, want := first(r.YARN), 80.0*1024*1024/26; got < want-2 || got > want+2 {
		t.Errorf("Hadoop 2: the first spill has %g records: want %g", got, want)
	}
}
