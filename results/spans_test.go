package results_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/workload"
)

// What is written is read back.
func TestSpanTable(t *testing.T) {
	spans := []model.Span{
		{Job: "a, b", Kind: workload.Map, Task: 3, Attempt: 1, Phase: workload.PhaseRead, Device: "disk1", DeviceOf: "n3", FromNode: "n\"2", Begin: time.Second, End: 3 * time.Second, Own: time.Second, Bytes: 64 << 20},
		{Job: "c", Kind: workload.Reduce, Thread: model.CopierThread, Copier: 4, Phase: workload.PhaseShuffle, Wait: model.WaitMemory, Begin: 0, End: 5},
		{Job: "c", Kind: workload.Reduce, Thread: model.DiskMergeThread, Phase: workload.PhaseCommit, Wait: model.WaitCommit, Begin: 4, End: 9},
	}
	var b bytes.Buffer
	table := results.NewSpanTable(&b)
	for i := range spans {
		table.Span(&spans[i])
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	var read []model.Span
	keep := func(s *model.Span) bool { read = append(read, *s); return true }
	if err := results.ReadSpans(strings.NewReader(text), "spans.csv", keep); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, spans) {
		t.Errorf("read %+v\nwant %+v\nfrom %s", read, spans, text)
	}
	for bad, want := range map[string]string{
		"a,b\n": "spans.csv:1: got columns",
		strings.Replace(text, ",copier,4", ",copyist,4", 1):       "spans.csv:3: thread: got \"copyist\": want a name",
		strings.Replace(text, ",1000000000,", ",1e9,", 1):         "spans.csv:2: begin_ns: got \"1e9\": want a whole number",
		strings.Replace(text, ",commit,commit,", ",commit,", 1):   "spans.csv:4: got 14 columns: want 15",
		strings.Replace(text, "c,reduce,0,0", "c,reduce,-1,0", 1): "spans.csv:3: task: got \"-1\": want a whole number",
		strings.Replace(text, ",copier,4", ",copier,-4", 1):       "spans.csv:3: copier: got \"-4\": want a whole number from 0",
	} {
		if err := results.ReadSpans(strings.NewReader(bad), "spans.csv", keep); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
