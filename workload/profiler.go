package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/gob"
	"io"
	"os"
)

// Profiler makes profiles of recorded jobs. Runs of one job, known by its name,
// merge into one profile. It keeps no jobs, so that many histories can pass
// through it, but the values behind the samples of the merged profiles: about 50
// bytes for a task.
type Profiler struct {
	// Key names the profile that a job belongs to. It is empty for a job with
	// a profile of its own, under its id. If Key is nil, the name of the job
	// is used.
	Key func(*HistoryJob) string

	// Spill writes the profiles of single jobs to a temporary file if they
	// exceed a MiB. Only Each returns them, and Close removes them.
	Spill bool

	byKey map[string]*profileSums
	order []*profileSums
	done  spool
}

// Add adds one run.
func (p *Profiler) Add(j *HistoryJob) {
	key := j.Name
	if p.Key != nil {
		key = p.Key(j)
	}
	s, ok := p.byKey[key]
	if !ok {
		s = &profileSums{name: cmp.Or(key, j.ID), after: p.done.n}
		if key == "" && p.Spill {
			s.add(j)
			p.done.put(s.profile())
			return
		}
		if p.byKey == nil {
			p.byKey = make(map[string]*profileSums)
		}
		if key != "" {
			p.byKey[key] = s
		}
		p.order = append(p.order, s)
	}
	s.add(j)
}

// Profiles returns the profiles in the order of their first runs.
func (p *Profiler) Profiles() []*Profile {
	list := make([]*Profile, len(p.order))
	for i, s := range p.order {
		list[i] = s.profile()
	}
	return list
}

// Each calls f for the profiles in the order of their first runs, one at a
// time. An error comes from f or from the temporary file.
func (p *Profiler) Each(f func(*Profile) error) error {
	next, err := p.done.reader()
	for _, s := range p.order {
		for ; err == nil && p.done.at < s.after; p.done.at++ {
			err = next(f)
		}
		if err == nil {
			err = f(s.profile())
		}
	}
	for ; err == nil && p.done.at < p.done.n; p.done.at++ {
		err = next(f)
	}
	return err
}

// Len returns the number of profiles.
func (p *Profiler) Len() int { return len(p.order) + p.done.n }

// Close removes the temporary file.
func (p *Profiler) Close() error { return p.done.close() }

// extractProfile makes the profile of one or more runs of one job.
func extractProfile(runs ...*HistoryJob) *Profile {
	p := Profiler{Key: func(*HistoryJob) string { return cmp.Or(runs[0].Name, runs[0].ID) }}
	for _, j := range runs {
		p.Add(j)
	}
	return p.Profiles()[0]
}

// spool holds profiles in the order of arrival: in memory, or in a temporary
// file if they are many.
type spool struct {
	n, at  int // profiles stored, and profiles returned
	memory bytes.Buffer
	file   *os.File
	out    *bufio.Writer
	enc    *gob.Encoder
	err    error
}

const spoolMemory = 1 << 20

// Write stores encoded profiles.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) <= spoolMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "slotwave-profiles-*")
		if err != nil {
			return 0, err
		}
		os.Remove(f.Name()) // the open file remains readable, if the system allows that
		s.file, s.out = f, bufio.NewWriterSize(f, 1<<16)
		if _, err := s.memory.WriteTo(s.out); err != nil {
			return 0, err
		}
		s.memory = bytes.Buffer{}
	}
	return s.out.Write(p)
}

func (s *spool) put(p *Profile) {
	if s.enc == nil {
		s.enc = gob.NewEncoder(s)
	}
	if s.err == nil {
		s.err = s.enc.Encode(p)
	}
	s.n++
}

// reader starts from the beginning. It returns a function that passes the next
// profile to another function.
func (s *spool) reader() (next func(func(*Profile) error) error, err error) {
	s.at = 0
	if s.err != nil {
		return nil, s.err
	}
	var from io.Reader = bytes.NewReader(s.memory.Bytes())
	if s.file != nil {
		if err := s.out.Flush(); err != nil {
			return nil, err
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		from = bufio.NewReaderSize(s.file, 1<<16)
	}
	dec := gob.NewDecoder(from)
	return func(f func(*Profile) error) error {
		var p Profile
		if err := dec.Decode(&p); err != nil {
			return err
		}
		return f(&p)
	}, nil
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	os.Remove(s.file.Name()) // for systems that cannot remove an open file
	return err
}
