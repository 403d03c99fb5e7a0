// Package text writes for people: durations, counts and shares as a table or a picture
// shows them, aligned tables for a terminal, and names made safe to show (Escape) or to
// be names of files (Slug). It knows nothing of what it writes.
package text

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Group puts commas between thousands.
func Group(digits string) string {
	whole := digits
	for i, c := range digits {
		if c == '.' {
			whole = digits[:i]
			break
		}
	}
	sign := 0
	if len(whole) > 0 && whole[0] == '-' {
		sign = 1
	}
	out := []byte(digits[:sign])
	for i := sign; i < len(whole); i++ {
		if i > sign && (len(whole)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, whole[i])
	}
	return string(out) + digits[len(whole):]
}

// Duration formats ns for people: 0.42 s, 12.3 s, 8 min 31 s, 2 h 05 min,
// 24 d 12 h.
func Duration(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d <= -5*time.Millisecond:
		return "-" + Duration(-max(ns, -math.MaxInt64))
	case d < 10*time.Second-5*time.Millisecond:
		return strconv.FormatFloat(max(0, d.Seconds()), 'f', 2, 64) + " s"
	case d < time.Minute-50*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour-500*time.Millisecond:
		s := int64(d.Round(time.Second) / time.Second)
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	if d >= 48*time.Hour-30*time.Minute {
		h := int64(d.Round(time.Hour) / time.Hour)
		return fmt.Sprintf("%s d %d h", Group(strconv.FormatInt(h/24, 10)), h%24)
	}
	m := int64(d.Round(time.Minute) / time.Minute)
	return fmt.Sprintf("%d h %02d min", m/60, m%60)
}

// Shorten shortens a text to n characters.
func Shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// ShortenMiddle shortens a name to n characters and keeps its end too, by which
// the names of jobs differ more often than by their middle.
func ShortenMiddle(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	end := (n - 1) / 2
	return string(r[:n-1-end]) + "…" + string(r[len(r)-end:])
}

// Apart shortens names to n characters: where one is longer, all lose what they begin
// with in common, up to the end of a word, and then their middles.
func Apart(names []string, n int) []string {
	if len(names) == 0 || !slices.ContainsFunc(names, func(s string) bool { return utf8.RuneCountInString(s) > n }) {
		return names
	}
	common := len(names[0])
	for _, name := range names {
		common = min(common, len(name))
		for i := range common {
			if name[i] != names[0][i] {
				common = i
				break
			}
		}
	}
	common = strings.LastIndexAny(names[0][:common], "-_./ ") + 1
	short := make([]string, len(names))
	for i, name := range names {
		if short[i] = name[common:]; common > 1 && len(names) > 1 {
			short[i] = "…" + short[i]
		} else {
			short[i] = name
		}
		short[i] = ShortenMiddle(short[i], n)
	}
	return short
}

// javaPackage matches the package of a value that is a Java class. Two codecs differ
// behind it, where a heading may be cut off.
var javaPackage = regexp.MustCompile(`=(?:[a-z]\w*\.){2,}`)

func WithoutPackages(name string) string { return javaPackage.ReplaceAllString(name, "=") }

// WithoutPrefix removes the words with which all names begin. If all that is left
// are values of the same keys, it removes and returns the keys too: "fifo maps=4"
// and "fifo maps=8" become "maps", "4" and "8". Java classes lose their packages.
func WithoutPrefix(names []string) (keys string, short []string) {
	if len(names) < 2 {
		return "", names
	}
	fields := make([][]string, len(names))
	for i, name := range names {
		fields[i] = strings.Fields(WithoutPackages(name))
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

// Count returns a number of things in words.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Group(strconv.Itoa(n)) + " " + thing
}

// Share is written with six decimals: enough for any reader, and few enough to
// be the same on every machine.
type Share float64

// MarshalJSON implements json.Marshaler.
func (s Share) MarshalJSON() ([]byte, error) {
	return []byte(s.String()), nil
}

func (s Share) String() string {
	text := strconv.FormatFloat(float64(s), 'f', 6, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func Number(n int64) string { return Group(strconv.FormatInt(n, 10)) }

// InUse says how much of a limit is in use. YARN lets the last container pass a limit of
// users or of ApplicationMasters.
func InUse(used, limit int64, unit string) string {
	if used > limit {
		return fmt.Sprintf("%s %s in use, above the limit of %s, which the last container may pass", Number(used), unit, Number(limit))
	}
	return fmt.Sprintf("%s of %s %s in use", Number(used), Number(limit), unit)
}

func PercentOf(part, of int64) string {
	if of == 0 {
		return "0 %"
	}
	return Percent(Share(float64(part) / float64(of)))
}

func Percent(s Share) string { return strconv.FormatFloat(100*float64(s), 'f', 1, 64) + " %" }

// Listed returns an empty list for nil, so that readers always find an array.
func Listed[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// ClassName returns the last part of the name of a class.
func ClassName(value string) string {
	if i := strings.LastIndexByte(value, '.'); strings.Count(value, ".") > 1 {
		return value[i+1:]
	}
	return value
}
