package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/slotwave/slotwave/workload"
)

// Format is a file format of recorded runs.
type Format struct {
	Name  string // as in workload.format and convert --to
	About string // in one line
	Files string // names of the files that convert writes; empty: read only

	chains bool // keeps which jobs a job waited for
	beside bool // holds no runs: read as itself next to files of any format
	detect detection
	read   func(*collector, *source) error         // nil: write only
	write  func(*workload.History) (Output, error) // nil: read only
	needs  func(*workload.History) error           // data that the format requires; nil: jobs
}

// detection lists the signs by which a format is recognised. Any one is enough.
type detection struct {
	begins func(text []byte) bool                   // the text begins a record of the format
	keys   []string                                 // members of a JSON object; the first known one decides
	header func(line string, columns []string) bool // matches the first line
}

// Reads reports whether files of the format can be read.
func (f Format) Reads() bool { return f.read != nil }

// Writes reports whether convert can write the format.
func (f Format) Writes() bool { return f.write != nil }

// Output is a history in some format.
type Output struct {
	Files  []File             // the main file first
	PerJob bool               // each job has a main file of its own
	Lost   []workload.Problem // what the format cannot hold
	Left   Left
}

// Left counts the tasks and attempts of a history that are not written.
type Left struct{ Tasks, Attempts int }

// File is one file of an output.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Write prepares the files of a history. An error says what the history lacks.
func (f Format) Write(h *workload.History) (Output, error) {
	needs := f.needs
	if needs == nil {
		needs = needsJobs
	}
	if err := needs(h); err != nil {
		return Output{}, err
	}
	out, err := f.write(h)
	if n := waiting(h); n > 0 && !f.chains && err == nil {
		out.Lost = append(out.Lost, workload.Problem{File: f.Name, What: fmt.Sprintf("what %s waited for is left out: the format has no place (csv has)", workload.Counted(n, "job", "jobs"))})
	}
	return out, err
}

// waiting counts the jobs that waited for others.
func waiting(h *workload.History) (n int) {
	for i := range h.Jobs {
		if len(h.Jobs[i].After) > 0 {
			n++
		}
	}
	return n
}

func needsJobs(h *workload.History) error {
	switch {
	case len(h.Jobs) > 0:
		return nil
	case len(h.Swim) > 0:
		return errors.New("found job volumes but no tasks: want --to swim, or a scenario whose [workload] names the trace")
	}
	return errors.New("no jobs found")
}

// firstLine returns the text up to its first line break.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line
}

const manifestName = "manifest.json"

const summaryName = "summary.json"

const jobsName = "jobs.csv"

const attemptsName = "attempts.csv"

// These are the names of result files that slotwave reads again.
const (
	gzipEnding = ".gz" // of a compressed table
)
