package input

import (
	"fmt"
	"slices"
	"strings"
)

// Suggest returns a hint for an unknown name: the nearest known one, or all of
// them if none is near.
func Suggest(name string, known []string) string {
	if i := Nearest(name, known); i >= 0 {
		return fmt.Sprintf("; did you mean %q?", known[i])
	}
	return fmt.Sprintf("; want one of %s", strings.Join(known, ", "))
}

// DidYouMean suggests the nearest word, if one is near.
func DidYouMean(word string, words []string) string {
	if i := Nearest(word, words); i >= 0 {
		return fmt.Sprintf(" (did you mean %s?)", words[i])
	}
	return ""
}

// Nearest returns the index of the word that was most likely meant: mistyped in
// at most a third of its letters, cut short or too long, or with a part in common as map_time
// and map_output. It is -1 if none is near.
func Nearest(word string, words []string) int {
	best, least := -1, 0
	parts := partsOf(word)
	for i, w := range words {
		d := distance(strings.ToLower(word), strings.ToLower(w))
		common := slices.ContainsFunc(partsOf(w), func(p string) bool { return len(p) > 2 && slices.Contains(parts, p) })
		cut := len(word) > 2 && strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) ||
			len(w) > 2 && strings.HasPrefix(strings.ToLower(word), strings.ToLower(w))
		near := d <= max(2, len(word)/3) && d < len(word)
		if !near && !cut { // a part in common says less
			d += 1000
		}
		if (near || cut || common) && (best < 0 || d < least) {
			best, least = i, d
		}
	}
	return best
}

func partsOf(word string) []string {
	return strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return strings.ContainsRune("_.- /", r) })
}

// distance returns the number of letters to insert, delete, change or swap
// (Damerau and Levenshtein).
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	var older []int
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, before, row = before, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := before[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, before[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
