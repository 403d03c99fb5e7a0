package study

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// KnowledgeFiles names the files with data that models use beyond the scenario.
type KnowledgeFiles struct {
	Files   map[string]string // by the names of analytic.Files; empty: not given
	Small   string            // one run of the job on the cluster of the microbenchmarks, for zhang; empty: none
	Literal bool              // ask Herodotou's equations as printed too
	History []string          // runs of the job on other input or with other reduces, for hp, ihp and cresp
}

// Read passes the contents of the files to the models, and returns the
// checksums.
func (k *KnowledgeFiles) Read() ([]analytic.Predictor, []resultdir.FileSum, error) {
	known := analytic.Knowledge{Files: map[string]analytic.File{}, Literal: k.Literal}
	var sums []resultdir.FileSum
	for _, f := range analytic.Files() {
		name := k.Files[f.Name]
		if name == "" {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, resultdir.Sum(name, data))
		known.Files[f.Name] = analytic.File{Name: name, Data: data}
	}
	runs, read, err := k.runs()
	if err != nil {
		return nil, nil, err
	}
	known.Runs = runs
	if k.Small != "" {
		small, more, err := smallRun(k.Small)
		if err != nil {
			return nil, nil, err
		}
		known.Small, read = &small, append(read, more...)
	}
	predictors, err := analytic.Predictors(known)
	return predictors, append(sums, read...), err
}

// smallRun reads the run of one job.
func smallRun(path string) (analytic.SmallRun, []resultdir.FileSum, error) {
	all := Histories([]string{path})
	h, err := trace.Open(all[0]...)
	if err == nil {
		err = h.Strict()
	}
	switch {
	case err != nil:
		return analytic.SmallRun{}, nil, err
	case len(all) > 1 || len(h.Jobs) != 1:
		return analytic.SmallRun{}, nil, fmt.Errorf("--small %s: got %d runs and %d jobs: want one run of one job", path, len(all), len(h.Jobs))
	}
	s, err := analytic.SmallRunOf(h.Attempts())
	if err != nil {
		return s, nil, fmt.Errorf("--small %s: %w", path, err)
	}
	sums, err := FileSums(all[0])
	return s, sums, err
}

// runs reads the recorded runs of a job.
func (k *KnowledgeFiles) runs() (runs []analytic.RecordedRun, sums []resultdir.FileSum, err error) {
	name := ""
	for _, paths := range Histories(k.History) {
		h, err := trace.Open(paths...)
		if err != nil {
			return nil, nil, err
		}
		if err := h.Strict(); err != nil {
			return nil, nil, err
		}
		for i := range h.Jobs {
			j := &h.Jobs[i]
			if name == "" {
				name = j.Name
			}
			if j.Name != name {
				return nil, nil, fmt.Errorf("--history: got runs of different jobs, %q and %q: want runs of one job", name, j.Name)
			}
			one := workload.History{Jobs: h.Jobs[i : i+1]}
			r, err := analytic.RecordRun(one.Attempts(), j.Submit, j.Finish)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %s: %w", paths[0], j.ID, err)
			}
			runs = append(runs, r)
		}
		read, err := FileSums(paths)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, read...)
	}
	return runs, sums, nil
}

// Histories groups the files under the paths by history. A directory may hold
// several results: a scenario with [vary] makes one directory for each run, and
// results may share a directory. All other files under a path form one more
// history.
func Histories(paths []string) (all [][]string) {
	for _, path := range paths {
		files, _ := trace.ReadOptions{}.Files(path) // reading it reports the error
		var runs [][]string
		var rest []string
		for _, file := range files {
			folder := filepath.Dir(file)
			tables := []string{filepath.Join(folder, results.JobsName), attemptsOf(folder)}
			result := isFile(filepath.Join(folder, resultdir.ManifestName)) || isFile(filepath.Join(filepath.Dir(folder), resultdir.ManifestName))
			switch {
			case !result || !isFile(tables[0]) || !isFile(tables[1]) || file == path:
				if _, err := trace.Detect(file); err == nil {
					rest = append(rest, file)
				}
			case file == tables[1]:
				runs = append(runs, tables)
			}
		}
		switch {
		case len(runs) == 0:
			all = append(all, []string{path})
		case len(rest) > 0:
			all = append(append(all, runs...), rest)
		default:
			all = append(all, runs...)
		}
	}
	return all
}

// FileSums returns the checksums of files, including those read from
// directories.
func FileSums(paths []string) (sums []resultdir.FileSum, err error) {
	files, err := trace.ReadOptions{}.Files(paths...)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		sum, err := resultdir.SumFile(file)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// attemptsOf returns the table of attempts of a result; empty: it has none.
func attemptsOf(folder string) string {
	csv := filepath.Join(folder, results.AttemptsName)
	for _, name := range []string{csv, csv + ".gz"} {
		if isFile(name) {
			return name
		}
	}
	return ""
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
