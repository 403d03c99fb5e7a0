package input

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// MaxCount is the largest count of a model. A float64 cannot represent all
// larger whole numbers.
const MaxCount = 1 << 53

// Check collects the errors in the parameters of a model. The zero Check is
// ready to use. NaN means that a source does not state the value.
type Check struct{ errs []error }

// Err returns everything found, or nil.
func (c *Check) Err() error { return errors.Join(c.errs...) }

// Fail records an error of the named field.
func (c *Check) Fail(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if name != "" {
		text = name + ": " + text
	}
	c.errs = append(c.errs, errors.New(text))
}

// Number requires a finite number.
func (c *Check) Number(name string, v float64) bool {
	switch {
	case math.IsNaN(v):
		c.Fail(name, "missing")
	case math.IsInf(v, 0):
		c.Fail(name, "%v: want a finite number", v)
	default:
		return true
	}
	return false
}

// AtLeast requires a finite number of least or more.
func (c *Check) AtLeast(name string, v, least float64) {
	if c.Number(name, v) && v < least {
		c.Fail(name, "%v: want %v or more", v, least)
	}
}

// Above requires a finite number larger than limit.
func (c *Check) Above(name string, v, limit float64) {
	if c.Number(name, v) && v <= limit {
		c.Fail(name, "%v: want more than %v", v, limit)
	}
}

// Within requires a number from low to high, both allowed.
func (c *Check) Within(name string, v, low, high float64) {
	if c.Number(name, v) && (v < low || v > high) {
		c.Fail(name, "%v: want %v to %v", v, low, high)
	}
}

// Part requires a part of a whole: above 0, at most 1.
func (c *Check) Part(name string, v float64) {
	if c.Number(name, v) && (v <= 0 || v > 1) {
		c.Fail(name, "%v: want more than 0 and at most 1", v)
	}
}

// Count requires a count of least or more.
func (c *Check) Count(name string, v, least int) {
	switch {
	case v < least:
		c.Fail(name, "%d: want %d or more", v, least)
	case v > MaxCount:
		c.Fail(name, "%d: want at most 2^53", v)
	}
}

// List requires at least least numbers, each of lowest or more.
func (c *Check) List(name string, list []float64, least int, lowest float64) {
	if len(list) < least {
		c.Fail(name, "%d values: want %d or more", len(list), least)
	}
	for i, v := range list {
		if !(v >= lowest && v <= math.MaxFloat64) { // naming every item would take most of a fit's time
			c.AtLeast(fmt.Sprintf("%s[%d]", name, i), v, lowest)
		}
	}
}

// Finite reports the first number in v that overflowed or is undefined. It
// looks into structs, pointers, slices and maps.
func Finite(v any) error { return finite("", reflect.ValueOf(v)) }

func finite(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s is %v: the input is beyond the range of the model", path, f)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return finite(path, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := finite(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			if err := finite(join(path, key.String()), v.MapIndex(key)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if err := finite(join(path, v.Type().Field(i).Name), v.Field(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
