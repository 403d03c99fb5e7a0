package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// A whole format, as CONTRIBUTING.md shows it: this file, and its line in the
// table of formats. A toy file has a line "toy JOB" for each job and a line
// "map START FINISH", in seconds, for each of its maps.
var toyFormat = Format{
	Name: "toy", About: "maps and their times, for a test",
	Files:  "jobs.toy",
	detect: detection{begins: func(text []byte) bool { return bytes.HasPrefix(text, []byte("toy ")) }},
	read:   (*collector).readToy,
	write: func(h *workload.History) (Output, error) {
		return Output{Files: []File{{"jobs.toy", func(w io.Writer) error { return writeToy(w, h) }}}}, nil
	},
}

func (c *collector) readToy(s *source) error {
	in := &lines{r: s.Reader, max: c.limits.LineBytes, line: s.skipped}
	var job *jobBuilder
	for {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return atLine(in.line, err)
		}
		words := strings.Fields(string(line))
		switch {
		case len(words) == 2 && words[0] == "toy":
			if job != nil {
				if err := job.finish(); err != nil {
					return err
				}
			}
			job = c.newJob(words[1], in.line)
			job.job.Submit, job.job.Outcome = 0, workload.Succeeded
		case len(words) == 3 && words[0] == "map" && job != nil:
			t := job.task(workload.Map, false, len(job.job.Tasks))
			t.State = workload.Succeeded
			a := job.attempt(t, 0)
			if a == nil {
				return errAttempts
			}
			start, err1 := strconv.Atoi(words[1])
			finish, err2 := strconv.Atoi(words[2])
			if err1 != nil || err2 != nil {
				c.problem(in.line, "%q: want two numbers of seconds", line)
				continue
			}
			a.State, a.Start, a.Finish = workload.Succeeded, time.Duration(start)*time.Second, time.Duration(finish)*time.Second
		default:
			c.problem(in.line, "%q: want toy JOB or map START FINISH", line)
		}
	}
	if job == nil {
		return nil
	}
	return job.finish()
}

func writeToy(w io.Writer, h *workload.History) error {
	for i := range h.Jobs {
		fmt.Fprintf(w, "toy %s\n", h.Jobs[i].ID)
		for _, t := range h.Jobs[i].Tasks {
			if a := t.Winner(); a != nil && t.Kind == workload.Map {
				fmt.Fprintf(w, "map %d %d\n", int(a.Start.Seconds()), int(a.Finish.Seconds()))
			}
		}
	}
	return nil
}

// TestToyFormat: with its line in the table a format is known from its content,
// read by name and written.
func TestToyFormat(t *testing.T) {
	was := formats
	defer func() { formats = was }()
	formats = append(slices.Clone(formats), toyFormat) // the line

	const text = "toy job_1_0001\nmap 2 5\nmap 2 9\n"
	file := filepath.Join(t.TempDir(), "anything")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if name, err := Detect(file); name != "toy" || err != nil {
		t.Errorf("detected %q, %v", name, err)
	}
	for _, o := range []ReadOptions{{}, {Format: "toy"}} {
		h, err := o.Open(file)
		if err != nil || h.Strict() != nil || len(h.Jobs) != 1 || len(h.Jobs[0].Tasks) != 2 {
			t.Fatalf("read %+v, %v", h, err)
		}
		out, err := toyFormat.Write(h)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := out.Files[0].Write(&b); err != nil || b.String() != text {
			t.Errorf("wrote %q, %v", b.String(), err)
		}
	}
	if _, err := toyFormat.Write(&workload.History{}); err == nil {
		t.Error("a history without jobs was written")
	}
}
