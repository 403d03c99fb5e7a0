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
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// ReadOptions say how to read. The zero value detects formats from the content
// and takes the default limits.
type ReadOptions struct {
	Format string // name of the format, instead of what the content looks like
	Limits Limits
	FS     fs.FS // where paths lead; nil: the files of the machine
}

// Open reads one or more files or directories as one set of recorded runs. The
// format of each file is known from its content, whatever its name; so is its
// compression. What is damaged is left out and listed in Problems; a file that
// cannot be read at all is an error.
func Open(paths ...string) (*workload.History, error) { return ReadOptions{}.Open(paths...) }

// Open reads files or directories as the options say.
func (o ReadOptions) Open(paths ...string) (*workload.History, error) {
	c := newCollector(o.Limits)
	if err := o.read(c, paths); err != nil {
		return nil, err
	}
	return c.close(), nil
}

// Each reads files or directories and calls f for every job as soon as it is
// complete, keeping none: for more histories than fit in memory. Instants are
// as in the source, Unix times in most formats. Configurations must stand
// before their jobs, which directories are put in order for. It returns all
// else: SWIM jobs, the topology, the cluster's configuration, and what was lost.
func (o ReadOptions) Each(paths []string, f func(*workload.HistoryJob) error) (*workload.History, error) {
	c := newCollector(o.Limits)
	c.each, c.passing = f, true
	if err := o.read(c, paths); err != nil {
		return nil, err
	}
	return c.close(), nil
}

func (o ReadOptions) read(c *collector, paths []string) error {
	files, err := o.expand(paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no file to read")
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
	return c.finishTables()
}

// strayFile is a file that nobody reads, as may stand in a directory.
type strayFile struct{ error }

// Files lists the files that are read of files or directories.
func (o ReadOptions) Files(paths ...string) ([]string, error) { return o.expand(paths) }

// expand lists the files of directories, hidden ones (checksums) and slotwave's
// manifests left out, and each job's configuration before its history. Of the
// results of simulations only the tables of jobs and attempts are wanted.
func (o ReadOptions) expand(paths []string) ([]string, error) {
	walk := filepath.WalkDir
	if o.FS != nil {
		walk = func(root string, f fs.WalkDirFunc) error { return fs.WalkDir(o.FS, root, f) }
	}
	var files []string
	for _, path := range paths {
		first := len(files)
		var simulated []string // folders of results
		err := walk(path, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				is, err := o.simulated(p)
				if is {
					simulated = append(simulated, p+"/")
				}
				return err
			case p != path && (strings.HasPrefix(d.Name(), ".") || d.Name() == manifestName):
				return nil
			case d.Name() != jobsName && d.Name() != attemptsName && slices.ContainsFunc(simulated, func(folder string) bool {
				return strings.HasPrefix(filepath.ToSlash(p), filepath.ToSlash(folder))
			}):
				return nil
			}
			files = append(files, p)
			return nil
		})
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(files[first:], func(a, b string) int {
			return cmp.Or(strings.Compare(groupOf(a), groupOf(b)), cmp.Compare(confRank(a), confRank(b)), strings.Compare(a, b))
		})
	}
	return files, nil
}

// What slotwave calls the files of a result that are read again.
const (
	manifestName = "manifest.json"
	jobsName     = "jobs.csv"
	attemptsName = "attempts.csv"
)

var errParquet = errors.New("a Parquet table, which is only written: want CSV (attempts = \"csv\" in a scenario, --to csv of convert)")

// simulated reports whether a folder is the result of a simulation: its
// manifest lists a table of jobs. One whose attempts are only in Parquet is an
// error.
func (o ReadOptions) simulated(folder string) (bool, error) {
	var data []byte
	var err error
	if o.FS != nil {
		data, err = fs.ReadFile(o.FS, path.Join(folder, manifestName))
	} else {
		data, err = os.ReadFile(filepath.Join(folder, manifestName))
	}
	var m struct {
		Schema  string `json:"schema"`
		Outputs []struct {
			Name string `json:"name"`
		} `json:"outputs"`
	}
	if err != nil || json.Unmarshal(data, &m) != nil || !strings.HasPrefix(m.Schema, "slotwave/manifest/") {
		return false, nil // somebody else's, or none
	}
	has := map[string]bool{}
	for _, f := range m.Outputs {
		has[path.Base(f.Name)] = true
	}
	if has["attempts.parquet"] && !has[attemptsName] {
		return false, fmt.Errorf("%s: %w", folder, errParquet)
	}
	return has[jobsName], nil
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
	if at := (lineError{}); errors.As(err, &at) {
		return fmt.Errorf("%s:%d: %w", path, at.line, at.error)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readSource reads one opened file: in the format given, or in that of its
// content if none is given or it describes machines or a configuration.
func (c *collector) readSource(s *source, format string) (err error) {
	found, err := detect(s.Reader)
	if format == "" && err != nil {
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

// detect looks at the beginning without consuming it.
func detect(r *bufio.Reader) (string, error) {
	const enough = 1 << 14
	head, _ := r.Peek(enough)
	if len(bytes.TrimSpace(head)) == 0 {
		return "", fmt.Errorf("the file is empty")
	}
	if bytes.HasPrefix(head, []byte("Avro-Binary")) || bytes.HasPrefix(head, []byte("Obj\x01")) {
		return "", errBinaryHistory
	}
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return "", errParquet
	}
	if name := detectFormat(head); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("not a known history format (known: %s); name it with workload.format", strings.Join(readableNames(), ", "))
}

// baseName returns the name of a file without its folders.
func baseName(path string) string { return filepath.Base(filepath.ToSlash(path)) }
