package diagnose

import (
	"cmp"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
)

const vectors = "testdata/vectors.json"

func TestVectors(t *testing.T) { vectortest.Run(t, Evaluators, vectors) }

func TestVectorsAgreeWithReference(t *testing.T) {
	vectortest.Agree(t, vectors, Evaluators)
}

func TestEvaluatorsSorted(t *testing.T) {
	if !slices.IsSortedFunc(Evaluators, func(a, b model.Evaluator) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("Evaluators is not sorted by name")
	}
}

func TestEvaluatorsTortured(t *testing.T) { vectortest.Torture(t, vectors, Evaluators) }

func TestAnswersStay(t *testing.T) {
	vectortest.Answers(t, vectors, "testdata/answers.txt", Evaluators, *update)
}
