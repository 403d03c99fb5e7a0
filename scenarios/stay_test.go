package scenarios

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
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
		`""`, `"0s"`, `"1ms"`, `"100h"`, `"1b"`, `"1g"`, `"a"`, `"fifo"`, `"phase"`, "[]", "[1, 2]", "{}", "no", "1,5",
	}

	// limitOfText is a number that a refusal names: the limit is tried, and what is beside it.
	limitOfText   = regexp.MustCompile(`\bwant .*`)
	numberOfLimit = regexp.MustCompile(`\b\d[\d,]*(\.\d+)?(e[-+]?\d+)?[a-zA-Z]*\b`)

	// slips are what a hand does wrong with a line.
	slips = []func(line string) string{
		func(line string) string { return line + "\n" + line },
		func(line string) string { return strings.Replace(line, " =", ":", 1) },
		func(line string) string { return strings.Replace(line, " =", "", 1) },
		func(line string) string { return strings.ReplaceAll(line, `"`, "") },
		func(line string) string { return line[:max(0, len(line)-1)] },
		func(line string) string { return strings.Replace(line, "_", "", 1) },
		func(line string) string { return "# " + line },
	}
)

// What is made of scenarios, studies, cases and queues of YARN stays: questions, warnings and
// refusals, of each file as it is, with each of its values replaced by some others, and with
// a slip in each line. A line of the golden file is a value or a slip; -v shows what was made.
func TestReadingsStay(t *testing.T) {
	golden, err := filepath.Abs("testdata/stay.txt")
	if err != nil {
		t.Fatal(err)
	}
	inputs := os.DirFS(filepath.Join(filepath.Dir(golden), "stay"))
	trace, err := os.ReadFile("../workload/trace/testdata/FB-2009-first-40.tsv")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // so that questions and errors name files alike
	if err := errors.Join(os.CopyFS(".", inputs), os.WriteFile("trace.tsv", trace, 0o666)); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(inputs, "*.*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var got bytes.Buffer
	for _, base := range files {
		data, err := os.ReadFile(base)
		if err != nil {
			t.Fatal(err)
		}
		text, asks := string(data), base
		switch {
		case base == "platform.toml" || base == "profile.toml":
			asks = "device.toml"
		case filepath.Ext(base) == ".xml":
			asks = strings.Replace(base, "-scheduler.xml", ".toml", 1)
		}
		digest := sha256.New()
		read := func(text string) (made string) {
			if err := os.WriteFile(base, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			made = digestOf(asks)
			fmt.Fprintln(digest, made)
			if testing.Verbose() {
				t.Log(made)
			}
			return made
		}
		read(text)
		fmt.Fprintf(&got, "%s %.6x\n", base, digest.Sum(nil))
		line := 1
		for from, rest := 0, text; rest != ""; line++ {
			this, after, _ := strings.Cut(rest, "\n")
			for i, at := range valueOfText.FindAllStringIndex(this, -1) {
				digest.Reset()
				tried := map[string]bool{}
				for k := (line + i) % 6; k < len(otherValues); k += 6 {
					made := read(text[:from+at[0]] + otherValues[k] + text[from+at[1]:])
					for _, value := range besideLimits(made) {
						if !tried[value] {
							tried[value] = true
							read(text[:from+at[0]] + value + text[from+at[1]:])
						}
					}
				}
				fmt.Fprintf(&got, "%s:%d:%d %.6x\n", base, line, i+1, digest.Sum(nil))
			}
			if slip := slips[line%len(slips)](this); slip != this {
				digest.Reset()
				read(text[:from] + slip + text[from+len(this):])
				fmt.Fprintf(&got, "%s:%d %.6x\n", base, line, digest.Sum(nil))
			}
			from, rest = from+len(this)+1, after
		}
		read(text)
	}
	vectortest.Lines(t, golden, got.String(), *update)
}

// besideLimits are the numbers that a refusal wants, and those next to them.
func besideLimits(refusal string) (values []string) {
	for _, number := range numberOfLimit.FindAllString(limitOfText.FindString(refusal), 4) {
		number = strings.ReplaceAll(number, ",", "")
		if unit := strings.TrimLeft(number, "0123456789."); unit != "" && !strings.HasPrefix(unit, "e") {
			values = append(values, strconv.Quote(number), strconv.Quote(strings.TrimSuffix(number, unit)+".01"+unit))
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue
		}
		step := 1.0
		if n != math.Trunc(n) {
			step = n / 1000
		}
		values = append(values, strconv.FormatFloat(n+step, 'g', -1, 64))
		if n < 1e5 { // a question of that size takes long
			values = append(values, number, strconv.FormatFloat(n-step, 'g', -1, 64))
		}
	}
	return values
}

// digestOf opens a scenario or a study and describes what it makes: errors, or warnings and
// a digest of the questions or of the study.
func digestOf(name string) string {
	if s, err := ReadStudy(name, func([]string) error { return nil }); err != nil {
		return err.Error()
	} else if s != nil {
		var all bytes.Buffer
		for i := range s.Factors {
			for level := range min(s.Factors[i].Count, 5) {
				fmt.Fprint(&all, s.Factors[i].Level(level))
			}
		}
		s.Input.Data = nil
		dump(&all, reflect.ValueOf(s), map[uintptr]bool{})
		return fmt.Sprintf("%.6x", sha256.Sum256(all.Bytes()))
	}
	f, err := Open(name)
	if err != nil {
		return err.Error()
	}
	s, err := f.Scenario(1)
	if err != nil {
		return err.Error()
	}
	folder, err := os.Getwd()
	if err != nil {
		return err.Error()
	}
	var all bytes.Buffer
	dump(&all, reflect.ValueOf(s), map[uintptr]bool{})
	return fmt.Sprintf("%s %.6x", s.Warnings, sha256.Sum256(bytes.ReplaceAll(all.Bytes(), []byte(folder), nil)))
}

// dump writes all that can be reached from a value, in an order of its own.
func dump(h *bytes.Buffer, v reflect.Value, seen map[uintptr]bool) {
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
