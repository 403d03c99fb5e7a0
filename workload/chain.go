package workload

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

var adjacency = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"="((?:[^"\\]|\\.)*)"`)

var workflowEscapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\=`, `=`, `\.`, `.`)

// next lists the nodes of the plan that wait for the job's node.
func (w *Workflow) next() (nodes []string) {
	for _, m := range adjacency.FindAllStringSubmatch(w.Adjacencies, -1) {
		if workflowEscapes.Replace(m[1]) == w.Node {
			nodes = append(nodes, strings.Split(workflowEscapes.Replace(m[2]), ",")...)
		}
	}
	return nodes
}

// Chained is a job that waited for others.
type Chained struct {
	After []string      // their IDs
	Delay time.Duration // from the end of the last of them to its submission
}

// Hold lets a replayed job wait for the others: its submission follows from the run, and
// with it its initialisation and its end.
func (c *Chained) Hold(j *Job) {
	j.After, j.Submit, j.Init, j.Ends = c.After, c.Delay, 0, AttemptEnd{}
}

// Chains returns the jobs that were submitted after all those had ended which their
// plan names, by ID.
func (h *History) Chains() map[string]Chained {
	type node struct{ workflow, name string }
	before, byID := map[node][]*HistoryJob{}, map[string]*HistoryJob{}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		byID[j.ID] = j
		for _, next := range j.Workflow.next() {
			before[node{j.Workflow.ID, next}] = append(before[node{j.Workflow.ID, next}], j)
		}
	}
	chains := map[string]Chained{}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		waited := before[node{j.Workflow.ID, j.Workflow.Node}]
		for _, id := range j.After {
			if b := byID[id]; b != nil {
				waited = append(waited, b)
			}
		}
		c := Chained{Delay: j.Submit}
		for _, b := range waited {
			c.After, c.Delay = append(c.After, b.ID), min(c.Delay, j.Submit-b.Finish)
		}
		ended := !slices.ContainsFunc(waited, func(b *HistoryJob) bool { return !Known(b.Finish) })
		if len(waited) > 0 && ended && Known(j.Submit) && c.Delay >= 0 {
			chains[j.ID] = c
		}
	}
	return chains
}
