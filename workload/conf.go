package workload

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Conf holds Hadoop properties under their 0.20/1.x names. MRv2 names are
// accepted everywhere and stored under the old name (Canonical). The zero Conf
// is empty and ready to use.
type Conf struct {
	values map[string]string
}

// Set stores a property, replacing an earlier value under either name. It never stores
// a password or another secret, so that no file holds one.
func (c *Conf) Set(key, value string) {
	if c.values == nil {
		c.values = make(map[string]string)
	}
	c.values[Canonical(key)] = withoutSecrets(key, value)
}

// Equal reports whether two configurations set the same properties to the same
// values.
func (c Conf) Equal(o Conf) bool { return maps.Equal(c.values, o.values) }

// Grow reserves room for n properties in an empty Conf.
func (c *Conf) Grow(n int) {
	if c.values == nil {
		c.values = make(map[string]string, n)
	}
}

// Len returns the number of properties that are set.
func (c Conf) Len() int { return len(c.values) }

// Lookup returns the text of a property and whether it is set.
func (c Conf) Lookup(key string) (string, bool) {
	v, ok := c.values[Canonical(key)]
	return v, ok
}

// Keys lists the properties that are set, sorted.
func (c Conf) Keys() []string { return slices.Sorted(maps.Keys(c.values)) }

// Without returns c without a property. It does not change c.
func (c Conf) Without(key string) Conf {
	left := maps.Clone(c.values)
	delete(left, Canonical(key))
	return Conf{left}
}

// Over returns c with every property of top set over it. Neither changes.
func (c Conf) Over(top Conf) Conf {
	if len(top.values) == 0 {
		return c
	}
	if len(c.values) == 0 {
		return top
	}
	merged := maps.Clone(c.values)
	maps.Copy(merged, top.values)
	return Conf{merged}
}

// String returns a property's text, or def when it is not set.
func (c Conf) String(key, def string) string {
	if v, ok := c.Lookup(key); ok {
		return strings.TrimSpace(v)
	}
	return def
}

// Int returns a whole number, or def when the property is not set.
func (c Conf) Int(key string, def int) (int, error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil {
		return 0, fmt.Errorf("%s = %q: want a whole number", key, v)
	}
	return n, nil
}

// Float returns a number, or def when the property is not set.
func (c Conf) Float(key string, def float64) (float64, error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || f != f {
		return 0, fmt.Errorf("%s = %q: want a number", key, v)
	}
	return f, nil
}

// Bool returns a truth value, or def when the property is not set.
func (c Conf) Bool(key string, def bool) (bool, error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s = %q: want true or false", key, v)
}

// ParseBytes reads a size as Hadoop does: 128m is 134,217,728. The unit is k, m, g, t
// or p in either case, which b or ib may follow, after at most one blank.
func ParseBytes(s string) (int64, error) {
	s = strings.TrimSpace(s)
	digits := 1 + strings.LastIndexAny(s, "0123456789.")
	unit := strings.ToLower(strings.TrimPrefix(s[digits:], " "))
	power := 0
	if unit != "" && unit != "b" {
		power = 1 + strings.IndexByte("kmgtp", unit[0])
		if rest := unit[1:]; power == 0 || rest != "" && rest != "b" && rest != "ib" {
			digits = 0 // no size
		}
	}
	v, err := strconv.ParseFloat(s[:digits], 64)
	if v = math.Ldexp(v, 10*power); err != nil || !(v >= 0 && v < math.MaxInt64) {
		return 0, fmt.Errorf("%q: want a size like 64m, 30 GB or 67108864", s)
	}
	return int64(v), nil
}

// Heap returns the bytes of the last -Xmx among the options of a JVM, or Unknown.
func Heap(opts string) (int64, error) {
	heap := int64(Unknown)
	for opt := range strings.FieldsSeq(opts) {
		if size, ok := strings.CutPrefix(opt, "-Xmx"); ok {
			n, err := ParseBytes(size)
			if err != nil {
				return Unknown, err
			}
			heap = n
		}
	}
	return heap, nil
}

// HeapMB returns the -Xmx of Java options in MiB, or Unknown.
func HeapMB(opts string) int64 {
	heap, err := Heap(opts)
	if err != nil || heap == Unknown {
		return Unknown
	}
	return heap >> 20
}

// ConfReader reads properties and keeps the first error.
type ConfReader struct {
	Conf Conf
	Err  error
}

// Note keeps an error, unless there is one.
func (r *ConfReader) Note(err error) {
	if r.Err == nil {
		r.Err = err
	}
}

// Whole reads a property that is a whole number.
func (r *ConfReader) Whole(key string) int {
	n, err := r.Conf.Whole(key)
	r.Note(err)
	return n
}

// Number reads a property that is a finite number.
func (r *ConfReader) Number(key string) float64 {
	f, err := r.Conf.Number(key)
	r.Note(err)
	return f
}

// Truth reads a property that is true or false.
func (r *ConfReader) Truth(key string) bool {
	b, err := r.Conf.Truth(key)
	r.Note(err)
	return b
}
