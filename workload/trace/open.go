// Package trace reads and writes recorded runs: traces, job histories, tables of
// attempts and configurations, in the formats of the field.
package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/slotwave/slotwave/workload"
)

// ReadOptions choose how to read. The zero value detects formats from the
// content and takes the default limits.
type ReadOptions struct {
	Format string // name of the format; empty: detected
	Limits Limits
	FS     fs.FS // file system of the paths; nil: the machine's files
}

// Open reads one or more files or directories as one set of recorded runs. It
// detects the format and the compression of each file from its content,
// whatever its name. It leaves out damaged parts and lists them in Problems. A
// file that cannot be read at all is an error.
func Open(paths ...string) (*workload.History, error) { return ReadOptions{}.Open(paths...) }

// Open reads files or directories with the options.
func (o ReadOptions) Open(paths ...string) (*workload.History, error) {
	c := newCollector(o.Limits)
	if err := o.read(c, paths); err != nil {
		return nil, err
	}
	return c.close(), nil
}

// Each reads files or directories and calls f for every complete job. It keeps
// none, so that more histories can be read than fit in memory. Instants are as
// in the source, Unix times in most formats. Configurations must come before
// their jobs. Directories are ordered so. It returns the rest: SWIM jobs, the
// topology, the cluster's configuration, and the losses.
func (o ReadOptions) Each(paths []string, f func(*workload.HistoryJob) error) (*workload.History, error) {
	c := newCollector(o.Limits)
	c.each, c.passing = f, true
	if err := o.read(c, paths); err != nil {
		return nil, err
	}
	return c.close(), nil
}

func (o ReadOptions) read(c *collector, paths []string) error {
	found, err := o.expand(paths)
	if err != nil {
		return err
	}
	if found.several != nil {
		return found.several
	}
	files := found.files
	for _, folder := range found.torn {
		c.file = folder
		c.problem(0, "a result without %s, which is written last: want the whole folder, or the run again", manifestName)
	}
	c.h.Release, c.conf = found.release, found.conf
	if len(files) == 0 && found.other != nil {
		return found.other
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: no file to read: want histories, a trace or the result of a run in this folder", strings.Join(paths, ", "))
	}
	for _, path := range files {
		err := o.readFile(c, path)
		if stray := (strayFile{}); errors.As(err, &stray) && !slices.Contains(paths, path) {
			c.problem(0, "the file is left out: %v", stray)
			continue
		}
		if err != nil {
			return err
		}
	}
	if err := c.finishTables(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	if found.slots != [2]int{} && ranIn(c.h, found.slots) {
		for k, n := range found.slots { // as the configuration of a real cluster states them
			c.h.Site.Set("mapred.tasktracker."+workload.Kind(k).String()+".tasks.maximum", strconv.Itoa(n))
		}
	}
	return nil
}

// ranIn reports whether the attempts of a result ran in the slots that a node has
// if all have as many: first its map slots, then its reduce slots.
func ranIn(h *workload.History, slots [2]int) bool {
	most := slots[workload.Map] + slots[workload.Reduce]
	for _, a := range h.Each() {
		switch {
		case a.Start == a.Finish: // killed before it had a slot
		case a.Slot >= most,
			a.Kind == workload.Map && a.Slot >= slots[workload.Map],
			a.Kind == workload.Reduce && a.Slot < slots[workload.Map]:
			return false
		}
	}
	return len(h.Jobs) > 0
}

// strayFile is a file of no known format, which a directory may contain.
type strayFile struct{ error }

// Files lists the files that Open would read, of every run of a result.
func (o ReadOptions) Files(paths ...string) ([]string, error) {
	found, err := o.expand(paths)
	return found.files, err
}

// expanded is what paths stand for.
type expanded struct {
	files   []string
	release string        // of Hadoop, that was simulated in all results; empty: not known
	conf    workload.Conf // of the jobs, if all results have the same
	slots   [2]int        // of each node, if all have as many; zero: not known
	torn    []string      // folders with a result that no manifest completes
	several error         // results that hold several runs, whose jobs have the same ids
	other   error         // a result without jobs
}

// expand lists the files of directories. It leaves out hidden ones (checksums)
// and slotwave's manifests, and puts each job's configuration before its
// history. Of a folder with simulation results it lists only the tables of jobs
// and attempts.
func (o ReadOptions) expand(paths []string) (found expanded, err error) {
	walk := filepath.WalkDir
	if o.FS != nil {
		walk = func(root string, f fs.WalkDirFunc) error { return fs.WalkDir(o.FS, root, f) }
	}
	releases := map[string]bool{}
	var files []string
	for _, path := range paths {
		first := len(files)
		var simulated []string // folders with results
		err := walk(path, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				run, is, err := o.simulated(p)
				if is || run.other != nil {
					simulated = append(simulated, strings.TrimPrefix(p+"/", "./"))
				}
				found.other = cmp.Or(found.other, run.other)
				if is {
					if len(releases) == 0 {
						found.conf, found.slots = run.conf, run.slots
					} else {
						if !reflect.DeepEqual(found.conf, run.conf) {
							found.conf = workload.Conf{}
						}
						if found.slots != run.slots {
							found.slots = [2]int{}
						}
					}
					releases[run.release] = true
					done, err := o.completed(p)
					if err != nil {
						return err
					}
					if !done {
						found.torn = append(found.torn, p)
					}
					found.several = errors.Join(found.several, run.several)
				}
				return err
			case p != path && (strings.HasPrefix(d.Name(), ".") || d.Name() == manifestName):
				return nil
			case !slices.Contains(resultTables, d.Name()) && slices.ContainsFunc(simulated, func(folder string) bool {
				return strings.HasPrefix(filepath.ToSlash(p), filepath.ToSlash(folder))
			}):
				return nil
			}
			files = append(files, p)
			return nil
		})
		if err != nil {
			return expanded{}, err
		}
		slices.SortStableFunc(files[first:], func(a, b string) int {
			return cmp.Or(strings.Compare(groupOf(a), groupOf(b)), cmp.Compare(confRank(a), confRank(b)), strings.Compare(a, b))
		})
	}
	if len(releases) == 1 {
		for found.release = range releases {
		}
	}
	found.files = files
	return found, nil
}

// resultTables are the tables that a result may have. Parquet, which older versions wrote,
// is read by none: it is reported.
var resultTables = []string{jobsName, attemptsName, attemptsName + gzipEnding, "attempts.parquet"}

// resultManifest is what the manifest of a result says of it.
type resultManifest struct {
	Schema string `json:"schema"`
	Build  struct {
		Version string `json:"version"`
	} `json:"build"`
	Arguments []string `json:"arguments"`
	Outputs   []struct {
		Name string `json:"name"`
	} `json:"outputs"`
}

// lists reports whether a result has files in a folder of it.
func (m *resultManifest) lists(folder string) bool {
	for _, f := range m.Outputs {
		if strings.HasPrefix(f.Name, folder+"/") {
			return true
		}
	}
	return false
}

// simulated reports whether a folder holds the result of a simulation, and what
// the result states. The manifest of a result lists a table of jobs; a run of
// several has only a summary beside it.
func (o ReadOptions) simulated(folder string) (result expanded, is bool, err error) {
	var m resultManifest
	var summary struct {
		Schema string            `json:"schema"`
		Hadoop string            `json:"hadoop"`
		Conf   map[string]string `json:"conf"`
		Nodes  int               `json:"nodes"`
		Slots  []struct {
			Type  string `json:"type"`
			Slots int    `json:"slots"`
		} `json:"slots"`
	}
	// Another program may have files of these names.
	listed := false
	found, err := o.json(folder, manifestName, &m)
	if err != nil {
		return result, false, err
	}
	if found {
		if listed, err = workload.ManifestSchema.Reads(m.Schema, m.Build.Version); err != nil {
			return result, false, fmt.Errorf("%s: %w", path.Join(filepath.ToSlash(folder), manifestName), err)
		}
	}
	if found, err = o.json(folder, summaryName, &summary); err != nil {
		return result, false, err
	}
	if found {
		if is, err = workload.SummarySchema.Reads(summary.Schema, m.Build.Version); err != nil {
			return result, false, fmt.Errorf("%s: %w", path.Join(filepath.ToSlash(folder), summaryName), err)
		}
	}
	if is {
		result.release = summary.Hadoop
		for _, key := range slices.Sorted(maps.Keys(summary.Conf)) {
			result.conf.Set(key, summary.Conf[key])
		}
		for _, s := range summary.Slots {
			kind := slices.Index([]string{workload.Map.String(), workload.Reduce.String()}, s.Type)
			if kind < 0 || summary.Nodes <= 0 || s.Slots%summary.Nodes != 0 {
				result.slots = [2]int{}
				break
			}
			result.slots[kind] = s.Slots / summary.Nodes
		}
	}
	if !listed {
		return result, is, nil
	}
	hasJobs := false
	var runs []string
	for _, f := range m.Outputs {
		name := path.Join(filepath.ToSlash(folder), f.Name)
		if _, err := o.stat(name); slices.Contains(resultTables, path.Base(name)) && errors.Is(err, fs.ErrNotExist) {
			manifest := path.Join(filepath.ToSlash(folder), manifestName)
			return result, false, fmt.Errorf("%s: missing, and %s lists it: want the whole folder, or slotwave run %s", name, manifestName, manifest)
		}
		if path.Base(f.Name) == jobsName {
			hasJobs = true
			runs = append(runs, path.Join(filepath.ToSlash(folder), path.Dir(f.Name)))
		}
	}
	if len(runs) > 1 {
		result.several = fmt.Errorf("%s: got %d runs: want one of them: %s", folder, len(runs), strings.Join(runs, ", "))
	}
	if len(m.Arguments) > 0 && !hasJobs && !slices.Contains([]string{"run", "convert"}, m.Arguments[0]) {
		result.other = fmt.Errorf("%s: a result of slotwave %s, which holds no jobs: want a history or a result of slotwave run", folder, strings.Join(m.Arguments, " "))
	}
	return result, hasJobs, nil
}

// completed reports whether a manifest completes the result in a folder. That of a run of
// several is in a folder above and lists the files of the run.
func (o ReadOptions) completed(folder string) (bool, error) {
	if whole, err := filepath.Abs(folder); err == nil && o.FS == nil {
		folder = whole
	}
	below := "" // the folder, from the one of a manifest
	for range 3 {
		var m resultManifest
		found, err := o.json(folder, manifestName, &m)
		if err != nil || found && (below == "" || m.lists(below)) {
			return err == nil, err
		}
		below = path.Join(filepath.Base(folder), below)
		folder = filepath.Join(folder, "..")
	}
	return false, nil
}

func (o ReadOptions) stat(name string) (fs.FileInfo, error) {
	if o.FS != nil {
		return fs.Stat(o.FS, name)
	}
	return os.Stat(filepath.FromSlash(name))
}

// json decodes a file of a folder, and reports whether it is there and one of JSON.
func (o ReadOptions) json(folder, name string, to any) (is bool, err error) {
	var data []byte
	if o.FS != nil {
		data, err = fs.ReadFile(o.FS, path.Join(folder, name))
	} else {
		data, err = os.ReadFile(filepath.Join(folder, name))
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil && json.Unmarshal(data, to) == nil, err
}

// groupOf returns the job a file is about, or the file itself.
func groupOf(path string) string {
	return cmp.Or(jobInName.FindString(baseName(path)), path)
}

func confRank(path string) int {
	if strings.Contains(baseName(path), "conf") {
		return 0
	}
	return 1
}

func (o ReadOptions) readFile(c *collector, path string) error {
	s, err := openSource(o.FS, path, c.limits)
	if err != nil {
		return err
	}
	defer s.Close()
	c.file = path
	err = c.readSource(s, o.Format)
	for i, has := range []bool{c.differences, c.h.Epoch != workload.Unknown} {
		if has {
			c.ofTimes[i] = cmp.Or(c.ofTimes[i], path)
		}
	}
	if at := (lineError{}); errors.As(err, &at) {
		return fmt.Errorf("%s:%d: %w", path, at.line, at.error)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readSource reads one opened file in the given format. If none is given, or if
// the file holds machines or a configuration, it detects the format.
func (c *collector) readSource(s *source, format string) (err error) {
	found, err := detect(s.Reader)
	if head, _ := s.Peek(1 << 9); err != nil && (format == "" || NoText(head) != "") {
		return strayFile{err}
	}
	if f, known := reader(found); format == "" || known == nil && f.beside {
		format = found
	}
	f, err := reader(format)
	if err != nil {
		return err
	}
	err = f.read(c, s)
	c.damage(s)
	return err
}

// Detect names the format of a file from its content.
func Detect(path string) (string, error) {
	s, err := openSource(nil, path, Limits{}.withDefaults())
	if err != nil {
		return "", err
	}
	defer s.Close()
	format, err := detect(s.Reader)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return format, nil
}

// detect examines the beginning without consuming it.
func detect(r *bufio.Reader) (string, error) {
	const enough = 1 << 14
	head, _ := r.Peek(enough)
	if len(bytes.TrimSpace(head)) == 0 {
		return "", fmt.Errorf("the file is empty")
	}
	if what := NoText(head); what != "" {
		return "", ForeignError(what)
	}
	if name := detectFormat(head); name != "" {
		return name, nil
	}
	if err := Foreign(head); err != nil {
		return "", err
	}
	unknown := fmt.Sprintf("not a known history format: it begins with %q: want a file that slotwave help formats lists, or a scenario in TOML", beginning(head))
	if bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("{")) {
		return "", errors.New(unknown) // may be a recorded case
	}
	return "", ForeignError(unknown)
}

// beginning returns the first characters of a text, for a message.
func beginning(head []byte) string {
	const most = 40
	words := []rune(strings.Join(strings.Fields(string(head[:min(len(head), 4*most)])), " "))
	return string(words[:min(len(words), most)])
}

// without has what the formats record that hold no jobs.
var without = map[string]string{"conf": "settings", "properties": "settings", "topology": "racks and machines"}

// NoJobs says that files or folders hold no jobs, and why: one of the files is in no
// known format, or without jobs, or they are lost from h, what was read of them.
func NoJobs(h *workload.History, paths ...string) error {
	for _, path := range paths {
		files, _ := ReadOptions{}.Files(path) // what can't be listed was reported by reading it
		for _, file := range files {
			switch format, err := Detect(file); {
			case err != nil:
				return fmt.Errorf("%s: no jobs found: %w", path, err)
			case without[format] != "":
				return fmt.Errorf("%s: no jobs found: %s holds %s: want the histories of the jobs, or a scenario", path, filepath.Base(file), without[format])
			}
		}
	}
	switch lost := len(h.Problems) + h.Dropped; {
	case len(h.Problems) > 0:
		return fmt.Errorf("%s: no job is left after %s, first %v", paths[0], workload.Counted(lost, "loss", "losses"), h.Problems[0])
	case h.Topology.Hosts() > 0:
		return fmt.Errorf("%s: no jobs found: it holds %s: want the file or folder with the jobs", paths[0], workload.Counted(h.Topology.Hosts(), "machine", "machines"))
	}
	return fmt.Errorf("%s: no jobs found: want a history or a trace of a workload", paths[0])
}
