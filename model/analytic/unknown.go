package analytic

import (
	"math"
	"reflect"
	"strings"

	"github.com/slotwave/slotwave/model/taskplan"
)

// unknowns is the fallback of a question in which a number that is left out is unknown.
func unknowns[I any]() (none I) { return unknown(none) }

// unknown returns a struct with its optional numbers unknown (NaN): those that may be
// left out of a question, and all of a struct of statistics.
func unknown[T any](v T) T {
	forget(reflect.ValueOf(&v).Elem())
	return v
}

func forget(v reflect.Value) {
	all := v.Type() == reflect.TypeFor[taskplan.Data]() || v.Type() == reflect.TypeFor[taskplan.Cost]()
	for i := range v.NumField() {
		optional := strings.HasSuffix(v.Type().Field(i).Tag.Get("json"), ",omitzero")
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			forget(f)
		case reflect.Float64:
			if optional != all {
				f.SetFloat(math.NaN())
			}
		}
	}
}
