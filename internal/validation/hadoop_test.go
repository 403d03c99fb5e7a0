package validation

import (
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hadoopReads lists the readers of hadoop/, each with the release whose code it
// calls and the formats that it reads.
var hadoopReads = []struct {
	reader, release string
	formats         []string
}{
	{"ReadHistory", "0.20.2", []string{"history"}},
	{"ReadHistory", "1.2.1", []string{"history"}},
	{"ReadRumen", "1.2.1", []string{"rumen", "history"}},
	{"ReadRumen", "2.7.2", []string{"rumen", "history", "jhist"}},
	{"ReadJhist", "2.7.2", []string{"jhist"}},
	{"ReadSLS", "2.7.2", []string{"sls"}},
}

// TestHadoopReads lets Hadoop's own code read what convert writes of six
// simulated runs. Every job and attempt has the state, times, machine and
// counters of the run, to the millisecond. It downloads Hadoop with Maven, so it
// runs only if SLOTWAVE_HADOOP is set.
func TestHadoopReads(t *testing.T) {
	if os.Getenv("SLOTWAVE_HADOOP") == "" {
		t.Skip("SLOTWAVE_HADOOP is not set: Hadoop's own readers are not downloaded")
	}
	dir := t.TempDir()
	runs := map[string]*hadoopRun{"fb2009": runForHadoop(t, dir, "fb2009", "fb2009", "--set", "workload.last=500")}
	files, err := filepath.Glob("hadoop/scenarios/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		runs[name] = runForHadoop(t, dir, name, file)
	}
	names := slices.Sorted(maps.Keys(runs))
	for _, r := range hadoopReads {
		t.Run(r.reader+" "+r.release, func(t *testing.T) {
			classes := compileReader(t, r.reader, r.release)
			var folders []string
			for _, format := range r.formats {
				for _, name := range names {
					if r.reader == "ReadHistory" && (r.release == "0.20.2") != (runs[name].release == "0.20.2") {
						continue // written in the form of another release
					}
					if r.reader == "ReadRumen" && format == "history" && runs[name].failed() {
						continue // TraceBuilder reads no such history of a job with a failed task
					}
					folders = append(folders, filepath.Join(dir, format, name))
				}
			}
			for folder, rows := range readByHadoop(t, classes, r.reader, folders) {
				run := runs[filepath.Base(folder)]
				if filepath.Base(filepath.Dir(folder)) == "sls" {
					run.compareSLS(t, folder, rows)
				} else {
					if r.reader == "ReadRumen" && filepath.Base(filepath.Dir(folder)) == "history" {
						unescapeNames(rows)
					}
					run.compare(t, folder, rows)
				}
			}
		})
	}
}

// hadoopRun is a simulated run as its result folder has it.
type hadoopRun struct {
	release        string
	jobs, attempts []map[string]string
	ids            map[string]string // id in Hadoop's form, by job
}

// failed reports whether a job failed.
func (r *hadoopRun) failed() bool {
	return slices.ContainsFunc(r.jobs, func(j map[string]string) bool { return j["state"] == "FAILED" })
}

// runForHadoop simulates and writes the result in all formats of Hadoop.
func runForHadoop(t *testing.T, dir, name string, scenario ...string) *hadoopRun {
	t.Helper()
	out := filepath.Join(dir, "result", name)
	verb(t, append(append([]string{"run"}, scenario...), "--out", out, "--quiet")...)
	for _, format := range []string{"rumen", "history", "jhist", "sls"} {
		verb(t, "convert", out, "--to", format, "--out", filepath.Join(dir, format, name), "--quiet")
	}
	r := &hadoopRun{jobs: rowsOf(t, filepath.Join(out, "jobs.csv")), attempts: rowsOf(t, filepath.Join(out, "attempts.csv")), ids: map[string]string{}}
	if _, after, found := strings.Cut(read(t, filepath.Join(out, "summary.json")), `"hadoop": "`); found {
		r.release, _, _ = strings.Cut(after, `"`)
	}
	for _, j := range r.jobs {
		if strings.HasPrefix(j["job"], "job_") {
			r.ids[j["job"]] = j["job"]
		}
	}
	confs, _ := filepath.Glob(filepath.Join(dir, "jhist", name, "*_conf.xml"))
	for _, file := range confs {
		var conf struct {
			Property []struct {
				Name  string `xml:"name"`
				Value string `xml:"value"`
			} `xml:"property"`
		}
		if err := xml.Unmarshal([]byte(read(t, file)), &conf); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, p := range conf.Property {
			if p.Name == "slotwave.job.id" {
				r.ids[p.Value] = strings.TrimSuffix(filepath.Base(file), "_conf.xml")
			}
		}
	}
	if len(r.ids) != len(r.jobs) {
		t.Errorf("%s: %d jobs have %d ids", name, len(r.jobs), len(r.ids))
	}
	return r
}

// rowsOf reads a table of a result. Names are as they were before they were
// escaped.
func rowsOf(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(read(t, name))).ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%s: %d rows (%v)", name, len(all), err)
	}
	escaped := regexp.MustCompile(`\\x[0-9a-f]{2}`)
	for _, row := range all[1:] {
		cells := map[string]string{}
		for i, cell := range row {
			cells[all[0][i]] = escaped.ReplaceAllStringFunc(cell, func(s string) string {
				b, _ := strconv.ParseUint(s[2:], 16, 8)
				return string([]byte{byte(b)})
			})
		}
		rows = append(rows, cells)
	}
	return rows
}

// compileReader compiles a reader against a release, and returns its class path.
func compileReader(t *testing.T, reader, release string) string {
	t.Helper()
	dir := t.TempDir()
	path := strings.Join([]string{dir, "hadoop", jarsOf(t, release)}, string(filepath.ListSeparator))
	command(t, "javac", "-nowarn", "-Xlint:none", "-d", dir, "-cp", path, "hadoop/Rows.java", "hadoop/"+reader+".java")
	return path
}

var jarsOfRelease = map[string]string{}

// jarsOf returns the class path of a release, downloaded where necessary.
func jarsOf(t *testing.T, release string) string {
	t.Helper()
	if jarsOfRelease[release] == "" {
		list := filepath.Join(t.TempDir(), "classpath")
		command(t, "mvn", "-B", "-q", "-f", "hadoop/pom.xml", "-P", "hadoop-"+release, "dependency:build-classpath", "-Dmdep.outputFile="+list)
		jarsOfRelease[release] = strings.TrimSpace(read(t, list))
	}
	return jarsOfRelease[release]
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	var errs strings.Builder
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // Java reads files and names in the encoding of the locale
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\nlast rows:\n%s", name, err, errs.String(), out[max(0, len(out)-2000):])
	}
	return string(out)
}

// readByHadoop returns the rows that a reader prints of each folder.
func readByHadoop(t *testing.T, classes, reader string, folders []string) map[string][][]string {
	t.Helper()
	args := []string{"-cp", classes, reader}
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			args = append(args, folder)
		}
	}
	rows := map[string][][]string{}
	folder := ""
	for line := range strings.Lines(command(t, "java", args...)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch cells[0] {
		case "input":
			folder = cells[1]
			rows[folder] = nil
		case "job", "attempt", "host", "container":
			rows[folder] = append(rows[folder], cells)
		default:
			t.Fatalf("%s printed %q", reader, line)
		}
	}
	if len(rows) != len(folders) {
		t.Errorf("%s read %d of %d folders", reader, len(rows), len(folders))
	}
	return rows
}

const exportEpoch = 1262304000000 // Unix milliseconds of the start of a simulated run

// millis rounds nanoseconds of a table to Unix milliseconds.
func millis(cells map[string]string, columns ...string) string {
	sum := time.Duration(0)
	for _, name := range columns {
		n, err := strconv.ParseInt(cells[name], 10, 64)
		if err != nil {
			return "-1"
		}
		sum += time.Duration(n)
	}
	return strconv.FormatInt(exportEpoch+sum.Round(time.Millisecond).Milliseconds(), 10)
}

func location(cells map[string]string) string {
	return "/" + strings.Trim(cells["rack"], "/") + "/" + cells["node"]
}

func hadoopState(s string) string { return strings.Replace(s, "SUCCEEDED", "SUCCESS", 1) }

// wanted returns the rows that a reader has to print of the run.
func (r *hadoopRun) wanted() map[string][]string {
	want := map[string][]string{}
	for _, j := range r.jobs {
		id := r.ids[j["job"]]
		want[id] = []string{id, url.QueryEscape(j["name"]), url.QueryEscape(j["user"]), url.QueryEscape(j["queue"]), hadoopState(j["state"]),
			millis(j, "submit_ns"), millis(j, "finish_ns"), j["maps"], j["reduces"]}
	}
	for _, a := range r.attempts {
		letter, shuffled, sorted, counters := "m", "-1", "-1", ""
		if strings.HasSuffix(a["kind"], "taskcleanup") {
			continue // Hadoop does not record it
		}
		if a["kind"] == "reduce" {
			letter = "r"
		}
		if a["state"] == "SUCCEEDED" {
			counters = strings.Join([]string{a["hdfs_read_bytes"], a["hdfs_write_bytes"], a["local_read_bytes"], a["local_write_bytes"], a["spilled_records"]}, ",")
			if letter == "r" {
				shuffled = millis(a, "start_ns", "p_startup_ns", "p_shuffle_ns")
				sorted = millis(a, "start_ns", "p_startup_ns", "p_shuffle_ns", "p_merge_ns")
			}
		}
		task, _ := strconv.Atoi(a["task"])
		id := fmt.Sprintf("attempt_%s_%s_%06d_%s", strings.TrimPrefix(r.ids[a["job"]], "job_"), letter, task, a["attempt"])
		if a["kind"] == "setup" || a["kind"] == "cleanup" {
			id = apartID(id, a["kind"]) // the table does not state the type of its slot
		}
		want[id] = []string{id, strings.ToUpper(a["kind"]), hadoopState(a["state"]), millis(a, "start_ns"), millis(a, "finish_ns"), shuffled, sorted,
			url.QueryEscape(location(a)), counters}
	}
	return want
}

// jobOf returns the job of an id in Hadoop's form.
func (r *hadoopRun) jobOf(id string) string {
	for job, hadoops := range r.ids {
		if hadoops == id {
			return job
		}
	}
	return ""
}

// unescapeNames takes off the backslashes of job histories, which Rumen keeps in
// the names of users and machines.
func unescapeNames(rows [][]string) {
	for _, row := range rows {
		at := map[string]int{"job": 3, "attempt": 8}[row[0]]
		if at == 0 {
			continue
		}
		cell := &row[at]
		name, _ := url.QueryUnescape(*cell)
		*cell = url.QueryEscape(regexp.MustCompile(`\\(.)`).ReplaceAllString(name, "$1"))
	}
}

// apartID returns the id of a set-up or clean-up attempt, without its number.
// A job has one of each that succeeds.
func apartID(id, kind string) string {
	fields := strings.Split(id, "_")
	return fmt.Sprintf("attempt_%s_%s_%s_%s", fields[1], fields[2], strings.ToUpper(kind), fields[5])
}

// compare holds the rows that Hadoop read against the run.
func (r *hadoopRun) compare(t *testing.T, folder string, rows [][]string) {
	t.Helper()
	want := r.wanted()
	wrong := 0
	for _, row := range rows {
		if row[0] == "host" {
			continue
		}
		if row[0] == "attempt" && (row[2] == "SETUP" || row[2] == "CLEANUP") {
			row[1] = apartID(row[1], row[2])
			row[6], row[7] = "-1", "-1" // in a reduce slot they have the marks of one
		}
		got, expected := row[1:], want[row[1]]
		delete(want, row[1])
		if row[0] == "job" && len(expected) > 0 {
			if expected[1] == "" && got[1] == r.jobOf(got[0]) {
				got[1] = "" // Rumen names a job without a name by its id
			}
			if expected[3] == "" && got[3] == "default" {
				got[3] = "" // the queue of jobs that name none
			}
		}
		if !slices.Equal(unknownAsZero(got), unknownAsZero(expected)) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s:\n got %q\nwant %q", folder, got, expected)
			}
		}
	}
	if wrong > 5 {
		t.Errorf("%s: %d rows differ", folder, wrong)
	}
	if len(want) > 0 {
		t.Errorf("%s: %d rows are missing, such as %q", folder, len(want), want[slices.Min(slices.Collect(maps.Keys(want)))])
	}
}

// unknownAsZero returns a row whose unknown counters are 0, as Hadoop's classes
// return them.
func unknownAsZero(row []string) []string {
	if len(row) == 0 {
		return nil
	}
	row = slices.Clone(row)
	counters := strings.Split(row[len(row)-1], ",")
	for i := range counters {
		if counters[i] == "-1" || counters[i] == "" {
			counters[i] = "0"
		}
	}
	row[len(row)-1] = strings.Join(counters, ",")
	return row
}

// compareSLS compares what SLSRunner loads: each job, and machine and duration
// of each task's successful attempt.
func (r *hadoopRun) compareSLS(t *testing.T, folder string, rows [][]string) {
	t.Helper()
	var got, want []string
	for _, row := range rows {
		if row[0] != "host" {
			got = append(got, strings.Join(row, " "))
		}
	}
	tasks := map[string]*[2]int{}
	for _, j := range r.jobs {
		tasks[j["job"]] = &[2]int{}
	}
	ms := func(cells map[string]string, column string) int64 {
		n, _ := strconv.ParseInt(millis(cells, column), 10, 64)
		return n - exportEpoch
	}
	seen := map[string]bool{}
	for _, a := range r.attempts {
		kind := slices.Index([]string{"map", "reduce"}, a["kind"])
		key := fmt.Sprint(a["job"], a["kind"], a["task"])
		if kind < 0 || a["state"] != "SUCCEEDED" || seen[key] {
			continue
		}
		seen[key] = true
		tasks[a["job"]][kind]++
		want = append(want, fmt.Sprintf("container %s %s %d %s %d", r.ids[a["job"]], a["kind"], ms(a, "finish_ns")-ms(a, "start_ns"),
			url.QueryEscape(location(a)), [2]int{20, 10}[kind]))
	}
	for _, j := range r.jobs {
		if *tasks[j["job"]] == [2]int{} {
			continue // SLSRunner leaves out jobs without tasks
		}
		want = append(want, fmt.Sprintf("job %s  %s %s SUCCESS %d %d %d %d", r.ids[j["job"]], url.QueryEscape(cmp.Or(j["user"], "default")),
			url.QueryEscape(cmp.Or(j["queue"], "default")), ms(j, "submit_ns"), ms(j, "finish_ns"), tasks[j["job"]][0], tasks[j["job"]][1]))
	}
	slices.Sort(got)
	slices.Sort(want)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s:\n got %q\nwant %q", folder, got[i], want[i])
			break
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %d rows: want %d", folder, len(got), len(want))
	}
}
