package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is set over a file takes the place of the same key, however that is
// written, and of what the file varies it by.
// A comma that is missing within a list is named, not the form of a line.
func TestListSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"b = [ # [\n\"a]\"\n\"b\",\n]": `s.toml:3: got "\"b\"," within a list: want , between its values`,
		"b = [1,\n[2], [3\nc = 3":      `s.toml:3: got "c = 3" within a list: want , between its values and ]`,
		"b = '['\nc = [1]\n= 4\n[d]":   `s.toml:3: got "= 4": want KEY = VALUE`,
	} {
		path := filepath.Join(t.TempDir(), "s.toml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err == nil {
			_, err = f.Scenario(1)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v: want %s", text, err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	const head = `fidelity = "phase"
[cluster]
nodes = 2
platform = "dl145-g3"
[[job]]
profile = "terasort"
input = "1 GB"
reduces = 4
`
	for _, c := range []struct {
		name, rest, key, want string
		runs                  int
		set                   []string
	}{
		{"as it is", "[conf]\n\"io.sort.mb\" = 100", "io.sort.mb", "100", 1, nil},
		{"in parts over quoted", "[conf]\n\"io.sort.mb\" = 100", "io.sort.mb", "300", 1, []string{"conf.io.sort.mb=300"}},
		{"quoted over parts", "[conf]\nio.sort.mb = 100", "io.sort.mb", "300", 1, []string{`conf."io.sort.mb"=300`}},
		{"a star in its name", "[conf]\n\"io.sort.mb\" = 100", "io.sort.mb", "100", 1, []string{"conf.'mapred.*'=3"}},
		{"by its other name", "[conf]\n\"io.sort.mb\" = 100", "io.sort.mb", "300", 1, []string{"conf.mapreduce.task.io.sort.mb=300"}},
		{"the last of two", "", "io.sort.mb", "400", 1, []string{"conf.io.sort.mb=300", `conf."io.sort.mb"=400`}},
		{"of a job", "[job.conf]\n\"io.sort.mb\" = 100", "io.sort.mb", "300", 1, []string{"job.0.conf.io.sort.mb=300"}},
		{"the rest stays", "[conf]\n\"io.sort.mb\" = 100\n\"io.sort.factor\" = 20", "io.sort.factor", "20", 1, []string{"conf.io.sort.mb=300"}},
		{"of the scheduler", "[scheduler]\nname = \"fair2\"\n\"mapred.fairscheduler.assignmultiple\" = true", "mapred.fairscheduler.assignmultiple", "false", 1,
			[]string{"scheduler.mapred.fairscheduler.assignmultiple=false"}},
		{"a key that varies", "[vary]\n\"job.0.reduces\" = [5, 6]\n\"cluster.nodes\" = [2, 3]", "reduces", "7", 2, []string{"job.0.reduces=7"}},
		{"below a key that varies", "[vary]\n\"job.0.skew\" = [\"uniform\", {zipf = 0.5}]", "reduces", "4", 1, []string{"job.0.skew.zipf=0.8"}},
		{"a property that varies", "[vary]\n\"conf.io.sort.mb\" = [50, 60]", "io.sort.mb", "70", 1, []string{"conf.mapreduce.task.io.sort.mb=70"}},
		{"a property whose name begins alike", "[vary]\n'conf.\"io.sort\"' = [50, 60]", "io.sort.mb", "70", 2, []string{"conf.io.sort.mb=70"}},
		{"the variation itself", "[vary]\n\"job.0.reduces\" = [5, 6]", "reduces", "8", 1, []string{`vary."job.0.reduces"=[8]`}},
		{"of a list between brackets", "[scheduler]\nname = \"capacity\"\nqueue = [{name = \"default\", capacity = 80}, {name = \"b\", capacity = 20}]", "io.sort.mb", "300", 1,
			[]string{"scheduler.queue.0.capacity=90", "scheduler.queue.1.capacity=10", "conf.io.sort.mb=300"}},
		{"with a key that is none", "[vary]\n\"[a]\\n#\" = [5, 6]", "", "", 0, []string{"job.0.reduces=7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.toml")
			if err := os.WriteFile(path, []byte(head+c.rest), 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path, c.set...)
			if err != nil {
				t.Fatal(err)
			}
			s, err := f.Scenario(1)
			if c.runs == 0 {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Runs) != c.runs {
				t.Errorf("%d runs, want %d", len(s.Runs), c.runs)
			}
			for i := range s.Runs {
				q := &s.Runs[i].Question
				got, _ := q.Scheduler.Conf.Over(q.Jobs[0].Conf).Lookup(c.key)
				if c.key == "reduces" {
					got = textOf(q.Jobs[0].Reduces.Count)
				}
				if got != c.want {
					t.Errorf("%s: %s = %q, want %q", q.Name, c.key, got, c.want)
				}
			}
		})
	}
}
