package trace

import (
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

// object is an object of JSON: the names of its members and their values in turn.
type object []any

// list is a list of JSON.
type list []any

// items is a list that is too long to be held: it is called with what writes an item.
type items func(write func(any))

// jsonWriter writes values as JSON and keeps the first error.
type jsonWriter struct {
	enc *jsontext.Encoder
	err error
}

func newJSONWriter(w io.Writer, opts ...jsontext.Options) *jsonWriter {
	opts = append(opts, jsontext.AllowInvalidUTF8(true))
	return &jsonWriter{enc: jsontext.NewEncoder(w, opts...)}
}

func (w *jsonWriter) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

// write writes a value: an object, a list, a text, a number, a truth value or null.
func (w *jsonWriter) write(v any) {
	switch v := v.(type) {
	case object:
		w.token(jsontext.BeginObject)
		for i := 0; i < len(v); i += 2 {
			w.token(jsontext.String(v[i].(string)))
			w.write(v[i+1])
		}
		w.token(jsontext.EndObject)
	case items:
		w.token(jsontext.BeginArray)
		v(w.write)
		w.token(jsontext.EndArray)
	case list:
		writeList(w, v)
	case []object:
		writeList(w, v)
	case []string:
		writeList(w, v)
	case []float64:
		writeList(w, v)
	case []int64:
		writeList(w, v)
	case nil:
		w.token(jsontext.Null)
	case string:
		w.token(jsontext.String(v))
	case bool:
		w.token(jsontext.Bool(v))
	case int:
		w.token(jsontext.Int(int64(v)))
	case int64:
		w.token(jsontext.Int(v))
	case float64:
		w.token(jsontext.Float(v))
	default:
		panic(fmt.Sprintf("trace: no value of JSON: %T", v))
	}
}

func writeList[T any](w *jsonWriter, list []T) {
	w.token(jsontext.BeginArray)
	for _, v := range list {
		w.write(v)
	}
	w.token(jsontext.EndArray)
}

// orNull returns null for an unknown text.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// asInt omits numbers that Hadoop cannot read into an int.
func asInt(v int64) int64 {
	if v > math.MaxInt32 {
		return workload.Unknown
	}
	return v
}
