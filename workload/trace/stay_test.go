package trace

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/vectortest"
)

// What is read of histories stays, of sound and of damaged ones. A line of the golden file is a file in
// one state; -v shows its problems.
func TestReadingsStay(t *testing.T) {
	folder, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // so that problems name files alike
	var got bytes.Buffer
	stays := func(path, text string) {
		vectortest.Damaged(text, 16, func(state int, text string) {
			writeFile(t, path, text)
			h, err := Open(path)
			if err != nil {
				fmt.Fprintf(&got, "%s %d: %s\n", path, state, err)
				return
			}
			digest := sha256.New()
			vectortest.Dump(digest, h)
			fmt.Fprintf(&got, "%s %d: %d jobs, %d problems, %.6x\n", path, state, len(h.Jobs), len(h.Problems), digest.Sum(nil))
			if testing.Verbose() {
				t.Log(h.Problems)
			}
		})
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".md") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if unzipped, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			if data, err = io.ReadAll(unzipped); err != nil {
				t.Fatal(err)
			}
		}
		stays(filepath.Base(name), string(data))
	}
	for i, text := range []string{mrv1Sample, jhistSample, tableSample, slsSample, confSample, rumenSample, topologySample, hituneSample, dynoSample, synthSample} {
		stays(fmt.Sprint("sample-", i), text)
	}
	vectortest.Lines(t, filepath.Join(folder, "stay.txt"), got.String(), *update)
}
