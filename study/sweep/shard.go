package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// planSchema is that of the lines of a plan.
var planSchema = workload.Schema{Kind: "plan", Oldest: 1, Version: 1}

// planned is a line of a plan: one point, with all that its simulation takes.
type planned struct {
	journalHead
	Point int      `json:"point"`
	Set   []string `json:"point_set"`
}

// known refuses a line that is not from a plan that this program reads.
func (p *planned) known(file string, n int) error {
	is, err := planSchema.Reads(p.Schema, "")
	switch {
	case !is:
		return fmt.Errorf("%s:%d: not a point of a study: want a line that slotwave sweep plan printed", file, n)
	case err != nil:
		return fmt.Errorf("%s:%d: %w", file, n, err)
	}
	return nil
}

// Plan writes one line of JSON per point.
func (s *Sweep) Plan(w io.Writer, b resultdir.Build) error { return s.plan(w, b, s.all()) }

// plan writes the lines of some points.
func (s *Sweep) plan(w io.Writer, b resultdir.Build, points iter.Seq[int]) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	line := planned{journalHead: s.identity(b)}
	line.Schema = planSchema.String()
	for i := range points {
		line.Point, line.Set = i+1, s.Settings(i)
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// shard reads the points of a part of a plan. The first one opens the study.
type shard struct {
	name     string
	workers  int
	build    resultdir.Build
	sweep    *Sweep
	identity journalHead
}

// point returns the index of a planned point, which has to be one of the study as
// it is here.
func (h *shard) point(line planned, n int) (int, error) {
	if err := line.known(h.name, n); err != nil {
		return 0, err
	}
	if h.sweep == nil {
		line.Asked.Workers = h.workers
		s, err := Open(line.Study, line.Asked)
		if err != nil {
			return 0, err
		}
		h.sweep, h.identity = s, s.identity(h.build)
	}
	if err := line.agrees(fmt.Sprintf("%s:%d", h.name, n), h.identity); err != nil {
		return 0, err
	}
	if line.Point < 1 || line.Point > h.sweep.NumPoints || !slices.Equal(line.Set, h.sweep.Settings(line.Point-1)) {
		return 0, fmt.Errorf("%s:%d: point %d: not one of the study's %d points", h.name, n, line.Point, h.sweep.NumPoints)
	}
	return line.Point - 1, nil
}

// Work simulates the points of a part of a plan. The finished simulations go
// into a file of rows, which is a journal: a call continues where an earlier
// one was killed.
func Work(name, rows string, workers int, b resultdir.Build, progress study.SweepProgress) (*Sweep, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := shard{name: name, workers: workers, build: b}
	var points []bool
	d := json.NewDecoder(f)
	for n := 1; ; n++ {
		var line planned
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			line.Schema = ""
		}
		point, err := h.point(line, n)
		if err != nil {
			return nil, err
		}
		if points == nil {
			points = make([]bool, h.sweep.NumPoints)
		}
		points[point] = true
	}
	if h.sweep == nil {
		return nil, fmt.Errorf("%s: got no point: want lines that slotwave sweep plan printed", name)
	}
	j, err := h.sweep.openJournal(rows, b)
	if err != nil {
		return nil, err
	}
	return h.sweep, errors.Join(h.sweep.RunPoints(j, marked(points), progress), j.Close())
}

// marked are the points of a shard.
func marked(points []bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, in := range points {
			if in && !yield(i) {
				return
			}
		}
	}
}

// Stream simulates the points of a plan as they arrive, as a mapper of Hadoop
// Streaming does. Each line may have a key and a tab before the point. Each line
// written is a key, a tab and a line of a file of rows. status reports the points
// that are finished.
func Stream(in io.Reader, out io.Writer, workers int, b resultdir.Build, status io.Writer) error {
	h := shard{name: "stdin", workers: workers, build: b}
	lines := bufio.NewReader(in)
	var j *Journal
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if text = bytes.TrimSpace(text); len(text) == 0 {
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			continue
		}
		var line planned
		if json.Unmarshal(unkeyed(text), &line) != nil {
			line.Schema = ""
		}
		point, err := h.point(line, n)
		if err != nil {
			return err
		}
		keyed := &keyedLines{out, line.Point}
		if j == nil {
			j = &Journal{to: keyed}
			if err := j.begin(h.identity); err != nil {
				return err
			}
		}
		j.to = keyed
		if err := h.sweep.RunPoints(j, slices.Values([]int{point}), nil); err != nil {
			return err
		}
		fmt.Fprintf(status, "reporter:counter:slotwave,points,1\nreporter:status:point %d\n", line.Point)
	}
}

// keyedLines puts the number of a point and a tab before each line.
type keyedLines struct {
	to    io.Writer
	point int
}

func (k *keyedLines) Write(line []byte) (int, error) {
	if _, err := fmt.Fprintf(k.to, "%07d\t", k.point); err != nil {
		return 0, err
	}
	return k.to.Write(line)
}

// Merge joins the rows of all parts of a plan. The error names points that
// are missing, that are in two files, or that are not in the study.
func Merge(files []string, b resultdir.Build) (*Sweep, error) {
	var s *Sweep
	from := map[task]string{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		if s == nil {
			s, err = openRows(f, name)
		}
		if err == nil {
			_, _, err = s.readJournal(f, name, b, func(t task, r points.Replication) error {
				if first, twice := from[t]; twice {
					return fmt.Errorf("point %d (%s), replication %d: is in %s too", t.point+1, s.pointName(t.point), t.replication+1, first)
				}
				from[t] = name
				s.record(t, r)
				return nil
			})
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return s, s.errIncomplete()
}

// openRows opens the study that a file of rows names.
func openRows(f *os.File, name string) (*Sweep, error) {
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		line = nil // it is empty or cut off
	}
	head, err := readHead(unkeyed(line), name, 1)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return Open(head.Study, head.Asked)
}
