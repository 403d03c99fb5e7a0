package report

import (
	"cmp"
	"encoding/base64"
	"encoding/csv"
	"html/template"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
)

// Study is the result of a sweep, a sizing or a search of settings, or of a run on YARN:
// its table and its pictures.
type Study struct {
	Table
	Pictures []Picture
}

// Table is a table of a result with its cells as people read them.
type Table struct {
	Name string
	Head []string
	Rows [][]string // the first mostTableRows
	Left int        // rows beyond
}

// Picture is a picture of a study, as an address that holds it.
type Picture struct {
	Name string
	Data template.URL
}

// mostTableRows bounds a table on a page.
const mostTableRows = 500

// tables are the main tables of studies, by the verb that made them.
var tables = map[string]string{"sweep": "summary.csv", "size": "sizes.csv", "tune": "tune.csv", "sensitivity": "sensitivity.csv"}

// studyAt reads the result of a study or of a run on YARN. It returns nil for the folder
// of something else.
func studyAt(folder string) (*Study, error) {
	table := "jobs.csv"
	if study.SlotsOnly(folder) == nil {
		if _, err := os.Stat(filepath.Join(folder, resultdir.ManifestName)); err != nil {
			return nil, nil
		}
		m, err := resultdir.ReadManifest(folder)
		if len(m.Arguments) == 0 || tables[m.Arguments[0]] == "" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		table = tables[m.Arguments[0]]
	}
	files := os.DirFS(folder)
	f, err := files.Open(table)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Study{}
	if s.Table, err = readTable(text.Escape(filepath.Base(filepath.Clean(folder))), f); err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "*.svg")
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		s.Pictures = append(s.Pictures, Picture{strings.TrimSuffix(name, ".svg"), template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(data))})
	}
	return s, err
}

// measured are the columns of a long table that have the unit of its metric.
var measured = regexp.MustCompile("^(mean|low|high|difference.*)$")

// readTable reads a table without columns that are empty or 0. The rows of each metric
// stand together, without those of a metric that no run has.
func readTable(name string, r io.Reader) (Table, error) {
	t := Table{Name: name}
	all, err := csv.NewReader(r).ReadAll()
	if err != nil || len(all) == 0 {
		return t, err
	}
	head, rows := all[0], all[1:]
	metric, n := slices.Index(head, "metric"), slices.Index(head, "n")
	used, first := make([]bool, len(head)), map[string]int{}
	if metric >= 0 {
		rows = slices.DeleteFunc(rows, func(row []string) bool { return n >= 0 && row[n] == "0" })
		for i, row := range rows {
			if _, known := first[row[metric]]; !known {
				first[row[metric]] = i
			}
		}
		slices.SortStableFunc(rows, func(a, b []string) int { return cmp.Compare(first[a[metric]], first[b[metric]]) })
	}
	if t.Left = max(0, len(rows)-mostTableRows); t.Left > 0 {
		rows = rows[:mostTableRows]
	}
	for _, row := range rows {
		for k, cell := range row {
			used[k] = used[k] || cell != "" && cell != "0"
		}
	}
	shown := func(row []string, write func(k int) string) (cells []string) {
		for k := range row {
			if used[k] {
				cells = append(cells, write(k))
			}
		}
		return cells
	}
	t.Head = shown(head, func(k int) string { return title(head[k]) })
	for _, row := range rows {
		t.Rows = append(t.Rows, shown(row, func(k int) string {
			of := head[k]
			if metric >= 0 && measured.MatchString(of) {
				of = row[metric]
			}
			if k == metric {
				return title(row[k])
			}
			return readable(of, row[k])
		}))
	}
	return t, nil
}

// durations are the columns and metrics in nanoseconds.
var durations = regexp.MustCompile(`_ns($|\[)|^(peers_median|threshold)$`)

// title writes the name of a column or a metric, whose cells have their unit, for people.
func title(column string) string {
	if column = strings.Replace(column, "_ns", "", 1); !strings.ContainsAny(column, ".[") {
		column = strings.ReplaceAll(column, "_", " ")
	}
	return column
}

// readable writes a cell of a column for people: a time with its unit, a number with
// four digits.
func readable(column, cell string) string {
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case err != nil:
		return cell
	case durations.MatchString(column):
		return text.Duration(int64(x))
	case !strings.ContainsAny(cell, ".e"):
		return cell
	case math.Abs(x) >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
