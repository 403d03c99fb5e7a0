package input

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Field describes a field of a question.
type Field struct {
	Name    string // with the fields that it is within, such as profile.N_M
	Kind    string // a number, a list of numbers, ...
	Unit    string // by the tag unit; empty: none, as of counts, shares, texts and switches
	Needed  bool
	Default string // empty: none
}

// Describe lists the fields of a question, which holds its defaults.
func Describe(question any) []Field {
	return describe("", reflect.ValueOf(question), true, true)
}

// describe lists the fields of a struct. The values of a struct that is not known
// are no defaults.
func describe(path string, v reflect.Value, needed, known bool) (all []Field) {
	for _, f := range fields(v) {
		name, t, value, own := join(path, f.name), f.value.Type(), f.value, known
		list := ""
		for within := true; within; {
			switch t.Kind() {
			case reflect.Map:
				name, list = name+".*", list+"an object of "
			case reflect.Slice, reflect.Array:
				name, list = name+"[]", list+"a list of "
			case reflect.Pointer:
			default:
				within = false
				continue
			}
			t, own = t.Elem(), false
			value = reflect.Zero(t)
		}
		isNeeded := needed && !f.missing
		if t.Kind() == reflect.Struct {
			all = append(all, describe(name, value, isNeeded && !f.partial, own)...)
			continue
		}
		d := Field{Name: name, Kind: kinds[t.Kind()], Unit: f.unit, Needed: isNeeded}
		if list != "" {
			d.Kind = list + strings.TrimPrefix(d.Kind, "a ") + "s"
		}
		if own && !isNeeded {
			d.Default = defaultOf(value)
		}
		all = append(all, d)
	}
	return all
}

var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Float64: "a number",
	reflect.Int: "a whole number", reflect.Int64: "a whole number",
}

// defaultOf returns a default as text; unknown numbers have none.
func defaultOf(v reflect.Value) string {
	if v.Kind() == reflect.Float64 && math.IsNaN(v.Float()) {
		return ""
	}
	if v.Kind() == reflect.Float64 {
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}
