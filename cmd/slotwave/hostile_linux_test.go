package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
)

// TestHostileTraces calls the program as a process of its own: each file ends
// in exit code 2 or 3 within 2 s of a core and 512 MiB.
func TestHostileTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("large files")
	}
	const mib = 1 << 20
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bomb := func(name, head, piece string) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		packed := func(text string) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(text))
			z.Close()
			return b.Bytes()
		}
		// A file of gzip may have parts, which are read as one; so a block is packed once.
		f.Write(packed(head))
		block := packed(strings.Repeat(piece, mib/len(piece)))
		for range 256 {
			f.Write(block)
		}
		return path
	}
	plain := func(name, text string) string { return writeFile(t, filepath.Join(dir, name), text) }
	const rumen = `{"jobID":"job_1_0001","jobName":"`
	verbs := [][]string{{"validate"}, {"convert", "--to", "csv", "--out", filepath.Join(dir, "out")}}
	if layers.Whole {
		verbs = append(verbs, []string{"convert", "--to", "profile"})
	}
	for _, x := range []struct{ name, file string }{
		{"bomb in a string", bomb("string.gz", rumen, "x")},
		{"bomb of blanks", bomb("blanks.gz", rumen+`",`, " ")},
		{"bomb of tasks", bomb("tasks.gz", `{"jobID":"job_1_0001","mapTasks":[{}`, ",{}")},
		{"bomb of records", bomb("records.gz", sound, strings.SplitAfter(sound, "\n")[4])},
		{"deep JSON", plain("deep.json", `{"x":`+strings.Repeat("[", 8*mib))},
		{"deep TOML", plain("deep.toml", "[recorded]\nx = "+strings.Repeat("[", mib))},
		{"many parts of a key", plain("parts.toml", "[recorded]\n"+strings.Repeat("a.", mib)+"b = 1\n")},
		{"giant line", plain("line.hist", `Job JOBID="job_1_0001" JOBNAME="`+strings.Repeat("x", 64*mib))},
		{"giant JSON value", plain("value.json", rumen+strings.Repeat("x", 64*mib))},
		{"no format", plain("zeros", strings.Repeat("\x00", 16*mib))},
	} {
		for _, verb := range verbs {
			t.Run(x.name+" "+strings.Join(verb, " "), func(t *testing.T) {
				c := exec.Command(self)
				c.Args = append(append([]string{"slotwave"}, verb...), x.file)
				status := filepath.Join(t.TempDir(), "status")
				c.Env = append(os.Environ(), "GOCOVERDIR="+dir, leaveStatus+"="+status)
				out, _ := c.CombinedOutput()
				took := c.ProcessState.UserTime() + c.ProcessState.SystemTime() // apart from what else the machine does
				if code := c.ProcessState.ExitCode(); code != exitInput && code != exitLimit || strings.Contains(string(out), "goroutine") {
					t.Errorf("exit %d: %.300s", code, out)
				}
				// The usage that a parent is told of counts from the parent's own memory, so the child reads its own.
				left, err := os.ReadFile(status)
				if err != nil {
					t.Fatal(err)
				}
				var memory int
				_, peak, _ := strings.Cut(string(left), "VmHWM:")
				if _, err := fmt.Sscan(peak, &memory); err != nil {
					t.Fatalf("%q: %v", peak, err)
				}
				memory /= 1024
				if took > 2*time.Second || memory > 512 {
					t.Errorf("%v and %d MiB, want at most 2 s and 512 MiB", took, memory)
				}
				t.Logf("%v, %d MiB: %.200s", took.Round(time.Millisecond), memory, out)
			})
		}
	}
}
