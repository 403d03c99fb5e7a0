// Package mutants changes one condition, constant or operator of the program at a time
// and asks whether a test of `go test -short ./...` notices, without the measurements that
// may lie beside the project:
//
//	SLOTWAVE_LARGE=1 go test ./internal/mutants -v -timeout 9h -seed 7 -mutants 120 -out /tmp/mutants.jsonl
//
// Mutants are drawn with equal chances from all places of the packages that the command
// consists of; those that do not compile, or cannot be switched, are left out. The files
// stay as they are: Go builds with an overlay, in which every mutated function has a
// changed twin beside it, so that all mutants are built at once and one is switched on for
// each run. Each test runs alone first, which tells the mutants that it reaches. A mutant
// meets the tests that reach it, those of its own package first, up to the first that
// fails. What is in the file of -out, tests and mutants, is not run again.
package mutants

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

var (
	seed = flag.Uint64("seed", 1, "of the draw")
	n    = flag.Int("mutants", 120, "mutants to draw")
	in   = flag.String("in", "", "draw only from files whose names start with this `PREFIX`")
	by   = flag.String("by", "", "count only tests of packages whose names start with this `PREFIX`")
	out  = flag.String("out", "", "`FILE` for what was measured; empty: none")
)

// longest is the processor time, in s, of a test that is counted: no short test takes it.
const longest = 300

// trial is a test that ran without a mutant, or with one.
type trial struct {
	Room    string   `json:"package"`
	Test    string   `json:"test,omitempty"`
	Failed  bool     `json:"failed,omitempty"`
	Seconds float64  `json:"cpu_s"`
	Reached []string `json:"reached"` // keys of mutants
}

// outcome is a line of the file of -out.
type outcome struct {
	Trial  *trial  `json:"trial,omitempty"`
	Mutant *mutant `json:"mutant,omitempty"`
	By     string  `json:"killed_by,omitempty"` // package and test; empty: survived
}

// bench has the built tests and what was measured with them.
type bench struct {
	t       *testing.T
	p       *program
	folder  string
	overlay string // of the program with switches
	log     *os.File
	trials  map[string][]trial // by room
	done    map[string]string  // killer of each finished mutant
	mutants []*mutant
	kills   map[string]int // by package and test
}

func TestMutants(t *testing.T) {
	layers.OnlyWhole(t, "builds and tests the program for each mutant, an hour")
	t.Chdir("../..")
	t.Setenv("SLOTWAVE_LARGE", "")
	t.Setenv("SLOTWAVE_SHARED", filepath.Join(t.TempDir(), "none"))
	t.Setenv("SLOTWAVE_REQUIRE_SHARED", "")
	b := &bench{t: t, folder: t.TempDir(), trials: map[string][]trial{}, done: map[string]string{}, kills: map[string]int{}}
	b.resume()
	b.draw()
	b.build()
	b.baseline()
	killed, survived := 0, []*mutant(nil)
	for i, m := range b.mutants {
		by, ok := b.done[m.key()]
		if !ok {
			by = b.try(i, m)
			b.write(outcome{Mutant: m, By: by})
		}
		if by == "" {
			survived = append(survived, m)
		} else {
			killed++
		}
	}
	for _, m := range survived {
		t.Logf("survived: %s:%d: %s became %s", m.File, m.Line, m.From, m.To)
	}
	low, high := wilson(killed, killed+len(survived))
	t.Logf("%d of %d killed: %.1f %%, 95 %% interval %.1f to %.1f", killed, killed+len(survived), 100*float64(killed)/float64(killed+len(survived)), 100*low, 100*high)
}

func (m *mutant) key() string { return fmt.Sprintf("%s:%d:%d:%s", m.File, m.Line, m.At, m.To) }

// resume reads what an earlier run measured.
func (b *bench) resume() {
	if *out == "" {
		*out = filepath.Join(b.folder, "mutants.jsonl")
	}
	var err error
	if b.log, err = os.OpenFile(*out, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.log.Close() })
	lines := bufio.NewScanner(b.log)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var o outcome
		switch err := json.Unmarshal(lines.Bytes(), &o); {
		case err != nil: // the last line may be cut
		case o.Trial != nil:
			b.trials[o.Trial.Room] = append(b.trials[o.Trial.Room], *o.Trial)
		case o.Mutant != nil:
			b.done[o.Mutant.key()] = o.By
			b.kills[o.By]++
		}
	}
	if err := lines.Err(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) write(o outcome) {
	line, err := json.Marshal(o)
	if err == nil {
		_, err = b.log.Write(append(line, '\n'))
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// draw takes mutants that compile, and puts switches for them into the program.
func (b *bench) draw() {
	all, err := places()
	if err != nil {
		b.t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if b.p, err = openProgram(b.folder, *n); err != nil {
		b.t.Fatal(err)
	}
	edits, left := map[string][]edit{}, 0
	for i := range all {
		m := &all[i]
		if len(b.mutants) == *n {
			break
		}
		if !strings.HasPrefix(m.File, *in) || !b.uses(filepath.Join("cmd", "slotwave"), filepath.Dir(m.File)) || !b.p.builds(m) {
			continue
		}
		if e, ok := b.p.switched(m, len(b.mutants)); ok {
			edits[m.File] = append(edits[m.File], e...)
			b.mutants = append(b.mutants, m)
		} else {
			left++
		}
	}
	b.p.install(edits)
	b.t.Logf("%d places, %d mutants drawn, %d left out that cannot be switched", len(all), len(b.mutants), left)
}

// build compiles the tests of all packages.
func (b *bench) build() {
	var err error
	if b.overlay, err = overlay(b.folder, b.p.changed); err != nil {
		b.t.Fatal(err)
	}
	for _, dir := range b.tested() {
		c := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", b.overlay, "-o", b.binary(dir), "./"+dir)
		if text, err := c.CombinedOutput(); err != nil {
			b.t.Fatalf("%s: %v: %s", dir, err, text)
		}
	}
}

// tested lists the packages with tests.
func (b *bench) tested() (dirs []string) {
	for dir, r := range b.p.rooms {
		if len(r.TestGoFiles)+len(r.XTestGoFiles) > 0 && strings.HasPrefix(dir, *by) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// binary names the tests of a package as Go does: a streaming job names its program.
func (b *bench) binary(dir string) string {
	return filepath.Join(b.folder, dir, filepath.Base(dir)+".test")
}

// baseline runs each test alone, and keeps its processor time and which mutants it
// reaches.
func (b *bench) baseline() {
	reached := filepath.Join(b.folder, "reached")
	for _, dir := range b.tested() {
		var finished []string
		for _, w := range b.trials[dir] {
			finished = append(finished, w.Test)
		}
		for _, test := range b.list(dir) {
			if slices.Contains(finished, test) {
				continue
			}
			if err := os.MkdirAll(reached, 0o777); err != nil {
				b.t.Fatal(err)
			}
			failed, seconds := b.run(dir, []string{test}, longest)
			w := trial{Room: dir, Test: test, Failed: failed != "", Seconds: seconds}
			names, _ := filepath.Glob(filepath.Join(reached, "*"))
			for _, name := range names {
				id, _ := strconv.Atoi(filepath.Base(name))
				w.Reached = append(w.Reached, b.mutants[id].key())
			}
			os.RemoveAll(reached)
			b.trials[dir] = append(b.trials[dir], w)
			b.write(outcome{Trial: &w})
			if w.Failed {
				b.t.Logf("not counted: %s in %s fails or takes %d s without a mutant", test, dir, longest)
			}
		}
	}
}

// list names the tests and examples of a package.
func (b *bench) list(dir string) (tests []string) {
	c := exec.Command(b.binary(dir), "-test.list", "^(Test|Example|Fuzz)")
	c.Dir = dir
	text, err := c.Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// failure is the line of a test that failed.
var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// run runs tests of a package and returns the first that fails and the processor time
// that they took. They are stopped after some seconds of it.
func (b *bench) run(dir string, tests []string, limit float64) (failed string, seconds float64) {
	script := fmt.Sprintf(`ulimit -t %.0f -v 8000000 && exec "$@"`, math.Ceil(limit))
	c := exec.Command("bash", "-c", script, "bash", b.binary(dir), "-test.short", "-test.failfast", "-test.timeout=30m", "-test.run", "^("+strings.Join(tests, "|")+")$")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-overlay="+b.overlay)
	text, err := c.CombinedOutput()
	if s := c.ProcessState; s != nil {
		seconds = s.UserTime().Seconds() + s.SystemTime().Seconds()
	}
	if err == nil {
		return "", seconds
	}
	if found := failure.FindSubmatch(text); found != nil {
		return string(found[1]), seconds
	}
	return tests[0], seconds // it panicked, or took too long
}

// try runs tests with a mutant and returns the first that fails: those of its package,
// then those that killed most mutants so far, then the others, package by package.
func (b *bench) try(id int, m *mutant) (by string) {
	own := filepath.Dir(m.File)
	type group struct {
		dir   string
		tests []string
		cost  float64
		order int
	}
	var groups []group
	for _, dir := range slices.Sorted(maps.Keys(b.trials)) {
		rest := group{dir: dir}
		if dir == own {
			rest.order = math.MinInt
		}
		for _, w := range b.trials[dir] {
			if w.Failed || !slices.Contains(w.Reached, m.key()) {
				continue
			}
			if n := b.kills[dir+" "+w.Test]; n > 0 && dir != own {
				groups = append(groups, group{dir, []string{w.Test}, w.Seconds, -n})
				continue
			}
			rest.tests = append(rest.tests, w.Test)
			rest.cost += w.Seconds
		}
		if rest.tests != nil {
			groups = append(groups, rest)
		}
	}
	slices.SortStableFunc(groups, func(x, y group) int {
		return cmp.Or(cmp.Compare(x.order, y.order), cmp.Compare(x.cost, y.cost))
	})
	if err := os.WriteFile(filepath.Join(b.folder, "now"), []byte(strconv.Itoa(id)), 0o666); err != nil {
		b.t.Fatal(err)
	}
	defer os.Remove(filepath.Join(b.folder, "now"))
	for _, g := range groups {
		if failed, _ := b.run(g.dir, g.tests, 10+5*g.cost); failed != "" {
			by = g.dir + " " + failed
			b.kills[by]++
			return by
		}
	}
	return ""
}

// uses says whether a package is another or imports it. That of the browser is built for
// another system, and no package here.
func (b *bench) uses(dir, other string) bool {
	r := b.p.rooms[other]
	return dir == other || r != nil && slices.Contains(b.p.rooms[dir].Deps, r.ImportPath)
}

// wilson is the 95 % interval of a share.
func wilson(k, n int) (low, high float64) {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	mid, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return (mid - half) / (1 + z*z/m), (mid + half) / (1 + z*z/m)
}
