package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotwave/slotwave/workload"
)

// threeJobs are three jobs of one map each, in Rumen's layout: 13 lines a job.
func threeJobs() []string {
	const job = `{
  "jobID" : "job_1_000N",
  "submitTime" : 130000000N000,
  "totalMaps" : 1,
  "outcome" : "SUCCESS",
  "mapTasks" : [ {
    "taskID" : "task_1_000N_m_000000",
    "taskType" : "MAP",
    "attempts" : [ {
      "attemptID" : "attempt_1_000N_m_000000_0", "result" : "SUCCESS",
      "startTime" : 1300000010000, "finishTime" : 1300000020000, "spilledRecords" : 5
    } ]
  } ]
} `
	text := ""
	for _, n := range []string{"1", "2", "3"} {
		text += strings.ReplaceAll(job, "N", n)
	}
	return strings.Split(text, "\n")
}

// TestRumenDamage damages the second job. The others must be read, and the
// loss reported where it is.
func TestRumenDamage(t *testing.T) {
	sound := readString(t, "trace", strings.Join(threeJobs(), "\n"))
	if len(sound.Jobs) != 3 || len(sound.Problems) > 0 {
		t.Fatalf("%d jobs, problems %v", len(sound.Jobs), sound.Problems)
	}
	const second = 14 // the line that ends the first job and begins the second
	for _, x := range []struct {
		name     string
		do       func(*testing.T, []string) []string
		line     int
		what     string
		jobs     string // ids left
		attempts int
	}{
		{"one line is not JSON", insertAt(second+5, "java.io.IOException: disk full"), second + 5, "lost", "1 3", 2},
		{"a line is missing", deleteLine(second + 5), second + 11, "is lost", "1 2 3", 2},
		{"wrong type", replaceIn(second+4, `"SUCCESS"`, "[ 7 ]"), second + 4, "job job_1_0002 is lost", "1 3", 2},
		{"truncated", cutAfter(second+20, 20), second + 21, "lost", "1 2", 2},
		{"garbage between jobs", func(_ *testing.T, l []string) []string {
			l[second-1] = "} \n%%%\n{"
			return l
		}, second + 1, "lost", "1 2 3", 3},
		{"job twice", replaceIn(second+1, "job_1_0002", "job_1_0001"), second, "occurs twice", "1 3", 2},
		{"no id", replaceIn(second+1, "jobID", "id"), second, "without an id", "1 3", 2},
		{"task twice", replaceIn(second+5, "{", `{ "taskID" : "task_1_0002_m_000000", "taskType" : "MAP" }, {`), second + 11, "occurs twice", "1 2 3", 2},
		{"attempt twice", replaceIn(second+8, "{", `{ "attemptID" : "attempt_1_0002_m_000000_0" }, {`), second + 11, "occurs twice", "1 2 3", 3},
		{"foreign attempt", replaceIn(second+9, "attempt_1_0002", "attempt_1_0003"), second + 11, "under another task", "1 2 3", 2},
		{"foreign job", replaceIn(second+1, "job_1_0002", "job_1_0009"), second + 12, "is listed under job job_1_0009", "1 9 3", 3},
		{"wrong count", replaceIn(second+3, "1", "2"), second, "succeeded with 2 maps", "1 2 3", 3},
		{"negative counter", replaceIn(second+10, `: 5`, ": -5"), second + 11, "cannot be negative", "1 2 3", 3},
		{"negative time", replaceIn(second+10, "1300000010000", "-4"), second + 11, "want a time", "1 2 3", 3},
		{"ends before its start", replaceIn(second+10, "1300000020000", "1300000000001"), second + 11, "before it starts", "1 2 3", 3},
		{"bad task id", replaceIn(second+6, "task_1", "1"), second + 11, "task id", "1 2 3", 2},
		{"bad type", replaceIn(second+7, "MAP", "SHUFFLE"), second + 11, "none of MAP", "1 2 3", 2},
		{"unknown outcome", replaceIn(second+4, "SUCCESS", "MAYBE"), second + 12, "none of SUCCESS", "1 2 3", 3},
	} {
		t.Run(x.name, func(t *testing.T) {
			h := readString(t, "trace", strings.Join(x.do(t, threeJobs()), "\n"))
			var left []string
			for i := range h.Jobs {
				left = append(left, h.Jobs[i].ID[len(h.Jobs[i].ID)-1:])
			}
			if got := strings.Join(left, " "); got != x.jobs || len(h.Attempts()) != x.attempts {
				t.Errorf("jobs %s with %d attempts, want %s with %d", got, len(h.Attempts()), x.jobs, x.attempts)
			}
			found := slices.ContainsFunc(h.Problems, func(p workload.Problem) bool {
				return p.Line >= x.line && p.Line <= x.line+1 && strings.Contains(p.What, x.what)
			})
			if !found {
				t.Errorf("want %d: ...%s..., got %v", x.line, x.what, h.Problems)
			}
		})
	}
}

// TestRumenPieces: what is read does not depend on how the content arrives.
func TestRumenPieces(t *testing.T) {
	damaged := threeJobs()
	damaged[18] = "java.io.IOException: disk full"
	odd := `{"jobID" : "job_1_0009","jobName":"a\u00e9\n` + "\xff\xc3\xa9" + `\\.", "x":[1,{"y":[true , false,null,-1.5e+3,"\u12aB"]}] , "queue":null,` +
		`"submitTime":1300000000000.0,"totalMaps" : -0,"jobProperties":{"a.b":1.50,"c":true,"d":null,"e":"\\"}}`
	for _, text := range []string{strings.Join(threeJobs(), "\n"), strings.Join(damaged, "\n"), odd, odd[:len(odd)-20], rumenSample, string(rumenText(2))} {
		read := func(r io.Reader) (jobs []workload.HistoryJob, told []string) {
			err := readRumen(r, "trace", Limits{}, func(j *workload.HistoryJob) error { jobs = append(jobs, *j); return nil },
				func(p workload.Problem) { told = append(told, p.String()) })
			return jobs, append(told, fmt.Sprint(err))
		}
		jobs, told := read(strings.NewReader(text))
		jobs1, told1 := read(iotest.OneByteReader(strings.NewReader(text)))
		if d := cmp.Diff(jobs, jobs1, confs); d != "" || !slices.Equal(told, told1) {
			t.Errorf("whole (-) and byte by byte (+):\n%.1000s\n%q\n%q", d, told, told1)
		}
	}
	h := readString(t, "trace", odd)
	j := &h.Jobs[0]
	if want := "a\u00e9\n\ufffd\u00e9."; j.Name != want || len(h.Problems) > 0 || j.Maps != 0 || j.Submit != 0 {
		t.Errorf("%q, want %q; %v; %+v", j.Name, want, h.Problems, j)
	}
	for key, want := range map[string]string{"a.b": "1.50", "c": "true", "e": `\`} {
		if got := j.Conf.String(key, ""); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
}

// TestRumenSyntax: what is no JSON is told, with what was found.
func TestRumenSyntax(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,}`: "invalid character ',' at start of value", `{"a":[1,]}`: "invalid character ',' at start of value", `{"a" 1}`: "expecting ':'", `{"a":1 "b":2}`: "expecting ',' or '}'",
		`{"a":[1 2]}`: "expecting ',' or ']'", `{"a":tru}`: "in literal true", `{"a":01}`: "after object value", `{"a":-}`: "in number", `{"a":1.}`: "in number",
		`{"a":1e}`: "in number", `{"a":"\x"}`: "escape sequence", `{"a":"\u12g4"}`: "escape sequence", "{\"a\":\"\t\"}": "in string", `{"a":%}`: "'%' at start of value",
		`{1:2}`: "object member name must be a string", `{"a":1`: "the file ends within it", `{"a":"x`: "the file ends within it", `{"jobID":5}`: "jobID: found a number: want text",
		`{"totalMaps":"5"}`: "totalMaps: found text: want a number", `{"totalMaps":1e99}`: "totalMaps: 1e99: want a whole number", `{"mapTasks":{}}`: "mapTasks: found an object: want a list",
		`{"mapTasks":[5]}`: "found a number: want an object", `{"jobProperties":{"k":[]}}`: "k: found a list: want text", `[1]`: "found a list: want an object",
		`{"mapTasks":[{"preferredLocations":[{"layers":[null]}]}]}`: "want text", "{\"a\":\xff}": `'\xff' at start of value`,
		`{"a":` + strings.Repeat("[", 10_001): "max depth",
	} {
		h := readBytesOf(t, text)
		if len(h.Jobs) > 0 || len(h.Problems) == 0 || !strings.Contains(h.Problems[0].What, want) {
			t.Errorf("%.60s: %v, want ...%s...", text, h.Problems, want)
		}
	}
}

func readBytesOf(t *testing.T, text string) *workload.History {
	t.Helper()
	h, err := readBytes([]byte(text), "rumen")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestRumenUnknown: -1, null and absence are the same, and different from zero.
func TestRumenUnknown(t *testing.T) {
	text := strings.Replace(strings.Join(threeJobs(), "\n"), `"spilledRecords" : 5`,
		`"spilledRecords" : 0, "mapInputRecords" : -1, "mapOutputRecords" : null, "shuffleFinished" : -1, "hostName" : null, "location" : null`, 1)
	h := readString(t, "trace", text)
	if len(h.Problems) > 0 {
		t.Fatal(h.Problems)
	}
	a := &h.Jobs[0].Tasks[0].Attempts[0]
	if a.SpilledRecords != 0 || a.InRecords != workload.Unknown || a.OutRecords != workload.Unknown || a.OutBytes != workload.Unknown {
		t.Errorf("%+v", a.Counters)
	}
	if a.Node != "" || workload.Known(a.Phases[workload.PhaseShuffle]) || a.Slot != workload.Unknown || workload.Known(h.Jobs[0].Finish) || h.Jobs[0].Reduces != workload.Unknown {
		t.Errorf("made up: %+v", a)
	}
}

// TestCompression: gzip is known by its content, also in several pieces; the error of
// zstd says what to do.
func TestCompression(t *testing.T) {
	text := strings.Join(threeJobs(), "\n")
	var gz bytes.Buffer
	for _, part := range []string{text[:100], text[100:]} {
		w := gzip.NewWriter(&gz)
		w.Write([]byte(part))
		w.Close()
	}
	for name, content := range map[string]string{"trace.json": gz.String(), "trace": text} {
		if h := readString(t, name, content); len(h.Jobs) != 3 || len(h.Problems) > 0 {
			t.Errorf("%s: %d jobs, %v", name, len(h.Jobs), h.Problems)
		}
	}
	cut := readString(t, "cut.gz", gz.String()[:gz.Len()-30])
	if len(cut.Jobs) == 0 || !slices.ContainsFunc(cut.Problems, func(p workload.Problem) bool { return strings.Contains(p.What, "compressed content is damaged") }) {
		t.Errorf("cut short: %d jobs, %v", len(cut.Jobs), cut.Problems)
	}
	for content, want := range map[string]string{"\x28\xb5\x2f\xfd\x04": "zstd -dc FILE | gzip", "PAR1\x15": "want CSV"} {
		path := t.TempDir() + "/trace"
		writeFile(t, path, content)
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", content, err, want)
		}
	}
}

// TestOneSet: several files are one set, measured from its earliest submission.
func TestOneSet(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/a.json", strings.Join(threeJobs()[26:], "\n")) // "} {" of the second job begins it
	writeFile(t, dir+"/b.log", mrv1Sample)
	writeFile(t, dir+"/.b.log.crc", "checksum")
	writeFile(t, dir+"/mapred-site.xml", confSample)
	h := mustOpen(t, dir)
	if len(h.Jobs) != 2 || h.Jobs[0].ID != "job_201001010000_0001" || h.Jobs[0].Submit != 0 {
		t.Fatalf("%d jobs, problems %v", len(h.Jobs), h.Problems)
	}
	if got, want := h.Jobs[1].Submit, time.Duration(1300000003000-1262304000000)*time.Millisecond; got != want {
		t.Errorf("second job at %v, want %v", got, want)
	}
	if h.Epoch != 1262304000000 || h.Site.String("io.sort.mb", "") != "100" {
		t.Errorf("epoch %d, site %v", h.Epoch, h.Site.Keys())
	}
	writeFile(t, dir+"/attempts.csv", tableSample)
	if _, err := Open(dir); err == nil {
		t.Error("Unix times and differences were mixed")
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder without files was read")
	}
	if _, err := Open(dir + "/missing"); err == nil {
		t.Error("a missing file was read")
	}
	if _, err := (ReadOptions{Format: "cobol"}).Open(dir + "/b.log"); err == nil || !strings.Contains(err.Error(), "rumen") {
		t.Errorf("an unknown format: %v", err)
	}
}

// TestOtherDamage covers the small formats.
func TestOtherDamage(t *testing.T) {
	for _, x := range []struct {
		name, text, what string
		line             int
		ok               func(h *workload.History) bool
	}{
		{"SWIM line short", "a\t1\t1\t2\t3\t4\nb\t1\n", "6 or 9 columns", 2, func(h *workload.History) bool { return len(h.Swim) == 1 }},
		{"SWIM not a number", "a\t1\t1\t2\t3\t4\nb\t1\t1\tx\t3\t4\nc\t2\t1\t2\t3\t4\n", "want bytes", 2, func(h *workload.History) bool { return len(h.Swim) == 2 }},
		{"SWIM negative", "a\t1\t1\t2\t3\t4\nb\t-1\t1\t2\t3\t4\n", "want seconds", 2, func(h *workload.History) bool { return len(h.Swim) == 1 }},
		{"SWIM twice", "a\t1\t1\t2\t3\t4\na\t2\t1\t2\t3\t4\n", "twice", 2, func(h *workload.History) bool { return len(h.Swim) == 1 }},
		{"SWIM stray quote", "a\t1\t1\t2\t3\t4\n\"b\t1\n c\t2\t1\t2\t3\t4\nd\t2\t1\t2\t3\t4\n", "columns", 2, func(h *workload.History) bool { return len(h.Swim) == 3 }},
		{"SWIM nine columns", "a\t1\t1\t2\t3\t4\tin/x\t\t\n" + "b\n", "columns", 2, func(h *workload.History) bool { return h.Swim[0].InputPath == "in/x" }},
		{"conf truncated", confSample[:len(confSample)-60], "XML", 3, func(h *workload.History) bool { return h.Site.String("io.sort.mb", "") == "100" }},
		{"conf nameless", strings.Replace(confSample, "<name>x</name>", "", 1), "without a name", 3, func(h *workload.History) bool { return len(h.Site.Keys()) == 1 }},
		{"properties", "a.b=1\nnonsense\nc=2\n", "name=value", 2, func(h *workload.History) bool { return len(h.Site.Keys()) == 2 }},
		{"tasks beyond reason", "job,maps,reduces,submit_s,finish_s\nx,1000000000000,2,0,5\n", "maps = 1000000000000: want at most", 2, func(h *workload.History) bool { return h.Jobs[0].Maps == workload.Unknown && h.Jobs[0].Reduces == 2 }},
		{"tasks beyond reason in Rumen", strings.Replace(rumenSample, `"totalMaps":1`, `"totalMaps":1000000000000`, 1), "totalMaps = 1000000000000: want at most", 6, func(h *workload.History) bool { return len(h.Attempts()) == 2 }},
		{"tasks beyond reason in a history", strings.Replace(mrv1Sample, `TOTAL_MAPS="`, `TOTAL_MAPS="1000000000000`, 1), "want at most", 4, func(h *workload.History) bool { return len(h.Jobs) == 1 }},
		{"tasks beyond reason in MRv2", strings.Replace(jhistSample, `"totalMaps":`, `"totalMaps":1000000000000`, 1), "want at most", 4, func(h *workload.History) bool { return len(h.Jobs) == 1 }},
		{"replicas beyond reason", strings.Replace(mrv1Sample, `SPLITS="`, `SPLITS="`+strings.Repeat("/r/h,", 5000), 1), "more than 1000 replicas", 5, func(h *workload.History) bool { return len(h.Jobs) == 1 }},
		{"topology", topologySample[:60] + "\n" + topologySample, "topology", 1, func(h *workload.History) bool { return h.Topology.Hosts() == 2 }},
		{"host in two racks", topologySample + strings.Replace(topologySample, "r1", "r2", 1), "was in rack r1", 1, func(h *workload.History) bool { return h.Topology.Hosts() == 2 }},
		{"HiTune", strings.Replace(hituneSample, "SUCCESS,5,,\n", "SUCCESS,x,,\n", 1), "want a number", 2, func(h *workload.History) bool { return len(h.Attempts()) == 1 }},
		{"HiTune row short", hituneSample + "s,x\n", "wrong number of fields", 4, func(h *workload.History) bool { return len(h.Attempts()) == 1 }},
		{"HiTune id", hituneSample + "s,x,y,,,,,,,,\n", "want a job, task or attempt", 4, func(h *workload.History) bool { return len(h.Attempts()) == 1 }},
		{"no job", jhistMark + "\n{}\n", "event type", 2, func(h *workload.History) bool { return len(h.Jobs) == 0 }},
	} {
		h := readString(t, "f", x.text)
		if !slices.ContainsFunc(h.Problems, func(p workload.Problem) bool { return p.Line == x.line && strings.Contains(p.What, x.what) }) {
			t.Errorf("%s: want %d: ...%s..., got %v", x.name, x.line, x.what, h.Problems)
		}
		if !x.ok(h) {
			t.Errorf("%s: what is sound was not read: %+v", x.name, h)
		}
	}
}
