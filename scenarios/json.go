package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// parseJSON reads a JSON object into a table with line numbers, as parse reads TOML. A
// key without a value (null) is left out.
func parseJSON(data []byte, file string) (*table, error) {
	p := jsonText{data: data, d: json.NewDecoder(bytes.NewReader(data)), lines: make(map[string]int)}
	p.d.UseNumber()
	tree, err := p.value("", 0)
	if _, more := p.d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("got text after the object: want a single object")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the text ends within the object: want a recorded case with all of its brackets closed, or a scenario in TOML")
	}
	if err != nil {
		return nil, &Errors{File: file, all: []problem{{line: p.line(), what: err.Error()}}}
	}
	values, isObject := tree.(map[string]any)
	if !isObject {
		return nil, fmt.Errorf("%s: want a JSON object", file)
	}
	return &table{report: &report{file: file, lines: p.lines}, values: values}, nil
}

// jsonText is a JSON text that is read token by token, with the lines of its values by
// their paths as in jobs[0].maps.ms[3].
type jsonText struct {
	data  []byte
	d     *json.Decoder
	lines map[string]int
	read  int // bytes whose lines are counted
	above int // lines before them
}

// line returns the line up to which the text is read.
func (p *jsonText) line() int {
	at := int(p.d.InputOffset())
	p.above += bytes.Count(p.data[p.read:at], []byte("\n"))
	p.read = at
	return p.above + 1
}

// value reads the value at a path. Whole numbers are int64, others float64, as in TOML.
func (p *jsonText) value(path string, depth int) (any, error) {
	token, err := p.d.Token()
	p.lines[path] = p.line()
	switch {
	case err != nil:
		return nil, err
	case depth > maxDepth:
		return nil, fmt.Errorf("values nested deeper than %d", maxDepth)
	}
	switch token := token.(type) {
	case json.Number:
		if n, err := token.Int64(); err == nil {
			return n, nil
		}
		f, _ := token.Float64() // one out of range is infinite, which no reader takes
		return f, nil
	case json.Delim:
		if token == '[' {
			return p.list(path, depth)
		}
		return p.object(path, depth)
	}
	return token, nil
}

func (p *jsonText) list(path string, depth int) (any, error) {
	list := []any{}
	for p.d.More() {
		v, err := p.value(index(path, len(list)), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := p.d.Token()
	return list, err
}

func (p *jsonText) object(path string, depth int) (any, error) {
	values := map[string]any{}
	for p.d.More() {
		key, err := p.d.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string)
		v, err := p.value(join(path, name), depth+1)
		if err != nil {
			return nil, err
		}
		if v != nil {
			values[name] = v
		}
	}
	_, err := p.d.Token()
	return values, err
}
