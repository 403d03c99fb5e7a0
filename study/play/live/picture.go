package live

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// mostKept is the largest number of attempts of a run that are kept whole.
const mostKept = 100_000

// mostRows bounds the attempts that a picture has. More are those of the first nodes.
const mostRows = 30_000

// recorder keeps what a picture needs of the attempts.
type recorder struct {
	question *model.WhatIf
	attempts []workload.Attempt // of the first nodes
	nodes    int                // whose attempts are kept
	rows     []row
}

// row is the part of an attempt that the picture of slots in use needs.
type row struct {
	start, shuffled, finish time.Duration
	stage                   uint8
}

// The stages of the picture of slots in use.
const (
	mapping = iota
	shuffling
	reducing
	other
	numStages
)

func newRecorder(q *model.WhatIf) *recorder {
	tasks := q.Tasks() + 2*len(q.Jobs)
	return &recorder{question: q, nodes: len(q.Cluster.Nodes), rows: make([]row, 0, tasks), attempts: make([]workload.Attempt, 0, min(tasks, mostKept))}
}

// Attempt implements model.Recorder.
func (k *recorder) Attempt(a *workload.Attempt) {
	w := row{a.Start, a.Start, a.Finish, other}
	switch a.Kind {
	case workload.Map:
		w.stage = mapping
	case workload.Reduce:
		w.stage, w.shuffled = reducing, min(a.Finish, a.Start+a.Phases[workload.PhaseStartup]+a.Phases[workload.PhaseShuffle])
	}
	k.rows = append(k.rows, w)
	if a.NodeIndex >= k.nodes {
		return
	}
	k.attempts = append(k.attempts, *a)
	for len(k.attempts) > mostKept && k.nodes > 1 {
		k.keep(k.nodes / 2)
	}
}

// keep drops the attempts of all but the first nodes.
func (k *recorder) keep(nodes int) {
	k.nodes = nodes
	k.attempts = slices.DeleteFunc(k.attempts, func(a workload.Attempt) bool { return a.NodeIndex >= nodes })
}

// whole reports whether the attempts are all of the run.
func (k *recorder) whole() bool { return k.nodes == len(k.question.Cluster.Nodes) }

// picture is the answer to run. Times are in milliseconds from the start.
type picture struct {
	Variation string // of the keys of [vary] that no setting replaces
	Makespan  float64
	Jobs      []job
	Nodes     []node
	Attempts  int    // of the run
	Rows      int    // of them in the columns
	Shown     int    // nodes whose attempts are in the columns
	Bins      int    // of the columns of slots in use
	Slots     [2]int // of maps and of reduces; the first of both if they are shared
	Waves     int    // of maps, of the job with the most
	Heartbeat float64
	Mean      float64
	Late      int // jobs after their deadline
	Locality  [4]int
	Warnings  []string
	Assumed   []string
	Phases    []string
	Kinds     []string
	States    []string
}

type node struct {
	Name, Rack string
	Slots      int
	Slowness   float64
}

// job is a job of the run; a time that is not known is negative.
type job struct {
	ID, Name, Pool, State           string
	Submit, First, Finish, Deadline float64
	Maps, Reduces                   int
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// bins is the number of points of time of the picture of slots in use.
const bins = 400

// picture returns the answer with its columns: start, finish, then each phase and the
// wait for map outputs in milliseconds; lane, job, task; kind, state, number, locality;
// and slots in use by stage. Numbers of a column are float64, float32, int32 or bytes,
// little-endian.
func (k *recorder) picture(p *model.Prediction) (*picture, []byte) {
	c := &k.question.Cluster
	v := &picture{Makespan: millis(p.Mean), Attempts: len(k.rows), Bins: bins, Warnings: []string{}, Assumed: []string{}}
	first := make([]int32, len(c.Nodes)) // lane of a node
	lanes := int32(0)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		first[i] = lanes
		lanes += int32(n.MapSlots + n.ReduceSlots)
		v.Nodes = append(v.Nodes, node{n.Name, c.Racks[n.Rack], n.MapSlots + n.ReduceSlots, n.Slowness})
		v.Slots[0], v.Slots[1] = v.Slots[0]+n.MapSlots, v.Slots[1]+n.ReduceSlots
	}
	if r, err := model.FindRelease(c.Hadoop); err == nil && !r.Ideal {
		beat, _ := r.HeartbeatOf(c, len(c.Nodes)) // the simulator has checked it
		v.Heartbeat = millis(beat)
	}
	if c.SharedSlots {
		v.Slots = [2]int{v.Slots[0] + v.Slots[1], 0}
	}
	at := map[string]int32{}
	ended := 0
	for i := range p.Jobs {
		j := &p.Jobs[i]
		at[j.ID] = int32(i)
		v.Jobs = append(v.Jobs, job{
			workload.Escape(j.ID), workload.Escape(j.Name), workload.Escape(j.Pool), j.State.String(), millis(j.Submit), millis(j.FirstMap), millis(j.Finish), millis(j.Deadline), j.Maps, j.Reduces,
		})
		if j.Finish >= 0 {
			v.Mean += millis(j.Finish - j.Submit)
			ended++
		}
		if j.Deadline > 0 && (j.Finish < 0 || j.Finish > j.Submit+j.Deadline) {
			v.Late++
		}
		v.Waves = max(v.Waves, j.MapWaves)
		for l, n := range j.Locality {
			v.Locality[l] += n
		}
	}
	v.Mean /= float64(max(1, ended))
	for i := range workload.NumPhases {
		v.Phases = append(v.Phases, i.String())
	}
	for i := workload.Map; i <= workload.ReduceTaskCleanup; i++ {
		v.Kinds = append(v.Kinds, i.String())
	}
	for i := workload.Succeeded; i <= workload.Running; i++ {
		v.States = append(v.States, i.String())
	}
	shown := k.attempts
	for v.Shown = k.nodes; len(shown) > mostRows && v.Shown > 1; {
		v.Shown /= 2
		shown = slices.DeleteFunc(slices.Clone(shown), func(a workload.Attempt) bool { return a.NodeIndex >= v.Shown })
	}
	v.Rows = len(shown)
	return v, k.columns(v, shown, first, at)
}

func (k *recorder) columns(v *picture, shown []workload.Attempt, first []int32, jobs map[string]int32) []byte {
	b := make([]byte, 0, len(shown)*(16+4*int(workload.NumPhases)+4+12+4)+4*numStages*bins)
	for i := range shown {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(millis(shown[i].Start)))
	}
	for i := range shown {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(millis(shown[i].Finish)))
	}
	f32 := func(x float64) { b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x))) }
	for p := range workload.NumPhases {
		for i := range shown {
			f32(millis(max(0, shown[i].Phases[p])))
		}
	}
	for i := range shown {
		f32(millis(max(0, shown[i].WaitFetch)))
	}
	for i := range shown {
		b = binary.LittleEndian.AppendUint32(b, uint32(first[shown[i].NodeIndex]+int32(shown[i].Slot)))
	}
	for i := range shown {
		b = binary.LittleEndian.AppendUint32(b, uint32(jobs[shown[i].Job]))
	}
	for i := range shown {
		b = binary.LittleEndian.AppendUint32(b, uint32(shown[i].Task))
	}
	for _, x := range k.inUse(v.Makespan) {
		f32(x)
	}
	for i := range shown {
		b = append(b, byte(shown[i].Kind))
	}
	for i := range shown {
		b = append(b, byte(shown[i].State))
	}
	for i := range shown {
		b = append(b, byte(min(255, shown[i].Number)))
	}
	for i := range shown {
		b = append(b, byte(shown[i].Locality))
	}
	return b
}

// inUse returns the mean number of slots in use in each bin, by stage.
func (k *recorder) inUse(makespan float64) []float64 {
	use := make([]float64, numStages*bins)
	width := makespan / bins
	if width <= 0 {
		return use
	}
	add := func(stage uint8, from, to time.Duration) {
		a, z := millis(from)/width, millis(to)/width
		i, last := min(int(a), bins-1), min(int(z), bins-1)
		at := use[int(stage)*bins:]
		if i == last {
			at[i] += z - a
			return
		}
		at[i] += float64(i+1) - a
		for i++; i < last; i++ {
			at[i]++
		}
		at[last] += z - float64(last)
	}
	for i := range k.rows {
		w := &k.rows[i]
		if w.stage == reducing {
			add(shuffling, w.start, w.shuffled)
		}
		add(w.stage, w.shuffled, w.finish)
	}
	return use
}
