// Package bench measures the simulator: the event list, the devices and the
// network, whole clusters, what-if questions and the readers of traces. It
// compares all of them with a bare priority queue that it measures in the same
// process, so that figures of two machines can be compared.
package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Options select the benchmarks.
type Options struct {
	All    bool // whole days and shuffles in place of parts of them
	Growth bool // also questions in ever larger sizes, by scheduler
}

// Result is what one benchmark took.
type Result struct {
	Group  string        `json:"group"`
	Name   string        `json:"name"`
	Size   int           `json:"size,omitempty"` // that grows within the group; 0: none
	Work   int64         `json:"work"`
	Unit   string        `json:"unit"` // of the work
	CPU    time.Duration `json:"cpu_ns"`
	Wall   time.Duration `json:"wall_ns"`
	Bytes  uint64        `json:"allocated_bytes"`
	Allocs uint64        `json:"allocations"`
	// Ratio is the time of a unit of work in operations of the bare queue: with as
	// many entries for the engine, else with 10,000.
	Ratio float64 `json:"queue_operations"`
	// Exponent is that of the size in a fit of the processor time, over all sizes.
	// The result of the largest size has it.
	Exponent float64 `json:"exponent,omitempty"`
}

// PerUnit returns the processor time of a unit of work in ns.
func (r *Result) PerUnit() float64 { return float64(r.CPU) / float64(max(1, r.Work)) }

// benchmark is one measurement. prepare returns what is measured; it returns
// the work done.
type benchmark struct {
	group, name, unit string
	size              int
	prepare           func() (func() (int64, error), error)
}

// Run runs all benchmarks one after the other and calls each with every result.
func Run(o Options, each func(Result)) ([]Result, error) {
	var all []Result
	queue := map[int]float64{} // ns of an operation by number of entries
	list := append(holds(), clusters(o)...)
	list = append(list, shuffles(o)...)
	list = append(list, transfers()...)
	list = append(list, whatIfs(o)...)
	list = append(list, readers(o)...)
	if o.Growth {
		list = append(list, growth()...)
	}
	for i := range list {
		b := &list[i]
		r, err := b.measure()
		if err != nil {
			return nil, fmt.Errorf("benchmark %s, %s: %w", b.group, b.name, err)
		}
		if b.name == bareQueue {
			queue[b.size] = r.PerUnit()
		}
		entries := usualSize
		if b.group == eventList {
			entries = b.size
		}
		r.Ratio = r.PerUnit() / queue[entries]
		all = append(all, r)
		if sizes := sizesOf(all, b); len(sizes) > 1 && !slices.ContainsFunc(list[i+1:], b.isAlike) {
			all[len(all)-1].Exponent = exponentOf(sizes)
		}
		each(all[len(all)-1])
	}
	return all, nil
}

// isAlike reports whether two benchmarks differ only in their size.
func (b *benchmark) isAlike(c benchmark) bool { return b.group == c.group && b.name == c.name }

// sizesOf returns the results of all sizes of a benchmark.
func sizesOf(all []Result, b *benchmark) (sizes []Result) {
	for i := range all {
		if all[i].Size > 0 && all[i].Group == b.group && all[i].Name == b.name {
			sizes = append(sizes, all[i])
		}
	}
	return sizes
}

// measure runs a benchmark once.
func (b *benchmark) measure() (Result, error) {
	r := Result{Group: b.group, Name: b.name, Size: b.size, Unit: b.unit}
	run, err := b.prepare()
	if err != nil {
		return r, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wall, cpu := time.Now(), processorTime()
	r.Work, err = run()
	r.CPU, r.Wall = processorTime()-cpu, time.Since(wall)
	runtime.ReadMemStats(&after)
	r.Bytes, r.Allocs = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	return r, err
}
