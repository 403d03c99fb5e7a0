package workload

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"io"
	"os"
)

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
