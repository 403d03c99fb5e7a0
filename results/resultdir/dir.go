// Package resultdir writes the folder of a result so that it is whole or not there:
// files under temporary names, one writer at a time, and a manifest with the
// checksums of all files, renamed last.
package resultdir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// LogName is the file for the clock and the machine. It alone may differ
// between two runs of one question, so the manifest leaves it out.
const LogName = "run.log"

// JournalName is the file of a sweep that keeps finished simulations until the
// result is complete. Create leaves it in place; Commit removes it.
const JournalName = ".points.journal.partial"

// errForeign is wrapped by Create's refusal of a directory that holds
// something else than a result.
var errForeign = errors.New("holds other files")

// Dir is a result directory that is being written. Its files have temporary
// names in the same directory. Commit gives them their final names, the
// manifest last. Until then an earlier result stays unchanged.
type Dir struct {
	path  string
	files []*File
	made  []string   // directories Create made, innermost first
	old   []string   // files of the earlier result
	by    string     // arguments that made the earlier result
	lock  sync.Mutex // guards files and done: a signal may abort while files are written
	done  bool

	locked  *os.File // the directory; nil if the system cannot lock it
	cleared []string // folders without leftovers
}

// partialName matches the names that createPartial gives.
var partialName = regexp.MustCompile(`^\.(.+)\.[0-9a-f]{16}\.partial$`)

// Purpose says what a result directory is for.
type Purpose struct {
	Verb   string   // words of the command that begin Manifest.Arguments
	Inputs []string // files and folders that the command reads
	Force  bool     // use a directory that holds something else
}

// Create makes the directory, or uses one that is empty or holds an earlier result
// of the same verb. It removes the remains of an aborted run. It rejects a directory
// in which another process writes a result. It also rejects a directory that holds
// the result of another verb, an input or foreign files (errForeign), unless the
// purpose forces it. It then keeps the foreign files, except those with names of the
// result.
func Create(path string, p Purpose) (d *Dir, err error) {
	if !p.Force {
		if err := p.readsFrom(path); err != nil {
			return nil, err
		}
	}
	d = &Dir{path: path}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--out %s: is a file: want a folder", path)
	} else if errors.Is(err, fs.ErrNotExist) {
		if err := d.make(); err != nil {
			return nil, fmt.Errorf("--out %s: %w: want a folder that can be written", path, err)
		}
	}
	if d.locked, err = os.Open(path); err == nil {
		err = Lock(d.locked)
	}
	defer func() {
		if err != nil {
			d.locked.Close()
			d = nil
		}
	}()
	if err != nil {
		return d, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return d, err
	}
	var remains []string
	foreign := false
	for _, entry := range entries {
		name := entry.Name()
		if m := partialName.FindStringSubmatch(name); m != nil && entry.Type().IsRegular() {
			remains = append(remains, name)
			if m[1] == ManifestName { // killed while renaming
				d.adopt(name)
			}
		} else if inner := partials(path, entry); len(inner) > 0 {
			for _, partial := range inner {
				remains = append(remains, filepath.Join(name, partial))
			}
			remains = append(remains, name)
		} else if name != JournalName && !empty(path, entry) {
			foreign = true
		}
	}
	d.adopt(ManifestName)
	if foreign && d.old == nil && !p.Force {
		return d, fmt.Errorf("--out %s: %w and no result of slotwave: want an empty folder, or --force", path, errForeign)
	}
	if d.old != nil && !p.Force && !strings.HasPrefix(d.by+" ", p.Verb+" ") {
		verb, _, _ := strings.Cut(d.by, " ")
		return d, fmt.Errorf("--out %s: %w: a result of slotwave %s: want another folder, such as --out %[1]s-%[4]s, or --force to replace it", path, errForeign, verb, strings.ReplaceAll(p.Verb, " ", "-"))
	}
	for _, name := range remains {
		if err := os.Remove(filepath.Join(path, name)); err != nil {
			return d, err
		}
	}
	return d, nil
}

// readsFrom refuses a directory that is an input or holds one: replacing the result
// in it would remove what the command reads.
func (p Purpose) readsFrom(path string) error {
	for _, input := range p.Inputs {
		if _, err := os.Stat(input); err != nil {
			continue // the name of something that comes with the program
		}
		if rel, err := filepath.Rel(resolved(path), resolved(input)); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("--out %s: holds the input %s: want another folder", path, input)
		}
	}
	return nil
}

// resolved returns the path of a file without links, or as it is if there is none.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// partials lists the files of a folder if all are the remains of an aborted run.
func partials(path string, folder fs.DirEntry) (names []string) {
	if !folder.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(path, folder.Name()))
	for _, e := range entries {
		if !e.Type().IsRegular() || !partialName.MatchString(e.Name()) {
			return nil
		}
		names = append(names, e.Name())
	}
	return names
}

// empty reports whether a folder holds nothing: a run may have been killed when it had
// just made it, and nothing is lost in it.
func empty(path string, folder fs.DirEntry) bool {
	if !folder.IsDir() {
		return false
	}
	entries, err := os.ReadDir(filepath.Join(path, folder.Name()))
	return err == nil && len(entries) == 0
}

// make creates the directory and its parents, and records which ones it
// created.
func (d *Dir) make() error {
	for p := filepath.Clean(d.path); ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		d.made = append(d.made, p)
	}
	return os.MkdirAll(d.path, 0o777)
}

func (d *Dir) makeFolder(name string) error {
	if name == "" {
		return nil
	}
	folder := filepath.Join(d.path, name)
	err := os.Mkdir(folder, 0o777)
	switch {
	case errors.Is(err, fs.ErrExist):
		return d.clear(folder)
	case err == nil:
		d.made = append([]string{folder}, d.made...)
	}
	return err
}

// clear removes the remains of an aborted run from a folder, at its first use.
func (d *Dir) clear(folder string) error {
	if slices.Contains(d.cleared, folder) || slices.Contains(d.made, folder) {
		return nil
	}
	d.cleared = append(d.cleared, folder)
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if e.Type().IsRegular() && partialName.MatchString(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// adopt records the files that a manifest in the directory lists.
func (d *Dir) adopt(name string) {
	m, err := readManifest(filepath.Join(d.path, name))
	if err != nil {
		return
	}
	d.by = strings.Join(m.Arguments, " ")
	d.old = append(d.old, ManifestName)
	for _, f := range m.Outputs {
		if folder, name := filepath.Split(filepath.FromSlash(f.Name)); filepath.IsLocal(f.Name) && oneFolder(folder) && !strings.HasPrefix(name, ".") {
			d.old = append(d.old, f.Name)
		}
	}
}

// oneFolder reports whether a file lies in the result's directory or in a
// folder within it.
func oneFolder(folder string) bool {
	return !strings.ContainsRune(strings.TrimSuffix(folder, string(filepath.Separator)), filepath.Separator)
}

// Folder is a folder of a result for the files of one of several runs.
type Folder struct {
	dir  *Dir
	name string
}

// Folder returns a folder within the result.
func (d *Dir) Folder(name string) Folder { return Folder{d, name} }

// File starts a file in the folder.
func (f Folder) File(name string) (*File, error) { return f.dir.File(f.name + "/" + name) }

// Write writes a whole file in the folder.
func (f Folder) Write(name string, content func(io.Writer) error) error {
	return f.dir.Write(f.name+"/"+name, content)
}

// Target is the place for the files of a run: a result, or a folder of one.
type Target interface {
	File(name string) (*File, error)
	Write(name string, content func(io.Writer) error) error
}

// File starts a file of the result; a name with one slash is in a folder of it.
// It must be closed before Commit.
func (d *Dir) File(name string) (*File, error) {
	if slices.ContainsFunc(d.files, func(f *File) bool { return f.name == name }) {
		return nil, fmt.Errorf("%s is written twice", name)
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.done {
		return nil, fmt.Errorf("%s: writing the result was aborted", d.path)
	}
	folder, base := filepath.Split(filepath.FromSlash(name))
	if err := d.makeFolder(folder); err != nil {
		return nil, err
	}
	f, err := createPartial(filepath.Join(d.path, folder, base), 0o666)
	if err != nil {
		return nil, err
	}
	file := &File{name: name, partial: f.Name(), f: f, sum: sha256.New()}
	d.files = append(d.files, file)
	return file, nil
}

// Write writes a whole file of the result.
func (d *Dir) Write(name string, content func(io.Writer) error) error {
	f, err := d.File(name)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}

// Commit adds the checksums of all files to the manifest, and renames every
// file to its final name, the manifest last. Files of an earlier result that
// the new one does not have are removed.
func (d *Dir) Commit(m Manifest) error {
	m.Outputs = nil
	if m.Directory == "" {
		m.Directory = DirectoryFrom(d.path, m.Inputs)
	}
	for _, f := range d.files {
		if !f.closed {
			return fmt.Errorf("%s was not closed", f.name)
		}
		if f.err != nil {
			return f.err
		}
		if f.name != LogName {
			m.Outputs = append(m.Outputs, FileSum{f.name, f.size, hex.EncodeToString(f.sum.Sum(nil))})
		}
	}
	slices.SortFunc(m.Outputs, func(a, b FileSum) int { return strings.Compare(a.Name, b.Name) })
	if err := d.Write(ManifestName, m.encode); err != nil {
		return err
	}
	// From here on the directory is incomplete until the manifest is renamed.
	// If that never happens, the partial manifest marks the other files as a
	// result.
	d.lock.Lock()
	given := d.done
	d.done = true
	d.lock.Unlock()
	if given {
		return fmt.Errorf("%s: writing the result was aborted", d.path)
	}
	for _, name := range append([]string{ManifestName}, d.old...) {
		if err := os.Remove(filepath.Join(d.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if folder := filepath.Dir(name); folder != "." {
			os.Remove(filepath.Join(d.path, folder)) // fails if files are left
		}
	}
	syncFolder(d.path)
	var folders []string
	for _, f := range d.files {
		if folder := filepath.Join(d.path, filepath.Dir(f.name)); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	for _, f := range d.files {
		if f.name == ManifestName {
			for _, folder := range folders {
				syncFolder(folder)
			}
		}
		if err := os.Rename(f.partial, filepath.Join(d.path, f.name)); err != nil {
			return err
		}
	}
	syncFolder(d.path)
	if err := os.Remove(filepath.Join(d.path, JournalName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.locked.Close()
}

// Abort removes the written files, and the directories that Create made. Once
// Commit has begun to rename it does nothing, so it can be deferred.
func (d *Dir) Abort() {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.done {
		return
	}
	d.done = true
	for _, f := range d.files {
		f.Close()
		os.Remove(f.partial)
	}
	for _, p := range d.made {
		os.Remove(p) // fails if the directory has other files
	}
	d.locked.Close()
}

// File is one file of a result, hashed while it is written.
type File struct {
	name, partial string
	f             *os.File
	sum           hash.Hash
	size          int64
	err           error
	closed        bool
}

// Write implements io.Writer. An error is also kept for Close and Commit.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	f.sum.Write(p[:n])
	f.size += int64(n)
	f.err = firstErr(f.err, err)
	return n, err
}

// Close syncs the file to disk. A second call does nothing.
func (f *File) Close() error {
	if f.closed {
		return f.err
	}
	f.closed = true
	f.err = firstErr(f.err, f.f.Sync())
	f.err = firstErr(f.err, f.f.Close())
	return f.err
}

// firstErr keeps the first error.
func firstErr(first, then error) error {
	if first != nil {
		return first
	}
	return then
}
