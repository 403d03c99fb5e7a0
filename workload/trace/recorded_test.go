package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

const rowsHeader = "job,kind,task,attempt,start_ms,finish_ms,node,state\n"

// A property that all jobs have is reported once, and losses are counted apart from it. A
// number out of range is kept, so that what simulates with it refuses it by name.
func TestPropertiesLeftOut(t *testing.T) {
	dir := t.TempDir()
	var conf, rows strings.Builder
	conf.WriteString("job,key,value\n")
	rows.WriteString(rowsHeader)
	const most = 30
	for i := range most + 10 {
		fmt.Fprintf(&conf, "j%d,mapred.reduce.slowstart.completed.maps,0.80f\nj%[1]d,io.sort.mb,1OO\nj%[1]d,mapred.job.shuffle.input.buffer.percent,1.5\n", i)
		fmt.Fprintf(&rows, "j%d,map,0,0,%d,%d,n1,SUCCEEDED\n", i, 1000*i, 1000*i+900)
	}
	rows.WriteString("j0,map,1,0,never,900,n1,SUCCEEDED\n")
	writeFile(t, filepath.Join(dir, "c.csv"), conf.String())
	writeFile(t, filepath.Join(dir, "z.csv"), rows.String())
	h, err := ReadOptions{Limits: Limits{Problems: most}}.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Unread) != 1 || h.Unread[0].Line != 3 || !strings.HasSuffix(h.Unread[0].What, `io.sort.mb: got "1OO": want a whole number, such as 100: it is left out (39 more like it)`) {
		t.Errorf("got %v", h.Unread)
	}
	if len(h.Problems) != 1 || !strings.Contains(h.Problems[0].What, "never") {
		t.Errorf("got %v: want the time that is none", h.Problems)
	}
	j := &h.Jobs[0].Conf
	if start, err := j.Number("mapred.reduce.slowstart.completed.maps"); err != nil || start != 0.8 {
		t.Errorf("got %v, %v: want 0.8", start, err)
	}
	if _, err := j.Number("mapred.job.shuffle.input.buffer.percent"); err == nil || !strings.Contains(err.Error(), "mapred.job.shuffle.input.buffer.percent: got 1.5") {
		t.Errorf("got %v", err)
	}
}

// A time without a unit is no loss if the same time is there with one.
func TestTimeStatedTwice(t *testing.T) {
	const rows = "job,kind,task,attempt,start,finish,start_ms,finish_ms,node,state\nj1,map,0,0,2020-01-01,2020-01-01,0,1000,n1,SUCCEEDED\n"
	if h := readString(t, "a.csv", rows); len(h.Problems) > 0 {
		t.Error(h.Problems)
	}
	if h := readString(t, "a.csv", strings.Replace(rows, "start_ms", "other", 1)); len(h.Problems) == 0 || !strings.Contains(h.Problems[0].What, "column start:") {
		t.Errorf("got %v: want the start without a unit", h.Problems)
	}
}

// What a history lacks under its name and has under another is told.
func TestMisnamed(t *testing.T) {
	const attempts = "job,kind,task,attempt,start_ms,finish_ms,node,state\nj1,map,0,0,0,1000,n1,SUCCEEDED\n"
	for _, c := range []struct{ text, want string }{
		{strings.Replace(attempts, "start_ms", "begin_ms", 1), "no column start_ns: want it, or start_ms, start_s or start_ts; not read: begin_ms"},
		{strings.Replace(attempts, "finish_ms", "end_ms", 1), "no column finish_ns: want it, or finish_ms, finish_s or finish_ts; not read: end_ms"},
		{strings.Replace(attempts, "kind", "sort", 1), "kind is missing"},
		{strings.Replace(attempts, "node", "job", 1), "column job occurs twice: the last one is read"},
		{"job,maps,finish_ms\nj1,1,9\nj1,1,9\n", "job j1 occurs twice: the second is dropped"},
		{`{"am.type": "mapreduce", "job.start": 0, "job.end.ms": 9000, "job.id": "j1", "job.tasks": []}`, "job.start is not read: want job.start.ms"},
		{`{"am.type": "mapreduce", "job.start.ms": 0, "job.end.ms": 9000, "job.id": "j1", "tasks": []}`, "tasks is not read: want job.tasks"},
		{`{"jobID": "job_201001010000_0001", "submit_time": 5, "mapTasks": []}`, "submit_time is not read: want submitTime"},
	} {
		path := filepath.Join(t.TempDir(), "h")
		writeFile(t, path, c.text)
		h, err := Open(path)
		told := fmt.Sprint(err)
		if err == nil {
			told = fmt.Sprint(h.Problems)
		}
		if !strings.Contains(told, c.want) {
			t.Errorf("%s: got %s: want %s", c.text, told, c.want)
		}
	}
}

// What SLS cannot mean is reported with its place, and not made something else.
func TestSLSOutOfRange(t *testing.T) {
	const sound = `{"am.type": "mapreduce", "job.start.ms": 0, "job.end.ms": 9000, "job.id": "j1", "job.tasks": [` +
		`{"container.host": "/r/n1", "container.start.ms": 10, "container.end.ms": 2000, "container.type": "map", "container.memory": 2048}]}`
	const memory = "mapreduce.map.memory.mb"
	h := readString(t, "sls.json", sound)
	if got := h.Jobs[0].Conf.String(memory, ""); len(h.Problems) > 0 || got != "2048" {
		t.Fatalf("got %s, %v", got, h.Problems)
	}
	for _, c := range []struct{ old, new, want string }{
		{"2048", "0.5", "container.memory = 0.5: want a whole number from 1 to"},
		{"2048", "1e19", "container.memory = 1e+19: want"},
		{"2048", "-1", "container.memory = -1: want"},
		{"2000", "1e19", "container.end.ms = 1e+19: want a time"},
		{"2000", "-1e19", "container.end.ms = -1e+19: want a time"},
		{"9000", "1e300", "job.end.ms = 1e+300: want a time"},
	} {
		h := readString(t, "sls.json", strings.Replace(sound, c.old, c.new, 1))
		if len(h.Problems) == 0 || h.Problems[0].Line != 1 || !strings.Contains(h.Problems[0].What, c.want) {
			t.Errorf("%s: got %v: want %s", c.new, h.Problems, c.want)
			continue
		}
		if a := h.Jobs[0].Tasks[0].Winner(); c.old == "2000" && workload.Known(a.Finish) || c.old == "2048" && h.Jobs[0].Conf.String(memory, "") != "" {
			t.Errorf("%s: the value is kept", c.new)
		}
	}
}

// A manifest above a result completes it only if it lists the result.
func TestManifestAbove(t *testing.T) {
	for outputs, torn := range map[string]bool{"": true, `{"name": "other/jobs.csv"}`: true, `{"name": "one/jobs.csv"}`: false} {
		dir := t.TempDir()
		one := filepath.Join(dir, "one")
		if err := os.Mkdir(one, 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(one, "summary.json"), `{"schema": "`+workload.SummarySchema.String()+`"}`)
		writeFile(t, filepath.Join(one, "attempts.csv"), rowsHeader+"j1,map,0,0,0,900,n1,SUCCEEDED\n")
		writeFile(t, filepath.Join(dir, "manifest.json"), `{"outputs": [`+outputs+`]}`)
		t.Chdir(one)
		for _, path := range []string{one, "."} {
			if h := mustOpen(t, path); len(h.Problems) > 0 != torn {
				t.Errorf("%s: %s: got %v", path, outputs, h.Problems)
			}
		}
	}
}
