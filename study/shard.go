package study

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/slotwave/slotwave/results"
)

const planSchema = "slotwave/plan/1"

// planned is a line of a plan: one point, with all that its simulation takes.
type planned struct {
	journalHead
	Point int      `json:"point"`
	Set   []string `json:"point_set"`
}

// Plan writes one line of JSON per point.
func (s *Sweep) Plan(w io.Writer, b results.Build) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	line := planned{journalHead: s.identity(b)}
	line.Schema = planSchema
	for i := range s.points {
		line.Point, line.Set = i+1, s.settings(i)
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Work simulates the points of a part of a plan. The finished simulations go
// into a file of rows, which is a journal: a call continues where an earlier
// one was killed.
func Work(shard, rows string, workers int, b results.Build, progress SweepProgress) (*Sweep, error) {
	f, err := os.Open(shard)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var s *Sweep
	var points []int
	var identity journalHead
	d := json.NewDecoder(f)
	for n := 1; ; n++ {
		var line planned
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil || line.Schema != planSchema {
			return nil, fmt.Errorf("%s:%d: not a point of a study: want a line that slotwave sweep plan printed", shard, n)
		}
		if s == nil {
			line.Asked.Workers = workers
			if s, err = OpenSweep(line.Study, line.Asked); err != nil {
				return nil, err
			}
			identity = s.identity(b)
		}
		line.Schema = journalSchema
		if err := line.agrees(fmt.Sprintf("%s:%d", shard, n), identity); err != nil {
			return nil, err
		}
		if line.Point < 1 || line.Point > len(s.points) || !slices.Equal(line.Set, s.settings(line.Point-1)) {
			return nil, fmt.Errorf("%s:%d: point %d: not one of the study's %d points", shard, n, line.Point, len(s.points))
		}
		points = append(points, line.Point-1)
	}
	if s == nil {
		return nil, fmt.Errorf("%s: got no point: want lines that slotwave sweep plan printed", shard)
	}
	slices.Sort(points)
	j, err := s.openJournal(rows, b)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(s.run(j, slices.Compact(points), progress), j.Close())
}

// Merge joins the rows of all parts of a plan. The error names points that
// are missing, that are in two files, or that are not in the study.
func Merge(files []string, b results.Build) (*Sweep, error) {
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
			_, err = s.readJournal(f, name, b, func(t task, r results.Replication) error {
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
	if tasks, _ := s.missing(s.all()); len(tasks) > 0 {
		return nil, s.errIncomplete(tasks)
	}
	return s, nil
}

// openRows opens the study that a file of rows names.
func openRows(f *os.File, name string) (*Sweep, error) {
	var head journalHead
	if err := json.NewDecoder(f).Decode(&head); err != nil || head.Schema != journalSchema {
		return nil, fmt.Errorf("%s:1: not a file of finished simulations: want one that slotwave sweep work wrote", name)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return OpenSweep(head.Study, head.Asked)
}
