package scheduler

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// settings reads a scheduler's properties and keeps the first error.
type settings struct{ workload.ConfReader }

func settingsIn(conf workload.Conf) settings { return settings{workload.ConfReader{Conf: conf}} }

// wholeOr reads a property that is a whole number, unless it is not set.
func (s *settings) wholeOr(key string, def int) int {
	if _, ok := s.Conf.Lookup(key); !ok {
		return def
	}
	return s.Whole(key)
}

// millis reads a property in milliseconds.
func (s *settings) millis(key string) time.Duration {
	return time.Duration(s.Whole(key)) * time.Millisecond
}

// int reads a whole number from least to the largest int of Java.
func (s *settings) int(key string, def, least int) int {
	n := s.Int(key, def)
	if n < least || n > math.MaxInt32 {
		s.Note(fmt.Errorf("%s = %d: want a whole number from %d to %d", key, n, least, math.MaxInt32))
	}
	return n
}

// float reads a finite number that is not below least.
func (s *settings) float(key string, def, least float64) float64 {
	f := s.Float(key, def)
	if f < least || math.IsInf(f, 1) {
		s.Note(fmt.Errorf("%s = %v: want a number from %v on", key, f, least))
	}
	return f
}

const noTimeout = time.Duration(math.MaxInt64)

// timeout reads a number of seconds. If it is not set, timeout returns never.
func (s *settings) timeout(key string) time.Duration {
	if _, ok := s.Conf.Lookup(key); !ok {
		return noTimeout
	}
	return time.Duration(s.int(key, 0, 0)) * time.Second
}
