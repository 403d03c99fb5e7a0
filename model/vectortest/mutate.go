package vectortest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
)

// wrong lists the values that replace each value of a question, one at a time.
var wrong = []any{
	nil, true, "x", "", []any{}, map[string]any{},
	0.0, -1.0, 1.0, 0.5, 2.0, 1e-9, 1e12, -1e12, 1e15, 1e300, -1e300, 1e-300,
}

// Torture asks every question of the file in many wrong ways: with each value
// replaced, with each field removed, and with an additional field. The answer
// must be an error or a value that JSON can hold, and never a panic; a loop without
// bound ends by the time limit of go test. The error must name a missing or an unknown field.
func Torture(t *testing.T, path string, evaluators []model.Evaluator) {
	asked := 0
	for _, v := range Read(t, path).Vectors {
		i := slices.IndexFunc(evaluators, func(e model.Evaluator) bool { return e.Name == v.Model })
		var question map[string]any
		if err := json.Unmarshal(v.In, &question); err != nil {
			t.Fatal(err)
		}
		ask := func(what string) error {
			in, err := json.Marshal(question)
			if err != nil {
				t.Fatal(err)
			}
			asked++
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s with %s: panic: %v", v.ID, what, p)
				}
			}()
			out, err := evaluators[i].Eval(in)
			if err != nil {
				return err
			}
			if _, err := json.Marshal(out); err != nil {
				t.Errorf("%s with %s: %v", v.ID, what, err)
			}
			return nil
		}
		question["no such field"] = 1.0
		if err := ask("an unknown field"); err == nil || !strings.Contains(err.Error(), "no such field") {
			t.Errorf("%s with an unknown field: error %v, want one that names it", v.ID, err)
		}
		delete(question, "no such field")
		mutate(v.ID, question, ask, func(name string, err error) {
			if err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("%s without %s: error %v, want one that names it", v.ID, name, err)
			}
		})
	}
	t.Logf("%d questions", asked)
}

// mutate changes every value below one, asks the question, and restores the
// value.
func mutate(path string, value any, ask func(string) error, removed func(string, error)) {
	try := func(name string, old any, set func(any)) {
		for _, w := range wrong {
			set(w)
			_ = ask(fmt.Sprintf("%s = %v", name, w)) // any error will do
		}
		set(old)
		mutate(name, old, ask, removed)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			old := value[key]
			try(path+"."+key, old, func(v any) { value[key] = v })
			delete(value, key)
			removed(key, ask("no "+path+"."+key))
			value[key] = old
		}
	case []any:
		for i := range value[:min(len(value), 2)] { // items are equal in kind
			try(fmt.Sprintf("%s[%d]", path, i), value[i], func(v any) { value[i] = v })
		}
	}
}
