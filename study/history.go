package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload/trace"
)

// studyOf opens the scenario of a result with the settings and the seed of its
// manifest, if its inputs have not changed. The index is that of the run whose
// folder it is.
func studyOf(folder string, o Options) (s *Study, run int, err error) {
	manifest, name := filepath.Clean(folder), ""
	if !IsFile(filepath.Join(folder, resultdir.ManifestName)) {
		manifest, name = filepath.Dir(manifest), filepath.Base(manifest)
	}
	if !IsFile(filepath.Join(manifest, resultdir.ManifestName)) {
		return nil, 0, errors.New("no manifest says how it was made")
	}
	m, err := resultdir.ReadManifest(manifest)
	if err != nil {
		return nil, 0, err
	}
	if err := InputsUnchanged(m.Inputs); err != nil {
		return nil, 0, err
	}
	if len(m.Arguments) < 2 || m.Arguments[0] != "run" {
		if m.Scenario == "convert" {
			return nil, 0, errors.New("a converted history")
		}
		return nil, 0, fmt.Errorf("%s: arguments: got %q: want run and a scenario", manifest, m.Arguments)
	}
	o.Seed, o.Replications = m.Seed, max(o.Replications, m.Replications)
	own := o.Reading.Jobs
	o.Reading.Jobs = nil
	for _, a := range m.Arguments[2:] {
		flag, value, _ := strings.Cut(a, "=")
		switch flag {
		case "--seed", "--replications", "--trace": // in the manifest too, or no matter
		case "--set":
			o.Set = append(o.Set, value)
		case "--over":
			o.Over = append(o.Over, value)
		case "--job":
			o.Reading.Jobs = append(o.Reading.Jobs, value)
		case "--fidelity":
			o.Fidelity = value
		case "--fork-at":
			o.ForkAt = value
		case "--format":
			o.Reading.Format = value
		case "--topology":
			o.Reading.Topology = value
		case "--workload":
			o.Reading.Workload = value
		default:
			return nil, 0, fmt.Errorf("%s: arguments: got %s: want what run takes", manifest, flag)
		}
	}
	if len(own) > 0 && len(o.Reading.Jobs) > 0 {
		return nil, 0, fmt.Errorf("it was made with --job %s", strings.Join(o.Reading.Jobs, " --job "))
	}
	o.Reading.Jobs = append(o.Reading.Jobs, own...)
	o.Reading.Made = folder
	if s, err = Open(m.Arguments[1], o); err != nil {
		return nil, 0, err
	}
	if len(s.Scenario.Runs) > 1 {
		run = slices.IndexFunc(s.Scenario.Runs, func(r scenarios.Run) bool { return r.Folder == name })
	}
	if run < 0 {
		return nil, 0, fmt.Errorf("%s: got no run of that name in %s", name, m.Arguments[1])
	}
	return s, run, nil
}

// Histories groups the files under the paths by history. A directory may hold
// several results: a scenario with [vary] makes one directory for each run, and
// results may share a directory. All other files under a path form one more
// history.
func Histories(paths []string) (all [][]string, err error) {
	for _, path := range paths {
		files, err := trace.ReadOptions{}.Files(path)
		if resultdir.Unreadable(err) {
			return nil, err
		} // reading it reports any other
		var runs [][]string
		var rest []string
		for _, file := range files {
			folder := filepath.Dir(file)
			tables := []string{filepath.Join(folder, results.JobsName), AttemptsOf(folder)}
			result := IsFile(filepath.Join(folder, resultdir.ManifestName)) || IsFile(filepath.Join(filepath.Dir(folder), resultdir.ManifestName))
			switch {
			case !result || !IsFile(tables[0]) || !IsFile(tables[1]) || file == path:
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
	return all, nil
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

// AttemptsOf returns the table of attempts of a result; empty: it has none.
func AttemptsOf(folder string) string {
	csv := filepath.Join(folder, results.AttemptsName)
	for _, name := range []string{csv, csv + ".gz"} {
		if IsFile(name) {
			return name
		}
	}
	return ""
}

func IsFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// AsMade reports whether a name is that of a result which is simulated as its
// manifest says.
func (o *Options) AsMade(name string) bool {
	made := AttemptsOf(name) != "" || IsFile(filepath.Join(name, resultdir.ManifestName)) // attempts = "none" leaves the manifest
	return made && len(o.Set) == 0 && len(o.Over) == 0 && o.Fidelity == ""
}
