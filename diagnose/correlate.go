package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/slotwave/slotwave/model/input"
)

// StageTask is one task of a stage with all that the correlations look at.
type StageTask struct {
	Task          // its slot and its times, seconds
	ID     string // unique in the stage
	Node   string
	Input  float64 // bytes
	Phases Phases  // seconds
}

// Resource is one resource of the cluster, by node.
type Resource struct {
	Name    string
	Options ResourceOptions // with a Saturation where it is a utilisation
	Nodes   map[string]Series
}

// CorrelateOptions are those of the single correlations.
type CorrelateOptions struct {
	Outliers  OutlierOptions
	NodeShare float64
	Phases    PhaseOptions
}

// DefaultCorrelateOptions are the defaults of the single correlations.
func DefaultCorrelateOptions() CorrelateOptions {
	return CorrelateOptions{DefaultOutlierOptions(), DefaultNodeShare, DefaultPhaseOptions()}
}

// Use is one resource's class on one node.
type Use struct {
	Resource, Node string
	NodeUse
}

// TaskFinding is what explains one critical task: unusual resources of its node
// while it ran, and unusual phases.
type TaskFinding struct {
	ID        string
	Resources []Use
	Phases    []string
}

// Correlation is everything unusual about a stage. Lists are sorted by name but
// for Tasks, which are in the order of the stage.
type Correlation struct {
	Outliers Outliers
	Facts    TaskFacts
	Tasks    []TaskFinding // the critical ones
	Between  []Use         // nodes that differ from the others over the stage
	Within   []Use         // saturated resources, by node
	Average  []string      // phases that take an unusual share of the average task
}

// Correlate is Algorithm 1 of SONATA: critical outliers, whether they share a
// node, for each of them task-resource and phase-phase; then, also where there is
// none, resource-resource between nodes and within them, and the phases of the
// average task.
func Correlate(tasks []StageTask, resources []Resource, o CorrelateOptions) (Correlation, error) {
	var r Correlation
	var err error
	if r.Outliers, err = FindOutliers(stageTasks(tasks), o.Outliers); err != nil {
		return r, err
	}
	inputs := make([]TaskInput, len(tasks))
	start, end := tasks[0].Start, tasks[0].End
	for i, t := range tasks {
		inputs[i] = TaskInput{t.Node, t.Input, r.Outliers.Critical[i]}
		start, end = min(start, t.Start), max(end, t.End)
	}
	if r.Facts, err = CriticalFacts(inputs, o.NodeShare); err != nil {
		return r, err
	}
	for i, t := range tasks {
		if !r.Outliers.Critical[i] {
			continue
		}
		f := TaskFinding{ID: t.ID}
		if f.Resources, err = unusual(resources, t.Start, t.End, t.Node); err != nil {
			return r, fmt.Errorf("task %s: %w", t.ID, err)
		}
		shares, err := ComparePhases(phasesOf(tasks), i, o.Phases)
		if err != nil {
			return r, err
		}
		f.Phases = standOut(shares)
		r.Tasks = append(r.Tasks, f)
	}

	all, err := unusual(resources, start, end, "")
	if err != nil {
		return r, err
	}
	for _, u := range all {
		if u.Class != "normal" {
			r.Between = append(r.Between, u)
		}
		if u.Saturated {
			r.Within = append(r.Within, u)
		}
	}
	slices.SortStableFunc(r.Within, func(a, b Use) int { return cmp.Compare(a.Node, b.Node) })
	average, err := MeanPhases(phasesOf(tasks))
	if err != nil {
		return r, err
	}
	shares, err := ComparePhases(append(phasesOf(tasks), average), len(tasks), o.Phases)
	if err != nil {
		return r, err
	}
	r.Average = standOut(shares)
	return r, nil
}

func stageTasks(tasks []StageTask) []Task {
	list := make([]Task, len(tasks))
	for i, t := range tasks {
		list[i] = t.Task
	}
	return list
}

func phasesOf(tasks []StageTask) []Phases {
	list := make([]Phases, len(tasks))
	for i, t := range tasks {
		list[i] = t.Phases
	}
	return list
}

// unusual lists the resources that are not normal, or saturated, from t0 to t1:
// those of one node, or of all where node is empty.
func unusual(resources []Resource, t0, t1 float64, node string) ([]Use, error) {
	var list []Use
	for _, r := range resources {
		var c input.Check
		r.Options.check(&c)
		nodes, means := meanUse(r.Nodes, t0, t1, &c)
		if err := c.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		for i, n := range nodes {
			if node != "" && n != node {
				continue
			}
			if u := r.Options.classify(means, i); u.Class != "normal" || u.Saturated {
				list = append(list, Use{r.Name, n, u})
			}
		}
	}
	return list, nil
}

func standOut(shares map[string]PhaseShare) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		if shares[name].Outlier {
			names = append(names, name)
		}
	}
	return names
}
