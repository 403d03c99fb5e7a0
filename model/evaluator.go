package model

import (
	"fmt"

	"github.com/slotwave/slotwave/model/input"
)

// An Evaluator answers one model on one JSON object. The shapes of question and
// answer are fixed; docs/equations.md explains them.
type Evaluator struct {
	Name   string
	Eval   func(in []byte) (out any, err error)
	Fields func() []input.Field // of the question
}

// NewEvaluator makes an evaluator of a function of structs. The fields of fallback
// are the defaults of the optional fields of a question; nil: zeros.
func NewEvaluator[I, O any](name string, fallback func() I, answer func(I) (O, error)) Evaluator {
	if fallback == nil {
		fallback = func() (zeros I) { return zeros }
	}
	return Evaluator{name, func(in []byte) (any, error) {
		question := fallback()
		err := input.Decode(in, &question)
		var out O
		if err == nil {
			out, err = answer(question)
		}
		if err == nil {
			err = input.Finite(out)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return out, nil
	}, func() []input.Field { return input.Describe(fallback()) }}
}
