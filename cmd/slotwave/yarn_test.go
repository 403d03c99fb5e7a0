package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The jobs of a run on slots, and those whose settings name another class, are replayed
// under the scheduler whose file is given.
func TestQueueFileStatesTheScheduler(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "queues.xml", `<configuration>
<property><name>yarn.scheduler.capacity.root.queues</name><value>a</value></property>
<property><name>yarn.scheduler.capacity.root.a.capacity</name><value>100</value></property>
<property><name>yarn.scheduler.capacity.root.a.user-limit-facter</name><value>2</value></property>
<property><name>yarn.scheduler.capacity.queue-mappings</name><value>u:%user:a</value></property>
<property><name>yarn.scheduler.capacity.queue-mappings-override.enable</name><value>true</value></property>
</configuration>
`)
	writeFile(t, "jobs.toml", "[cluster]\nnodes = 2\n[scheduler]\nname = \"fair2\"\n[[job]]\nmaps = 2\nmap_ms = 1000\n")
	verb(t, "run", "jobs.toml", "--set", "plots=none", "--out", "slots")
	writeFile(t, "fifo.toml", "[cluster]\nnodes = 2\n[conf]\n\"yarn.resourcemanager.scheduler.class\" = \"FifoScheduler\"\n[[job]]\nmaps = 2\nmap_ms = 1000\n")
	for _, load := range []string{"slots", "fifo.toml"} {
		out := verb(t, "run", "queues.xml", "--set", "plots=none", "--workload", load, "--out", "r", "--force")
		for _, want := range []string{"yarn-capacity scheduler", "user-limit-factor?"} {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				t.Errorf("%s: want %q in\n%s", load, want, out)
			}
		}
	}
}

// The words of slots are not for a cluster on YARN, and verbs that know no others refuse
// it and its results.
func TestVerbsOnYARN(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "jobs.toml", `[[job]]
name = "sort"
user = "ann"
maps = 12
reduces = 2
map_ms = 20000
reduce_shuffle_ms = 2000
reduce_ms = 5000
`)
	writeFile(t, "capacity-scheduler.xml", `<configuration>
<property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>
<property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>
</configuration>
`)
	out := verb(t, "run", "capacity-scheduler.xml", "--workload", "jobs.toml", "--set", "cluster.nodes=2", "-v", "--out", "r")
	for _, want := range []string{"2 nodes, 16 GiB, 16 vcores, yarn-capacity scheduler, Hadoop 3.3.6", "root.default", "container time", "limited by"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "slot") && strings.Contains(strings.ReplaceAll(out, "slotwave", ""), "slot") {
		t.Errorf("it speaks of slots:\n%s", out)
	}
	for _, name := range []string{"containers.csv", "applications.csv", "queues.csv", "containers.svg", "attempts.csv", "jobs.csv"} {
		if _, err := os.Stat(filepath.Join("r", name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat("r/slots.svg"); err == nil {
		t.Error("there is a picture of slots")
	}
	writeFile(t, "y.toml", "[cluster]\nhadoop = \"3.3.6\"\nnodes = 2\n[[job]]\nmaps = 3\nmap_ms = 1000\n")
	verb(t, "compare", "y.toml", "--over", "cluster.memory='4 GiB','8 GiB'", "--out", "c")
	verb(t, "sweep", "y.toml", "--over", "cluster.nodes=1,2", "--out", "s")
	verb(t, "run", "r/manifest.json")
	verb(t, "report", "r")
	for _, args := range [][]string{
		{"explain", "r", "--task", "sort/m/0"}, {"diagnose", "r"}, {"predict", "y.toml"}, {"tune", "y.toml"}, {"sensitivity", "y.toml"},
		{"predict", "y.toml", "--deadline", "1m"}, {"compare", "r", "y.toml", "--why"}, {"run", "y.toml", "--trace", "--out", "x"}, {"run", "y.toml", "--report", "x.html", "--out", "x"},
	} {
		code, _, stderr := call("", args...)
		if code != exitInput || !strings.Contains(stderr, "runs on YARN") {
			t.Errorf("%q: exit code %d: %s", args, code, stderr)
		}
	}
	if code, _, stderr := call("", "run", "capacity-scheduler.xml"); code != exitInput || !strings.Contains(stderr, "want --workload FILE") {
		t.Errorf("without a workload: exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a refused run has written")
	}
}
