package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/results/resultdir"
)

// volatile names what differs between machines: the log, with its clock, and pictures of
// points, which Go may draw or compress in another way.
var volatile = regexp.MustCompile(`(^|/)run\.log$|\.png$`)

var (
	// builtBy is what differs between builds, in a manifest: the release of slotwave and of
	// Go, and sums of what is compressed.
	builtBy = regexp.MustCompile(`(?s)"build": \{.*?\n  \},|"(sha256|checksum|size_bytes)": [^\n]*`)

	// styled is what no page states of its own: its style, its script and their sums.
	styled = regexp.MustCompile(`(?s)<(style|script)\b.*?</(style|script)>|'sha256-[^']*'`)

	// packed are the columns in a page.
	packed = regexp.MustCompile(`(?s)(<pre class="data" hidden>)(.*?)</pre>`)
)

// unpacked returns the content of a file, without what differs between builds.
func unpacked(t *testing.T, name string, data []byte) string {
	t.Helper()
	gunzip := func(data []byte) []byte {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(name, err)
		}
		data, err = io.ReadAll(z)
		if err != nil {
			t.Fatal(name, err)
		}
		return data
	}
	switch filepath.Ext(name) {
	case ".gz":
		data = gunzip(data)
	case ".html":
		data = packed.ReplaceAllFunc(styled.ReplaceAll(data, nil), func(pre []byte) []byte {
			text, err := base64.StdEncoding.DecodeString(html.UnescapeString(string(packed.FindSubmatch(pre)[2])))
			if err != nil {
				t.Fatal(name, err)
			}
			return gunzip(text)
		})
	case ".json":
		if filepath.Base(name) == resultdir.ManifestName {
			data = builtBy.ReplaceAll(data, nil)
		}
	}
	return string(data)
}

// What verbs write stays: of runs and what is asked of them, of models, sizes and papers,
// and of what is asked in a wrong way. A golden file lists commands; below each are its exit
// code and size and digest of what it printed and of each file that it wrote or changed. -v
// shows what was printed. The commands share a folder, and later ones read what earlier ones
// wrote.
func TestOutputsStay(t *testing.T)      { outputsStay(t, "testdata/stay.txt") }
func TestModelOutputsStay(t *testing.T) { outputsStay(t, "testdata/models.txt") }
func TestRefusalsStay(t *testing.T)     { outputsStay(t, "testdata/refusals.txt") }

func outputsStay(t *testing.T, list string) {
	golden, err := filepath.Abs(list)
	if err != nil {
		t.Fatal(err)
	}
	inputs := os.DirFS(filepath.Join(filepath.Dir(golden), "stay"))
	t.Chdir(t.TempDir())
	if err := os.CopyFS(".", inputs); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	digest := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&got, "    %s %d %.6x\n", name, len(text), sha256.Sum256([]byte(text)))
		}
	}
	var files watched
	files.changed(t)
	for line := range strings.Lines(read(t, golden)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "slotwave ")
		if !ok {
			continue
		}
		args := strings.Fields(command)
		code, out, errs := call("", args...)
		errs = progressLine.ReplaceAllString(errs, "")
		if testing.Verbose() {
			t.Logf("%s: exit %d\n%s%s", command, code, out, errs)
		}
		fmt.Fprintf(&got, "slotwave %s\n    exit %d\n", command, code)
		digest("stdout", out)
		digest("stderr", errs)
		for _, name := range files.changed(t) {
			digest(name, files.files[name].text)
		}
	}
	vectortest.Lines(t, golden, got.String(), *update)
}

// progressLine is printed when a command takes long.
var progressLine = regexp.MustCompile(`(?m)^(.*: )?(all )?\d+(/\d+)? (tasks|simulations|points|MiB read)\b.*\n`)

// watched has the files of the working folder, and the folders that hold them.
type watched struct {
	files   map[string]watchedFile
	folders map[string]watchedFolder
}

type watchedFile struct {
	os.FileInfo
	text string
}

type watchedFolder struct {
	time.Time // of the last change of its entries
	folders   []string
}

// changed reads the files that are new or whose content changed since the last call, and
// returns their names. A verb replaces files and changes none in place, so that a folder has
// none if it is as old as it was; a test itself may write into the working folder. The paths
// of that folder and of the program, of which each test has its own, are replaced. Files and
// folders must have the mode that the user gives new ones.
func (w *watched) changed(t *testing.T) (names []string) {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if w.files == nil {
		w.files, w.folders = map[string]watchedFile{}, map[string]watchedFolder{}
	}
	read := func(name string, info os.FileInfo) {
		old, known := w.files[name]
		if known && os.SameFile(old, info) && old.Size() == info.Size() && old.ModTime().Equal(info.ModTime()) {
			return
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(strings.ReplaceAll(unpacked(t, name, data), folder, "FOLDER"), program, "PROGRAM") // a Replacer takes long
		if !known || text != old.text {
			names = append(names, name)
		}
		w.files[name] = watchedFile{info, text}
	}
	var mode os.FileMode // of a folder that anyone makes
	ofUser := func(name string, info os.FileInfo) {
		if got := info.Mode().Perm(); got != mode && (info.IsDir() || got != mode&0o666) {
			t.Errorf("%s: got mode %v: want that of any new file or folder", name, got)
		}
	}
	var walk func(at string)
	walk = func(at string) {
		info, err := os.Stat(at)
		if err != nil {
			return // it was removed
		}
		if at == "." {
			mode = info.Mode().Perm()
		}
		ofUser(at, info)
		now, known := w.folders[at]
		if at == "." || !known || !now.Equal(info.ModTime()) {
			now = watchedFolder{Time: info.ModTime()}
			entries, err := os.ReadDir(at)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				name := path.Join(at, entry.Name())
				if entry.IsDir() {
					now.folders = append(now.folders, name)
				} else if info, err := entry.Info(); err != nil {
					t.Fatal(err)
				} else if info.Mode().IsRegular() {
					ofUser(name, info)
					if !volatile.MatchString(name) {
						read(name, info)
					}
				}
			}
			w.folders[at] = now
		}
		for _, name := range now.folders {
			walk(name)
		}
	}
	walk(".")
	slices.Sort(names)
	return names
}
