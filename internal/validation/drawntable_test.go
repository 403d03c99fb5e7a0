package validation

import (
	crand "crypto/rand"
	"encoding/binary"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
)

var (
	worldsSeed = flag.Uint64("worlds-seed", 0, "seed of the first drawn world; 0: a fresh one")
	worldsDone = flag.Int("worlds", 12, "number of drawn worlds")
	worldsOut  = flag.String("worlds-out", "", "file for every question and answer, CSV")
	worldsArms = flag.String("worlds-arms", strings.Join(arms, ","), "what is asked: the history, a machine calibrated from it, or from stated facts")
)

// firstSeed is that of the flag, or a fresh one, which is printed.
func firstSeed(t *testing.T) uint64 {
	seed := *worldsSeed
	for seed == 0 {
		var b [8]byte
		crand.Read(b[:]) //nolint:errcheck // never fails
		seed = binary.LittleEndian.Uint64(b[:]) % 1e9
	}
	t.Logf("-worlds-seed %d -worlds %d", seed, *worldsDone)
	return seed
}

// ofWorlds draws worlds, asks each, and returns what all of them gave, in the order of
// their seeds. The file of the flag has what is known so far.
func ofWorlds[T any](t *testing.T, ask func(*testing.T, *drawnWorld) []T, write func(*testing.T, string, []T)) []T {
	seed := firstSeed(t)
	worlds := make([][]T, *worldsDone)
	var mu sync.Mutex
	t.Run("worlds", func(t *testing.T) {
		for i := range worlds {
			t.Run(fmt.Sprint(seed+uint64(i)), func(t *testing.T) {
				t.Parallel()
				given := ask(t, drawWorld(seed+uint64(i)))
				mu.Lock()
				defer mu.Unlock()
				worlds[i] = given
				if *worldsOut != "" {
					write(t, *worldsOut, slices.Concat(worlds...))
				}
			})
		}
	})
	return slices.Concat(worlds...)
}

// The history of a drawn world comes back if its scheduler and heartbeat are stated: of 40
// worlds the worst makespan and the worst mean time of a job differ by 2.6 %.
func TestDrawnReplays(t *testing.T) {
	for seed := range uint64(layers.Draws(3, 40)) {
		w, dir := drawWorld(seed+1), t.TempDir()
		w.record(t, dir)
		truth := ask(t, filepath.Join(dir, "truth"), filepath.Join(dir, "scenario.toml"), nil)
		got := ask(t, filepath.Join(dir, "replay"), filepath.Join(dir, "past"), w.masterSets)
		q := askedQuestion{truth: truth, got: got}
		if got.refusal != "" || math.Abs(q.miss()) > 0.03 || math.Abs(q.jobMiss()) > 0.03 {
			t.Errorf("world %d: its own history gives %+v, want %+v", w.seed, got, truth)
		}
	}
}

// Histories of worlds of random structure answer what would be on other nodes, data and
// settings, beside the world that was changed so. The limits are about twice the errors of
// the table in docs/evidence, because a dozen fresh worlds differ from another dozen.
func TestDrawnWorlds(t *testing.T) {
	layers.OnlyWhole(t, "hours")
	all := ofWorlds(t, askWorld, writeAsked)
	table := answersTable(all)
	t.Logf("\n%s", table)
	if *update {
		evidence.Compare(t, "drawn-worlds", table, true)
	}
	limits := map[string]float64{"history": 0.15, "calibrated": 0.3, "stated": 0.1}
	for _, arm := range askedArms() {
		most := limits[arm]
		c := count(ofArm(all, arm, ""))
		if got := quantileOf(c.errors, 0.5); !(got <= most) {
			t.Errorf("%s: median error %.1f %%, want at most %.0f %%", arm, 100*got, 100*most)
		}
	}
}

// ofArm returns the what-ifs of an arm: those of a kind, or all.
func ofArm(all []askedQuestion, arm, kind string) []askedQuestion {
	var some []askedQuestion
	for _, q := range all {
		if q.arm == arm && (q.whatIf.kind == kind || kind == "" && q.whatIf.kind != "as recorded") {
			some = append(some, q)
		}
	}
	return some
}

// answersTable has a row for each kind of question in each arm, and a sentence for each
// arm.
func answersTable(all []askedQuestion) string {
	var b, sentences strings.Builder
	b.WriteString("| asked of | what if | questions | answered | refused although it makes < 10 % | median error | 90 % within | median error of mean job time | 90 % interval holds | median half-width | interval score | of the best constant |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	var kinds []string
	for _, q := range all {
		if !slices.Contains(kinds, q.whatIf.kind) {
			kinds = append(kinds, q.whatIf.kind)
		}
	}
	for _, arm := range askedArms() {
		for _, kind := range kinds {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", arm, kind, strings.Join(count(ofArm(all, arm, kind)).cells(), " | "))
		}
		c := count(ofArm(all, arm, ""))
		fmt.Fprintf(&b, "| %s | all | %s |\n", arm, strings.Join(c.cells(), " | "))
		fmt.Fprintf(&sentences, "%s: %s\n", arm, c.sentence())
	}
	return b.String() + "\n" + sentences.String()
}

// counted sums questions up.
type counted struct {
	asked, refused, refusedSmall, intervals, held int
	errors, jobErrors, widths                     []float64
	score, constant, best                         float64 // constant: interval of this part of the answer, whose score is the best
}

func count(all []askedQuestion) *counted {
	c := &counted{asked: len(all), constant: math.NaN(), best: math.Inf(1)}
	var with []askedQuestion
	for _, q := range all {
		if q.got.refusal != "" {
			c.refused++
			if !q.moves() {
				c.refusedSmall++
			}
			continue
		}
		c.errors, c.jobErrors = append(c.errors, math.Abs(q.miss())), append(c.jobErrors, math.Abs(q.jobMiss()))
		if q.hasInterval() {
			with = append(with, q)
			c.widths = append(c.widths, q.halfWidth())
			if q.holds() {
				c.held++
			}
		}
	}
	c.intervals = len(with)
	c.score = scoreOf(with, func(q *askedQuestion) (float64, float64) { return q.got.low, q.got.high })
	for x := 0.005; x < 2; x *= 1.05 {
		if s := scoreOf(with, func(q *askedQuestion) (float64, float64) { return q.got.makespan * (1 - x), q.got.makespan * (1 + x) }); s < c.best {
			c.best, c.constant = s, x
		}
	}
	return c
}

func (c *counted) cells() []string {
	row := []string{fmt.Sprint(c.asked), fmt.Sprint(c.asked - c.refused), fmt.Sprint(c.refusedSmall),
		percentOf(c.errors, 0.5), percentOf(c.errors, 0.9), percentOf(c.jobErrors, 0.5)}
	if c.intervals == 0 {
		return append(row, "", "", "", "")
	}
	return append(row, share(c.held, c.intervals), percentOf(c.widths, 0.5),
		fmt.Sprintf("%.2f", c.score), fmt.Sprintf("%.2f (%.0f %%)", c.best, 100*c.constant))
}

func (c *counted) sentence() string {
	s := fmt.Sprintf("%d of %d answered, median error %s, 90 %% within %s", c.asked-c.refused, c.asked, percentOf(c.errors, 0.5), percentOf(c.errors, 0.9))
	if c.intervals > 0 {
		s += fmt.Sprintf("; truth inside the 90 %% interval: %s, median half-width %s", share(c.held, c.intervals), percentOf(c.widths, 0.5))
	}
	return s
}

// scoreOf is the mean interval score of Gneiting and Raftery (2007), equation 43, for
// 90 %, relative to the truth.
func scoreOf(all []askedQuestion, interval func(*askedQuestion) (float64, float64)) float64 {
	sum := 0.0
	for i := range all {
		q := &all[i]
		low, high := interval(q)
		x := q.truth.makespan
		sum += (high - low + 2/0.1*(max(0, low-x)+max(0, x-high))) / x
	}
	return sum / float64(len(all))
}

func percentOf(all []float64, quantile float64) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*quantileOf(all, quantile))
}

// quantileOf returns NaN if there is nothing.
func quantileOf(all []float64, quantile float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	return stat.Quantile(quantile, stat.LinInterp, slices.Sorted(slices.Values(all)), nil)
}

func writeRows(t *testing.T, path string, rows [][]string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
}
