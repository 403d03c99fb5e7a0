package points

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results/figure"
)

// Numbers in pictures have no exponents.
func TestRounded(t *testing.T) {
	for v, want := range map[float64]string{1e6: "1,000,000", 1073741824: "1,074,000,000", 0.123456: "0.1235", -20: "-20", 0.00001: "0.00001"} {
		if got := rounded(v, 4); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

// twoPoints are two points with pairs: the second takes 10 s less with each seed,
// while seeds differ by much more.
func twoPoints(n int) *Points {
	p := NewPoints([]string{"scheduler.name"})
	for i, name := range []string{"fifo", "fair2"} {
		p.Add("s", []string{name}, 0, twoRuns(n, i))
	}
	return p
}

func twoRuns(n, point int) (runs []Replication) {
	for r := range n {
		v := make([]float64, len(metrics))
		v[0] = 1e9 * float64(100+50*r-10*point)
		runs = append(runs, Replication{Seed: uint64(r), Values: v})
	}
	return runs
}

// summaryRow reads the row of a point's makespan from summary.csv.
func summaryRow(t *testing.T, p *Points, point string) map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		if cells["point"] == point && cells["metric"] == "makespan_ns" {
			return cells
		}
	}
	t.Fatalf("no makespan of point %s", point)
	return nil
}

// A difference that is the same with every seed has no width, however far the
// seeds are apart.
func TestPairedDifference(t *testing.T) {
	row := summaryRow(t, twoPoints(5), "2")
	for column, want := range map[string]string{
		"scheduler.name": "fair2", "n": "5", "pairs": "5", "mean": "190000000000", "best": "1",
		"difference": "-10000000000", "difference_low": "-10000000000", "difference_high": "-10000000000",
	} {
		if row[column] != want {
			t.Errorf("%s: got %q: want %q", column, row[column], want)
		}
	}
	var b strings.Builder
	if err := twoPoints(5).WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	low, err := strconv.ParseFloat(row["ratio_low"], 64)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), fmt.Sprintf("times faster (1.02 to %.2f)", 1/low)) || strings.Contains(b.String(), "±") {
		t.Errorf("want one interval, that of the ratio in summary.csv, %v:\n%s", row, b.String())
	}
}

// Without a common seed there are no pairs, and nothing is compared.
func TestNoPairs(t *testing.T) {
	p := twoPoints(3)
	for r := range 3 {
		p.List.Replications(1)[r].Seed += 100
	}
	if row := summaryRow(t, p, "2"); row["pairs"] != "0" || row["difference"] != "" || row["ratio_low"] != "" {
		t.Errorf("got %v: want no difference", row)
	}
}

// The same point twice differs by exactly nothing.
func TestPointAgainstItself(t *testing.T) {
	p := NewPoints(nil)
	p.Add("s", nil, 0, twoRuns(4, 0))
	p.Add("s", nil, 0, twoRuns(4, 0))
	row := summaryRow(t, p, "2")
	for column, want := range map[string]string{"difference": "0", "difference_low": "0", "difference_high": "0", "ratio": "1", "ratio_low": "1", "ratio_high": "1", "best": "0.5"} {
		if row[column] != want {
			t.Errorf("%s: got %q: want %q", column, row[column], want)
		}
	}
}

// Of 95 % intervals about 95 of 100 hold the true mean. Four standard errors of
// the share over 4,000 intervals are 1.4 %; with the normal quantile in place of
// Student's the share would be 87.8 %.
func TestIntervalCoverage(t *testing.T) {
	const n, trials = 5, 4000
	random := rand.New(rand.NewPCG(1, 2))
	held := 0
	for range trials {
		var values []float64
		for range n {
			values = append(values, 10+random.NormFloat64())
		}
		if mean, half := fit.StudentInterval(values); math.Abs(mean-10) <= half {
			held++
		}
	}
	if share := float64(held) / trials; math.Abs(share-0.95) > 0.014 {
		t.Errorf("%.1f %% of the intervals hold the mean: want 95 ± 1.4 %%", 100*share)
	}
}

// Pictures of a study fit a column of a paper: their head is not cut, and names the
// baseline or says that there are no intervals.
func TestNarrowPictures(t *testing.T) {
	for _, replications := range []int{1, 3} {
		p := twoPoints(replications)
		s := &plotted{Points: p, title: "a study", axes: p.axes()}
		s.choose(p.Metrics.shown()[0])
		f := s.lines()
		if f == nil {
			f = s.means()
		}
		want := "one run each, without an interval"
		if replications > 1 {
			want = "95 % intervals of the difference to the baseline (" + p.label(0) + ")"
		}
		lines := f.HeadLines(figure.SubtitleStyle, f.Subtitle)
		if !f.Narrow || f.Width() != figure.ColumnWidth || !strings.Contains(f.Subtitle, want) || strings.Join(lines, " ") != f.Subtitle {
			t.Errorf("%d runs: got %q of %q: want all of it, with %q", replications, lines, f.Subtitle, want)
		}
		for _, line := range lines {
			if figure.SubtitleStyle.Width(line) > figure.ColumnWidth-2*figure.Margin {
				t.Errorf("%q is wider than the picture", line)
			}
		}
	}
}

// Labels of two long factors keep the values by which they differ.
func TestLongLabels(t *testing.T) {
	p := NewPoints([]string{"conf.mapred.map.tasks.speculative.execution", "conf.mapred.reduce.tasks.speculative.execution"})
	for i, value := range []string{"false", "true"} {
		p.Add("s", []string{"false", value}, 0, twoRuns(2, i))
	}
	var b strings.Builder
	if err := p.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "makespan by reduce.tasks.speculative\n") || !strings.Contains(text, "\nfalse") || !strings.Contains(text, "\ntrue") {
		t.Error(text)
	}
}
