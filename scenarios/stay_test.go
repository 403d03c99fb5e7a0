package scenarios

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/vectortest"
)

var update = flag.Bool("update", false, "write the golden file anew")

var (
	valueOfText = regexp.MustCompile(`"[^"\n]*"|[-+]?\b\d[\d_.]*(e[-+]?\d+)?\b|\btrue\b|\bfalse\b`)

	// otherValues replace a value of a scenario, one at a time: the ends of ranges and
	// what is beside them, and values of another kind.
	otherValues = []string{
		"-1", "0", "0.1", "0.5", "1", "2", "3", "100", "101", "1000", "1001", "20000000", "20000001", "4e8", "1e12", "nan", "true",
		`""`, `"0s"`, `"1ms"`, `"100h"`, `"1b"`, `"1g"`, `"a"`, `"fifo"`, `"phase"`, "[]", "[1, 2]", "{}",
	}
)

// What is made of scenarios stays: questions, warnings and refusals, of each file as it is
// and with each of its values replaced by some others. A line of the golden file is a value;
// -v shows what was made.
func TestReadingsStay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stay/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	dir := t.TempDir() // beside the files that are named
	for _, name := range files {
		if err := os.Link(name, filepath.Join(dir, filepath.Base(name))); err != nil {
			t.Skip(err)
		}
	}
	var got bytes.Buffer
	for _, name := range files {
		base := filepath.Base(name)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, asks := string(data), base
		if base == "platform.toml" || base == "profile.toml" {
			asks = "device.toml"
		}
		changed := filepath.Join(dir, base)
		digest := sha256.New()
		read := func(text string) {
			os.Remove(changed) // not the original that it is a link to
			if err := os.WriteFile(changed, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			made := digestOf(dir, asks)
			fmt.Fprintln(digest, made)
			if testing.Verbose() {
				t.Log(made)
			}
		}
		read(text)
		fmt.Fprintf(&got, "%s %.6x\n", base, digest.Sum(nil))
		line := 1
		for from, rest := 0, text; rest != ""; line++ {
			this, after, _ := strings.Cut(rest, "\n")
			for i, at := range valueOfText.FindAllStringIndex(this, -1) {
				digest.Reset()
				for k := (line + i) % 6; k < len(otherValues); k += 6 {
					read(text[:from+at[0]] + otherValues[k] + text[from+at[1]:])
				}
				fmt.Fprintf(&got, "%s:%d:%d %.6x\n", base, line, i+1, digest.Sum(nil))
			}
			from, rest = from+len(this)+1, after
		}
		read(text)
	}
	vectortest.Lines(t, "testdata/stay.txt", got.String(), *update)
}

// digestOf opens a scenario and describes what it makes: errors, or warnings and a digest of
// the questions.
func digestOf(dir, name string) string {
	f, err := Open(filepath.Join(dir, name))
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir, "")
	}
	s, err := f.Scenario(1)
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir, "")
	}
	h := sha256.New()
	dump(h, reflect.ValueOf(s), map[uintptr]bool{})
	return fmt.Sprintf("%s %.6x", strings.ReplaceAll(fmt.Sprint(s.Warnings), dir, ""), h.Sum(nil))
}

// dump writes all that can be reached from a value, in an order of its own.
func dump(h hash.Hash, v reflect.Value, seen map[uintptr]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			fmt.Fprint(h, "nil ")
			return
		}
		seen[v.Pointer()] = true
		dump(h, v.Elem(), seen)
		delete(seen, v.Pointer())
	case reflect.Interface:
		dump(h, v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() { // so that a new field changes no line
				fmt.Fprint(h, v.Type().Field(i).Name, ":")
				dump(h, f, seen)
			}
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprint(h, v.Len(), "[")
		for i := range v.Len() {
			dump(h, v.Index(i), seen)
		}
	case reflect.Map:
		keys := map[string]reflect.Value{}
		for _, k := range v.MapKeys() {
			keys[fmt.Sprint(k)] = k
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			fmt.Fprint(h, k, "=")
			dump(h, v.MapIndex(keys[k]), seen)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Invalid:
		fmt.Fprint(h, v.Kind(), " ")
	default:
		fmt.Fprint(h, v, " ")
	}
}
