package yarn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
)

// Properties are settings by their full Hadoop names.
type Properties map[string]string

// Refused is the error of a setting that the ResourceManager refuses to start with.
type Refused struct {
	Key  string // of the property; of a queue of the FairScheduler "queue PATH: ELEMENT"
	What string
}

func (e *Refused) Error() string { return e.Key + ": " + e.What }

// reader reads properties and keeps the first thing that is wrong.
type reader struct {
	p       Properties
	release *model.YARNRelease
	read    map[string]bool // keys that were asked for; nil: nobody wants to know
	err     error

	weighted []string // keys of the weights of users, sorted
}

// knows reports whether the release knows a setting.
func (r *reader) knows(key string) bool {
	return r.release == nil || !slices.ContainsFunc(r.release.Lacks, func(part string) bool {
		return strings.HasSuffix(key, part) || strings.HasSuffix(part, ".") && strings.Contains(key, part)
	})
}

func (r *reader) fail(key, want string) {
	if r.err == nil {
		r.err = &Refused{key, fmt.Sprintf("got %q: want %s", r.p[key], want)}
	}
}

// text returns a property without the space around it, or a default.
func (r *reader) text(key, unset string) string {
	if !r.knows(key) {
		return unset
	}
	if r.read != nil {
		r.read[key] = true
	}
	if v, ok := r.p[key]; ok {
		return strings.TrimSpace(v)
	}
	return unset
}

// parsed reads a property by a function, or returns a default.
func parsed[T any](r *reader, key string, unset T, want string, parse func(string) (T, error)) T {
	v := r.text(key, "")
	if v == "" {
		return unset
	}
	n, err := parse(v)
	if err != nil {
		r.fail(key, want)
	}
	return n
}

func (r *reader) whole(key string, unset int64) int64 {
	return parsed(r, key, unset, "a whole number", func(v string) (int64, error) { return strconv.ParseInt(v, 10, 64) })
}

func (r *reader) number(key string, unset float32) float32 {
	return float32(r.double(key, float64(unset), 32))
}

func (r *reader) double(key string, unset float64, bits int) float64 {
	return parsed(r, key, unset, "a number", func(v string) (float64, error) { return parseNumber(v, bits) })
}

// parseNumber parses a number. NaN is none: no comparison with a limit would refuse it.
func parseNumber(v string, bits int) (float64, error) {
	f, err := strconv.ParseFloat(v, bits)
	if math.IsNaN(f) {
		err = strconv.ErrRange
	}
	return f, err
}

func (r *reader) flag(key string, unset bool) bool {
	switch v := strings.ToLower(r.text(key, "")); v {
	case "true":
		return true
	case "false":
		return false
	}
	return unset // Configuration.getBoolean takes the default for anything else
}

// list splits a property at commas and drops what is empty.
func (r *reader) list(key string) []string {
	var out []string
	for _, s := range strings.Split(r.text(key, ""), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// least and most are the bounds of an allocation that every policy reads.
func (r *reader) bounds() (least, most Resource) {
	least = Resource{
		MemoryMiB: r.whole("yarn.scheduler.minimum-allocation-mb", 1024),
		VCores:    r.whole("yarn.scheduler.minimum-allocation-vcores", 1),
	}
	most = Resource{
		MemoryMiB: r.whole("yarn.scheduler.maximum-allocation-mb", 8192),
		VCores:    r.whole("yarn.scheduler.maximum-allocation-vcores", r.release.MostVCores),
	}
	if least.MemoryMiB <= 0 || least.MemoryMiB > most.MemoryMiB {
		r.fail("yarn.scheduler.minimum-allocation-mb", fmt.Sprintf("more than 0 and at most yarn.scheduler.maximum-allocation-mb (%d)", most.MemoryMiB))
	}
	if least.VCores <= 0 || least.VCores > most.VCores {
		r.fail("yarn.scheduler.minimum-allocation-vcores", fmt.Sprintf("more than 0 and at most yarn.scheduler.maximum-allocation-vcores (%d)", most.VCores))
	}
	return least, most
}

// Milliseconds reads a property in ms.
func (p Properties) Milliseconds(key string, unset time.Duration) (time.Duration, error) {
	r := &reader{p: p}
	n := r.whole(key, unset.Milliseconds())
	return time.Duration(n) * time.Millisecond, r.err
}
