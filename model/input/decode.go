// Package input reads the question put to a model from JSON and checks its
// values. Every error names the field. An unknown, missing, mistyped or
// out-of-range value is an error and is never replaced by a default.
package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Decode reads one JSON value into the struct v points to. It differs from
// encoding/json in being strict: names match exactly and once, every field must
// be there, null stands only for a pointer, and a whole number may be written
// 40 or 40.0. A field may be left out if it is a pointer or its tag says
// omitempty or omitzero; it then keeps the value v came with, and so does every
// field of a struct tagged input:"partial". A slice tagged input:"scalar" may be
// given as one value; one tagged input:"rows" may give its structs as lists of the values
// of their fields. All errors are reported together.
func Decode(in []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	tree, err := parse(d, 0)
	if err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	var c Check
	c.assign("", tree, reflect.ValueOf(v).Elem(), option{})
	return c.Err()
}

// object keeps the order of the fields, so that errors follow the input.
type object struct {
	keys   []string
	values map[string]any
}

// maxDepth bounds the recursion; no question nests deeper than six.
const maxDepth = 32

func parse(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("JSON nested deeper than %d", maxDepth)
	}
	first, err := token(d)
	if err != nil {
		return nil, err
	}
	switch first {
	case json.Delim('{'):
		o := object{values: map[string]any{}}
		for d.More() {
			key, err := token(d)
			if err != nil {
				return nil, err
			}
			name := key.(string)
			if _, twice := o.values[name]; twice {
				return nil, fmt.Errorf("%q is given twice", name)
			}
			o.keys = append(o.keys, name)
			if o.values[name], err = parse(d, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := token(d)
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parse(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := token(d)
		return list, err
	}
	return first, nil
}

func token(d *json.Decoder) (json.Token, error) {
	t, err := d.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("JSON ends too early")
	case err != nil:
		hint := ""
		if unquoted.MatchString(err.Error()) {
			hint = ": want names and texts in double quotes"
		}
		return nil, fmt.Errorf("not JSON from byte %d on: %w%s", d.InputOffset()+1, err, hint)
	}
	return t, nil
}

// unquoted is an error of encoding/json at a name or text without double quotes.
var unquoted = regexp.MustCompile(`^invalid character '(\pL|_|\\')'($| looking for beginning| in literal)`)

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

// option lists what the tag of a field allows.
type option struct{ missing, scalar, partial, rows bool }

// assign stores a parsed value at the place named by path.
func (c *Check) assign(path string, v any, to reflect.Value, o option) {
	wrong := func(want string) { c.Fail(path, "want %s, got %s", want, kindOf(v)) }
	switch to.Kind() {
	case reflect.Pointer:
		if v == nil {
			to.SetZero()
			return
		}
		to.Set(reflect.New(to.Type().Elem()))
		c.assign(path, v, to.Elem(), o)
	case reflect.Struct:
		given, ok := v.(object)
		if row, isRow := v.([]any); isRow && o.rows {
			known := fields(to)
			if len(row) != len(known) {
				c.Fail(path, "want %d values, got %d", len(known), len(row))
				return
			}
			for i, f := range known {
				c.assign(join(path, f.name), row[i], f.value, f.option)
			}
			return
		}
		if !ok {
			wrong("an object")
			return
		}
		c.assignStruct(path, given, to, o.partial)
	case reflect.Map:
		given, ok := v.(object)
		if !ok {
			wrong("an object")
			return
		}
		to.Set(reflect.MakeMap(to.Type()))
		for _, key := range given.keys {
			item := reflect.New(to.Type().Elem()).Elem()
			c.assign(join(path, key), given.values[key], item, option{})
			to.SetMapIndex(reflect.ValueOf(key), item)
		}
	case reflect.Slice, reflect.Array:
		list, ok := v.([]any)
		if !ok && o.scalar && v != nil {
			list, ok = []any{v}, true
		}
		if !ok {
			wrong("a list")
			return
		}
		if to.Kind() == reflect.Slice {
			to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
		} else if len(list) != to.Len() {
			c.Fail(path, "want %d values, got %d", to.Len(), len(list))
			return
		}
		for i, item := range list {
			c.assign(fmt.Sprintf("%s[%d]", path, i), item, to.Index(i), option{rows: o.rows})
		}
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			wrong("a string")
			return
		}
		to.SetString(s)
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			wrong("true or false")
			return
		}
		to.SetBool(b)
	case reflect.Float64:
		n, ok := v.(json.Number)
		if !ok {
			wrong("a number")
			return
		}
		f, err := n.Float64()
		if err != nil {
			c.Fail(path, "%s is out of range", n)
			return
		}
		to.SetFloat(f)
	case reflect.Int, reflect.Int64:
		n, ok := v.(json.Number)
		if !ok {
			wrong("a whole number")
			return
		}
		i, err := whole(n)
		if err != nil {
			c.Fail(path, "%v", err)
			return
		}
		to.SetInt(i)
	default:
		panic("input: no rule for " + to.Type().String())
	}
}

// whole reads a whole number in any notation.
func whole(n json.Number) (int64, error) {
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || math.Abs(f) > MaxCount {
		return 0, fmt.Errorf("%s is out of range", n)
	}
	if f != math.Trunc(f) {
		return 0, fmt.Errorf("want a whole number, got %s", n)
	}
	return int64(f), nil
}

type field struct {
	name  string
	unit  string // empty: none
	value reflect.Value
	option
}

// fields lists the JSON fields of a struct, including those of embedded
// structs.
func fields(v reflect.Value) []field {
	var all []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			embedded := fields(v.Field(i))
			for k := range embedded {
				embedded[k].missing = embedded[k].missing || f.Tag.Get("input") == "partial"
			}
			all = append(all, embedded...)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" || name == "-" {
			continue
		}
		list := strings.Split(options, ",")
		all = append(all, field{
			name:  name,
			unit:  f.Tag.Get("unit"),
			value: v.Field(i),
			option: option{
				missing: f.Type.Kind() == reflect.Pointer || slices.Contains(list, "omitempty") || slices.Contains(list, "omitzero"),
				scalar:  f.Tag.Get("input") == "scalar",
				partial: f.Tag.Get("input") == "partial",
				rows:    f.Tag.Get("input") == "rows",
			},
		})
	}
	return all
}

func (c *Check) assignStruct(path string, o object, to reflect.Value, partial bool) {
	known := fields(to)
	for _, f := range known {
		v, given := o.values[f.name]
		switch {
		case given:
			c.assign(join(path, f.name), v, f.value, f.option)
		case !f.missing && !partial:
			c.Fail(join(path, f.name), "missing")
		}
	}
	for _, key := range o.keys {
		if !slices.ContainsFunc(known, func(f field) bool { return f.name == key }) {
			names := make([]string, len(known))
			for i, f := range known {
				names[i] = f.name
			}
			c.Fail(join(path, key), "unknown field%s", Suggest(key, names))
		}
	}
}
