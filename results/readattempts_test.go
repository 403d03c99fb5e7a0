package results

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// What AttemptTable writes is read back, names in quotes too.
func TestReadAttempts(t *testing.T) {
	for _, counters := range []bool{false, true} {
		var written bytes.Buffer
		table := NewAttemptTable(&written, counters)
		want := []workload.Attempt{
			{Job: "a, \"b\"", Task: 3, Kind: workload.Reduce, Number: 1, State: workload.Killed, Node: "n1", Rack: "/r", Slot: 2, Pool: "p", Locality: workload.NoLocality, Runnable: 5, Start: 7, Finish: 12},
			{Job: "b", Kind: workload.ReduceTaskCleanup, State: workload.Failed, Node: "n2", WaitFetch: workload.UnknownTime},
		}
		want[0].Phases[workload.PhaseShuffle], want[0].SpilledRecords, want[0].WaitMemory = 5, 1<<40, 3
		for i := range want {
			want[i].CombineInRecords, want[i].CombineOutRecords, want[i].MaterializedBytes, want[i].CPUMillis = workload.Unknown, workload.Unknown, workload.Unknown, workload.Unknown
			if counters {
				want[i].CPUMillis = 8
			}
			table.Attempt(&want[i])
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		if !HasAttempts(bytes.NewReader(written.Bytes())) {
			t.Error("not known as a table of attempts")
		}
		var got []workload.Attempt
		if err := ReadAttempts(&written, "f", func(a *workload.Attempt) bool { got = append(got, *a); return true }); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	}
	header := strings.Join(attemptColumns(false), ",") + "\n"
	for text, want := range map[string]bool{"": false, "job,task\n": false, header: true} {
		if got := HasAttempts(strings.NewReader(text)); got != want {
			t.Errorf("%.40q: %v, want %v", text, got, want)
		}
	}
	row := "a,1,map,0,SUCCEEDED,n,r,0,,node" + strings.Repeat(",1", len(attemptColumns(false))-10)
	for _, bad := range []string{strings.Replace(row, "map", "lamp", 1), strings.Replace(row, "a,1", "a,x", 1), row + ",1", strings.TrimSuffix(row, ",1"), "a"} {
		if err := ReadAttempts(strings.NewReader(header+bad+"\n"), "f", func(*workload.Attempt) bool { return true }); err == nil || !strings.HasPrefix(err.Error(), "f:2: ") {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}
