package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// KnowledgeFiles name the files with what analytic models know besides the
// question.
type KnowledgeFiles struct {
	Platform   string   // a fitted platform, for zhang
	Statistics string   // data and cost statistics of the job, JSON, for herodotou
	History    []string // runs of the job on other input or with other reduces, for hp, ihp and cresp
}

// Read reads the files and returns their checksums.
func (k *KnowledgeFiles) Read() (analytic.Knowledge, []results.FileSum, error) {
	var known analytic.Knowledge
	var sums []results.FileSum
	read := func(name string, to func([]byte) error) error {
		if name == "" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sums = append(sums, results.Sum(name, data))
		if err := to(data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	err := errors.Join(
		read(k.Platform, func(data []byte) error {
			p, err := platform.ReadModel(data)
			known.Platform = &p
			return err
		}),
		read(k.Statistics, func(data []byte) error {
			s := struct {
				analytic.HerodotouStatistics `input:"partial"`
			}{analytic.UnknownStatistics()}
			known.Statistics = &s.HerodotouStatistics
			return input.Decode(data, &s)
		}))
	if err == nil && k.History != nil {
		var learnt analytic.Knowledge
		if learnt, sums, err = k.learn(sums); err == nil {
			learnt.Platform, learnt.Statistics = known.Platform, known.Statistics
			known = learnt
		}
	}
	return known, sums, err
}

// learn reads the runs of a job and what they teach the models.
func (k *KnowledgeFiles) learn(sums []results.FileSum) (known analytic.Knowledge, _ []results.FileSum, err error) {
	var runs []analytic.RecordedRun
	name := ""
	for _, paths := range Histories(k.History) {
		h, err := trace.Open(paths...)
		if err != nil {
			return known, nil, err
		}
		if err := h.Strict(); err != nil {
			return known, nil, err
		}
		for i := range h.Jobs {
			j := &h.Jobs[i]
			if name == "" {
				name = j.Name
			}
			if j.Name != name {
				return known, nil, fmt.Errorf("history: got runs of %q and of %q: want runs of one job", name, j.Name)
			}
			one := workload.History{Jobs: h.Jobs[i : i+1]}
			r, err := analytic.RecordRun(one.Attempts(), j.Submit, j.Finish)
			if err != nil {
				return known, nil, fmt.Errorf("%s: %s: %w", paths[0], j.ID, err)
			}
			runs = append(runs, r)
		}
		read, err := FileSums(paths)
		if err != nil {
			return known, nil, err
		}
		sums = append(sums, read...)
	}
	known, err = analytic.Learn(runs)
	if err != nil {
		err = fmt.Errorf("history: %w", err)
	}
	return known, sums, err
}

// Histories groups the files under the paths by history. A folder may hold
// several results: a scenario with [vary] makes one folder for each of its runs,
// and results may lie side by side. All other files under a path are one
// history more.
func Histories(paths []string) (all [][]string) {
	for _, path := range paths {
		files, _ := trace.ReadOptions{}.Files(path) // reading reports what is wrong with it
		var runs [][]string
		var rest []string
		for _, file := range files {
			folder := filepath.Dir(file)
			tables := []string{filepath.Join(folder, results.JobsName), filepath.Join(folder, results.AttemptsName)}
			result := isFile(filepath.Join(folder, results.ManifestName)) || isFile(filepath.Join(filepath.Dir(folder), results.ManifestName))
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

// FileSums returns the checksums of files, and of the files read of folders.
func FileSums(paths []string) (sums []results.FileSum, err error) {
	files, err := trace.ReadOptions{}.Files(paths...)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		sum, err := results.SumFile(file)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
