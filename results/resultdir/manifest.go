package resultdir

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/slotwave/slotwave/workload"
)

// ManifestName is the file whose presence completes a result.
const ManifestName = "manifest.json"

// Manifest lists the inputs and the outputs of a result. It holds nothing that
// changes between two runs of the same question: no clock, no host, and paths
// only as the user typed them.
type Manifest struct {
	Schema       string    `json:"schema"`
	Build        Build     `json:"build"`
	Arguments    []string  `json:"arguments"` // verb and flags that determine the content
	Scenario     string    `json:"scenario"`
	Seed         uint64    `json:"seed"`
	Replications int       `json:"replications"`
	Inputs       []FileSum `json:"inputs"`
	Directory    string    `json:"directory,omitempty"` // to which names are relative, from the folder of the manifest; empty: none is
	Outputs      []FileSum `json:"outputs"`             // by name; filled in by Commit
	Assumptions  []string  `json:"assumptions"`
	Checksum     string    `json:"checksum,omitempty"` // of the manifest; slotwave 0.1.0 wrote none
}

// unversioned is the version of a program that Go built without looking at the
// repository, as go run and go test do.
const unversioned = "devel"

// Build is the program that made a result.
type Build struct {
	Version  string   `json:"version"`
	Revision string   `json:"revision"` // revision of the source; empty if the build has none
	Go       string   `json:"go"`
	Modules  []Module `json:"modules"`
}

// Module is one module linked into the program.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// FileSum identifies the content of a file.
type FileSum struct {
	Name   string `json:"name"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
}

// Made reports whether a result whose manifest is a file was certainly made by this
// program: by the same release or revision, without changes. A program that has neither
// must be older than the file.
func (b Build) Made(m Manifest, file string) bool {
	if b.Version != m.Build.Version || b.Revision != m.Build.Revision || strings.HasSuffix(b.Version, "+dirty") { // Go's name for sources that are not committed
		return false
	}
	if b.Revision != "" || b.Version != unversioned {
		return true
	}
	name, err := os.Executable()
	program, err2 := os.Stat(name)
	written, err3 := os.Stat(file)
	return errors.Join(err, err2, err3) == nil && program.ModTime().Before(written.ModTime())
}

// ReadBuild describes the running program. The version is the argument if a
// release set one, else that of the tag or commit that Go built the program
// from. The revision is that of the build, or else the argument.
func ReadBuild(version, revision string) Build {
	b := Build{Version: cmp.Or(version, unversioned), Revision: revision}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if main := info.Main.Version; version == "" && main != "" && main != "(devel)" {
		b.Version = strings.TrimPrefix(main, "v")
	}
	b.Go = info.GoVersion
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, Module{m.Path, m.Version})
	}
	return b
}

// Sum returns the checksum of an input in memory, with the name that the user
// knows.
func Sum(name string, content []byte) FileSum {
	sum := sha256.Sum256(content)
	return FileSum{name, int64(len(content)), hex.EncodeToString(sum[:])}
}

// SumFile returns the checksum of a file, with its path as the user typed it.
func SumFile(path string) (FileSum, error) {
	f, err := os.Open(path)
	if err != nil {
		return FileSum{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return FileSum{}, err
	}
	return FileSum{path, n, hex.EncodeToString(sum.Sum(nil))}, nil
}

func (m Manifest) encode(w io.Writer) error {
	m.Schema = workload.ManifestSchema.String()
	// Appended to an empty list, so that readers always find an array.
	m.Arguments = append([]string{}, m.Arguments...)
	for i := range m.Arguments {
		m.Arguments[i] = workload.WithoutSecrets(m.Arguments[i])
	}
	m.Inputs = append([]FileSum{}, m.Inputs...)
	m.Outputs = append([]FileSum{}, m.Outputs...)
	m.Assumptions = append([]string{}, m.Assumptions...)
	m.Build.Modules = append([]Module{}, m.Build.Modules...)
	m.Checksum = noChecksum
	var b bytes.Buffer
	if err := WriteJSON(&b, m); err != nil {
		return err
	}
	_, err := w.Write(bytes.Replace(b.Bytes(), []byte(noChecksum), []byte(Sum("", b.Bytes()).SHA256), 1))
	return err
}

// noChecksum stands for the checksum of a manifest while it is computed.
var noChecksum = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// decode reads a manifest, and refuses one that was changed after it was written.
func decode(name string, content []byte) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(content))
	if err = json.Unmarshal(content, &m); err == nil && m.Checksum != "" {
		if sum := Sum("", bytes.Replace(content, []byte(m.Checksum), []byte(noChecksum), 1)).SHA256; sum != m.Checksum {
			err = fmt.Errorf("changed: SHA-256 %.12s… without the checksum: want %.12s…", sum, m.Checksum)
		}
	} else if err == nil && m.Schema == workload.ManifestSchema.String() {
		d.DisallowUnknownFields() // such as a damaged name of the checksum
		err = d.Decode(&m)
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		err = fmt.Errorf("changed: no JSON from byte %d on", syntax.Offset)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// WriteJSON writes a document for people and programs: indented, with <
// unescaped.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(workload.VisibleJSON(b.Bytes()))
	return err
}

func readManifest(path string) (Manifest, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, err
	}
	m, err := decode(path, content)
	if err != nil {
		return m, err
	}
	is, err := workload.ManifestSchema.Reads(m.Schema, m.Build.Version)
	if !is {
		err = fmt.Errorf("schema: got %q: want %q", m.Schema, workload.ManifestSchema)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// ReadManifest reads the manifest of a result, given its path or that of its
// directory, and checks that every output exists and is unchanged. It reports
// all differences at once and returns the manifest with them.
func ReadManifest(path string) (Manifest, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, ManifestName)
	}
	m, err := readManifest(path)
	if err != nil {
		return m, err
	}
	return m, Verify(filepath.Dir(path), m.Outputs)
}

// DirectoryFrom returns the way from a folder to the current directory, if an
// input has a name that is relative to it.
func DirectoryFrom(folder string, inputs []FileSum) string {
	relative := slices.ContainsFunc(inputs, func(in FileSum) bool {
		_, err := os.Stat(in.Name)
		return err == nil && !filepath.IsAbs(in.Name)
	})
	from, err := filepath.Abs(folder)
	here, err2 := os.Getwd()
	if !relative || err != nil || err2 != nil {
		return ""
	}
	way, err := filepath.Rel(from, here)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(way)
}

// Anonymise removes the paths and names of inputs, and the arguments, which hold some.
// Such a result cannot be repeated from its manifest.
func (m *Manifest) Anonymise() {
	m.Inputs = slices.Clone(m.Inputs)
	for i := range m.Inputs {
		m.Inputs[i].Name = fmt.Sprintf("input-%d", i+1)
	}
	m.Arguments = append(slices.Clone(m.Arguments[:min(1, len(m.Arguments))]), "--anonymise")
	m.Directory = ""
}

// Verify checks files against their checksums. Names are taken relative to dir;
// pass an empty dir for paths as the user typed them.
func Verify(dir string, files []FileSum) error {
	var errs []error
	for _, want := range files {
		path := filepath.Join(dir, want.Name)
		got, err := SumFile(path)
		switch {
		case err != nil:
			errs = append(errs, err)
		case got.SHA256 != want.SHA256:
			errs = append(errs, fmt.Errorf("%s: changed: %d bytes with SHA-256 %.12s…: want %d bytes with %.12s…",
				path, got.Size, got.SHA256, want.Size, want.SHA256))
		}
	}
	return errors.Join(errs...)
}

// Unreadable reports whether an error is that of a disk or a network, and not of a file
// that is missing or different: what cannot be read is never taken for not there.
func Unreadable(err error) bool { return errors.Is(err, syscall.EIO) }

// Unchanged refuses a path of a result whose content is not what the manifest of the
// result says: a folder by its tables and documents, or one of its files. Pictures may
// have been edited and files removed. Everything else passes, such as a folder without a
// manifest; a manifest of a newer version is left to who reads the result.
func Unchanged(path string) error {
	const above = 2 // folders in which a run of several may lie
	dir, within := path, "."
	for range above + 1 {
		name := filepath.Join(dir, ManifestName)
		content, err := os.ReadFile(name)
		if Unreadable(err) {
			return err
		}
		if err == nil && madeHere(content) {
			m, err := decode(name, content)
			if err != nil {
				return err
			}
			return Verify(dir, slices.DeleteFunc(m.Outputs, func(f FileSum) bool {
				_, err := os.Stat(filepath.Join(dir, f.Name))
				picture := slices.Contains([]string{".png", ".svg", ".pdf"}, filepath.Ext(f.Name))
				return err != nil || picture || within != "." && f.Name != within && !strings.HasPrefix(f.Name, within+"/")
			}))
		}
		within = filepath.ToSlash(filepath.Join(filepath.Base(dir), within))
		dir = filepath.Dir(dir)
	}
	return nil
}

// madeHere reports whether a manifest.json is one of slotwave, even with a damaged byte.
func madeHere(content []byte) bool {
	return bytes.Contains(content, []byte(`"slotwave/`+workload.ManifestSchema.Kind+"/")) ||
		bytes.Contains(content, []byte(`"outputs": [`)) && bytes.Contains(content, []byte(`"checksum": "`))
}
