package scheduler

import (
	"time"

	"github.com/slotwave/slotwave/workload"
)

// settings reads a policy's properties and keeps the first error.
type settings struct {
	conf workload.Conf
	err  error
}

func (s *settings) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *settings) bool(key string, def bool) bool {
	b, err := s.conf.Bool(key, def)
	s.note(err)
	return b
}

func (s *settings) int(key string, def int) int {
	n, err := s.conf.Int(key, def)
	s.note(err)
	return n
}

func (s *settings) float(key string, def float64) float64 {
	f, err := s.conf.Float(key, def)
	s.note(err)
	return f
}

func (s *settings) millis(key string, def int) time.Duration {
	return time.Duration(s.int(key, def)) * time.Millisecond
}

// timeout reads a number of seconds; not set means never.
func (s *settings) timeout(key string) time.Duration {
	if _, ok := s.conf.Lookup(key); !ok {
		return noTimeout
	}
	return time.Duration(s.int(key, 0)) * time.Second
}
