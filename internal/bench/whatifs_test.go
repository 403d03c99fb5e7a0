package bench

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/slotwave/slotwave/study"
)

// whatIfs are replications of one scenario, one after the other and on two
// cores. The second row has the speed-up in its wall time, and the price of
// sharing in its processor time.
func whatIfs() (list []benchmark) {
	jobs, runs := 500, 8
	if !testing.Short() {
		jobs, runs = 5894, 16
	}
	for _, cores := range []int{1, 2} {
		name := fmt.Sprintf("fb2009, %d jobs, %d runs on %d core", jobs, runs, cores)
		if cores > 1 {
			name += "s"
		}
		list = append(list, benchmark{group: "what-if", name: name, unit: "run", prepare: func(testing.TB) (func() (int64, error), error) {
			s, err := study.Open("fb2009", study.Options{Seed: 1, Replications: runs, Workers: cores, Set: []string{fmt.Sprintf("workload.jobs=%d", jobs)}})
			return func() (int64, error) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
				_, err := s.Simulate(nil, nil)
				return int64(runs), err
			}, err
		}})
	}
	return list
}
