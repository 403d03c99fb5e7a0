package analytic

import (
	"errors"
	"math"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// RecordRun takes the measurements of a run from its attempts.
func RecordRun(attempts []workload.Attempt, submit, finish time.Duration) (RecordedRun, error) {
	p, err := ExtractAria(attempts)
	if err != nil {
		return RecordedRun{}, err
	}
	r := RecordedRun{Profile: p, Time: (finish - submit).Seconds()}
	if r.Time <= 0 {
		return r, errors.New("the job has no end")
	}
	first, last, lastMap := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(0)
	var fetched, emitted int64
	for i := range attempts {
		a := &attempts[i]
		if a.Kind != workload.Map && a.Kind != workload.Reduce {
			continue
		}
		first, last = min(first, a.Start), max(last, a.Finish)
		if a.State == workload.Succeeded {
			switch a.Kind {
			case workload.Map:
				lastMap = max(lastMap, a.Finish)
				emitted += max(0, a.OutBytes)
			case workload.Reduce:
				fetched += max(0, a.ShuffleBytes)
			}
		}
	}
	if r.Data = float64(fetched); fetched == 0 {
		r.Data = float64(emitted)
	}
	if p.Reduces > 0 && r.Data == 0 {
		return r, errors.New("neither the bytes of the map output nor the bytes that the reduces fetched are recorded")
	}
	r.MapStage = (lastMap - first).Seconds()
	r.Outside = math.Max(0, r.Time-(last-first).Seconds())
	r.MapSlots, r.ReduceSlots = mostAtOnce(attempts, workload.Map), mostAtOnce(attempts, workload.Reduce)
	if r.MapSlots == 0 || p.Reduces > 0 && r.ReduceSlots == 0 {
		return r, errors.New("no task of the job took any time")
	}
	return r, nil
}

// mostAtOnce returns the largest number of attempts of a kind that ran at a time.
func mostAtOnce(attempts []workload.Attempt, k workload.Kind) int {
	return workload.MostAtOnce(func(yield func(start, finish time.Duration) bool) {
		for i := range attempts {
			if a := &attempts[i]; a.Kind == k && !yield(a.Start, a.Finish) {
				return
			}
		}
	})
}
