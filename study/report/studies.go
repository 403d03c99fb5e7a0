package report

import (
	"encoding/base64"
	"encoding/csv"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
)

// Study is the result of a sweep, a sizing or a search of settings: its table and
// its pictures.
type Study struct {
	Name     string
	Head     []string
	Rows     [][]string // the first mostStudyRows
	Left     int        // rows beyond
	Pictures []Picture
}

// Picture is a picture of a study, as an address that holds it.
type Picture struct {
	Name string
	Data template.URL
}

// mostStudyRows bounds the table of a study on a page.
const mostStudyRows = 500

// tables are the main tables of studies, by the verb that made them.
var tables = map[string]string{"sweep": "summary.csv", "size": "sizes.csv", "tune": "tune.csv", "sensitivity": "sensitivity.csv"}

// studyAt reads the result of a study. It returns nil for the folder of something else.
func studyAt(folder string) (*Study, error) {
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
	table := tables[m.Arguments[0]]
	s := &Study{Name: text.Escape(filepath.Base(filepath.Clean(folder)))}
	for _, out := range m.Outputs {
		switch {
		case out.Name == table:
			if err := s.read(filepath.Join(folder, table)); err != nil {
				return nil, err
			}
		case strings.HasSuffix(out.Name, ".svg"):
			data, err := os.ReadFile(filepath.Join(folder, out.Name))
			if err != nil {
				return nil, err
			}
			s.Pictures = append(s.Pictures, Picture{strings.TrimSuffix(out.Name, ".svg"), template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(data))})
		}
	}
	return s, nil
}

// read reads the table, without columns that are empty.
func (s *Study) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		return err
	}
	used := make([]bool, len(all[0]))
	for _, row := range all[1:] {
		for k, cell := range row {
			used[k] = used[k] || cell != ""
		}
	}
	for i, row := range all {
		var kept []string
		for k, cell := range row {
			if used[k] {
				kept = append(kept, cell)
			}
		}
		all[i] = kept
	}
	s.Head, s.Rows = all[0], all[1:]
	if s.Left = len(s.Rows) - mostStudyRows; s.Left > 0 {
		s.Rows = s.Rows[:mostStudyRows]
	}
	return nil
}
