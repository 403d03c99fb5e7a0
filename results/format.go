package results

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/results/text"
)

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
	key, short := text.WithoutPrefix(names)
	for i, name := range short {
		if key != "" && !strings.Contains(key, ",") {
			name = key + " = " + name
		}
		names[i] = fmt.Sprintf("%s: makespan %s", name, text.Duration(runs[i].end()))
	}
	return names
}

// varied says which key tells several runs apart, if it is one.
func varied(runs []*Run) string {
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = r.title()
	}
	if key, _ := text.WithoutPrefix(names); key != "" {
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
		return text.Escape(r.Title)
	}
	return text.Escape(r.Question.Name)
}

// clusterText describes a cluster in one line.
func (r *Run) clusterText() string {
	s := &r.Stats.slots
	line := text.Count(len(s.nodes), "node") + ", "
	if use := r.Stats.use; use != nil {
		return line + use.capacityText()
	}
	if s.sections == 1 {
		return line + text.Group(strconv.Itoa(s.count[0])) + " shared slots"
	}
	return line + fmt.Sprintf("%s map and %s reduce slots", text.Group(strconv.Itoa(s.count[0])), text.Group(strconv.Itoa(s.count[1])))
}
