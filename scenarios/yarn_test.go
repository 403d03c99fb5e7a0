package scenarios

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
)

const (
	twoNodes = `[cluster]
hadoop = "3.3.6"
nodes = 2
`
	jobOfAnn = `
[[job]]
name = "a"
user = "ann"
maps = 2
map_ms = 1000
`
	twoQueues = `<configuration>
<property><name>yarn.scheduler.capacity.root.queues</name><value>etl,adhoc</value></property>
<property><name>yarn.scheduler.capacity.root.etl.capacity</name><value>${share}</value></property>
<property><name>share</name><value>60</value></property>
<property><name>yarn.scheduler.capacity.root.adhoc.capacity</name><value>40</value></property>
`
	noQueue  = "<configuration>\n"
	oneQueue = "<property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>" +
		"<property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>\n"
	ended = "</configuration>\n"
)

func property(name, value string) string {
	return "<property><name>" + name + "</name><value>" + value + "</value></property>\n"
}

// scenarioOnYARN reads a scenario with the files beside it.
func scenarioOnYARN(t *testing.T, text string, files map[string]string, set ...string) (*Scenario, string) {
	t.Helper()
	folder := t.TempDir()
	files["s.toml"] = text
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(filepath.Join(folder, "s.toml"), set...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	told := ""
	if err != nil {
		told = err.Error()
	} else {
		told = strings.Join(s.Warnings, "\n")
	}
	return s, strings.ReplaceAll(told, folder+string(filepath.Separator), "")
}

// A refusal names the one of several runs that it is of.
func TestRefusalsOnYARNNameTheRun(t *testing.T) {
	_, told := scenarioOnYARN(t, twoNodes+jobOfAnn+"[vary]\n'cluster.memory' = [\"8 GiB\", \"1 GiB\"]\n", map[string]string{})
	if !strings.HasSuffix(told, "(run memory=1 GiB)") {
		t.Error(told)
	}
}

// Queues of a file that the command line names replace those of the scenario. Where the
// scenario states both, its tables hold, and what they replace is told.
func TestQueuesOfAFile(t *testing.T) {
	const tables = "[scheduler]\n%s[[scheduler.queue]]\nname = \"adhoc\"\ncapacity = 40\n[[scheduler.queue]]\nname = \"etl\"\ncapacity = 60\n"
	swapped := strings.NewReplacer(">40<", ">60<", "${share}", "40").Replace(twoQueues) + ended
	queued := jobOfAnn + "queue = \"etl\"\n"
	for _, c := range []struct{ file, set, capacity, want string }{
		{"file = \"c.xml\"\n", "", "60", "c.xml:5: yarn.scheduler.capacity.root.adhoc.capacity has no effect: s.toml:8 sets it again\nc.xml:3: yarn.scheduler.capacity.root.etl.capacity has no effect: s.toml:11 sets it again"},
		{"", "scheduler.file=c.xml", "40", "s.toml:5: scheduler.queue has no effect: the queues are those of --set scheduler.file=c.xml"},
	} {
		var set []string
		if c.set != "" {
			set = append(set, c.set)
		}
		s, told := scenarioOnYARN(t, twoNodes+fmt.Sprintf(tables, c.file)+queued, map[string]string{"c.xml": swapped}, set...)
		if told != c.want || s == nil || s.Runs[0].Question.YARN.Properties["yarn.scheduler.capacity.root.etl.capacity"] != c.capacity {
			t.Errorf("%s: got\n%s\nwant\n%s\nand %s %%", c.set, told, c.want, c.capacity)
		}
	}
}

// Of the files of a cluster, what the ResourceManager refuses is refused with its line,
// and what has no effect is told.
func TestYARNFilesAreRefused(t *testing.T) {
	const capacityFile = "[scheduler]\nfile = \"c.xml\"\n"
	const preemption = "yarn.resourcemanager.monitor.capacity.preemption."
	queue := func(key, value string) string { return property("yarn.scheduler.capacity."+key, value) }
	for _, c := range []struct{ name, file, site, want string }{
		{"sum", twoQueues + queue("root.adhoc.capacity", "50") + ended, "", `c.xml:6: yarn.scheduler.capacity.root.adhoc.capacity: got "50": want capacities below root that sum to 100, not to 110: root.etl 60, root.adhoc 50`},
		{"maximum", twoQueues + queue("root.adhoc.maximum-capacity", "30") + ended, "", `c.xml:6: yarn.scheduler.capacity.root.adhoc.maximum-capacity: got "30": want at least the capacity`},
		{"queue", twoQueues + ended, "", `s.toml:7: job a: queue: queue "default": want a leaf of the capacity scheduler's tree (root.adhoc, root.etl), or a queue-mappings of the job's user`},
		{"unread", twoQueues + queue("queue-mappings", "u:ann:etl") + queue("root.etl.user-limit-factr", "2") + queue("root.etl.state", "RUNNING") + ended, "", "c.xml:7: yarn.scheduler.capacity.root.etl.user-limit-factr has no effect: Hadoop does not know it, or it is not simulated (did you mean user-limit-factor?)"},
		{"preemption", strings.ReplaceAll(twoQueues, "adhoc", "default") + ended,
			noQueue + property("yarn.resourcemanager.scheduler.monitor.enable", "true") + property(preemption+"lazy-preemption-enabled", "true") +
				property(preemption+"select_based_on_reserved_containers", "false") + property(preemption+"monitoring_interval", "1000") + ended,
			"yarn-site.xml:3: yarn.resourcemanager.monitor.capacity.preemption.lazy-preemption-enabled has no effect: Hadoop does not know it, or it is not simulated"},
		{"unlisted", strings.ReplaceAll(twoQueues, "adhoc", "default") + queue("root.ml.capacity", "20") + ended, "", "c.xml:6: yarn.scheduler.capacity.root.ml.capacity has no effect: c.xml:2: yarn.scheduler.capacity.root.queues does not list the queue ml: want etl,default,ml"},
		{"no preemption", strings.ReplaceAll(twoQueues, "adhoc", "default") + ended, noQueue + property(preemption+"lazy-preemption-enabled", "true") + ended, ""},
		{"no queues", noQueue + queue("root.default.capacity", "100") + ended, "", "s.toml:5: scheduler.file: yarn.scheduler.capacity.root.queues: missing: want the queues below root"},
		{"negative", twoQueues + queue("root.adhoc.capacity", "-40") + ended, "", `c.xml:6: yarn.scheduler.capacity.root.adhoc.capacity: got "-40": want a percentage from 0 to 100`},
		{"state", twoQueues + queue("root.adhoc.state", "OPEN") + ended, "", `c.xml:6: yarn.scheduler.capacity.root.adhoc.state: got "OPEN": want RUNNING, STOPPED or DRAINING`},
		{"stopped", strings.ReplaceAll(twoQueues, "adhoc", "default") + queue("root.default.state", "STOPPED") + ended, "", "s.toml:7: job a: queue: queue \"default\" is STOPPED: want one that runs, or its state RUNNING"},
		{"mapping", twoQueues + queue("queue-mappings", "u:ann") + ended, "", `c.xml:6: yarn.scheduler.capacity.queue-mappings: illegal mapping "u:ann": want u:USER:QUEUE or g:GROUP:QUEUE`},
		{"amounts", strings.NewReplacer("${share}", "[memory=1024,vcores=1]", ">40<", ">[memory=2048,vcores=1]<").Replace(twoQueues) + queue("root.adhoc.maximum-capacity", "[memory=1024,vcores=1]") + ended, "", `c.xml:6: yarn.scheduler.capacity.root.adhoc.maximum-capacity: got "[memory=1024,vcores=1]": want at least the capacity`},
		{"queue of amounts", strings.NewReplacer("${share}", "[memory=1024,vcores=1]", ">40<", ">[memory=2048,vcores=1]<", "adhoc", "default").Replace(twoQueues) + queue("root.capacity", "[memory=4096,vcores=4]") + ended, "", ""},
		{"damaged", twoQueues, "", "c.xml:6: the file ends within the <configuration> of line 1: want </configuration>, or the whole file"},
		{"root", "<queues/>", "", "c.xml:1: <queues>: want <configuration> as the root element"},
		{"include", noQueue + `<include href="other.xml"/>` + ended, "", "c.xml:2: <include>: other files are not included: want their properties here"},
		{"final", noQueue + oneQueue + property("yarn.nodemanager.resource.memory-mb", "1024") + ended,
			noQueue + "<property><name>yarn.nodemanager.resource.memory-mb</name><value>4096</value><final>true</final></property>" + ended,
			"c.xml:3: yarn.nodemanager.resource.memory-mb has no effect: it is final in yarn-site.xml:2"},
		{"value", noQueue + oneQueue + ended, noQueue + property("yarn.scheduler.minimum-allocation-mb", "much") + ended, `yarn-site.xml:2: yarn.scheduler.minimum-allocation-mb: got "much": want a whole number, such as 1024`},
		{"too large", noQueue + oneQueue + ended, noQueue + property("yarn.scheduler.maximum-allocation-mb", "1024") + ended,
			"yarn-site.xml:2: job a: yarn.app.mapreduce.am.resource.mb: 1536: want at most 1024, yarn.scheduler.maximum-allocation-mb"},
		{"too large for the queue", noQueue + oneQueue + queue("root.default.maximum-allocation-mb", "1024") + ended, "",
			"c.xml:3: job a: yarn.app.mapreduce.am.resource.mb: 1536: want at most 1024, yarn.scheduler.capacity.root.default.maximum-allocation-mb"},
	} {
		files := map[string]string{"c.xml": c.file}
		if c.site != "" {
			files["yarn-site.xml"] = c.site
		}
		_, got := scenarioOnYARN(t, twoNodes+capacityFile+jobOfAnn, files)
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// The queue of each job by the mappings of the CapacityScheduler and the rules of the
// FairScheduler.
func TestYARNPlacement(t *testing.T) {
	const users = `
[scheduler]
file = "q.xml"
groups = { ann = ["staff", "night"], bob = ["guests"] }
`
	jobs := jobOfAnn + strings.ReplaceAll(jobOfAnn, `"a"
user = "ann"`, `"b"
user = "bob"`) + strings.ReplaceAll(jobOfAnn, `"a"
user = "ann"`, `"c"
user = "eve"
queue = "etl"`)
	mapped := func(more string) string { return twoQueues + more + ended }
	allocations := func(rules string) string {
		return `<allocations><queue name="staff"/><queue name="night"/><queue name="etl"/><queuePlacementPolicy>` + rules + `</queuePlacementPolicy></allocations>`
	}
	const mappings, override = "yarn.scheduler.capacity.queue-mappings", "yarn.scheduler.capacity.queue-mappings-override.enable"
	for _, c := range []struct{ name, file, want string }{
		{"users", mapped(property(mappings, "u:ann:etl, u:bob:adhoc, u:eve:adhoc")), "etl adhoc etl"},
		{"groups", mapped(property(mappings, "g:guests:adhoc,g:night:etl")), "etl adhoc etl"},
		{"override", mapped(property(mappings, "u:eve:adhoc,u:%user:etl") + property(override, "true")), "etl etl adhoc"},
		{"rules", allocations(`<rule name="specified"/><rule name="primaryGroup" create="false"/><rule name="default" queue="night"/>`), "root.staff root.night root.etl"},
		{"secondary", allocations(`<rule name="secondaryGroupExistingQueue"/><rule name="user"/>`), "root.night root.bob root.eve"},
		{"nested", allocations(`<rule name="nestedUserQueue"><rule name="default" queue="staff"/></rule>`), "root.staff.ann root.staff.bob root.staff.eve"},
		{"reject", allocations(`<rule name="specified"/><rule name="reject"/>`), "q.xml:1: no rule places job a of user \"ann\": the ResourceManager rejects it: want a last rule default"},
	} {
		s, told := scenarioOnYARN(t, twoNodes+users+jobs, map[string]string{"q.xml": c.file})
		got := told
		if s != nil {
			var queues []string
			for _, j := range s.Runs[0].Question.Jobs {
				queues = append(queues, j.Queue)
			}
			got = strings.Join(queues, " ")
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// A cluster on YARN has memory and vcores in place of slots, from the scenario, the
// configuration or a group, and properties of its files under those of [conf].
func TestYARNCluster(t *testing.T) {
	site := noQueue + property("yarn.nodemanager.resource.memory-mb", "4096") + property("mapreduce.map.memory.mb", "2048") + ended
	s, told := scenarioOnYARN(t, `[cluster]
hadoop = "3.3.6"
vcores = 6
[[cluster.group]]
count = 1
[[cluster.group]]
count = 2
memory = "10 GiB"
vcores = 3
[scheduler]
sites = ["yarn-site.xml"]
[conf]
"mapreduce.reduce.memory.mb" = 3072
[[job]]
name = "etl"
queue = "etl"
maps = 2
map_ms = 1000
[[job]]
name = "service"
application = "fixed"
[[job.container]]
count = 3
memory = "2 GiB"
duration = "1m"
`, map[string]string{"yarn-site.xml": site})
	if told != "" {
		t.Fatal(told)
	}
	q := &s.Runs[0].Question
	if got := fmt.Sprint(q.Cluster.Nodes[0].Resource, q.Cluster.Nodes[1].Resource, q.Lanes()); got != "{4096 6} {10240 3} [2 6 6]" {
		t.Errorf("nodes and lanes: %s", got)
	}
	if got := fmt.Sprint(q.Jobs[1].Containers); got != "[{1 2048 1 [1m0s 1m0s 1m0s] []}]" {
		t.Errorf("containers: %s", got)
	}
	if got := q.YARN.Properties["yarn.scheduler.capacity.root.queues"] + " " + q.YARN.Properties["yarn.scheduler.capacity.root.etl.capacity"]; got != "default,etl 50" {
		t.Errorf("queues of the jobs: %s", got)
	}
	if q.Scheduler.Name != "yarn-capacity" || q.YARN.Policy != "capacity" {
		t.Errorf("scheduler %s, policy %s", q.Scheduler.Name, q.YARN.Policy)
	}
	r, _ := model.FindRelease("3.3.6")
	if size, err := r.YARN.TaskSize(q.Jobs[0].Conf, 0); err != nil || size.MemoryMiB != 2048 {
		t.Errorf("map of %v: %v", size, err)
	}
	for _, c := range [][2]string{
		{`cluster.map_slots=2`, "--set cluster.map_slots=2: cluster.map_slots: Hadoop on YARN has no slots: want memory and vcores"},
		{`change.0.at="1h"`, "s.toml: change: the scheduler of a cluster on YARN does not change in a run"},
		{`scheduler.name=fifo`, `--set scheduler.name=fifo: scheduler.name: "fifo": want one of yarn-capacity, yarn-fair, yarn-fifo (did you mean yarn-fifo?)`},
	} {
		if _, got := scenarioOnYARN(t, twoNodes+jobOfAnn, map[string]string{}, c[0]); got != c[1] {
			t.Errorf("got %s, want %s", got, c[1])
		}
	}
}

// A setting of a property replaces its variation, whether either stands in [conf] or in
// [scheduler].
func TestSettingReplacesVariation(t *testing.T) {
	const key = `"yarn.scheduler.capacity.maximum-am-resource-percent"`
	for _, c := range [][2]string{{"conf", "scheduler"}, {"scheduler", "conf"}, {"conf", "conf"}} {
		s, told := scenarioOnYARN(t, twoNodes+jobOfAnn+"[vary]\n'"+c[0]+"."+key+"' = [0.1, 0.3]\n", map[string]string{}, c[1]+"."+key+"=0.2")
		if told != "" || len(s.Runs) != 1 || s.Runs[0].Question.YARN.Properties[strings.Trim(key, `"`)] != "0.2" {
			t.Errorf("%s over %s: %d runs, %s", c[1], c[0], len(s.Runs), told)
		}
	}
}

// The heap of a task gives its container's memory from 3.0 on, if nothing else does.
func TestYARNSizeOfHeap(t *testing.T) {
	for _, c := range []struct {
		release, opts string
		want          int64
	}{{"3.3.6", "-Xmx1000m", 1250}, {"3.3.6", "-Xms1g -Xmx2g", 2560}, {"3.3.6", "", 1024}, {"2.7.7", "-Xmx1000m", 1024}} {
		s, _ := scenarioOnYARN(t, strings.Replace(twoNodes, "3.3.6", c.release, 1)+"[conf]\n\"mapreduce.map.java.opts\" = \""+c.opts+"\"\n"+jobOfAnn, map[string]string{})
		r, _ := model.FindRelease(c.release)
		if size, err := r.YARN.TaskSize(s.Runs[0].Question.Jobs[0].Conf, 0); err != nil || size.MemoryMiB != c.want {
			t.Errorf("%s %s: %v, %v: want %d MiB", c.release, c.opts, size, err, c.want)
		}
	}
}

// Of a release that is read and not recorded the output says so. Its code has no delay
// for node-local containers; the file that Hadoop ships has one.
func TestYARNReleaseIsRead(t *testing.T) {
	const key = "yarn.scheduler.capacity.node-locality-delay"
	for release, c := range map[string]struct {
		assumed bool
		delay   string
	}{"3.3.6": {false, ""}, "2.7.7": {true, "40"}} {
		s, _ := scenarioOnYARN(t, strings.Replace(twoNodes, "3.3.6", release, 1)+jobOfAnn, map[string]string{})
		if got := strings.Contains(strings.Join(s.Assumed, "\n"), "as its source reads"); got != c.assumed {
			t.Errorf("%s: assumed %v: want %v", release, got, c.assumed)
		}
		if got := s.Runs[0].Question.YARN.Properties[key]; got != c.delay {
			t.Errorf("%s: %s is %q: want %q", release, key, got, c.delay)
		}
	}
}

// A machine of a record had the memory and cores of all containers that it ran at once,
// unless the user states others.
func TestYARNNodesOfRecord(t *testing.T) {
	const key = "yarn.nodemanager.resource.memory-mb"
	stated := "[conf]\n\"" + key + "\" = 10240\n"
	for _, c := range []struct {
		maps, memory, vcores int64
		stated               string
		recorded             string // in the configuration of the machine that submitted the job
	}{{4, 8192, 8, "", ""}, {12, 12288, 12, "", ""}, {12, 12288, 12, "", "10240"}, {12, 10240, 12, stated, ""}, {12, 10240, 12, stated, "10240"}} {
		record := "job,task,kind,attempt,state,node,start_ms,finish_ms\n"
		for i := range c.maps {
			record += fmt.Sprintf("j,%d,map,0,SUCCEEDED,one,1000,20000\n", i)
		}
		s, told := scenarioOnYARN(t, "[cluster]\nhadoop = \"3.3.6\"\n"+c.stated+"[workload]\ntrace = [\"record.csv\", \"j_conf.xml\"]\n", map[string]string{
			"record.csv": record, "j_conf.xml": "<configuration><property><name>" + key + "</name><value>" + cmp.Or(c.recorded, "8192") + "</value></property></configuration>",
		})
		if s == nil {
			t.Fatal(told)
		}
		if got, want := s.Runs[0].Question.Cluster.Nodes[0].Resource, (model.Resource{MemoryMiB: c.memory, VCores: c.vcores}); got != want {
			t.Errorf("%d maps at once, %q, recorded %s: a node has %v: want %v", c.maps, c.stated, c.recorded, got, want)
		}
	}
}
