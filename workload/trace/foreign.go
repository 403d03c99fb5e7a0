package trace

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ForeignError says what a file is that records no runs, and what to give in its
// place.
type ForeignError string

func (e ForeignError) Error() string { return string(e) }

// Foreign describes a text in no known format from its beginning; nil: nothing
// is known of it.
func Foreign(head []byte) error {
	if what := foreign(head); what != "" {
		return ForeignError(what)
	}
	if scenarioLine.Match(head) {
		return errors.New("a scenario: want a record, such as the result that slotwave run FILE writes")
	}
	return nil
}

// scenarioLine matches a table or a key of a scenario in TOML.
var scenarioLine = regexp.MustCompile(`(?m)^(\[\[?[a-z_.]+\]\]?|[a-z_]+ *= *["0-9\[{].*)\s*$`)

func foreign(head []byte) string {
	text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for _, kind := range foreignKinds {
		begins := func(prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }
		if slices.ContainsFunc(kind.begins, begins) || kind.holds != "" && bytes.Contains(text, []byte(kind.holds)) {
			return kind.what
		}
	}
	if arrayOfObjects.Match(text) {
		return "an array of JSON: want its objects one after another; jq -c '.[]' FILE writes them"
	}
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- { // the end may cut a letter
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			text = text[:i]
		}
	}
	if !utf8.Valid(text) {
		return "bytes that are not text in UTF-8: want UTF-8; iconv -f latin1 -t utf-8 FILE converts a text in Latin-1"
	}
	line := strings.TrimSuffix(string(firstLine(text)), "\r")
	if tableHead.MatchString(strings.ReplaceAll(line, ";", ",")) && !strings.Contains(line, ",") {
		return `columns separated by ";": want commas or tabs`
	}
	if columns := strings.Split(line, ","); len(columns) > 1 && tableHead.MatchString(line) {
		return "a table with the columns " + strings.Join(columns[:min(len(columns), 5)], ", ") + ": want those of attempts.csv or jobs.csv, which slotwave run writes"
	}
	return ""
}

// foreignKinds are files that are often given in place of a history, by what
// they begin with or hold. The first that matches describes the file.
var foreignKinds = []struct {
	begins []string
	holds  string
	what   string
}{
	{begins: []string{"\xff\xfe", "\xfe\xff"}, what: "text in UTF-16: want UTF-8; iconv -f utf-16 -t utf-8 FILE converts it"},
	{begins: []string{"\x89PNG", "\xff\xd8\xff", "GIF8", "<svg"}, what: "a picture: want a history, a trace or a table of attempts"},
	{begins: []string{"%PDF"}, what: "a PDF document: want a history, a trace or a table of attempts"},
	{begins: []string{"PK\x03\x04"}, what: "a zip archive: want the files in it, unpacked"},
	{begins: []string{"phase,row,data_mb"}, what: "a platform profile: want a history; slotwave platform fit FILE and slotwave platform calibrate FILE take it"},
	{begins: []string{"<!DOCTYPE html", "<!doctype html", "<html"}, what: "a page of HTML: want the history that the page shows, from the history folder of the JobTracker or the JobHistoryServer"},
	{holds: `"Event":"SparkListener`, what: "an event log of Spark: want a record of MapReduce jobs"},
}

// arrayOfObjects matches the beginning of a list of records in JSON.
var arrayOfObjects = regexp.MustCompile(`^\s*\[\s*\{`)

// tableHead matches the names of columns separated by commas.
var tableHead = regexp.MustCompile(`^[A-Za-z_][\w .]*(,[A-Za-z_][\w .]*)+$`)
