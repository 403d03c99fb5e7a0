package scheduler

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// settings reads a scheduler's properties and keeps the first error.
type settings struct {
	conf workload.Conf
	err  error
}

func (s *settings) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

// whole reads a property that is a whole number.
func (s *settings) whole(key string) int {
	n, err := s.conf.Whole(key)
	s.note(err)
	return n
}

// wholeOr reads a property that is a whole number, unless it is not set.
func (s *settings) wholeOr(key string, def int) int {
	if _, ok := s.conf.Lookup(key); !ok {
		return def
	}
	return s.whole(key)
}

// number reads a property that is a finite number.
func (s *settings) number(key string) float64 {
	f, err := s.conf.Number(key)
	s.note(err)
	return f
}

// truth reads a property that is true or false.
func (s *settings) truth(key string) bool {
	b, err := s.conf.Truth(key)
	s.note(err)
	return b
}

// millis reads a property in milliseconds.
func (s *settings) millis(key string) time.Duration {
	return time.Duration(s.whole(key)) * time.Millisecond
}

func (s *settings) bool(key string, def bool) bool {
	b, err := s.conf.Bool(key, def)
	s.note(err)
	return b
}

// int reads a whole number from least to the largest int of Java.
func (s *settings) int(key string, def, least int) int {
	n, err := s.conf.Int(key, def)
	s.note(err)
	if n < least || n > math.MaxInt32 {
		s.note(fmt.Errorf("%s = %d: want a whole number from %d to %d", key, n, least, math.MaxInt32))
	}
	return n
}

// float reads a finite number that is not below least.
func (s *settings) float(key string, def, least float64) float64 {
	f, err := s.conf.Float(key, def)
	s.note(err)
	if f < least || math.IsInf(f, 1) {
		s.note(fmt.Errorf("%s = %v: want a number from %v on", key, f, least))
	}
	return f
}

// timeout reads a number of seconds. If it is not set, timeout returns never.
func (s *settings) timeout(key string) time.Duration {
	if _, ok := s.conf.Lookup(key); !ok {
		return noTimeout
	}
	return time.Duration(s.int(key, 0, 0)) * time.Second
}
