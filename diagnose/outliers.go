package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// normalMAD converts a median absolute deviation to a standard deviation for
// normal values.
const normalMAD = 1.4826

// stageSlot is one task of a stage on its slot. Times in seconds.
type stageSlot struct {
	Slot  string  `json:"slot"`
	Start float64 `json:"start" unit:"any one"`
	End   float64 `json:"end" unit:"any one"`
}

// outlierMethods lists the tests: more than K scaled median deviations above the
// median and MinRatio times it, K times the median, or K quartile distances
// above the third quartile.
var outlierMethods = []string{"iqr", "mad", "median_factor"}

// outlierOptions choose a test and the limit for critical tasks.
type outlierOptions struct {
	Method   string   `json:"method,omitempty"`    // mad
	K        *float64 `json:"k"`                   // 3 for mad, 1.5 for the others
	MinRatio float64  `json:"min_ratio,omitempty"` // 1.2; only for mad
	Gamma    float64  `json:"gamma,omitempty"`     // 0.01, as a fraction of the stage
}

// defaultOutlierOptions are slotwave's own; the paper names only the
// correlation.
func defaultOutlierOptions() outlierOptions {
	return outlierOptions{Method: "mad", MinRatio: 1.2, Gamma: 0.01}
}

// outliers lists the tasks of a stage that took unusually long, and among them
// the critical ones, which delay its end. Lists are by task. Times in seconds.
type outliers struct {
	Median       float64   `json:"median"`
	Threshold    float64   `json:"threshold"`
	Outlier      []bool    `json:"outlier"`
	Gain         []float64 `json:"gain"`
	Critical     []bool    `json:"critical"`
	StageEnd     float64   `json:"stage_end"`
	StageClipped float64   `json:"stage_end_clipped"`
}

// findOutliers compares the tasks of one stage (task-task correlation). An
// outlier is critical if it delays the end of the stage by more than Gamma of
// its length. This is tested in a schedule with every outlier shortened to the
// median, in which only this one is restored. Two equal stragglers are then both
// critical, although shortening only one gains nothing.
func findOutliers(tasks []stageSlot, o outlierOptions) (outliers, error) {
	if err := checkTasks(tasks, o); err != nil {
		return outliers{}, err
	}
	return compareTasks(tasks, bySlot(tasks), o), nil
}

// compareTasks is findOutliers for valid tasks and options, with the order of
// bySlot.
func compareTasks(tasks []stageSlot, order []int, o outlierOptions) outliers {
	durations := make([]float64, len(tasks))
	start := math.Inf(1)
	r := outliers{
		Outlier: make([]bool, len(tasks)), Critical: make([]bool, len(tasks)), StageEnd: math.Inf(-1),
	}
	for i, t := range tasks {
		durations[i] = t.End - t.Start
		start, r.StageEnd = math.Min(start, t.Start), math.Max(r.StageEnd, t.End)
	}
	r.Median = median(durations)
	r.Threshold = threshold(durations, r.Median, o)
	saved := make([]float64, len(tasks))
	for i, d := range durations {
		if d > r.Threshold {
			r.Outlier[i], saved[i] = true, d-r.Median
		}
	}
	r.Gain, r.StageClipped = clip(tasks, order, saved)
	for i, gain := range r.Gain {
		r.Critical[i] = gain > o.Gamma*(r.StageEnd-start)
	}
	return r
}

func checkTasks(tasks []stageSlot, o outlierOptions) error {
	var c input.Check
	if len(tasks) == 0 {
		c.Fail("tasks", "none")
	}
	for i, t := range tasks {
		if c.Number(fmt.Sprintf("tasks[%d].start", i), t.Start) {
			c.AtLeast(fmt.Sprintf("tasks[%d].end", i), t.End, t.Start)
		}
	}
	if !slices.Contains(outlierMethods, o.Method) {
		c.Fail("method", "unknown %q; want one of %s", o.Method, strings.Join(outlierMethods, ", "))
	}
	if o.K != nil {
		c.AtLeast("k", *o.K, 0)
	}
	c.AtLeast("min_ratio", o.MinRatio, 0)
	c.AtLeast("gamma", o.Gamma, 0)
	return c.Err()
}

func threshold(durations []float64, med float64, o outlierOptions) float64 {
	k := 1.5
	if o.Method == "mad" {
		k = 3
	}
	if o.K != nil {
		k = *o.K
	}
	switch o.Method {
	case "median_factor":
		return k * med
	case "iqr":
		q1, q3 := quantile(durations, 0.25), quantile(durations, 0.75)
		return q3 + float64(k*(q3-q1))
	}
	return math.Max(med+float64(k*normalMAD*deviation(durations, med)), o.MinRatio*med)
}

// bySlot returns the order of tasks by slot, and on a slot by start.
func bySlot(tasks []stageSlot) []int {
	number := map[string]int{}
	var slots [][]int
	for i := range tasks {
		n, ok := number[tasks[i].Slot]
		if !ok {
			n = len(slots)
			number[tasks[i].Slot], slots = n, append(slots, nil)
		}
		slots[n] = append(slots[n], i)
	}
	order := make([]int, 0, len(tasks))
	for _, slot := range slots {
		slices.SortStableFunc(slot, func(a, b int) int { return cmp.Compare(tasks[a].Start, tasks[b].Start) })
		order = append(order, slot...)
	}
	return order
}

// clip replays the stage with every task shortened by the time saved and later
// tasks of its slot moved up. It returns the delay that restoring each task
// causes, and the end. The order is that of bySlot.
func clip(tasks []stageSlot, order []int, saved []float64) (gains []float64, end float64) {
	ends := make([]float64, len(tasks)) // in the clipped schedule
	end = math.Inf(-1)
	slotSaved := 0.0
	for n, i := range order {
		if n > 0 && tasks[i].Slot != tasks[order[n-1]].Slot {
			slotSaved = 0
		}
		slotSaved += saved[i]
		ends[i] = tasks[i].End - slotSaved
		end = math.Max(end, ends[i])
	}
	// Restoring a task delays its end and the tasks behind it on its slot.
	gains = make([]float64, len(tasks))
	last := math.Inf(-1)
	for n := len(order) - 1; n >= 0; n-- {
		i := order[n]
		if n < len(order)-1 && tasks[i].Slot != tasks[order[n+1]].Slot {
			last = math.Inf(-1)
		}
		last = math.Max(last, ends[i])
		if saved[i] > 0 {
			gains[i] = math.Max(0, last+saved[i]-end)
		}
	}
	return gains, end
}

// median returns the median of v without reordering v.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile interpolates linearly at position (n-1)*p of the sorted values.
func quantile(v []float64, p float64) float64 {
	own := slices.Clone(v)
	at := p * float64(len(v)-1)
	i := int(at)
	low := fit.Select(own, i)
	if i == len(v)-1 {
		return low
	}
	return low + float64((at-float64(i))*(slices.Min(own[i+1:])-low))
}

// deviation returns the median absolute deviation from med.
func deviation(v []float64, med float64) float64 {
	d := make([]float64, len(v))
	for i, x := range v {
		d[i] = math.Abs(x - med)
	}
	return median(d)
}

// taskInput is a task's record for the intra-node correlation.
type taskInput struct {
	Node     string  `json:"node"`
	Input    float64 `json:"input" unit:"any one"`
	Critical bool    `json:"critical"`
}

// taskFacts reports whether critical tasks share a node or read more than
// others.
type taskFacts struct {
	Critical   int     `json:"critical_tasks"`
	SameNode   bool    `json:"same_node"`
	Node       *string `json:"node"`        // nil unless SameNode
	InputRatio float64 `json:"input_ratio"` // median of the critical tasks over that of the others; 1 without either
}

// defaultNodeShare is the share of the critical tasks that one node must have.
const defaultNodeShare = 0.8

// criticalFacts returns the intra-node task-task correlation of a stage.
func criticalFacts(tasks []taskInput, share float64) (taskFacts, error) {
	var c input.Check
	c.Part("share", share)
	var critical, others []float64
	nodes := map[string]int{}
	f := taskFacts{InputRatio: 1}
	var best string
	for i, t := range tasks {
		if !(t.Input >= 0) { // names it only then: stages have many tasks
			c.AtLeast(fmt.Sprintf("tasks[%d].input", i), t.Input, 0)
		}
		if !t.Critical {
			others = append(others, t.Input)
			continue
		}
		critical = append(critical, t.Input)
		nodes[t.Node]++
		if n := nodes[t.Node]; n > nodes[best] || n == nodes[best] && t.Node < best {
			best = t.Node
		}
	}
	if err := c.Err(); err != nil {
		return taskFacts{}, err
	}
	f.Critical = len(critical)
	if f.Critical == 0 {
		return f, nil
	}
	if float64(nodes[best]) >= share*float64(f.Critical) {
		f.SameNode, f.Node = true, &best
	}
	if len(others) > 0 {
		usual, high := median(others), median(critical)
		if usual == 0 && high > 0 {
			c.Fail("tasks", "the other tasks read nothing, so there is no input ratio")
			return taskFacts{}, c.Err()
		}
		if usual > 0 {
			f.InputRatio = high / usual
		}
	}
	return f, nil
}
