package input

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
// and map_output; dots, dashes and spaces count for nothing. It is -1 if none is near.
func Nearest(word string, words []string) int { return nearest(word, words, true) }

// Mistyped is Nearest without words that have no more than a part in common.
func Mistyped(word string, words []string) int { return nearest(word, words, false) }

func nearest(word string, words []string, loose bool) int {
	best, least := -1, 0
	parts := partsOf(word)
	letters := strings.Join(parts, "")
	for i, w := range words {
		others := partsOf(w)
		other := strings.Join(others, "")
		d := distance(letters, other)
		common := loose && slices.ContainsFunc(others, func(p string) bool { return len(p) > 2 && slices.Contains(parts, p) })
		cut := len(letters) > 2 && strings.HasPrefix(other, letters) || len(other) > 2 && strings.HasPrefix(letters, other)
		most := max(2, len(letters)/3)
		if len(letters) < 5 {
			most = 1
		}
		near := d <= most && d < len(letters)
		switch {
		case len(parts) > 1 && sameParts(parts, others):
			near, d = true, 0
		case near && len(other) > 0 && letters[0] != other[0] && !cut: // few mistype the first letter
			d += 2000
		case !near && !cut: // a part in common says less
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

// HasParts reports whether a word of several parts has all of its parts in another one.
func HasParts(other, word string) bool {
	has := partsOf(other)
	parts := partsOf(word)
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !slices.Contains(has, p) })
}

// sameParts reports whether two words have the same parts, in any order.
func sameParts(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// distance returns the number of letters to insert, delete, change or swap
// (Damerau and Levenshtein).
func distance(a, b string) int {
	older, before, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, before, row = before, row, older
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

// NearMissing says what there is in place of a missing file: a similar name, or the
// names in its folder, of the same kind if there are such; empty: nothing helps.
func NearMissing(missing *fs.PathError) string {
	if !errors.Is(missing.Err, fs.ErrNotExist) || missing.Op == "mkdir" {
		return ""
	}
	folder, name := filepath.Split(filepath.Clean(missing.Path))
	entries, err := os.ReadDir(cmp.Or(filepath.Clean(folder), "."))
	if err != nil {
		return fmt.Sprintf("; there is no folder %s", filepath.Clean(folder))
	}
	var all, same []string
	for _, e := range entries {
		all = append(all, folder+e.Name())
		if ext := filepath.Ext(name); ext != "" && filepath.Ext(e.Name()) == ext {
			same = append(same, folder+e.Name())
		}
	}
	if i := NearestFile(missing.Path, all); i >= 0 {
		return fmt.Sprintf(" (did you mean %s?)", all[i])
	}
	if len(same) > 0 {
		all = same
	}
	const most = 5
	switch here := filepath.Clean(cmp.Or(folder, "this folder")); {
	case len(all) > most:
		return fmt.Sprintf("; %s has %s and %d more", here, strings.Join(all[:most], ", "), len(all)-most)
	case len(all) > 0:
		return fmt.Sprintf("; %s has %s", here, strings.Join(all, ", "))
	}
	return ""
}

// NearestFile is Nearest for paths, of which folders and endings say nothing.
func NearestFile(path string, paths []string) int {
	bare := func(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = bare(p)
		if strings.EqualFold(names[i], bare(path)) || slices.Equal(partsOf(filepath.Base(p)), partsOf(filepath.Base(path))) {
			return i
		}
	}
	return Nearest(bare(path), names)
}
