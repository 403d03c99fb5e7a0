package diagnose_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
)

const vectors = "testdata/vectors.json"

func TestVectors(t *testing.T) { vectortest.Run(t, vectors, diagnose.Evaluators) }

func TestVectorsAgreeWithReference(t *testing.T) {
	vectortest.Agree(t, vectors, diagnose.Evaluators)
}

func TestEvaluatorsSorted(t *testing.T) {
	if !slices.IsSortedFunc(diagnose.Evaluators, func(a, b model.Evaluator) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("diagnose.Evaluators is not sorted by name")
	}
}

func TestEvaluatorsTortured(t *testing.T) { vectortest.Torture(t, vectors, diagnose.Evaluators) }
