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
		names[i] = withoutPackages(r.title())
	}
	for i, name := range withoutPrefix(names) {
		names[i] = fmt.Sprintf("%s: %s", name, formatDuration(runs[i].end()))
	}
	return names
}

// withoutPrefix removes the words with which all names begin. If names then differ
// only in the value of one key, it removes the key too: "fifo maps=4" and "fifo
// maps=8" become "4" and "8".
func withoutPrefix(names []string) []string {
	if len(names) < 2 {
		return names
	}
	common := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
	}
	words := common[:strings.LastIndexByte(common, ' ')+1]
	key := common[:strings.LastIndexByte(common, '=')+1]
	if len(key) > len(words) && !slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name[len(key):], " =") }) {
		words = key
	}
	short := make([]string, len(names))
	for i, name := range names {
		if short[i] = name[len(words):]; short[i] == "" {
			return names
		}
	}
	return short
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
