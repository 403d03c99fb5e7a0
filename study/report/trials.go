package report

import (
	"fmt"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/study/play/live"
)

// A page simulates changes of runs up to mostTried tasks, where one at fidelity device
// counts as ten: about a second in a browser. Their questions may take mostPacked bytes.
const (
	mostTried  = 100_000
	mostPacked = 4 << 20
)

// offerTrials gives the run and each change the questions that the page simulates. A
// change that it cannot simulate gets the command that tests it.
func (r *Run) offerTrials(command string) {
	q := r.Question
	if q == nil {
		return
	}
	tasks := q.Tasks()
	if q.Fidelity == model.Device {
		tasks *= diagnose.TaskWork
	}
	var err error
	if tasks > mostTried {
		err = fmt.Errorf("the run is too large for a page")
	} else {
		r.Packed, err = live.Pack(*q)
	}
	r.Trials = make([]Trial, len(r.Findings))
	size := len(r.Packed)
	for i := range r.Findings {
		change, own := r.Findings[i].Change, &r.Trials[i]
		if change == nil {
			continue
		}
		changed, failed := change.Edit(*q)
		if failed != nil {
			own.Try = failed.Error()
			continue
		}
		var packed []byte
		if failed = err; failed == nil {
			packed, failed = live.Pack(changed)
		}
		if size += len(packed); failed == nil && size > mostPacked {
			failed = fmt.Errorf("the page is full")
		}
		if failed != nil {
			own.Try = fmt.Sprintf("%v: %s", failed, command)
			continue
		}
		own.Question = packed
	}
}
