package validation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

var recordedTime = regexp.MustCompile(`(?:SUBMIT|LAUNCH|START|FINISH)_TIME="(\d+)"`)

// cutHistory copies the files of a history with the lines whose times are all up to an
// instant: a JobTracker appends a line when it happens.
func cutHistory(t *testing.T, from, to string, until int64) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err := cmp.Or(err, os.MkdirAll(to, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(from, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, line := range strings.SplitAfter(string(data), "\n") {
			last := int64(0)
			for _, m := range recordedTime.FindAllStringSubmatch(line, -1) {
				at, _ := strconv.ParseInt(m[1], 10, 64)
				last = max(last, at)
			}
			if last <= until {
				kept = append(kept, line)
			}
		}
		if text := strings.Join(kept, ""); strings.HasSuffix(file.Name(), ".xml") || strings.Contains(text, "SUBMIT_TIME") {
			if err := os.WriteFile(filepath.Join(to, file.Name()), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The interval of a running job holds its end in simulated histories that are cut at
// random moments.
func TestFollow(t *testing.T) {
	if testing.Short() {
		t.Skip("whole jobs at fidelity device")
	}
	n := cmp.Or(*evaluates, 4)
	if layers.Whole {
		n = max(n, 20)
	}
	var held, jobs [2]int // by whether times of reduces are known
	unknown := 0
	var ratios, widths [2][]float64 // widths are over the predicted time that is left
	for seed := cmp.Or(*evaluated, 1); seed < cmp.Or(*evaluated, 1)+n; seed++ {
		r := rand.New(rand.NewPCG(seed, 31))
		w, dir := newKeyWorld(r), t.TempDir()
		if !w.plant(t, dir, kinds[r.IntN(len(kinds))], r) {
			continue
		}
		name, set := w.write(t, dir, r.IntN(2) == 0)
		if s, err := study.Open(name, study.Options{Set: set}); err != nil || s.Tasks() > 3000 {
			continue
		}
		out, history := filepath.Join(dir, "out"), filepath.Join(dir, "history")
		runSet(t, name, out, study.Options{Set: set})
		verb(t, "convert", out, "--to", "history", "--out", history, "--quiet")
		whole, err := trace.Open(history)
		if err != nil {
			t.Fatal(err)
		}
		for cut := range 2 {
			now := time.Duration(r.Float64() * float64(whole.Now()))
			part := filepath.Join(dir, "part"+strconv.Itoa(cut))
			cutHistory(t, history, part, whole.Epoch+now.Milliseconds())
			err := diagnosis.Options{}.Standings(part, func() bool { return false }, func(s *diagnosis.Standing) error {
				for _, j := range s.Running {
					i := slices.IndexFunc(whole.Jobs, func(h workload.HistoryJob) bool { return h.ID == j.ID })
					end := whole.Jobs[i].Finish
					if j.Unknown != "" {
						unknown++
						continue
					}
					kind := 0
					if j.Reduces {
						kind = 1
					}
					jobs[kind]++
					if j.Low <= end && end <= j.High {
						held[kind]++
					}
					ratio := math.Log((end - s.Now).Seconds() / max(0.001, (j.End-s.Now).Seconds()))
					ratios[kind] = append(ratios[kind], ratio)
					widths[kind] = append(widths[kind], (j.High-j.Low).Seconds()/max(10, (j.End-s.Now).Seconds()))
					t.Logf("seed %d (%v), job %s after %.0f s: ends after %.0f s, predicted %.0f (%.0f to %.0f), reduces known %v, factor %.2f, ended %v of %v", seed, set, j.ID, s.Now.Seconds(), end.Seconds(), j.End.Seconds(), j.Low.Seconds(), j.High.Seconds(), j.Reduces, math.Exp(ratio), j.Ended, j.Tasks)
				}
				return nil
			})
			if err != nil {
				if strings.Contains(err.Error(), "no jobs") {
					continue
				}
				t.Errorf("seed %d after %v: %v", seed, now, err)
			}
		}
	}
	const most = 7
	for kind, list := range ratios {
		slices.Sort(list)
		slices.Sort(widths[kind])
		t.Logf("| reduces known %d | %d of %d, without a prediction %d; factors %.2f, widths %.2f |", kind, held[kind], jobs[kind], unknown, list, widths[kind])
		if n := len(list); n >= 10 && widths[kind][n/2] > most {
			t.Errorf("reduces known %d: half of the intervals are %.1f times as long as the time left: want %d", kind, widths[kind][n/2], most)
		}
	}
	if all := jobs[0] + jobs[1]; 3*(held[0]+held[1]) < 2*all || all == 0 { // docs/validation.md has the figures of more worlds
		t.Errorf("%d of %d intervals hold the end: want two thirds", held[0]+held[1], all)
	}
}
