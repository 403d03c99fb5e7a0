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

// readShard reads the lines of a part of a plan, each of which has to be a point of the
// study as it is here, and returns the study and whether each of its points is in the part.
// A line may have a key and a tab before the point, and may be empty. Without a point the
// study is nil.
func readShard(in io.Reader, name string, workers int, b resultdir.Build) (s *Sweep, points []bool, err error) {
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		ended := err != nil
		if text = bytes.TrimSpace(text); len(text) > 0 {
			var line planned
			if json.Unmarshal(unkeyed(text), &line) != nil {
				line.Schema = ""
			}
			if err := line.known(name, n); err != nil {
				return nil, nil, err
			}
			if s == nil {
				line.Asked.Workers = workers
				if s, err = Open(line.Study, line.Asked); err != nil {
					return nil, nil, err
				}
				points = make([]bool, s.NumPoints)
			}
			if err := line.agrees(fmt.Sprintf("%s:%d", name, n), s.identity(b)); err != nil {
				return nil, nil, err
			}
			if line.Point < 1 || line.Point > s.NumPoints || !slices.Equal(line.Set, s.Settings(line.Point-1)) {
				return nil, nil, fmt.Errorf("%s:%d: point %d: not one of the study's %d points", name, n, line.Point, s.NumPoints)
			}
			points[line.Point-1] = true
		}
		if ended {
			return s, points, nil
		}
	}
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
	s, points, err := readShard(f, name, workers, b)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("%s: got no point: want lines that slotwave sweep plan printed", name)
	}
	j, err := s.openJournal(rows, b)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(s.RunPoints(j, marked(points), progress), j.Close())
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

// Stream simulates the points of a part of a plan as a mapper of Hadoop Streaming does.
// Each line written is a key, a tab and a line of a file of rows. status reports the
// points that are finished.
func Stream(in io.Reader, out io.Writer, workers int, b resultdir.Build, status io.Writer) error {
	s, points, err := readShard(in, "stdin", workers, b)
	if err != nil || s == nil {
		return err
	}
	keyed := &keyedLines{to: out}
	j := &Journal{to: keyed}
	for i := range marked(points) {
		if keyed.point = i + 1; j.rows == 0 {
			if err := j.begin(s.identity(b)); err != nil {
				return err
			}
		}
		if err := s.RunPoints(j, slices.Values([]int{i}), nil); err != nil {
			return err
		}
		fmt.Fprintf(status, "reporter:counter:slotwave,points,1\nreporter:status:point %d\n", keyed.point)
	}
	return nil
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
