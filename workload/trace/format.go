package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

// formats is the table of formats. If a text matches two formats, the first one
// is taken. To add a format, add a Format in its own file and a line here.
var formats = []Format{
	swimFormat, rumenFormat, topologyFormat, mrv1Format, jhistFormat, hituneFormat, slsFormat, tableFormat,
	tableGzipFormat, chromeFormat, scenarioFormat, confFormat, propertiesFormat,
}

// Format is a file format of recorded runs.
type Format struct {
	Name  string // as in workload.format and convert --to
	About string // in one line
	Files string // names of the files that convert writes; empty: read only

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

// Formats lists all formats.
func Formats() []Format { return slices.Clone(formats) }

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
	return f.write(h)
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

// readableNames lists the formats that can be read.
func readableNames() (names []string) {
	for _, f := range formats {
		if f.Reads() {
			names = append(names, f.Name)
		}
	}
	return names
}

// reader returns the format of that name for reading.
func reader(name string) (Format, error) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name && f.Reads() })
	if i < 0 {
		return Format{}, fmt.Errorf("format: got %q: want one of %s", name, strings.Join(readableNames(), ", "))
	}
	return formats[i], nil
}

// detectFormat returns the name of the format of a text from its beginning.
func detectFormat(head []byte) string {
	const tries = 20 // the first lines may be damaged
	if object := bytes.TrimLeft(head, " \t\r\n"); bytes.HasPrefix(object, []byte{'{'}) {
		if f := detectJSON(object); f != "" {
			return f
		}
	}
	for rest, n := head, 0; len(rest) > 0 && n < tries; n++ {
		if f := detectHere(rest); f != "" {
			return f
		}
		_, rest, _ = bytes.Cut(rest, []byte{'\n'})
	}
	first := firstLine(head)
	line := strings.TrimSuffix(string(first), "\r")
	comma := ","
	if strings.Contains(line, "\t") {
		comma = "\t"
	}
	columns := strings.Split(line, comma)
	for _, f := range formats {
		if f.detect.header != nil && f.detect.header(line, columns) {
			return f.Name
		}
	}
	return ""
}

// detectHere checks one place where a record of a format may begin.
func detectHere(text []byte) string {
	for _, f := range formats {
		if f.detect.begins != nil && f.detect.begins(text) {
			return f.Name
		}
	}
	if beginsObject(firstLine(text)) {
		return detectJSON(text)
	}
	return ""
}

func detectJSON(text []byte) string {
	text = bytes.TrimLeft(text, "} ")
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return ""
	}
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return ""
		}
		for _, f := range formats {
			if slices.Contains(f.detect.keys, key.String()) {
				return f.Name
			}
		}
		if dec.SkipValue() != nil {
			return ""
		}
	}
}

// firstLine returns the text up to its first line break.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line
}
