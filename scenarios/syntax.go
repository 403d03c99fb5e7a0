package scenarios

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// syntax words an error of the TOML library: the line as it was written, and the form
// that was meant. The library may report a line that is not closed at the next one.
func syntax(text string, at map[string]int, e toml.ParseError) problem {
	all := strings.Split(text, "\n")
	for _, line := range []int{e.Position.Line, e.Position.Line - 1} {
		if line < 1 || line > len(all) {
			continue
		}
		written := strings.TrimSpace(all[line-1])
		if form := formOf(written); form != "" {
			return problem{line: line, what: cutLine(written) + ": want " + form}
		}
	}
	message := strings.TrimSuffix(e.Message, ".")
	if strings.Contains(text, "\r") && !strings.Contains(text, "\n") {
		return problem{what: "lines end in a carriage return alone: want line feeds; tr '\\r' '\\n' converts them"}
	}
	if key, ok := strings.CutPrefix(message, "Key '"); ok && strings.HasSuffix(key, "already been defined") {
		key, _, _ = strings.Cut(key, "'")
		if line := e.Position.Line; line > 0 && line <= len(all) && strings.HasPrefix(strings.TrimSpace(all[line-1]), "["+key) {
			return problem{line: line, what: fmt.Sprintf("[%s] stands twice: want one table, or [[%[1]s]] before each entry of a list", key)}
		}
		first := ""
		if line := at[key]; line > 0 && line < e.Position.Line {
			first = fmt.Sprintf(", first in line %d", line)
		}
		return problem{line: e.Position.Line, what: fmt.Sprintf("%s is set twice%s: want one of the two", key, first)}
	}
	if line := e.Position.Line; line > 0 && line <= len(all) {
		above := unread.ReplaceAllString(strings.Join(all[:line-1], "\n"), "")
		if strings.Count(above, "[") > strings.Count(above, "]") {
			return problem{line: line, what: fmt.Sprintf("got %q within a list: want , between its values and ] after the last", cutLine(strings.TrimSpace(all[line-1])))}
		}
		if m := pairForm.FindStringSubmatch(strings.TrimSpace(all[line-1])); m != nil && !strings.ContainsAny(m[2], `"'[{`) {
			return problem{line: line, what: fmt.Sprintf("%s: want a text in quotes: %s = %q", cutLine(m[0]), m[1], m[2])}
		} else if m == nil {
			return problem{line: line, what: fmt.Sprintf("got %q: want KEY = VALUE, [TABLE] or # before a comment", cutLine(strings.TrimSpace(all[line-1])))}
		}
	}
	return problem{line: e.Position.Line, what: message + ": want a TOML file"}
}

// cutLine shortens a line for a message.
func cutLine(line string) string {
	const most = 60
	if letters := []rune(line); len(letters) > most {
		return string(letters[:most]) + "..."
	}
	return line
}

// unread are the parts of a text in which brackets, dots and stars are no syntax.
var unread = regexp.MustCompile(`"(\\.|[^"\\\n])*"|'[^'\n]*'|#.*`)

var (
	pairForm    = regexp.MustCompile(`^([\w."'-]+)\s*=\s*(.*)$`)
	colonForm   = regexp.MustCompile(`^([\w."'-]+)\s*:\s*(\S.*)$`)
	spaceForm   = regexp.MustCompile(`^([\w."'-]+)\s+(\S+)$`)
	wordForm    = regexp.MustCompile(`^[A-Za-z_][\w./: -]*$`)
	unitForm    = regexp.MustCompile(`^[+-]?[\d.]+\s*[A-Za-z%]+$`)
	zeroForm    = regexp.MustCompile(`^[+-]?0+(\d+)$`)
	decimalForm = regexp.MustCompile(`^-?\d+,\d+$`)
	textsForm   = regexp.MustCompile(`^("[^"]*"|'[^']*')(\s*,\s*("[^"]*"|'[^']*'))+$`)
	commaForm   = regexp.MustCompile(`^\d{1,3}(,\d{3})+$`)
)

// curly replaces the quotes of word processors.
var curly = strings.NewReplacer("\u201c", `"`, "\u201d", `"`, "\u2018", "'", "\u2019", "'")

// formOf returns the form that a line should have; empty: it looks sound.
func formOf(line string) string {
	switch {
	case strings.HasPrefix(line, "//") || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "--"):
		return "# before a comment"
	case strings.HasPrefix(line, "["):
		if name := strings.Trim(line, "[] "); strings.Count(line, "[") != strings.Count(line, "]") && !strings.ContainsAny(name, "=#,[]") {
			brackets := strings.Count(line, "[")
			return strings.Repeat("[", brackets) + name + strings.Repeat("]", brackets)
		}
		return ""
	}
	if m := colonForm.FindStringSubmatch(line); m != nil {
		return m[1] + " = " + m[2]
	}
	if m := spaceForm.FindStringSubmatch(line); m != nil && m[2] != "=" {
		return m[1] + " = " + m[2]
	}
	m := pairForm.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	key, value := m[1], m[2]
	if plain := curly.Replace(value); plain != value {
		return "straight quotes: " + key + " = " + plain
	}
	if !strings.ContainsAny(value, `"'`) {
		value, _, _ = strings.Cut(value, "#")
		value = strings.TrimSpace(value)
	}
	for _, end := range []string{",", ";"} {
		if rest, ok := strings.CutSuffix(value, end); ok && formOf(key+" = "+rest) == "" {
			return "no " + end + " at the end: " + key + " = " + rest
		}
	}
	if before, _, ok := strings.Cut(value, " //"); ok && !strings.ContainsAny(value, `"'`) {
		return "# before a comment: " + key + " = " + before + " #"
	}
	switch lower := strings.ToLower(value); {
	case value == "":
		return "a value after ="
	case value == "true" || value == "false" || value == "inf" || value == "nan":
		return ""
	case lower == "true" || lower == "yes" || lower == "on":
		return key + " = true"
	case lower == "false" || lower == "no" || lower == "off":
		return key + " = false"
	case wordForm.MatchString(value):
		return fmt.Sprintf("a number, true or false, or a text in quotes: %q", value)
	case commaForm.MatchString(value):
		return "a number without commas: " + key + " = " + strings.ReplaceAll(value, ",", "")
	case decimalForm.MatchString(value):
		return "a point before the decimals: " + key + " = " + strings.Replace(value, ",", ".", 1)
	case zeroForm.MatchString(value):
		return "no 0 before a number: " + key + " = " + zeroForm.FindStringSubmatch(value)[1]
	case unitForm.MatchString(value):
		return fmt.Sprintf("a number without a unit, or a text in quotes: %q", value)
	case strings.HasPrefix(value, "="):
		return key + " = " + strings.TrimLeft(value, "= ")
	case strings.Contains(value, ",") && !strings.ContainsAny(value, `[{"'`), textsForm.MatchString(value):
		return "a list in brackets: " + key + " = [" + value + "]"
	}
	if quote := value[:1]; quote == `"` || quote == "'" {
		if !strings.HasPrefix(value, strings.Repeat(quote, 3)) && strings.Count(value, quote)%2 == 1 {
			return "a quote at the end too: " + key + " = " + quote + strings.Trim(value, `"'`) + quote
		}
	}
	return ""
}
