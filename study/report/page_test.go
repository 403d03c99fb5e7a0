package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/workload"
)

const s = time.Second

// each passes the attempts of a list.
func each(list []workload.Attempt) iter.Seq[*workload.Attempt] {
	return func(yield func(*workload.Attempt) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// page returns a page with names of the given form.
func page(name func(string) string) *Page { return pageWithSlot(name, 0) }

// pageWithSlot is a page on which the fifth attempt ran in a slot; negative: unknown.
func pageWithSlot(name func(string) string, slot int) *Page {
	r := &Run{Diagnosis: &diagnosis.Diagnosis{Diagnosis: &diagnose.Diagnosis{}}, Name: name("run"), Verdict: "Main cause: " + name("cause")}
	r.Findings = []diagnose.Finding{{
		Rule: "R16", Cause: name("cause"), Node: name("n1"), Evidence: name("evidence"),
		Change: &diagnose.Change{Text: name("change")}, Receipt: diagnose.Receipt{Outcome: diagnose.Outcome(name("confirmed")), Gain: 0.2, Low: 0.1, High: 0.3, Pairs: 5},
	}}
	r.Jobs = []diagnose.JobDiagnosis{{ID: name("j"), Finish: 60 * s, Ledger: []diagnose.Step{{To: 60 * s, Attempt: name("j") + "/m/0", Node: name("n1"), By: name("by")}}}}
	records := diagnose.Work(3)
	r.Jobs[0].Lines = []diagnose.Line{{Kind: workload.Map, Phase: workload.PhaseMap, Base: s, PerUnit: 1e-6, Work: records}}
	r.Answers = []results.Answer{
		{Prediction: model.Prediction{Model: name("aria"), Mean: 50 * s, Least: 40 * s, Most: 60 * s, Phases: []model.PhaseTime{{Kind: workload.Map, Phase: workload.PhaseMap, Time: 2 * s}}}},
		{Prediction: model.Prediction{Model: name("hp")}, Err: errors.New(name("n/a"))},
	}
	r.Sampled = &Flow{[]Vertex{{Name: name("in")}, {Name: name("map"), Busy: 6e6, Idle: 2e6, Runs: 20}}, []Edge{{0, 1, 1 << 30, name("HDFS")}}}
	var attempts []workload.Attempt
	for i := range 20 {
		a := workload.Attempt{Job: name("j"), Task: i, Node: name(fmt.Sprint("n", i%3)), Slot: i % 2, Start: time.Duration(i) * s, Finish: time.Duration(i+3) * s}
		a.Phases[workload.PhaseMap], a.InRecords = 3*s, int64(1e6*(1+i%2))
		attempts = append(attempts, a)
	}
	attempts[4].Slot = slot
	r.Attempts = each(attempts)
	r.Usage = []diagnose.Usage{{Node: name("n1"), Device: name("cpu")}, {Time: s, Node: name("n1"), Device: name("cpu")}}
	r.Unknown = []diagnose.Unknown{{What: name("what"), Count: 1, Effect: name("effect")}}
	return &Page{Title: name("title"), Runs: []*Run{r}}
}

func written(t testing.TB, p *Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var tag = regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)

// hostileNames are ends of names that a page must show as text.
var hostileNames = []string{
	`<script>alert(1)</script>`, `</script><script>x`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `</pre><b>`, `--><b>`, `</title><b>`,
	`</style><b>`, `javascript:alert(1)`, `{{.}}`, `&lt;b&gt;`, "\u2028\u2029", "a\x00b", `<!--<script>`, `]]>`, `\u003cb\u003e`,
	`<iframe src=//x>`, `<a href="javascript:x">`, `<math><mi//xlink:href="data:x">`, `<style>*{display:none}</style>`, `<base href=//x>`,
	`<meta http-equiv=refresh content=0>`, `<object data=x>`, `<embed src=x>`, `<form><button>`, `<input autofocus onfocus=x>`, `<details open ontoggle=x>`,
	`<template>`, `<noscript>`, `<textarea>`, `<plaintext>`, `<xmp>`, `\`, `'`, `"`, "\x1b[31m", "\u202e", "\r\n<b>", `%3Cb%3E`, `${x}`, "`",
}

// Names with markup, quotes and ends of scripts leave the page with the same
// elements and attributes, in the same order, as plain names do.
func TestHostileNames(t *testing.T) {
	plain := tag.FindAllString(written(t, page(func(n string) string { return n })), -1)
	for _, hostile := range hostileNames {
		got := written(t, page(func(n string) string { return n + hostile }))
		tags := tag.FindAllString(got, -1)
		if len(tags) != len(plain) {
			t.Errorf("%q: %d elements, want %d", hostile, len(tags), len(plain))
			continue
		}
		for i := range tags {
			if tags[i] != plain[i] {
				t.Errorf("%q: %s, want %s", hostile, tags[i], plain[i])
			}
		}
	}
}

// A page names nothing outside itself, and its policy forbids the rest.
func TestOffline(t *testing.T) {
	text := written(t, page(func(n string) string { return n }))
	for _, outside := range []string{"http:", "https:", "src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML", "eval("} {
		if strings.Contains(text, outside) {
			t.Errorf("the page has %s", outside)
		}
	}
	if !strings.Contains(text, "default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-") {
		t.Error("the page has no policy")
	}
	if text != written(t, page(func(n string) string { return n })) {
		t.Error("the same run gives two pages")
	}
}

// The columns hold every attempt, in the order of lines and starts.
func TestColumns(t *testing.T) {
	p := pageWithSlot(func(n string) string { return n }, -1)
	packed, err := p.Runs[0].pack()
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	head, columns, _ := bytes.Cut(text, []byte{0})
	var about aboutRun
	if err := json.Unmarshal(head, &about); err != nil {
		t.Fatal(err)
	}
	if last := int(workload.ReduceTaskCleanup); len(about.Kinds) != last+1 || about.Kinds[last] != workload.ReduceTaskCleanup.String() {
		t.Errorf("the kinds are %q", about.Kinds)
	}
	if about.Rows != 20 || len(about.Lanes) != 6 || len(about.Nodes) != 3 {
		t.Errorf("%d rows on %v of %v", about.Rows, about.Lanes, about.Nodes)
	}
	var values []int64
	for len(columns) > 0 {
		v, n := binary.Varint(columns)
		values, columns = append(values, v), columns[n:]
	}
	if want := 20 * (10 + int(workload.NumPhases)); len(values) != want {
		t.Fatalf("%d numbers, want %d", len(values), want)
	}
	lane, start := int64(0), int64(0)
	for i := range 20 {
		before, at := lane, start
		lane += values[i]
		start += values[6*20+i]
		work, rest := values[(7+int(workload.PhaseMap))*20+i], values[(7+int(workload.NumPhases))*20+i]
		if lane < before || lane == before && start < at || work != 3e6 || rest != 0 {
			t.Errorf("row %d: line %d at %d, %d and %d µs after line %d at %d", i, lane, start, work, rest, before, at)
		}
	}
}

// Of too many attempts the longest stay, and of those as long as the shortest of them
// the first.
func TestLongestStay(t *testing.T) {
	g := &gathered{}
	for i, length := range []time.Duration{3, 1, 2, 2, 5, 2, 1} {
		g.rows = append(g.rows, row{start: s, finish: s + length, at: int32(i)})
	}
	if left := g.keepLongest(4); left != 3 {
		t.Errorf("%d are left out, want 3", left)
	}
	var kept []int32
	for _, a := range g.rows {
		kept = append(kept, a.at)
	}
	if want := []int32{0, 2, 3, 4}; !slices.Equal(kept, want) {
		t.Errorf("rows %d stay, want %d", kept, want)
	}
	if left := g.keepLongest(4); left != 0 || len(g.rows) != 4 {
		t.Errorf("of 4 rows %d are left out", left)
	}
}

// The dataflow of a job has its phases in the order of the data, their waits, and
// the bytes between them.
func TestFlow(t *testing.T) {
	m := workload.Attempt{Job: "j", Kind: workload.Map}
	m.Phases[workload.PhaseRead], m.Phases[workload.PhaseMap], m.Phases[workload.PhaseSpill] = s, 2*s, 3*s
	m.HDFSReadBytes, m.OutBytes = 100, 40
	r := workload.Attempt{Job: "j", Kind: workload.Reduce, WaitFetch: 4 * s, WaitMemory: s}
	r.Phases[workload.PhaseShuffle], r.Phases[workload.PhaseReduce] = 7*s, s
	r.ShuffleBytes, r.HDFSWriteBytes = 80, 9
	lost := m
	lost.State = workload.Failed
	sums := flows{}
	for _, a := range []workload.Attempt{m, m, lost, r} {
		sums.add(&a)
	}
	got := fmt.Sprint(*sums.of("j"))
	want := "{[{HDFS 0 0 0} {map: read 2000000 0 2} {map: map 4000000 0 2} {map: spill 6000000 0 2} {reduce: shuffle 2000000 5000000 1} {reduce: reduce 1000000 0 1} {output 0 0 0}]" +
		" [{0 1 200 } {1 2 0 } {2 3 80 } {3 4 80 } {4 5 0 } {5 6 9 }]}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The result of a study is shown as its table, without columns that are empty or 0
// and with its rows by metric, and its pictures.
func TestStudies(t *testing.T) {
	folder := t.TempDir()
	d, err := resultdir.Create(folder, resultdir.Purpose{Verb: "sweep"})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"summary.csv": "point,metric,n,empty,mean,of_all\n1,makespan_ns,2,0,9e10,1234.5\n1,price,2,,<b>,0.123456\n1,late,0,,,\n2,makespan_ns,2,,1.23456e9,0\n", "line.svg": "<svg></svg>", "points.csv": "point\n1\n"} {
		if err := d.Write(name, resultdir.Text(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Commit(resultdir.Manifest{Arguments: []string{"sweep", "x"}}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	runs, _, _, err := Write(&b, []string{folder}, diagnosis.Options{}, nil)
	if err != nil || len(runs) != 0 {
		t.Fatalf("got runs %v, %v: want none", runs, err)
	}
	for _, want := range []string{
		"<th>point</th><th>metric</th><th>n</th><th>mean</th><th>of all</th>",
		"<td>1</td><td>makespan</td><td>2</td><td>1 min 30 s</td><td>1234</td></tr>\n<tr><td>2</td><td>makespan</td><td>2</td><td>1.23 s</td><td>0</td></tr>\n<tr><td>1</td><td>price</td><td>2</td><td>&lt;b&gt;</td><td>0.1235</td></tr>\n</tbody>",
		base64.RawStdEncoding.EncodeToString([]byte("<svg></svg>")),
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// Outliers are a table of the page, without what is 0 or unknown, in units for people.
func TestOutliersAreShown(t *testing.T) {
	o := diagnose.Outlier{Job: "j", Stage: "map", Task: "j/m/1", Node: "n", Time: 90 * s, Limit: 2 * s}
	d := &diagnosis.Diagnosis{Diagnosis: &diagnose.Diagnosis{Jobs: []diagnose.JobDiagnosis{{ID: "j", Finish: s, Outliers: []diagnose.Outlier{o}}}}}
	r, err := reported(d, "run")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(r.Tables), "[{Outliers [job stage task node time threshold critical] [[j map j/m/1 n 1 min 30 s 2.00 s false]] 0}]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Two runs are compared in a sentence: jobs that both have, less than 1 % is none.
func TestDifference(t *testing.T) {
	run := func(name string, seconds ...int) *Run {
		r := &Run{Diagnosis: &diagnosis.Diagnosis{Diagnosis: &diagnose.Diagnosis{}}, Name: name}
		for i, s := range seconds {
			submit := time.Duration(i) * time.Second
			r.Jobs = append(r.Jobs, diagnose.JobDiagnosis{ID: string(rune('a' + i)), Submit: submit, Finish: submit + time.Duration(s)*time.Second})
		}
		return r
	}
	for _, c := range []struct {
		after *Run
		want  string
	}{
		{run("now", 100, 301, 150, 9), "now against then, 3 jobs in both: mean +10.2 %, p95 +2.1 %, 0 faster, 1 slower, worst c by 50.0 s."},
		{run("now", 50, 300, 100), "now against then, 3 jobs in both: mean -10.0 %, p95 +0.0 %, 1 faster, 0 slower."},
		{run("now"), ""},
	} {
		if got := difference(run("then", 100, 300, 100), c.after); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Every finding is shown, folded or counted as left out, none twice.
func TestFindingsAreCounted(t *testing.T) {
	for n := range shownFindings + foldedFindings + 3 {
		list := make([]diagnose.Finding, n)
		first, rest, beyond := len(firstFindings(list)), len(restFindings(list)), beyondFindings(list)
		if first+rest+beyond != n || first < shownFindings && rest > 0 || rest < foldedFindings && beyond > 0 {
			t.Fatalf("%d findings: %d are shown, %d folded and %d left out", n, first, rest, beyond)
		}
	}
}

// A point of a series is the mean share of its times, to the nearest percent.
func TestSharesOfDevices(t *testing.T) {
	r := &Run{Diagnosis: &diagnosis.Diagnosis{Diagnosis: &diagnose.Diagnosis{}}}
	for i := range 2 * mostPoints { // two times are a point
		r.Usage = append(r.Usage,
			diagnose.Usage{Time: time.Duration(i) * s, Node: "n1", Device: "cpu", Busy: float64(i%4/2) * 0.987, ForeignBusy: 0.014},
			diagnose.Usage{Time: time.Duration(i) * s, Node: "n1", Device: "nic", Busy: float64(i%2) * 0.03})
	}
	all := r.series()
	if len(all) != 2 || all[1].Others != nil {
		t.Fatalf("%d series: want 2, and no others on the second", len(all))
	}
	for i := range mostPoints {
		got := []int{all[0].Busy[i], all[0].Others[i], all[1].Busy[i]}
		if want := []int{i % 2 * 99, 1, 2}; !slices.Equal(got, want) || all[0].Times[i] != 2e6*int64(i) {
			t.Fatalf("point %d at %d µs: got %d: want %d", i, all[0].Times[i], got, want)
		}
	}
	r.Usage = slices.DeleteFunc(r.Usage, func(u diagnose.Usage) bool { return u.Device != "cpu" || u.Time > mostPoints*s })
	if n := len(r.series()[0].Busy); n != mostPoints/2+1 {
		t.Errorf("%d times are %d points: want %d", len(r.Usage), n, mostPoints/2+1)
	}
}
