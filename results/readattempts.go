package results

import (
	"io"
	"slices"

	"github.com/slotwave/slotwave/workload"
)

// HasAttempts reports whether a table has the columns of attempts.csv, so that
// ReadAttempts reads it.
func HasAttempts(r io.Reader) bool {
	return readTable(r, "", attemptHeaders...).err == nil
}

// attemptHeaders are the columns of attempts.csv without and with counterColumns.
var attemptHeaders = [][]string{attemptColumns, slices.Concat(attemptColumns, counterColumns)}

// ReadAttempts reads attempts.csv; file is its name in errors. An attempt is valid
// only during the call. It keeps only names. It stops if each returns false.
func ReadAttempts(r io.Reader, file string, each func(*workload.Attempt) bool) error {
	t := readTable(workload.CountedReader{Reader: r}, file, attemptHeaders...)
	for t.row() {
		a := workload.Attempt{Job: t.text(), Task: int(t.count()), Kind: named(t, workload.ReduceTaskCleanup+1), Number: int(t.count())}
		a.State = named(t, workload.Running+1)
		a.Node, a.Rack, a.Slot, a.Pool = t.text(), t.text(), int(t.number()), t.text()
		a.Locality = named(t, workload.NumLocalities)
		a.Runnable, a.Start, a.Finish = t.time(), t.time(), t.time()
		for p := range a.Phases {
			a.Phases[p] = t.time()
		}
		for _, n := range figures(&a) {
			*n = t.number()
		}
		a.SetUncounted()
		if len(t.columns) > len(attemptColumns) {
			for _, n := range counters(&a) {
				*n = t.number()
			}
		}
		if t.err != nil || !each(&a) {
			break
		}
	}
	return t.err
}
