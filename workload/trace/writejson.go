package trace

import (
	"io"
	"math"

	"github.com/go-json-experiment/json"
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

func (w *jsonWriter) write(v any) {
	if w.err == nil {
		w.err = json.MarshalEncode(w.enc, v)
	}
}

// MarshalJSONTo implements json.MarshalerTo.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := &jsonWriter{enc: enc}
	w.token(jsontext.BeginObject)
	for _, v := range o {
		w.write(v)
	}
	w.token(jsontext.EndObject)
	return w.err
}

// MarshalJSONTo implements json.MarshalerTo.
func (list items) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := &jsonWriter{enc: enc}
	w.token(jsontext.BeginArray)
	list(w.write)
	w.token(jsontext.EndArray)
	return w.err
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
