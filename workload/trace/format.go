package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// formats is the table of formats. If a text matches two formats, the first one
// is taken. To add a format, add a Format in its own file and a line here.
var formats = []Format{
	swimFormat, rumenFormat, topologyFormat, mrv1Format, jhistFormat, hituneFormat, slsFormat, dynoyarnFormat, synthFormat, tableFormat,
	tableGzipFormat, confFormat, propertiesFormat,
}

// Formats lists all formats.
func Formats() []Format { return slices.Clone(formats) }

// readableNames lists the formats that can be read.
func readableNames() (names []string) {
	for _, f := range formats {
		if f.Reads() {
			names = append(names, f.Name)
		}
	}
	return names
}

// reader returns the format of that name for reading.
func reader(name string) (Format, error) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name && f.Reads() })
	if i < 0 {
		return Format{}, fmt.Errorf("format: got %q: want one of %s", name, strings.Join(readableNames(), ", "))
	}
	return formats[i], nil
}

// detectFormat returns the name of the format of a text from its beginning.
func detectFormat(head []byte) string {
	const tries = 20 // the first lines may be damaged
	if object := bytes.TrimLeft(head, " \t\r\n"); bytes.HasPrefix(object, []byte{'{'}) {
		if f := detectJSON(object); f != "" {
			return f
		}
	}
	for rest, n := head, 0; len(rest) > 0 && n < tries; n++ {
		if f := detectHere(rest); f != "" {
			return f
		}
		_, rest, _ = bytes.Cut(rest, []byte{'\n'})
	}
	first := firstLine(head)
	line := strings.TrimSuffix(string(first), "\r")
	comma := ","
	if strings.Contains(line, "\t") {
		comma = "\t"
	}
	columns := strings.Split(line, comma)
	for _, f := range formats {
		if f.detect.header != nil && f.detect.header(line, columns) {
			return f.Name
		}
	}
	return ""
}

// detectHere checks one place where a record of a format may begin.
func detectHere(text []byte) string {
	for _, f := range formats {
		if f.detect.begins != nil && f.detect.begins(text) {
			return f.Name
		}
	}
	if beginsObject(firstLine(text)) {
		return detectJSON(text)
	}
	return ""
}

func detectJSON(text []byte) string {
	text = bytes.TrimLeft(text, "} ")
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return ""
	}
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return ""
		}
		for _, f := range formats {
			if slices.Contains(f.detect.keys, key.String()) {
				return f.Name
			}
		}
		if dec.SkipValue() != nil {
			return ""
		}
	}
}
