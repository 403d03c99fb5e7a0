package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/documented"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/workload"
)

func TestDocumentedColumns(t *testing.T) {
	allJobColumns, _ := jobColumns(true, true)
	const page = "../docs/results.md"
	for heading, want := range map[string][]string{
		AttemptsName:           attemptColumns(true),
		JobsName:               allJobColumns,
		ResourcesName:          resourceColumns(),
		ContainersName:         containerColumns,
		applicationsName:       applicationColumns,
		queuesName:             queueColumns,
		OffersName:             offerColumns(),
		SpansName:              spanColumns(),
		predictionsName:        rowColumns(reflect.TypeFor[predictionRow]()),
		replayName:             rowColumns(reflect.TypeFor[ReplayedJob]()),
		comparedJobsName:       rowColumns(reflect.TypeFor[comparedJob]()),
		SummaryName:            rowColumns(reflect.TypeFor[Summary]()),
		resultdir.ManifestName: rowColumns(reflect.TypeFor[resultdir.Manifest]()),
	} {
		page := page
		if slices.Contains([]string{ContainersName, applicationsName, queuesName}, heading) {
			page = "../docs/yarn.md"
		}
		if got := documented.Columns(t, page, heading); !slices.Equal(got, want) {
			t.Errorf("%s: documented are\n%v: want\n%v", heading, got, want)
		}
	}
	columns := append([]string{"point", "scenario", "FACTOR", "replication", "seed"}, (&points.Metrics{}).Names()...)
	columns = append(columns, "METRIC")
	if got := documented.Columns(t, page, points.Name); !slices.Equal(got, columns) {
		t.Errorf("%s: documented are\n%v: want\n%v", points.Name, got, columns)
	}
	if got := documented.Columns(t, page, points.SummaryName); !slices.Equal(got, points.PointSummaryColumns) {
		t.Errorf("%s: documented are\n%v: want\n%v", points.SummaryName, got, points.PointSummaryColumns)
	}
}

// TestDocumentedPictures checks that the page lists the pictures as their table
// does; -update writes the list anew.
func TestDocumentedPictures(t *testing.T) {
	const page = "../docs/results.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, p := range plots {
		fmt.Fprintf(&rows, "| `%s.png`, `.svg` | %s |\n", p.name, p.about)
	}
	listed := regexp.MustCompile("(?m)(^\\| `[^`]+\\.png`, `\\.svg` \\| .* \\|\n)+").FindIndex(text)
	if listed == nil {
		t.Fatalf("%s: got no list of pictures", page)
	}
	if got := string(text[listed[0]:listed[1]]); got == rows.String() {
		return
	} else if !*update {
		t.Fatalf("%s is out of date: run go test ./results -update; got\n%swant\n%s", page, got, &rows)
	}
	text = slices.Replace(text, listed[0], listed[1], []byte(rows.String())...)
	if err := os.WriteFile(page, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentedFiles checks that every file of the golden results and of a sweep is in the
// list, and nothing else.
func TestDocumentedFiles(t *testing.T) {
	text, err := os.ReadFile("../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	list, _, _ := strings.Cut(string(text), "\n## ")
	var want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`(, `.svg`)? \\|").FindAllStringSubmatch(list, -1) {
		want = append(want, m[1])
		if m[2] != "" {
			want = append(want, strings.TrimSuffix(m[1], ".png")+".svg")
		}
	}
	two := points.NewPoints([]string{"scheduler.name"})
	for _, name := range []string{"fifo", "fair2"} {
		two.Add("s", []string{name}, 0, []points.Replication{{Values: make([]float64, len(two.Metrics.Names()))}})
	}
	got := append(goldenNames(t, "run"), goldenNames(t, "compare")...)
	sweep := filepath.Join(t.TempDir(), "sweep")
	d, err := resultdir.Create(sweep, resultdir.Purpose{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(swept("simulation").Write(d, "sweep"), two.Write(d), d.Commit(resultdir.Manifest{})); err != nil {
		t.Fatal(err)
	}
	got = append(append(got, names(t, sweep)...), resultdir.LogName, OffersName, SpansName, "tune.csv", "sensitivity.csv") // the last two are of rooms of study
	replay := filepath.Join(t.TempDir(), "replay")
	if d, err = resultdir.Create(replay, resultdir.Purpose{}); err != nil {
		t.Fatal(err)
	}
	run := smallSample(t)
	run.Predictions[0].Jobs[0].SpilledRecords = 1
	run.Recorded = []workload.JobRecord{{ID: run.Predictions[0].Jobs[0].ID, Finish: time.Minute}}
	if err := errors.Join(run.Write(d), d.Commit(resultdir.Manifest{})); err != nil {
		t.Fatal(err)
	}
	got = append(append(got, names(t, replay)...), comparedJobsName)
	slices.Sort(want)
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("documented are %v: want %v", want, got)
	}
}
