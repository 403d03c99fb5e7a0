package trace

import (
	"bytes"
	"errors"
	"fmt"
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

// NoText says what a file is whose content no reader can read as it is, and how to unpack
// it; empty: it may be read.
func NoText(head []byte) string {
	for _, kind := range packedKinds {
		switch at := min(kind.at, len(head)); {
		case !bytes.HasPrefix(head[at:], []byte(kind.begins)):
		case kind.packer != "":
			return fmt.Sprintf("compressed with %s: want gzip or plain text, such as of %[1]s -dc FILE | gzip > FILE.gz", kind.packer)
		default:
			return kind.what
		}
	}
	if arrayOfObjects.Match(head) {
		return "an array of JSON: want its objects one after another; jq -c '.[]' FILE writes them"
	}
	return ""
}

func foreign(head []byte) string {
	if what := NoText(head); what != "" {
		return what
	}
	text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for _, kind := range foreignKinds {
		begins := func(prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }
		if slices.ContainsFunc(kind.begins, begins) || kind.holds != "" && bytes.Contains(text, []byte(kind.holds)) {
			return kind.what
		}
	}
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- { // the end may cut a letter
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			text = text[:i]
		}
	}
	if !utf8.Valid(text) && bytes.ContainsAny(text, "\x00\x01\x02\x03\x04") {
		return "a binary file: want text"
	}
	if !utf8.Valid(text) {
		return "bytes that are not text in UTF-8: want UTF-8; iconv -f latin1 -t utf-8 FILE converts a text in Latin-1"
	}
	line := strings.TrimSuffix(string(firstLine(text)), "\r")
	if tableHead.MatchString(strings.ReplaceAll(line, ";", ",")) && !strings.Contains(line, ",") {
		return `columns separated by ";": want commas or tabs`
	}
	if columns := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == '\t' }); volumes.MatchString(line) {
		return fmt.Sprintf("%d columns of job volumes: a SWIM trace has 6 or 9, separated by tabs", len(columns))
	}
	if columns := strings.Split(line, ","); len(columns) > 1 && tableHead.MatchString(line) {
		missing := ""
		for _, of := range [][]string{{"task", "kind"}, {"kind", "task"}} {
			if slices.Contains(columns, of[0]) && !slices.Contains(columns, of[1]) {
				missing = "; " + of[1] + " is missing"
			}
		}
		return "a table with the columns " + strings.Join(columns[:min(len(columns), 5)], ", ") + ": want those of attempts.csv or jobs.csv, which slotwave run writes" + missing
	}
	return ""
}

// packedKinds are the compressed files, containers and other binary files that are
// given in place of a history, by their first bytes or those at another place.
var packedKinds = []struct {
	begins string
	at     int
	packer string // program that unpacks it to its standard output with -dc
	what   string
}{
	{begins: "\x1f\x8b", what: "compressed twice with gzip: want it once; gzip -dc FILE > ONCE.gz undoes one"},
	{begins: "\x28\xb5\x2f\xfd", packer: "zstd"},
	{begins: "\xfd7zXZ\x00", packer: "xz"},
	{begins: "BZh", packer: "bzip2"},
	{begins: "\x04\x22\x4d\x18", packer: "lz4"},
	{begins: "\x89LZO", packer: "lzop"},
	{begins: "PK\x03\x04", what: "a zip archive: want the files in it, unpacked"},
	{begins: "7z\xbc\xaf", what: "a 7-Zip archive: want the files in it; 7z x FILE unpacks them"},
	{begins: "ustar", at: 257, what: "a tar archive: want its folder; tar xzf FILE unpacks it"},
	{begins: "Avro-Binary", what: binaryHistory},
	{begins: "Obj\x01", what: binaryHistory},
	{begins: "SEQ\x06", what: "a SequenceFile of Hadoop: want text, such as of hdfs dfs -text FILE"},
	{begins: "PAR1", what: "a Parquet table: want CSV, which may be gzipped, such as of DuckDB: copy (from 'FILE.parquet') to 'FILE.csv.gz'"},
	{begins: "SQLite format 3", what: "a database of SQLite: want its tables as CSV"},
	{begins: "\xff\xfe", what: utf16}, {begins: "\xfe\xff", what: utf16},
	{begins: "\x89PNG", what: aPicture}, {begins: "\xff\xd8\xff", what: aPicture}, {begins: "GIF8", what: aPicture},
	{begins: "%PDF", what: "a PDF document: want a history, a trace or a table of attempts"},
	{begins: "\x7fELF", what: aProgram}, {begins: "MZ\x90", what: aProgram}, {begins: "\xcf\xfa\xed\xfe", what: aProgram},
}

const (
	binaryHistory = "binary Avro history: want the text form (set mapreduce.jobhistory.jhist.format=json, or print it with: mapred job -history -format json -outfile FILE)"
	utf16         = "text in UTF-16: want UTF-8; iconv -f utf-16 -t utf-8 FILE converts it"
	aPicture      = "a picture: want a history, a trace or a table of attempts"
	aProgram      = "a program: want a history, a trace or a table of attempts"
)

// foreignKinds are texts that are often given in place of a history, by what they begin
// with or hold. The first that matches describes the file.
var foreignKinds = []struct {
	begins []string
	holds  string
	what   string
}{
	{begins: []string{"<svg"}, what: aPicture},
	{begins: []string{"phase,row,data_mb"}, what: "a platform profile: want a history; slotwave platform fit FILE and slotwave platform calibrate FILE take it"},
	{begins: []string{`{"type":"record","name":"Event"`}, what: "a job history without its first line: want the line Avro-Json before it"},
	{begins: []string{"<!DOCTYPE html", "<!doctype html", "<html"}, what: "a page of HTML: want the history that the page shows, from the history folder of the JobTracker or the JobHistoryServer"},
	{holds: `"Event":"SparkListener`, what: "an event log of Spark: want a record of MapReduce jobs"},
}

// arrayOfObjects matches the beginning of a list of records in JSON.
var arrayOfObjects = regexp.MustCompile(`^\s*\[\s*\{`)

// volumes matches a line of a SWIM trace with other separators or a column too few: a job
// and numbers.
var volumes = regexp.MustCompile(`^[^\s,]+([,\t]\d+){3,}$`)

// tableHead matches the names of columns separated by commas.
var tableHead = regexp.MustCompile(`^[A-Za-z_][\w .]*(,[A-Za-z_][\w .]*)+$`)
