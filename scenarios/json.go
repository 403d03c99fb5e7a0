package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// parseJSON reads a JSON object into a table with line numbers, as parse reads TOML. A
// key without a value (null) is left out.
func parseJSON(data []byte, file string) (*table, error) {
	s := newScanner(string(data))
	s.colon, s.at[""] = true, 1
	s.value("", 0)
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var values map[string]any
	err := s.err
	if err == nil {
		err = d.Decode(&values)
	}
	if rest := bytes.TrimLeft(data[d.InputOffset():], " \t\r\n"); err == nil && len(rest) > 0 {
		err = problem{line: lineOf(data, len(data)-len(rest)), what: "got text after the object: want a single object"}
	}
	var p problem
	var wrong *json.SyntaxError
	switch {
	case err == nil:
		typed(values)
		return &table{report: &report{file: file, lines: s.at, order: s.order}, values: values}, nil
	case errors.As(err, &p):
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p = problem{line: s.line, what: "the text ends within the object: want a recorded case with all of its brackets closed, or a scenario in TOML"}
	case errors.As(err, &wrong):
		p = problem{line: lineOf(data, int(wrong.Offset)), what: err.Error()}
	default:
		p.what = "want a JSON object"
	}
	return nil, &Errors{File: file, all: []problem{p}}
}

// lineOf returns the line of a byte.
func lineOf(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }

// typed makes whole numbers int64 and others float64, as in TOML, and drops nulls.
func typed(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // one out of range is infinite, which no reader takes
		return f
	case []any:
		for i := range v {
			v[i] = typed(v[i])
		}
	case map[string]any:
		for key, x := range v {
			v[key] = typed(x)
			if x == nil {
				delete(v, key)
			}
		}
	}
	return v
}
