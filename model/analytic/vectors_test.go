package analytic

import (
	"cmp"
	"flag"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
)

const vectors = "testdata/vectors.json"

var update = flag.Bool("update", false, "write the golden files anew")

func TestVectors(t *testing.T) {
	vectortest.Run(t, Evaluators, vectors)
}

func TestVectorsAgreeWithReference(t *testing.T) { vectortest.Agree(t, vectors, Evaluators) }

func TestEvaluatorsSorted(t *testing.T) {
	if !slices.IsSortedFunc(Evaluators, func(a, b model.Evaluator) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("model.Evaluators is not sorted by name")
	}
}

// What a phases question leaves out is what the vectors take for it.
func TestPhasesDefaults(t *testing.T) {
	want := vectortest.Read(t, vectors).PhasesDefaults
	got := vectortest.Plain(t, DefaultPhases())
	if d := vectortest.Diff(got, any(want), 0); d != "" {
		t.Error(d)
	}
}

func TestAnswersStay(t *testing.T) {
	vectortest.Answers(t, vectors, "testdata/answers.txt", Evaluators, *update)
}
