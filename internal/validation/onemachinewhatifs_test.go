package validation

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
)

// TestThreeTimesTheData asks of the history of each small run on a real machine what
// three times its data would take, and compares with the recorded large runs.
func TestThreeTimesTheData(t *testing.T) {
	const set = "platform-0.20.2/"
	large := map[string][]float64{}
	runs := rowsIn(t, set+"jobs.csv")
	for _, r := range runs {
		if r["size"] == "large" {
			large[r["app"]] = append(large[r["app"]], figure(r, "job_s"))
		}
	}
	var b strings.Builder
	b.WriteString("| program, run | recorded s | large runs, mean s | answer s | 90 % interval, s | large runs inside |\n|---|---|---|---|---|---|\n")
	out, inside, all := filepath.Join(t.TempDir(), "out"), 0, 0
	var off []float64
	for _, r := range runs {
		if r["size"] != "small" {
			continue
		}
		run := r["app"] + "-small-" + r["rep"]
		got := ask(t, out, shared(t, "data/"+set+"histories/"+run+".history.gz"), []string{"workload.scale_bytes=3"})
		if got.refusal != "" {
			t.Fatalf("%s: %s", run, got.refusal)
		}
		hold, real := 0, large[r["app"]]
		for _, s := range real {
			if got.low <= s && s <= got.high {
				hold++
			}
		}
		inside, all, off = inside+hold, all+len(real), append(off, math.Abs(got.makespan/average(real)-1))
		fmt.Fprintf(&b, "| %s %s | %.1f | %.1f | %.1f | %.1f to %.1f | %d of %d |\n", r["app"], r["rep"], figure(r, "job_s"), average(real), got.makespan, got.low, got.high, hold, len(real))
	}
	fmt.Fprintf(&b, "\n%d of %d large runs inside, median error %.1f %%\n", inside, all, 100*median(off))
	if float64(inside) < 0.8*float64(all) || median(off) > 0.1 {
		t.Errorf("%d of %d inside, median error %.1f %%: want four of five and 10 %%", inside, all, 100*median(off))
	}
	evidence.Compare(t, "one-machine-three-times", b.String(), *update)
}

// TestOneMachinePairs asks of each of two runs of a program on a real machine, which
// differ in the number of reduces or in the buffer of a sort, how long the other took.
// Other programs shared its processors: where the same maps took as long in both runs,
// the interval holds the other one.
func TestOneMachinePairs(t *testing.T) {
	const (
		set   = "pseudo-0.20.2/"
		alike = 0.2 // of the mean time of maps

		slowstart = "conf.mapred.reduce.slowstart.completed.maps="
	)
	ends, mapTimes := map[string]float64{}, map[string][]float64{}
	for _, r := range rowsIn(t, set+"phases.csv") {
		job := r["job"][len(r["job"])-4:]
		if end := figure(r, "jt_success"); !math.IsNaN(end) {
			ends[job] = math.Max(ends[job], end)
		}
		if r["flush"] != "" { // of a map
			mapTimes[job] = append(mapTimes[job], figure(r, "done")-figure(r, "launch"))
		}
	}
	reduces := func(n int, settings ...string) []string {
		return append(settings, fmt.Sprintf("workload.reduces=%d", n), "cluster.reduce_slots=2")
	}
	name := map[string]string{"0003": "TeraSort", "0004": "TeraSort", "0005": "TeraSort", "0009": "TeraSort", "0007": "word+count", "0008": "word+count"}
	var b strings.Builder
	b.WriteString("| pair | recorded s | the same maps took | real s | answer s | 90 % interval, s | result |\n|---|---|---|---|---|---|---|\n")
	out, inside, comparable, all := filepath.Join(t.TempDir(), "out"), 0, 0, 0
	for _, pair := range []struct {
		what, from, to string
		set            []string
	}{
		{"TeraSort, 1 to 2 reduces", "0003", "0004", reduces(2)}, {"TeraSort, 1 to 4 reduces", "0003", "0005", reduces(4)},
		{"TeraSort, 2 to 1 reduces", "0004", "0003", reduces(1)}, {"TeraSort, 2 to 4 reduces", "0004", "0005", reduces(4)},
		{"TeraSort, 4 to 1 reduces", "0005", "0003", reduces(1)}, {"TeraSort, 4 to 2 reduces", "0005", "0004", reduces(2)},
		{"WordCount, 1 to 2 reduces, slowstart 0.05 to 1", "0007", "0008", reduces(2, slowstart+"1")},
		{"WordCount, 2 to 1 reduces, slowstart 1 to 0.05", "0008", "0007", reduces(1, slowstart+"0.05")},
		{"TeraSort, io.sort.mb 100 to 40, io.sort.factor 10 to 5", "0004", "0009", []string{"conf.io.sort.mb=40", "conf.io.sort.factor=5"}},
		{"TeraSort, io.sort.mb 40 to 100, io.sort.factor 5 to 10", "0009", "0004", []string{"conf.io.sort.mb=100", "conf.io.sort.factor=10"}},
	} {
		got := ask(t, out, shared(t, "data/"+set+"job_202611201004_"+pair.from+"_root_"+name[pair.from]+".history.gz"), pair.set)
		if got.refusal != "" {
			t.Fatalf("%s: %s", pair.what, got.refusal)
		}
		real, factor := ends[pair.to], average(mapTimes[pair.to])/average(mapTimes[pair.from])
		result := "outside"
		all++
		if got.low <= real && real <= got.high {
			result = "inside"
			inside++
		}
		if math.Abs(math.Log(factor)) <= alike {
			if comparable++; result != "inside" {
				t.Errorf("%s: real %.1f s, interval %.1f to %.1f s", pair.what, real, got.low, got.high)
			}
		}
		fmt.Fprintf(&b, "| %s | %.1f | %.2f times | %.1f | %.1f | %.1f to %.1f | %s |\n", pair.what, ends[pair.from], factor, real, got.makespan, got.low, got.high, result)
	}
	fmt.Fprintf(&b, "\n%d of %d inside, among them all %d whose maps took about as long in both runs\n", inside, all, comparable)
	evidence.Compare(t, "one-machine-pairs", b.String(), *update)
}
