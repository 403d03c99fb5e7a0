package results

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// formatDuration formats ns for people: 0.42 s, 12.3 s, 8 min 31 s, 2 h 05 min,
// 24 d 12 h.
func formatDuration(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < 0:
		return "-" + formatDuration(-ns)
	case d < 10*time.Second-5*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	case d < time.Minute-50*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour-500*time.Millisecond:
		s := int64(d.Round(time.Second) / time.Second)
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	if d >= 48*time.Hour-30*time.Minute {
		h := int64(d.Round(time.Hour) / time.Hour)
		return fmt.Sprintf("%s d %d h", group(strconv.FormatInt(h/24, 10)), h%24)
	}
	m := int64(d.Round(time.Minute) / time.Minute)
	return fmt.Sprintf("%d h %02d min", m/60, m%60)
}

// shorten shortens a text to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// javaPackage matches the package of a value that is a Java class. Two codecs differ
// behind it, where a heading may be cut off.
var javaPackage = regexp.MustCompile(`=(?:[a-z]\w*\.){2,}`)

func withoutPackages(name string) string { return javaPackage.ReplaceAllString(name, "=") }

// headings returns the name of each of several runs, with its makespan. A
// single run needs no name.
func headings(runs []*Run) []string {
	names := make([]string, len(runs))
	if len(runs) == 1 {
		return names
	}
	for i, r := range runs {
		names[i] = r.title()
	}
	_, short := withoutPrefix(names)
	for i, name := range short {
		names[i] = fmt.Sprintf("%s: %s", name, formatDuration(runs[i].end()))
	}
	return names
}

// withoutPrefix removes the words with which all names begin. If all that is left
// are values of the same keys, it removes and returns the keys too: "fifo maps=4"
// and "fifo maps=8" become "maps", "4" and "8". Java classes lose their packages.
func withoutPrefix(names []string) (keys string, short []string) {
	if len(names) < 2 {
		return "", names
	}
	fields := make([][]string, len(names))
	for i, name := range names {
		fields[i] = strings.Fields(withoutPackages(name))
	}
	first := 0
	same := func(at int) bool {
		return !slices.ContainsFunc(fields, func(f []string) bool { return len(f) <= at+1 || f[at] != fields[0][at] })
	}
	for same(first) {
		first++
	}
	short = make([]string, len(names))
	for i := range fields {
		fields[i] = fields[i][first:]
		if short[i] = strings.Join(fields[i], " "); short[i] == "" {
			return "", names
		}
	}
	if varying := sharedKeys(fields); len(varying) > 0 {
		keys = strings.Join(varying, ", ")
		for i := range fields {
			short[i] = ""
			for _, field := range fields[i] {
				if key, value, _ := strings.Cut(field, "="); slices.Contains(varying, key) {
					short[i] += ", " + value
				}
			}
			short[i] = short[i][len(", "):]
		}
	}
	return keys, short
}

// sharedKeys returns the keys whose values differ, if all fields of all names are
// values of the same keys.
func sharedKeys(fields [][]string) (varying []string) {
	for at, field := range fields[0] {
		key, value, found := strings.Cut(field, "=")
		differs := false
		for _, other := range fields {
			if len(other) != len(fields[0]) || !strings.HasPrefix(other[at], key+"=") {
				return nil
			}
			differs = differs || other[at] != field
		}
		if !found || strings.Contains(value, "=") {
			return nil
		}
		if differs {
			varying = append(varying, key)
		}
	}
	return varying
}

// varied says which key tells several runs apart, if it is one.
func varied(runs []*Run) string {
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = r.title()
	}
	if key, _ := withoutPrefix(names); key != "" {
		return "by " + key
	}
	return ""
}

// end returns the makespan (ns) of the shown run, or the end of its last
// attempt if that is later.
func (r *Run) end() int64 {
	end := r.Stats.over.end
	if len(r.Predictions) > 0 {
		end = max(end, int64(r.Predictions[0].Mean))
	}
	return end
}

func (r *Run) title() string {
	if r.Title != "" {
		return Escape(r.Title)
	}
	return Escape(r.Question.Name)
}

// clusterText describes a cluster in one line.
func (r *Run) clusterText() string {
	s := &r.Stats.slots
	text := count(len(s.nodes), "node") + ", "
	if s.sections == 1 {
		return text + group(strconv.Itoa(s.count[0])) + " shared slots"
	}
	return text + fmt.Sprintf("%s map and %s reduce slots", group(strconv.Itoa(s.count[0])), group(strconv.Itoa(s.count[1])))
}

// count returns a number of things in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return group(strconv.Itoa(n)) + " " + thing
}
