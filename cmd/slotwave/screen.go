package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// The size of a terminal that nobody has widened.
const (
	screenWidth  = 80
	screenHeight = 24
)

// show prints a result as text or as JSON. The text ends with a command that goes on.
func (a *app) show(k *output, write func(io.Writer, bool) error, json func(io.Writer) error, next ...string) error {
	switch {
	case k.quiet && !k.json:
		return nil
	case k.json:
		return study.Internal(json(a.data()))
	}
	var full strings.Builder
	if err := write(&full, text.UseColour(terminal(a.stdout))); err != nil {
		return study.Internal(err)
	}
	shown := full.String()
	if !k.verbose {
		shown = brief(shown, k)
	}
	if k.out != "" {
		shown += fmt.Sprintf("\nresults in %s\n", printable(k.out))
	}
	if _, err := io.WriteString(a.stdout, shown); err != nil {
		return study.Internal(err)
	}
	return a.next(k, next...)
}

// next prints the command that goes on.
func (a *app) next(k *output, command ...string) error {
	if k.quiet || k.json || len(command) == 0 {
		return nil
	}
	for i, word := range command {
		if strings.ContainsAny(word, " '\"$*?[]{}()&;|<>\\`#!~") {
			command[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	_, err := fmt.Fprintf(a.stdout, "next: slotwave %s\n", printable(strings.Join(command, " ")))
	return study.Internal(err)
}

// section is a part of a text, between blank lines.
type section struct {
	title string
	rows  []string
	must  bool     // is shown on every screen
	cut   []string // columns that are left out
}

// brief shortens a text to the sections that an output has room for. The first two
// sections, warnings and a record stay. What was assumed becomes one line.
func brief(full string, k *output) string {
	var all []section
	lines := k.lines
	assumed, left := 0, lines-6 // lines below the sections
	for i, part := range strings.Split(strings.Trim(full, "\n"), "\n\n") {
		s := section{rows: strings.Split(part, "\n")}
		s.title = colours.ReplaceAllString(s.rows[0], "")
		if s.title == "Assumed" {
			assumed += len(s.rows) - 1
			continue
		}
		isAsked := slices.ContainsFunc(k.asked, func(title string) bool { return strings.HasPrefix(s.title, title) })
		if s.must = i < 2 || isAsked || s.title == "Warnings" || strings.HasPrefix(s.title, recordedRun); lines > 0 {
			s.fit()
			if s.must {
				left -= len(s.rows) + 1
			}
		} else {
			if k.shortens {
				s.narrow()
			}
			s.wrap()
		}
		all = append(all, s)
	}
	var kept, more []string
	leave := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(more, name) {
				more = append(more, name)
			}
		}
	}
	for _, s := range all {
		if k.rest != "" && !s.must {
			leave(k.rest)
			continue
		}
		if lines > 0 && !s.must {
			if len(s.rows) == 0 || len(s.rows)+1 > left {
				leave(s.title)
				continue
			}
			left -= len(s.rows) + 1
		}
		kept = append(kept, strings.Join(s.rows, "\n"))
		leave(s.cut...)
	}
	shown := strings.Join(kept, "\n\n") + "\n"
	if assumed+len(more) > 0 {
		shown += "\n"
	}
	if assumed > 0 {
		where := "-v lists them"
		if k.out != "" {
			where = "-v or manifest.json lists them"
		}
		shown += fmt.Sprintf("assumed: %s that no source states (%s)\n", workload.Counted(assumed, "value", "values"), where)
	}
	if len(more) > 0 {
		shown += strings.Join(wrap("more with -v: "+strings.Join(more, "; ")), "\n") + "\n"
	}
	return shown
}

// fit makes a section as narrow and as short as a screen. One that need not be shown
// loses all rows if it is too wide.
func (s *section) fit() {
	const warnings, half = 4, screenHeight / 2
	switch n := len(s.rows); {
	case s.title == "Warnings" && n-1 > warnings:
		s.rows = append(s.rows[:warnings], fmt.Sprintf("- and %d more (-v)", n-warnings))
	case s.must && n > half+2:
		s.rows = append(s.rows[:half], fmt.Sprintf("and %d more rows (-v)", n-half))
	}
	if s.must {
		s.narrow()
	}
	for _, row := range s.rows {
		if width(row) > screenWidth && !s.must {
			s.rows = nil
			return
		}
	}
	s.wrap()
}

// wrap breaks the rows that are no tables and wider than a screen.
func (s *section) wrap() {
	var rows []string
	for _, row := range s.rows {
		rows = append(rows, wrap(row)...)
	}
	s.rows = rows
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// narrow leaves out the last columns of a table that is too wide.
func (s *section) narrow() {
	for i, row := range s.rows {
		columns := column.FindAllStringIndex(row, -1)
		if len(columns) < 3 {
			continue
		}
		for k := len(columns) - 1; k > 0; k-- {
			at := utf8.RuneCountInString(row[:columns[k][0]]) // figures begin below the title; a text may go on there
			has := func(r string) bool {
				letters := []rune(r)
				return len(letters) > at && letters[at-1] == ' ' && letters[at-2] == ' '
			}
			if !slices.ContainsFunc(s.rows[i:], func(r string) bool { return has(r) && width(r) > screenWidth }) {
				return
			}
			s.cut = slices.Insert(s.cut, 0, row[columns[k][0]:columns[k][1]])
			for n := range s.rows[i:] {
				if has(s.rows[i+n]) {
					s.rows[i+n] = strings.TrimRight(string([]rune(s.rows[i+n])[:at]), " ")
				}
			}
		}
		return
	}
}

// column matches a cell of a table.
var column = regexp.MustCompile(`\S+(?: \S+)*`)

func width(row string) int { return utf8.RuneCountInString(colours.ReplaceAllString(row, "")) }

// wrap breaks a line that is wider than the screen. It goes on below its last cell, if it
// is a key with a value or the row of a table, and else keeps its indent. A row whose last
// cell has little room is not broken.
func wrap(row string) (out []string) {
	const room = 30
	cell, cells := 0, 1
	for key := value.FindStringIndex(row); key != nil; key = value.FindStringIndex(row[cell:]) {
		cell, cells = cell+key[1], cells+1
	}
	if width(row) <= screenWidth || cells > 2 && cell > screenWidth-room {
		return []string{row}
	}
	line, indent := "", max(2, len(row)-len(strings.TrimLeft(row, " ")))
	if cell > 0 {
		line, row, indent = row[:cell], row[cell:], cell
	}
	for i, word := range strings.SplitAfter(withUnits(row), " ") {
		if i > 0 && width(line+strings.TrimRight(word, " ")) > screenWidth {
			out = append(out, strings.ReplaceAll(strings.TrimRight(line, " "), noBreak, " "))
			line = strings.Repeat(" ", indent)
		}
		line += word
	}
	return append(out, strings.ReplaceAll(line, noBreak, " "))
}

// withUnits ties figures to their units: 6 h 13 min and 95 % stay on one line.
func withUnits(row string) string {
	row = ofFigure.ReplaceAllString(row, "$1"+noBreak+"$2")
	return ofTime.ReplaceAllString(row, "$1"+noBreak+"$2")
}

const noBreak = "\u00a0"

var (
	ofFigure = regexp.MustCompile(`(\d) (%|(?:d|h|min|s|ms|[kKMGT]?i?B)\b)`)
	ofTime   = regexp.MustCompile(`(\d\x{a0}(?:d|h|min)) (\d)`)
)

// value matches a key and the space to its value.
var value = regexp.MustCompile(`^\S+(?: \S+)*  +`)

func (a *app) warn(warnings []string) {
	a.endReading()
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "warning: %s\n", text.Printable(w))
	}
}

// printable removes characters from names that would control the terminal.
func printable(line string) string {
	lines := strings.Split(line, "\n")
	for i := range lines {
		lines[i] = text.Printable(strings.ReplaceAll(lines[i], "\t", "  "))
	}
	return strings.Join(lines, "\n")
}
