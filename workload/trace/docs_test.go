package trace

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/documented"
	"github.com/slotwave/slotwave/workload"
)

// covers checks that every name in use is documented in a section of docs/formats.md,
// and that every documented name that looks like one is in use.
func covers(t *testing.T, title string, used []string, looksLike string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("docs/formats.md has no section %s", title)
	}
	section, _, _ := strings.Cut(after, "\n## ")
	var names []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1) {
		names = append(names, m[1])
	}
	for _, name := range used {
		if !slices.Contains(names, name) {
			t.Errorf("%s: %s is not documented", title, name)
		}
	}
	shape := regexp.MustCompile("^(" + looksLike + ")$")
	for _, name := range names {
		if shape.MatchString(name) && !slices.Contains(used, name) {
			t.Errorf("%s: %s is documented but not in use", title, name)
		}
	}
}

var update = flag.Bool("update", false, "write generated tables of the documents anew")

// formatTable is the table of formats in docs/formats.md.
func formatTable() string {
	var b strings.Builder
	b.WriteString("| format | content | read | `convert` writes |\n|---|---|---|---|\n")
	for _, f := range formats {
		read, files := "no", "-"
		if f.Reads() {
			read = "yes"
		}
		if f.Writes() {
			files = regexp.MustCompile(`[\w.]+[.][\w.]+|JOBID_START\w+`).ReplaceAllString(f.Files, "`$0`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.About, read, files)
	}
	return b.String()
}

// TestFormatTable: docs/formats.md holds the table of formats.
func TestFormatTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- formats -->\n", "<!-- end -->"
	before, rest, found := bytes.Cut(text, []byte(from))
	table, after, ended := bytes.Cut(rest, []byte(to))
	if !found || !ended {
		t.Fatal("docs/formats.md has no table of formats")
	}
	if want := formatTable(); string(table) != want && *update {
		if err := os.WriteFile("../../docs/formats.md", slices.Concat(before, []byte(from+want+to), after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(table) != want {
		t.Errorf("the table of formats in docs/formats.md is out of date: run go test ./workload/trace -update; want\n%s", want)
	}
}

func TestFormatsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formats {
		if f.Reads() && !bytes.Contains(text, []byte("\n## "+f.Name+"\n")) {
			t.Errorf("format %s is not documented", f.Name)
		}
	}
	var columns []string
	ofResults := documented.Columns(t, "../../docs/results.md", "attempts.csv") // to which the page refers
	for _, c := range attemptColumns {
		if !slices.Contains(ofResults, c.name) {
			columns = append(columns, c.name)
		}
	}
	covers(t, "csv", append(columns, jobColumns...), "[a-z]+_ns")
}

// TestTableColumnsRead: every documented column of a table changes what is
// read.
func TestTableColumnsRead(t *testing.T) {
	attempt := "job,task,kind,start_ns,finish_ns,%s\nj,0,map,,,%s\n"
	job := "job,maps,finish_s,%s\nj,3,9,%s\n"
	for _, x := range []struct{ table, column, value string }{
		{attempt, "attempt", "2"}, {attempt, "state", "FAILED"}, {attempt, "status", "SUCCESS"}, {attempt, "node", "n"}, {attempt, "tracker", "n"},
		{attempt, "slot", "3"}, {attempt, "pool", "p"}, {attempt, "locality", "off"}, {attempt, "start_s", "1.5"}, {attempt, "start_us", "2"},
		{attempt, "finish_ts", "1300000000000"}, {attempt, "runnable_ms", "5"}, {attempt, "p_write_ms", "3"}, {attempt, "wait_fetch_ns", "3"},
		{attempt, "wait_memory_ns", "3"}, {attempt, "node_local", "1"}, {attempt, "replica_nodes", "a b"}, {attempt, "in_records", "1"},
		{attempt, "out_bytes", "1"}, {attempt, "merge_passes", "1"}, {attempt, "spilled_records", "1"}, {attempt, "hdfs_read_bytes", "1"},
		{attempt, "local_write_bytes", "1"}, {attempt, "hdfs_bytes_written", "1"}, {attempt, "file_bytes_read", "1"}, {attempt, "map_output_bytes", "1"},
		{job, "name", "x"}, {job, "workload", "x"}, {job, "user", "x"}, {job, "pool", "x"}, {job, "queue", "x"}, {job, "priority", "LOW"},
		{job, "state", "KILLED"}, {job, "submit_s", "2"}, {job, "submit_time_ms", "5"}, {job, "start_time_ms", "5"}, {job, "init_ms", "5"}, {job, "launch_s", "1"},
		{job, "reduces", "4"}, {job, "num_reduce_tasks", "4"}, {job, "failed_maps", "1"}, {job, "slowstart", "0.5"}, {job, "data_local_maps", "1"},
		{job, "hdfs_bytes_read", "1"}, {job, "slots_millis_maps", "1"},
	} {
		write := func(value string) string {
			return strings.Replace(strings.Replace(x.table, "%s", x.column, 1), "%s", value, 1)
		}
		with, without := readString(t, "t.csv", write(x.value)), readString(t, "t.csv", write(""))
		if len(with.Problems) > 0 {
			t.Errorf("%s = %s: %v", x.column, x.value, with.Problems)
		}
		if reflect.DeepEqual(with, without) {
			t.Errorf("column %s is not read", x.column)
		}
	}
	if h := readString(t, "t.csv", "job,index,type,attempt\nj,4,reduce,0\n"); h.Jobs[0].Tasks[0].Number != 4 || h.Jobs[0].Tasks[0].Kind != workload.Reduce {
		t.Errorf("index and type: %+v", h.Jobs[0].Tasks)
	}
}
