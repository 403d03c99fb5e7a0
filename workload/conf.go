package workload

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
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

// valueOf returns a property as a value, or def when it is not set.
func valueOf[T any](c Conf, key string, def T, want string, parse func(string) (T, error)) (none T, err error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	x, err := parse(strings.TrimSpace(v))
	if err != nil {
		return none, fmt.Errorf("%s = %q: want %s", key, v, want)
	}
	return x, nil
}

// Int returns a whole number, or def when the property is not set.
func (c Conf) Int(key string, def int) (int, error) {
	return valueOf(c, key, def, "a whole number", strconv.Atoi)
}

// Float returns a number, or def when the property is not set.
func (c Conf) Float(key string, def float64) (float64, error) {
	return valueOf(c, key, def, "a number", parseFloat)
}

// Bool returns a truth value, or def when the property is not set.
func (c Conf) Bool(key string, def bool) (bool, error) {
	return valueOf(c, key, def, "true or false", func(text string) (bool, error) {
		switch strings.ToLower(text) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return false, strconv.ErrSyntax
	})
}

// heapOption is the option of a JVM in which Hadoop finds the size of its heap
// (JobConf.parseMaximumHeapSizeMB).
var heapOption = regexp.MustCompile(`^-Xmx(\d+)([gGmMkK]?)$`)

// Heap returns the bytes of the last -Xmx among the options of a JVM that Hadoop
// understands, or Unknown.
func Heap(opts string) int64 {
	heap := int64(Unknown)
	for opt := range strings.FieldsSeq(opts) {
		m := heapOption.FindStringSubmatch(strings.Trim(opt, `"'`))
		if m == nil {
			continue
		}
		if n, err := ParseBytes(m[1] + m[2]); err == nil {
			heap = n
		}
	}
	return heap
}

// HeapMB returns the -Xmx of Java options in MiB, or Unknown.
func HeapMB(opts string) int64 {
	if heap := Heap(opts); heap != Unknown {
		return heap >> 20
	}
	return Unknown
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

// Int reads a whole number, or def when the property is not set.
func (r *ConfReader) Int(key string, def int) int {
	n, err := r.Conf.Int(key, def)
	r.Note(err)
	return n
}

// Float reads a number, or def when the property is not set.
func (r *ConfReader) Float(key string, def float64) float64 {
	f, err := r.Conf.Float(key, def)
	r.Note(err)
	return f
}

// Bool reads a truth value, or def when the property is not set.
func (r *ConfReader) Bool(key string, def bool) bool {
	b, err := r.Conf.Bool(key, def)
	r.Note(err)
	return b
}

// For returns the configuration with the defaults of a reader or release, if
// those differ from the common ones ("fair2", "ideal").
func (c Conf) For(reader string) Conf {
	var own Conf
	for i := range properties {
		if v, ok := properties[i].per[reader]; ok {
			own.Set(properties[i].Key, v)
		}
	}
	return own.Over(c)
}

// read returns the effective value of a property of one of these kinds. It
// panics if the key is not in the table or is of another kind.
func (c Conf) read(key string, kinds ...valueKind) (v float64, n int64, err error) {
	p, ok := rows[key]
	if !ok || !slices.Contains(kinds, p.kind) {
		panic("workload: the table of properties has no such row: " + key)
	}
	value, set := c.values[key]
	if !set {
		value = p.Default
		if value == "" {
			return 0, 0, errors.New(key + ": not set: want " + p.Range())
		}
	}
	return p.parse(value)
}

// Whole returns the effective whole number of a property: the value set, or the
// default of the table.
func (c Conf) Whole(key string) (int, error) {
	_, n, err := c.read(key, whole)
	return int(n), err
}

// Number returns the effective number or fraction of a property.
func (c Conf) Number(key string) (float64, error) {
	v, _, err := c.read(key, number, fraction)
	return v, err
}

// Truth returns the effective truth value of a property.
func (c Conf) Truth(key string) (bool, error) {
	v, _, err := c.read(key, truth)
	return v == 1, err
}

// Size returns the effective bytes of a property.
func (c Conf) Size(key string) (int64, error) {
	_, n, err := c.read(key, size)
	return n, err
}

// Text returns the effective text of a property.
func (c Conf) Text(key string) string {
	if _, _, err := c.read(key, text); err != nil {
		return ""
	}
	return cmp.Or(strings.TrimSpace(c.values[key]), rows[key].Default)
}
