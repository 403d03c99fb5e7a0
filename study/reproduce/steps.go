package reproduce

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
)

// Reproducing selects the parts of papers to reproduce, and how.
type Reproducing struct {
	study.Options
	Figure   string // name of one part; empty: all
	Platform string // of the clusters of zhang, in place of the paper's; empty: the paper's
	Journal  string // folder in which finished points are kept; empty: they are not
	Build    resultdir.Build
	Progress study.SweepProgress // after each point; may be nil
}

// reproducing is a reproduction in progress. Its runs are written below a temporary
// directory.
type reproducing struct {
	Reproducing
	work     string
	done     map[string]any      // results that several parts use, by name
	assumed  map[string][]string // by the scenarios of experiments
	warnings []string
	journal  *journal
	status   study.SweepStatus // guarded by the lock of the journal
}

// start makes the temporary directory and opens the journal.
func start(o Reproducing) (r *reproducing, end func() error, err error) {
	work, err := os.MkdirTemp("", "slotwave-")
	if err != nil {
		return nil, nil, err
	}
	j, f, err := openJournal(o.Journal)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(work))
	}
	r = &reproducing{Reproducing: o, work: work, done: map[string]any{}, assumed: map[string][]string{}, journal: j}
	return r, func() error {
		err := os.RemoveAll(work)
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		return err
	}, nil
}

// withNew appends the texts that the list does not have.
func withNew(list, texts []string) []string {
	for _, text := range texts {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// resultOf is the directory of the result of a scenario.
func (r *reproducing) resultOf(scenario string) string {
	return filepath.Join(r.work, "result-"+text.Slug(filepath.Base(scenario)))
}

// simulated writes the result of a scenario below the temporary directory.
func (r *reproducing) simulated(scenario string) (*study.Study, string, error) {
	dir := r.resultOf(scenario)
	s, err := study.Open(scenario, r.Options)
	if err != nil {
		return nil, "", err
	}
	d, err := resultdir.Create(dir, resultdir.Purpose{})
	if err != nil {
		return nil, "", err
	}
	defer d.Abort()
	runs, err := s.Simulate(d, nil)
	if err == nil {
		err = study.Internal(s.Write(d, runs))
	}
	var m resultdir.Manifest
	if err == nil {
		m, err = s.Manifest(resultdir.Build{}, nil)
	}
	if err != nil {
		return nil, "", err
	}
	return s, dir, d.Commit(m)
}
