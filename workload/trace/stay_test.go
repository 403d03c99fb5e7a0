package trace

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/vectortest"
)

var words = regexp.MustCompile(`[0-9]+|[A-Za-z_]+|[^0-9A-Za-z_\s]`)

// What is read of histories stays, of sound and of damaged ones: lines are left out or
// repeated, words are removed, swapped or replaced. A line of the golden file is a file in
// one state; -v shows its problems.
func TestReadingsStay(t *testing.T) {
	folder, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // so that problems name files alike
	var got bytes.Buffer
	for _, name := range names {
		if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".md") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if unzipped, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			if data, err = io.ReadAll(unzipped); err != nil {
				t.Fatal(err)
			}
		}
		text := string(data)
		r := rand.New(rand.NewPCG(1, uint64(len(data))))
		for state := range 16 {
			path := filepath.Base(name)
			writeFile(t, path, damaged(r, text, state))
			h, err := Open(path)
			if err != nil {
				fmt.Fprintf(&got, "%s %d: %s\n", path, state, err)
				continue
			}
			digest := sha256.New()
			dump(digest, reflect.ValueOf(h))
			fmt.Fprintf(&got, "%s %d: %d jobs, %d problems, %.6x\n", path, state, len(h.Jobs), len(h.Problems), digest.Sum(nil))
			if testing.Verbose() {
				t.Log(h.Problems)
			}
		}
	}
	vectortest.Lines(t, filepath.Join(folder, "stay.txt"), got.String(), *update)
}

// damaged changes up to four places of a text. State 0 is the text itself.
func damaged(r *rand.Rand, text string, state int) string {
	for range min(state, 4) {
		lines := strings.SplitAfter(text, "\n")
		i := r.IntN(len(lines))
		found := words.FindAllStringIndex(text, -1)
		at, other := found[r.IntN(len(found))], found[r.IntN(len(found))]
		switch what := r.IntN(8); {
		case what == 0:
			text = strings.Join(slices.Delete(lines, i, i+1), "")
		case what == 1:
			text = strings.Join(slices.Insert(lines, i, lines[i]), "")
		default:
			with := []string{"", "-1", "0", text[other[0]:other[1]], "99999999999999999999", `"`}[what-2]
			text = text[:at[0]] + with + text[at[1]:]
		}
		if text == "" {
			break
		}
	}
	return text
}

// dump writes all that can be reached from a value, in an order of its own, except zeros.
func dump(h hash.Hash, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dump(h, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fmt.Fprint(h, v.Type().Field(i).Name, ":")
				dump(h, f)
			}
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprint(h, v.Len(), "[")
		for i := range v.Len() {
			dump(h, v.Index(i))
		}
	case reflect.Map:
		keys := map[string]reflect.Value{}
		for _, k := range v.MapKeys() {
			keys[fmt.Sprint(k)] = k
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			fmt.Fprint(h, k, "=")
			dump(h, v.MapIndex(keys[k]))
		}
	default:
		fmt.Fprint(h, v, " ")
	}
}
