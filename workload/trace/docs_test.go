package trace

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/documented"
	"github.com/slotwave/slotwave/workload"
)

// docSection returns the names in backticks of one section of docs/formats.md.
func docSection(t *testing.T, title string) []string {
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
	return names
}

// covers checks that every name in use is documented, and that every
// documented name that looks like one is in use.
func covers(t *testing.T, title string, used []string, looksLike string) {
	t.Helper()
	names := docSection(t, title)
	for _, name := range used {
		if !slices.Contains(names, name) {
			t.Errorf("%s: %s is not documented", title, name)
		}
	}
	if looksLike == "" {
		return
	}
	shape := regexp.MustCompile("^(" + looksLike + ")$")
	for _, name := range names {
		if shape.MatchString(name) && !slices.Contains(used, name) {
			t.Errorf("%s: %s is documented but not in use", title, name)
		}
	}
}

// memberNames lists the names of members that a reader's switches and tables have.
func memberNames(t *testing.T, file string) (names []string) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^\s*case ("[a-z].*):|name\) != ("[a-z]+")|("[a-z][a-z.]*"): (?:&|func)`).FindAllStringSubmatch(string(source), -1) {
		for _, name := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(line[1]+line[2]+line[3], -1) {
			names = append(names, name[1])
		}
	}
	if len(names) < 2 {
		t.Fatalf("%s: no names of members", file)
	}
	return names
}

// keys lists the keys of all objects in JSON texts, but for those of one named
// object, whose keys are data.
func keys(t *testing.T, text []byte, data string) []string {
	t.Helper()
	var names []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				names = append(names, k)
				if k != data {
					walk(x)
				}
			}
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return names
		} else if err != nil {
			t.Fatal(err)
		}
		walk(v)
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
	jobs, attempts := simulated()
	h := NewHistory(jobs, attempts)
	h.Jobs[0].Error = "x"
	h.Jobs[0].Tasks[0].Attempts[0].Progress = workload.PackSplits([4][]int64{})
	h.Jobs[0].Tasks[0].Attempts[0].CPUMillis = 1
	h.Jobs[0].Tasks[0].Attempts[0].Speculative = true

	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formats {
		if f.Reads() && !bytes.Contains(text, []byte("\n## "+f.Name+"\n")) {
			t.Errorf("format %s is not documented", f.Name)
		}
	}

	var rumen bytes.Buffer
	if err := writeRumen(&rumen, h); err != nil {
		t.Fatal(err)
	}
	used := keys(t, rumen.Bytes(), "jobProperties")
	covers(t, "rumen", append(used, memberNames(t, "rumen.go")...), "[a-z]+[A-Z][A-Za-z]*")
	covers(t, "topology", memberNames(t, "topology.go"), "[a-z]+")
	var sls bytes.Buffer
	if err := writeSLS(&sls, h); err != nil {
		t.Fatal(err)
	}
	covers(t, "sls", append(keys(t, sls.Bytes(), ""), memberNames(t, "sls.go")...), `[a-z]+\.[a-z.]+`)

	fields := []string{}
	for _, r := range eventRecords {
		for f := range strings.SplitSeq(r.fields, ",") {
			name, _, _ := strings.Cut(f, " ")
			fields = append(fields, name)
		}
		if !bytes.Contains(text, []byte("| "+r.name)) && !bytes.Contains(text, []byte(", "+r.name)) {
			t.Errorf("jhist: record %s is not documented", r.name)
		}
	}
	covers(t, "jhist", append(append(fields, jhistSplits...), slices.Concat(slices.Sorted(maps.Keys(jhistKeys)), slices.Sorted(maps.Keys(jhistNumbers)))...), "[a-z]+[A-Z][A-Za-z]*")

	// Keys of the old history: those written, those the reader's switches name,
	// and the counters.
	source, err := os.ReadFile("mrv1.go")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for _, f := range jobFiles(h) {
		if err := f.writeMRv1(&log); err != nil {
			t.Fatal(err)
		}
	}
	used = nil
	for _, m := range regexp.MustCompile(`(?:case|get\()"?\s*"([A-Z_]{4,})"`).FindAllStringSubmatch(string(source), -1) {
		used = append(used, m[1])
	}
	for _, m := range regexp.MustCompile(` ([A-Z_]+)="`).FindAllStringSubmatch(log.String(), -1) {
		used = append(used, m[1])
	}
	counters, err := os.ReadFile("counters.go")
	if err != nil {
		t.Fatal(err)
	}
	names, _, _ := strings.Cut(string(counters), "// takeOwn")
	for _, m := range regexp.MustCompile(`"([A-Z]+_[A-Z_]+)"`).FindAllStringSubmatch(names, -1) {
		used = append(used, m[1])
	}
	covers(t, "history", append(used, "MAP", "REDUCE", "SETUP", "CLEANUP", "PREP", "RUNNING", "SUCCESS", "FAILED", "KILLED",
		"NODE_LOCAL", "RACK_LOCAL", "OFF_SWITCH", "SPECULATIVE", "FAIL_REASON"), "[A-Z_]{3,}")

	var columns []string
	ofResults := documented.Columns(t, "../../docs/results.md", "attempts.csv") // to which the page refers
	for _, c := range attemptColumns {
		if !slices.Contains(ofResults, c.name) {
			columns = append(columns, c.name)
		}
	}
	covers(t, "csv", append(columns, jobColumns...), "[a-z]+_ns")

	profileKeys := []string{"title", "records_sel", "size_sel"}
	for _, typ := range []reflect.Type{reflect.TypeFor[workload.Profile](), reflect.TypeFor[workload.DataStatistics](), reflect.TypeFor[workload.CostStatistics](), reflect.TypeFor[workload.Sample](), reflect.TypeFor[workload.RunSpread]()} {
		for i := range typ.NumField() {
			profileKeys = append(profileKeys, typ.Field(i).Tag.Get("key"))
		}
	}
	covers(t, "Job profiles", profileKeys, "[a-z]+(_[a-z]+)+")
}

// TestTableColumnsRead: every documented column of a table changes what is
// read.
func TestTableColumnsRead(t *testing.T) {
	attempt := "job,task,kind,%s\nj,0,map,%s\n"
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
