package vectortest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
)

// Answers asks every question of a file and its neighbours: with each number scaled or moved,
// each truth reversed, and each entry of a list or field removed. It compares
// a digest of the answers and errors with the lines of a golden file, one a vector,
// and writes the file anew if update is set. Test -v shows what was answered.
func Answers(t *testing.T, path, golden string, evaluators []model.Evaluator, update bool) {
	t.Helper()
	var got strings.Builder
	for _, v := range Read(t, path).Vectors {
		i := slices.IndexFunc(evaluators, func(e model.Evaluator) bool { return e.Name == v.Model })
		var question any
		if err := json.Unmarshal(v.In, &question); err != nil {
			t.Fatal(err)
		}
		asked, h := 0, sha256.New()
		neighbours(&question, func() {
			in, err := json.Marshal(question)
			if err != nil {
				t.Fatal(err)
			}
			asked++
			answer, err := evaluators[i].Eval(in)
			if testing.Verbose() {
				t.Logf("%s: %s: %v %v", v.ID, in, answer, err)
			}
			if err != nil {
				fmt.Fprintln(h, err)
				return
			}
			writeRounded(h, Plain(t, answer))
			fmt.Fprintln(h)
		})
		fmt.Fprintf(&got, "%s: %d answers, %.6x\n", v.ID, asked, h.Sum(nil))
	}
	Lines(t, golden, got.String(), update)
}

// Lines compares a text with a golden file and reports the first line that differs. It
// writes the file anew if update is set. A short test may make the first lines only.
func Lines(t *testing.T, golden, got string, update bool) {
	t.Helper()
	lines(t, golden, got, update, testing.Short())
}

// FirstLines compares the text of a test that makes a sample of what the golden file has,
// and all of it each night.
func FirstLines(t *testing.T, golden, got string, update bool) {
	t.Helper()
	lines(t, golden, got, update, !layers.Whole)
}

func lines(t *testing.T, golden, got string, update, sample bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	old, made := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	if n := len(made) - 1; sample && 0 < n && n < len(old) {
		old = append(old[:n:n], "")
	}
	for i := range max(len(old), len(made)) {
		if i >= len(old) || i >= len(made) || old[i] != made[i] {
			t.Fatalf("%s:%d: got %q: want %q (-update writes the file anew after a look at the difference)", golden, i+1, made[min(i, len(made)-1)], old[min(i, len(old)-1)])
		}
	}
}

// neighbours calls each with the value as it is and after each single change.
func neighbours(value *any, each func()) {
	each()
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		try := func(other any) {
			set(other)
			each()
			set(v)
		}
		switch v := v.(type) {
		case float64:
			for _, other := range []float64{0, v / 2, 1.25 * v, v + 1, v - 1} {
				try(other)
			}
		case bool:
			try(!v)
		case []any:
			for i := range v {
				walk(v[i], func(other any) { v[i] = other })
			}
			if len(v) > 0 {
				try(v[1:])
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				old := v[key]
				walk(old, func(other any) { v[key] = other })
				delete(v, key)
				each()
				v[key] = old
			}
		}
	}
	walk(*value, func(other any) { *value = other })
}

// writeRounded writes a value with nine digits of each number, as processors round
// alike only nearly.
func writeRounded(w io.Writer, v any) {
	switch v := v.(type) {
	case float64:
		if math.Abs(v) < 1e-9 {
			v = 0
		}
		io.WriteString(w, strconv.FormatFloat(v, 'g', 9, 64))
	case []any:
		io.WriteString(w, "[")
		for _, x := range v {
			writeRounded(w, x)
			io.WriteString(w, " ")
		}
		io.WriteString(w, "]")
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(w, "%s:", key)
			writeRounded(w, v[key])
			io.WriteString(w, " ")
		}
	default:
		fmt.Fprint(w, v)
	}
}
