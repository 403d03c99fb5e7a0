package vectortest

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
)

// Dump writes all that can be reached from a value but functions, in an order of its own,
// except zeros.
func Dump(w io.Writer, value any) { dump(w, reflect.ValueOf(value)) }

func dump(w io.Writer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dump(w, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fmt.Fprint(w, v.Type().Field(i).Name, ":")
				dump(w, f)
			}
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprint(w, v.Len(), "[")
		for i := range v.Len() {
			dump(w, v.Index(i))
		}
	case reflect.Map:
		keys := map[string]reflect.Value{}
		for _, k := range v.MapKeys() {
			keys[fmt.Sprint(k)] = k
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			fmt.Fprint(w, k, "=")
			dump(w, v.MapIndex(keys[k]))
		}
	case reflect.Float64:
		writeRounded(w, v.Float())
		fmt.Fprint(w, " ")
	case reflect.Func, reflect.Invalid:
	default:
		fmt.Fprint(w, v, " ")
	}
}
