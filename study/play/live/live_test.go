package live

import (
	"encoding/json"
	"strings"
	"testing"
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
		"Of 2 jobs 1 take less time with B, 0 longer, and 1 the same within 1 %.",
		"short gains most: 2 min 01 s with A, 37.7 s with B.",
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
