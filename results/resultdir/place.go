package resultdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// createPartial starts a file under a temporary name that nothing has yet, next to its final
// name. The name begins with a dot and holds a random number, so that two writers of
// one file use different names, and a link is never followed.
func createPartial(final string, mode fs.FileMode) (*os.File, error) {
	folder, base := filepath.Split(final)
	return os.OpenFile(filepath.Join(folder, fmt.Sprintf(".%s.%016x.partial", base, rand.Uint64())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// unfinished are the files that WriteFile is writing. A signal may come at any time.
var unfinished = struct {
	sync.Mutex
	names   []string
	stopped bool
}{}

// errStopped is the error of a file that is written after Stop.
var errStopped = errors.New("writing was interrupted")

// Stop removes the files that WriteFile has not finished. Those that it begins or ends
// later are not written. A program that is interrupted calls it before it exits.
func Stop() {
	unfinished.Lock()
	defer unfinished.Unlock()
	unfinished.stopped = true
	for _, name := range unfinished.names {
		os.Remove(name)
	}
}

// WriteFile writes a file that is no part of a result: whole, or not at all. It replaces
// what has its name, and a link itself, not what it points to.
func WriteFile(name string, mode fs.FileMode, content func(io.Writer) error) error {
	f, err := begin(name, mode)
	if err == nil {
		err = errors.Join(content(f), f.Sync(), f.Close())
		err = finish(f.Name(), name, err)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) && f == nil {
		return &fs.PathError{Op: path.Op, Path: name, Err: path.Err}
	}
	return err
}

// NamedFile is a file with its content, for WriteFiles.
type NamedFile struct {
	Name  string
	Write func(io.Writer) error
}

// WriteFiles writes files into a folder that is no result, each whole or not at all, and
// last a manifest that lists them. After an error none is left that was not there before.
func WriteFiles(folder string, files []NamedFile, manifest string, m Manifest) (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, name := range made {
				os.Remove(name)
			}
		}
	}()
	write := func(name string, content func(io.Writer) error) error {
		path := filepath.Join(folder, name)
		_, missing := os.Lstat(path)
		if err := WriteFile(path, 0o666, content); err != nil {
			return err
		}
		if missing != nil {
			made = append(made, path)
		}
		return nil
	}
	if err := os.Remove(filepath.Join(folder, manifest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // it would list files that are no longer there
	}
	m.Outputs = nil
	for _, f := range files {
		if err := write(f.Name, f.Write); err != nil {
			return err
		}
		sum, err := SumFile(filepath.Join(folder, f.Name))
		if err != nil {
			return err
		}
		sum.Name = f.Name
		m.Outputs = append(m.Outputs, sum)
	}
	return write(manifest, m.encode)
}

// Text is a content for WriteFile.
func Text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// begin starts a file that Stop removes.
func begin(name string, mode fs.FileMode) (*os.File, error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.stopped {
		return nil, fmt.Errorf("%s: %w", name, errStopped)
	}
	f, err := createPartial(name, mode)
	if err != nil {
		return nil, err
	}
	unfinished.names = append(unfinished.names, f.Name())
	return f, nil
}

// finish gives a file its final name, or removes it if there was an error.
func finish(partial, name string, err error) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	unfinished.names = slices.DeleteFunc(unfinished.names, func(name string) bool { return name == partial })
	if err == nil && unfinished.stopped {
		err = fmt.Errorf("%s: %w", name, errStopped)
	}
	if err == nil {
		err = os.Rename(partial, name)
	}
	if err != nil {
		os.Remove(partial)
		return err
	}
	syncFolder(filepath.Dir(name))
	return nil
}

// OpenJournal opens a file to which whole lines are added, or creates it, for one writer
// at a time. A link is refused.
func OpenJournal(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: got %s: want a file, or a name that nothing has", path, info.Mode().Type())
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	if err := Lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// syncFolder makes renames in a folder durable if the system can. A folder on Windows
// cannot be synced, which is not an error.
func syncFolder(path string) {
	if f, err := os.Open(path); err == nil {
		f.Sync()
		f.Close()
	}
}
