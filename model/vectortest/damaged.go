package vectortest

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

var words = regexp.MustCompile(`[0-9]+|[A-Za-z_]+|[^0-9A-Za-z_\s]`)

// Damaged passes a text in some states: state 0 is the text itself, the others have one
// to three places damaged. Lines are left out or repeated, words are removed or replaced.
func Damaged(text string, states int, each func(state int, text string)) {
	r := rand.New(rand.NewPCG(1, uint64(len(text))))
	for state := range states {
		each(state, damaged(r, text, min(state, 1+state%3)))
	}
}

func damaged(r *rand.Rand, text string, places int) string {
	for range places {
		lines := strings.SplitAfter(text, "\n")
		i := r.IntN(len(lines))
		found := words.FindAllStringIndex(text, -1)
		at, other := found[r.IntN(len(found))], found[r.IntN(len(found))]
		switch what := r.IntN(8); {
		case what == 0:
			text = strings.Join(slices.Delete(lines, i, i+1), "")
		case what == 1:
			text = strings.Join(slices.Insert(lines, i, lines[i]), "")
		default:
			with := []string{"", "-1", "0", text[other[0]:other[1]], "99999999999999999999", `"`}[what-2]
			text = text[:at[0]] + with + text[at[1]:]
		}
		if text == "" {
			break
		}
	}
	return text
}
