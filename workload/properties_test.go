package workload

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write generated tables of the documents anew")

// TestProperties: every row has a reader, an explanation and a sound default, and
// no name stands for two properties.
func TestProperties(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range properties {
		for _, name := range []string{p.Key, p.New} {
			if name != "" && seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
		if p.Reader == "" || p.About == "" || p.New == p.Key {
			t.Errorf("%s: reader %q, about %q, new name %q", p.Key, p.Reader, p.About, p.New)
		}
		if p.kind != text && p.Default == "" && p.Otherwise == "" {
			t.Errorf("%s has no default", p.Key)
		}
		for _, value := range append([]string{p.Default}, slices.Collect(maps.Values(p.per))...) {
			if value != "" && p.Check(value) != nil {
				t.Errorf("default: %v", p.Check(value))
			}
		}
	}
}

// TestPropertyDefaults pins what is in force where nothing is set: Hadoop's
// mapred-default.xml and the defaults in its code, of 0.20.2 to 1.2.1.
func TestPropertyDefaults(t *testing.T) {
	want := map[string]string{
		"mapred.tasktracker.map.tasks.maximum":                                "2",
		"mapred.tasktracker.reduce.tasks.maximum":                             "2",
		"mapred.tasktracker.expiry.interval":                                  "600000",
		"mapred.heartbeats.in.second":                                         "100",
		"mapreduce.jobtracker.heartbeats.scaling.factor":                      "1.0",
		"mapreduce.tasktracker.outofband.heartbeat":                           "false",
		"mapreduce.tasktracker.outofband.heartbeat.damper":                    "1000000",
		"mapred.max.tracker.blacklists":                                       "4",
		"mapred.cluster.average.blacklist.threshold":                          "0.5",
		"mapred.cluster.map.memory.mb":                                        "-1",
		"mapred.cluster.reduce.memory.mb":                                     "-1",
		"mapred.cluster.max.map.memory.mb":                                    "-1",
		"mapred.cluster.max.reduce.memory.mb":                                 "-1",
		"dfs.replication":                                                     "3",
		"dfs.block.size":                                                      "67108864",
		"mapred.reduce.slowstart.completed.maps":                              "0.05",
		"mapred.map.tasks.speculative.execution":                              "true",
		"mapred.reduce.tasks.speculative.execution":                           "true",
		"mapred.map.max.attempts":                                             "4",
		"mapred.reduce.max.attempts":                                          "4",
		"mapred.max.map.failures.percent":                                     "0",
		"mapred.max.reduce.failures.percent":                                  "0",
		"mapred.max.tracker.failures":                                         "4",
		"mapred.job.map.memory.mb":                                            "-1",
		"mapred.job.reduce.memory.mb":                                         "-1",
		"mapreduce.job.locality.wait.factor":                                  "1",
		"io.sort.mb":                                                          "100",
		"io.sort.record.percent":                                              "0.05",
		"io.sort.spill.percent":                                               "0.80",
		"io.sort.factor":                                                      "10",
		"min.num.spills.for.combine":                                          "3",
		"mapred.compress.map.output":                                          "false",
		"mapred.map.output.compression.codec":                                 "org.apache.hadoop.io.compress.DefaultCodec",
		"mapred.output.compress":                                              "false",
		"mapred.output.compression.codec":                                     "org.apache.hadoop.io.compress.DefaultCodec",
		"mapred.child.java.opts":                                              "-Xmx200m",
		"mapred.reduce.parallel.copies":                                       "5",
		"mapred.job.shuffle.input.buffer.percent":                             "0.70",
		"mapred.job.shuffle.merge.percent":                                    "0.66",
		"mapred.inmem.merge.threshold":                                        "1000",
		"mapred.job.reduce.input.buffer.percent":                              "0.0",
		"tasktracker.http.threads":                                            "40",
		"mapred.jobtracker.taskalloc.capacitypad":                             "0.01",
		"mapred.fairscheduler.assignmultiple":                                 "false",
		"mapred.fairscheduler.assignmultiple.maps":                            "-1",
		"mapred.fairscheduler.assignmultiple.reduces":                         "-1",
		"mapred.fairscheduler.sizebasedweight":                                "false",
		"mapred.newjobweightbooster.factor":                                   "3",
		"mapred.newjobweightbooster.duration":                                 "300000",
		"mapred.fairscheduler.load.max.diff":                                  "0",
		"mapred.fairscheduler.locality.delay":                                 "-1",
		"mapred.fairscheduler.update.interval":                                "500",
		"mapred.fairscheduler.preemption":                                     "false",
		"mapred.fairscheduler.preemption.interval":                            "15000",
		"mapred.fairscheduler.preemption.only.log":                            "false",
		"mapred.capacity-scheduler.init-poll-interval":                        "3000",
		"mapred.capacity-scheduler.maximum-tasks-per-heartbeat":               "32767",
		"mapred.capacity-scheduler.maximum-tasks-after-offswitch":             "0",
		"mapred.capacity-scheduler.maximum-system-jobs":                       "3000",
		"mapred.capacity-scheduler.default-minimum-user-limit-percent":        "100",
		"mapred.capacity-scheduler.default-user-limit-factor":                 "1",
		"mapred.capacity-scheduler.default-supports-priority":                 "false",
		"mapred.capacity-scheduler.default-maximum-initialized-jobs-per-user": "2",
		"mapred.capacity-scheduler.default-maximum-active-tasks-per-queue":    "200000",
		"mapred.capacity-scheduler.default-maximum-active-tasks-per-user":     "100000",
		"mapred.capacity-scheduler.default-init-accept-jobs-factor":           "10",
		"mapred.queue.names":                                                  "default",
		"mapred.job.queue.name":                                               "default",
		"mapred.job.priority":                                                 "NORMAL",
	}
	for key, value := range want {
		if p, _ := FindProperty(key); p.Default != value {
			t.Errorf("%s: default %q, want %q", key, p.Default, value)
		}
	}
	for _, x := range []struct {
		reader, key string
		want        bool
	}{
		{"", "mapred.fairscheduler.assignmultiple", false}, {"fair1", "mapred.fairscheduler.assignmultiple", false}, {"fair2", "mapred.fairscheduler.assignmultiple", true},
		{"1.2.1", "mapred.map.tasks.speculative.execution", true}, {"0.20.2", "mapred.map.tasks.speculative.execution", true}, {"0.21.0", "mapred.map.tasks.speculative.execution", false}, {"0.21.0", "mapred.reduce.tasks.speculative.execution", false},
		{"ideal", "mapred.map.tasks.speculative.execution", false}, {"ideal", "mapred.reduce.tasks.speculative.execution", false},
	} {
		if got, err := (Conf{}).For(x.reader).Truth(x.key); got != x.want || err != nil {
			t.Errorf("%s for %q: %v (%v), want %v", x.key, x.reader, got, err, x.want)
		}
	}
}

// TestPropertyValues reads values of each kind, under either name.
func TestPropertyValues(t *testing.T) {
	var c Conf
	read := func(key string) (any, error) {
		p, _ := FindProperty(key)
		switch p.kind {
		case whole:
			return c.Whole(p.Key)
		case number, fraction:
			return c.Number(p.Key)
		case truth:
			return c.Truth(p.Key)
		case size:
			return c.Size(p.Key)
		}
		return c.Text(p.Key), nil
	}
	for _, x := range []struct{ key, value, want string }{
		{"io.sort.mb", "", "100"}, {"io.sort.mb", " 250 ", "250"}, {"mapreduce.task.io.sort.mb", "7", "7"},
		{"io.sort.mb", "lots", `io.sort.mb: got "lots": want a whole number, such as 100`}, {"io.sort.mb", "0", "io.sort.mb: got 0: want 1 to 2047"},
		{"io.sort.mb", "2048", "io.sort.mb: got 2048: want 1 to 2047"}, {"io.sort.factor", "1", "io.sort.factor: got 1: want at least 2"},
		{"mapred.job.map.memory.mb", "-1", "-1"}, {"mapred.job.map.memory.mb", "0", "mapred.job.map.memory.mb: got 0: want at least 1"},
		{"mapreduce.job.reduce.slowstart.completedmaps", "1.5", "mapred.reduce.slowstart.completed.maps: got 1.5: want a number from 0 to 1"},
		{"mapred.jobtracker.taskalloc.capacitypad", "NaN", `mapred.jobtracker.taskalloc.capacitypad: got "NaN": want a number`},
		{"mapred.compress.map.output", "TRUE", "true"}, {"mapred.compress.map.output", "yes", `mapred.compress.map.output: got "yes": want true or false`},
		{"dfs.blocksize", "128m", "134217728"}, {"dfs.block.size", "-1", `dfs.block.size: got "-1": want a size like 64m or 67108864`},
		{"user.name", " ann ", "ann"}, {"mapred.job.queue.name", "", "default"},
	} {
		c = Conf{}
		if x.value != "" {
			c.Set(x.key, x.value)
		}
		got, err := read(x.key)
		text := fmt.Sprint(got)
		if err != nil {
			text = err.Error()
		}
		if text != x.want {
			t.Errorf("%s = %q: %s, want %s", x.key, x.value, text, x.want)
		}
	}
	for reader, want := range map[string]int{"": 3000, "0.20.2": 5000, "0.21.0": 5000, "1.0.4": 3000, "1.2.1": 3000, "ideal": 3000} {
		if got, err := (Conf{}).For(reader).Whole("mapred.capacity-scheduler.init-poll-interval"); got != want || err != nil {
			t.Errorf("init-poll-interval of %q: %d (%v), want %d", reader, got, err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a property that is in no row was read")
		}
	}()
	_, _ = c.Whole("io.sort.gb")
}

// TestPropertiesDocumented: docs/properties.csv lists the properties.
func TestPropertiesDocumented(t *testing.T) {
	const file = "../docs/properties.csv"
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"property", "in MRv2", "default", "value", "read by", "meaning"}}
	for _, p := range properties {
		def := cmp.Or(p.Default, p.Otherwise, "none")
		for _, reader := range slices.Sorted(maps.Keys(p.per)) {
			def += fmt.Sprintf("; %s: %s", reader, p.per[reader])
		}
		unit := ""
		if p.Unit != "" {
			unit = ", " + p.Unit
		}
		rows = append(rows, []string{p.Key, p.New, def, p.Range() + unit, p.Reader, p.About})
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(now, b.Bytes()):
	case *update:
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is out of date (%v): run go test ./workload -update; want\n%s", file, err, b.String())
	}
}

// Steps stay within the range of a property, and do not leave the usual one.
func TestPropertySteps(t *testing.T) {
	for _, c := range []struct {
		key, value string
		steps      int
		want       string // empty: none
	}{
		{"io.sort.mb", "100", 1, "400"}, {"io.sort.mb", "100", -1, "50"}, {"io.sort.mb", "1000", 1, "2047"}, {"io.sort.mb", "2047", 1, ""}, {"io.sort.mb", "1", -1, ""}, {"io.sort.mb", "4", 1, "16"},
		{"mapred.reduce.slowstart.completed.maps", "0.5", 1, "0.88"}, {"mapred.reduce.slowstart.completed.maps", "0.4", -1, "0.1"},
		{"mapred.compress.map.output", "true", 1, "false"}, {"mapred.compress.map.output", "true", -1, ""},
		{"mapreduce.jobtracker.heartbeats.scaling.factor", "1.0", 1, "4"}, {"mapred.child.java.opts", "-Xmx1g", 1, ""},
	} {
		p, _ := FindProperty(c.key)
		if got, ok := p.Step(c.value, c.steps); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s = %s, %d steps: %q, %v, want %q", c.key, c.value, c.steps, got, ok, c.want)
		}
	}
	for _, c := range []struct {
		key, value string
		want       int
	}{
		{"io.sort.mb", "4", -1}, {"io.sort.mb", "160", 0}, {"mapred.compress.map.output", "true", 0}, {"mapred.fairscheduler.update.interval", "2000", 0},
		{"mapred.fairscheduler.update.interval", "2001", 1}, {"mapreduce.tasktracker.outofband.heartbeat", "true", 0}, {"mapreduce.tasktracker.outofband.heartbeat", "false", 0}, {"mapred.fairscheduler.locality.delay", "5000", 1}, {"mapred.child.java.opts", "-Xmx9g", 0},
	} {
		p, _ := FindProperty(c.key)
		if got := p.Unusual(c.value, p.Default); got != c.want {
			t.Errorf("%s = %s is unusual: %d, want %d", c.key, c.value, got, c.want)
		}
	}
}
