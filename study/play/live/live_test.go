package live

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study/simulated"
)

// asked answers requests of one session, and returns the last answer and its columns.
func asked(t *testing.T, s *Session, requests ...Asked) (answer string, data []byte) {
	t.Helper()
	for _, a := range requests {
		request, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		out, d, err := s.Answer(request)
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		answer, data = string(out), d
	}
	return answer, data
}

const late = "conf.mapred.reduce.slowstart.completed.maps=0.9"

// The sentences say what the numbers of two runs say.
func TestDiffer(t *testing.T) {
	var s Session
	answer, _ := asked(t, &s, Asked{Verb: "open", Name: "two-jobs"}, Asked{Verb: "run"}, Asked{Verb: "run", Side: 1, Set: []string{late}}, Asked{Verb: "differ"})
	var w words
	if err := json.Unmarshal([]byte(answer), &w); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"The run takes 2 min 21 s with A and 2 min 11 s with B: 9.40 s less (6.7 %).",
		"Jobs with B, 2 in both: mean -33.0 %, p95 -3.4 %, 1 faster, 0 slower.",
	} {
		if !strings.Contains(strings.Join(w.Sentences, "\n"), want) {
			t.Errorf("got %q: want %s", w.Sentences, want)
		}
	}
	sum := int64(0) // the ledgers add up to the times of the jobs
	for _, a := range w.Accounts {
		sum += a.Second - a.First
	}
	if job := s.sides[1].run.Prediction.Jobs; sum != int64(sumOf(&s.sides[1])-sumOf(&s.sides[0])) || len(job) != 2 || w.Offer[0] == "" {
		t.Errorf("the accounts change by %d ns; %q", sum, w.Offer)
	}
	answer, _ = asked(t, &s, Asked{Verb: "run", Side: 1}, Asked{Verb: "differ"})
	if !strings.Contains(answer, "The run takes 2 min 21 s with both.") || !strings.Contains(answer, "All launches are the same.") {
		t.Errorf("got %s: want no difference", answer)
	}
}

// Runs are compared once both sides have one.
func TestDifferWithoutARun(t *testing.T) {
	for side := range 2 {
		var s Session
		asked(t, &s, Asked{Verb: "open", Name: "two-jobs"}, Asked{Verb: "run", Side: side})
		if _, err := s.differ(&Asked{}); err != errNotOpen {
			t.Errorf("side %d alone: got %v, want %v", side, err, errNotOpen)
		}
	}
}

// Only accounts that change are named, at most three.
func TestCompareAccounts(t *testing.T) {
	const s = int64(1e9)
	list := []simulated.AccountChange{
		{Account: "waves", First: 9 * s, Second: 5 * s}, {Account: "sort", First: 2 * s, Second: 5 * s}, {Account: "map", First: 7 * s, Second: 7 * s}, {Account: "launch", First: 0, Second: s},
	}
	for _, x := range []struct {
		list []simulated.AccountChange
		job  string
		want []string
	}{
		{list, "", []string{`In the ledgers of all jobs B has 4.00 s less for "waves", 3.00 s more for "sort".`}},
		{list[:1], "j", []string{`In the ledger of j B has 4.00 s less for "waves".`}},
		{list[2:3], "", nil},
	} {
		var w words
		if w.compareAccounts(x.list, x.job); !slices.Equal(w.Sentences, x.want) {
			t.Errorf("got %q, want %q", w.Sentences, x.want)
		}
	}
}

// A difference below 1 % says so, whichever run is longer.
func TestThan(t *testing.T) {
	for b, want := range map[time.Duration]string{
		100 * time.Second: "The run takes 1 min 40 s with both.",
		99 * time.Second:  "The run takes 1 min 40 s with A and 1 min 39 s with B: 1.00 s less (1.0 %).",
		101 * time.Second: "The run takes 1 min 40 s with A and 1 min 41 s with B: 1.00 s longer (1.0 %).",
		99500 * time.Millisecond: "The run takes 1 min 40 s with A and 1 min 40 s with B: 0.50 s less (0.5 %). " +
			"That is less than 1 %: no practical difference.",
	} {
		if got := than(100*time.Second, b); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Each side has its own deadlines, and a job that does not end misses its own.
func TestDifferInDeadlines(t *testing.T) {
	const deadline = "job.0.deadline="
	for _, c := range []struct {
		a, b []string
		want string
	}{
		{[]string{deadline + "100s"}, []string{deadline + "1000s"}, "0 of 1 deadlines missed in place of 1 of 1."},
		{[]string{deadline + "1000s"}, []string{deadline + "100s", "job.1.deadline=1h"}, "1 of 2 deadlines missed in place of 0 of 1."},
		{[]string{deadline + "1000s"}, nil, "0 of 0 deadlines missed in place of 0 of 1."},
		{[]string{deadline + "1000s"}, []string{deadline + "1000s", "until=\"50s\""}, "Jobs with B, 0 in both: 1 of 1 deadlines missed in place of 0 of 1."},
	} {
		var s Session
		answer, _ := asked(t, &s, Asked{Verb: "open", Name: "two-jobs"}, Asked{Verb: "run", Set: c.a}, Asked{Verb: "run", Side: 1, Set: c.b}, Asked{Verb: "differ"})
		if !strings.Contains(answer, c.want) {
			t.Errorf("%q and %q: got %s: want %s", c.a, c.b, answer, c.want)
		}
	}
}

// sumOf is the time of all jobs of a side.
func sumOf(k *side) (sum int) {
	for i := range k.run.Prediction.Jobs {
		j := &k.run.Prediction.Jobs[i]
		sum += int(j.Finish - j.Submit)
	}
	return sum
}

// Slots in use add up to the time of the attempts, and a picture has all attempts of a
// small run.
func TestPicture(t *testing.T) {
	var s Session
	answer, data := asked(t, &s, Asked{Verb: "open", Name: "two-jobs"}, Asked{Verb: "run"})
	var v picture
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	if want := v.Rows*(16+4*len(v.Phases)+4+12+4) + 4*numStages*v.Bins; v.Rows != v.Attempts || v.Rows != 54 || len(data) != want {
		t.Errorf("%d of %d attempts, %d bytes: want 54 and %d", v.Rows, v.Attempts, len(data), want)
	}
	k := newRecorder(s.sides[0].question)
	held := 0.0
	for i := range s.sides[0].run.Attempts {
		a := &s.sides[0].run.Attempts[i]
		held += millis(a.Duration())
		k.Attempt(a)
	}
	sum := 0.0
	for _, n := range k.inUse(v.Makespan) {
		sum += n * v.Makespan / bins
	}
	if diff := sum/held - 1; diff > 1e-9 || diff < -1e-9 { // the rounding of sums of 1,600 numbers
		t.Errorf("slots are in use for %v ms, attempts take %v ms", sum, held)
	}
}

// A run of many nodes keeps the attempts of the first ones.
func TestFirstNodes(t *testing.T) {
	var s Session
	asked(t, &s, Asked{Verb: "open", Name: "two-jobs"}, Asked{Verb: "run"})
	k := newRecorder(s.sides[0].question)
	a := s.sides[0].run.Attempts[0]
	for i := range mostKept + 2 {
		a.NodeIndex = i % 3
		k.Attempt(&a)
	}
	if k.whole() || k.nodes != 1 || len(k.attempts) > mostKept/2 || len(k.rows) != mostKept+2 {
		t.Errorf("%d nodes with %d of %d attempts: want the first node's third", k.nodes, len(k.attempts), len(k.rows))
	}
}

// The text of a scenario with settings is a scenario with the same question.
func TestTOML(t *testing.T) {
	var s Session
	answer, _ := asked(t, &s, Asked{Verb: "open", Name: "two-jobs"}, Asked{Verb: "toml", Set: []string{late, "job.1.maps=9"}})
	if !strings.Contains(answer, `\"mapred.reduce.slowstart.completed.maps\" = 0.9`) || !strings.Contains(answer, "maps = 9") {
		t.Error(answer)
	}
	answer, _ = asked(t, &s, Asked{Verb: "run"}, Asked{Verb: "explain", Task: "short/r/0"})
	if !strings.HasPrefix(answer, `"Attempt 0 of short/r/0 ran on node1`) || !strings.Contains(answer, "heartbeat") {
		t.Error(answer)
	}
}

// What the page may ask too early or wrongly is an error, and no panic.
func TestRefused(t *testing.T) {
	for want, a := range map[string]Asked{
		"no scenario is open":             {Verb: "run"},
		"verb: got":                       {Verb: "dance"},
		"side: got 2":                     {Verb: "run", Side: 2},
		"no such file":                    {Verb: "open", Name: "two-job"},
		"want one on slots; slotwave run": {Verb: "open", Name: "yarn-am-limit"},
	} {
		request, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := new(Session).Answer(request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", a, err, want)
		}
	}
}

// keysOf returns the values of the keys of a run, as the controls show them.
func keysOf(t *testing.T, s *Session, run int) map[string]string {
	t.Helper()
	answer, _ := asked(t, s, Asked{Verb: "keys", Run: run})
	var keys []scenarios.Key
	if err := json.Unmarshal([]byte(answer), &keys); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, k := range keys {
		values[k.Name] = k.Value
	}
	return values
}

// ran returns the picture of a run.
func ran(t *testing.T, s *Session, run int, set ...string) (v picture) {
	t.Helper()
	answer, _ := asked(t, s, Asked{Verb: "run", Run: run, Set: set})
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// varying is a scenario with one key of each kind that [vary] may have: a key of the
// file, properties in [conf] and in [scheduler], a key of every job, and one of a group.
const varying = `
[cluster]
heartbeat = "1s"
map_slots = 2
reduce_slots = 1
[[cluster.group]]
count = 3
[[cluster.group]]
name = "last"
[scheduler]
name = "fair2"
[[job]]
name = "a"
map_ms = 4000
[[job]]
name = "b"
map_ms = 5000
[vary]
"cluster.heartbeat" = ["300ms", "10s"]
"conf.'mapred.map.tasks.speculative.execution'" = [false, true]
"scheduler.'mapred.fairscheduler.locality.delay'" = [0, 1000]
maps = [7, 12]
"cluster.group.1.slowdown" = [1, 3]
`

// openText opens the text of a scenario.
func openText(t *testing.T, text string) *Session {
	t.Helper()
	name := filepath.Join(t.TempDir(), "my.toml")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s := new(Session)
	if err := s.Open(name, 1); err != nil {
		t.Fatal(err)
	}
	return s
}

// Controls show the values of the chosen variation. A setting of a varied key replaces
// its variation and leaves the other keys at theirs.
func TestVariations(t *testing.T) {
	s := openText(t, varying)
	runs := len(s.all.Runs)
	if runs != 32 {
		t.Fatalf("%d runs: want 32", runs)
	}
	keys := []string{"cluster.heartbeat", "conf.mapred.map.tasks.speculative.execution", "conf.mapred.fairscheduler.locality.delay", "job.1.maps", "cluster.group.1.slowdown"}
	f, err := s.file.Varied()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !slices.Contains(f, key) {
			t.Errorf("%s is not among the varied keys %q", key, f)
		}
	}
	for run := range runs {
		values := keysOf(t, s, run)
		for i, level := range s.all.Runs[run].Levels {
			if values[keys[i]] != level.TOML {
				t.Errorf("run %d: %s is shown as %s: want %s", run, keys[i], values[keys[i]], level.TOML)
			}
		}
	}
	first, last := runs-1, 0 // a setting takes the key of the last variation to the value of the first
	for i, key := range keys {
		v := ran(t, s, first, key+"="+s.all.Runs[last].Levels[i].TOML)
		want := strings.Fields(s.all.Runs[first].Name)
		if i == 3 { // the other job still varies
			if v.Jobs[0].Maps != 12 || v.Jobs[1].Maps != 7 {
				t.Errorf("%s set: %d and %d maps, want 12 and 7", key, v.Jobs[0].Maps, v.Jobs[1].Maps)
			}
		} else {
			want = slices.Delete(want, i, i+1)
		}
		if v.Variation != strings.Join(want, " ") {
			t.Errorf("%s set: the run is %q, want %q", key, v.Variation, want)
		}
	}
	if slow, even := ran(t, s, 0, "cluster.group.1.slowdown=3"), ran(t, s, 0); slow.Nodes[3].Slowness != 3 || even.Nodes[3].Slowness != 1 || slow.Makespan <= even.Makespan {
		t.Errorf("slowness %v and %v, makespan %v and %v: want 3 and 1, and a longer run", slow.Nodes[3].Slowness, even.Nodes[3].Slowness, slow.Makespan, even.Makespan)
	}
}

// A later setting of a property replaces that of [scheduler].
func TestPropertyOfScheduler(t *testing.T) {
	const key = "mapred.fairscheduler.locality.delay"
	s := openText(t, strings.Replace(strings.ReplaceAll(varying[:strings.Index(varying, "[vary]")], "[[job]]", "[[job]]\nmaps = 7"), `name = "fair2"`, "name = \"fair2\"\n\""+key+"\" = 500", 1))
	if got := keysOf(t, s, 0)["conf."+key]; got != "500" {
		t.Errorf("the delay is shown as %s, want 500", got)
	}
	for want, set := range map[string][]string{
		"500": nil, "30000": {"conf." + key + "=30000"}, "7": {"conf." + key + "=30000", "scheduler.'" + key + "'=7"}, "8": {"scheduler." + key + "=7", "conf.'" + key + "'=8"},
	} {
		ran(t, s, 0, set...)
		if got, _ := s.sides[0].question.Scheduler.Conf.Lookup(key); got != want {
			t.Errorf("%q: the scheduler reads %s, want %s", set, got, want)
		}
	}
}

// Every scenario and every release that the page offers can be simulated.
func TestOffered(t *testing.T) {
	var s Session
	answer, _ := asked(t, &s, Asked{Verb: "open", Name: "two-jobs"})
	var o opened
	if err := json.Unmarshal([]byte(answer), &o); err != nil {
		t.Fatal(err)
	}
	answer, _ = asked(t, &s, Asked{Verb: "keys"})
	var keys []scenarios.Key
	if err := json.Unmarshal([]byte(answer), &keys); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(keys, func(k scenarios.Key) bool { return k.Name == "cluster.hadoop" })
	for _, release := range keys[at].Words {
		ran(t, &s, 0, "cluster.hadoop="+release)
	}
	if len(keys[at].Words) < 4 || len(o.Shipped) < 10 {
		t.Errorf("%d releases, %d scenarios", len(keys[at].Words), len(o.Shipped))
	}
	for _, offered := range o.Shipped {
		if err := new(Session).Open(offered[0], 1); err != nil {
			t.Error(err)
		}
	}
}

// A packed question gives the picture of its scenario, whatever kinds of jobs, programs
// and distributions it has. What does not survive the way is refused.
func TestPackedQuestions(t *testing.T) {
	const most = 1000 // tasks of a scenario
	packed := 0
	for _, name := range scenarios.List() {
		var s Session
		if scenarios.OnYARN(name) {
			continue
		}
		asked(t, &s, Asked{Verb: "open", Name: name})
		q := &s.all.Runs[0].Question
		if q.Tasks() > most {
			continue
		}
		question, err := Pack(*q)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		packed++
		want, columns := asked(t, &s, Asked{Verb: "run"})
		var v picture
		if err := json.Unmarshal([]byte(want), &v); err != nil {
			t.Fatal(err)
		}
		v.Variation, v.Warnings, v.Assumed = "", v.Warnings[len(s.all.Warnings):], []string{}
		wanted, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got, data := asked(t, &s, Asked{Verb: "run", Side: 1, Question: question}); got != string(wanted) || string(data) != string(columns) {
			t.Errorf("%s: the packed question has another picture:\n%s\n%s", name, got, wanted)
		}
	}
	if packed < 8 {
		t.Errorf("%d questions packed: want 8 or more", packed)
	}
	if _, err := Pack(model.WhatIf{Scheduler: model.Scheduler{Pools: []model.Pool{{MaxMaps: new(int)}}}}); err == nil {
		t.Error("a limit of 0 is packed, which would come back as no limit")
	}
}
