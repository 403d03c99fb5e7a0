package scenarios

import (
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// A map of 8 million records of 10 bytes spills by the records that the buffer of
// Hadoop 1 has entries for, 262,144 spills' worth of 80 %; in that of Hadoop 2 records
// and their metadata of 16 bytes share the 80 MiB that are filled.
func TestSpillsByRelease(t *testing.T) {
	r, err := model.FindRelease("3.3.6")
	if err != nil {
		t.Fatal(err)
	}
	j := &workload.Job{Maps: workload.MapTasks{Count: 1, Output: workload.MapOutput{Records: 8e6, RawBytes: 80e6}}}
	first := func(release *model.YARNRelease) float64 {
		spills, sum := spillsOf(j, release)
		if sum < 8e6-1 || sum > 8e6+1 {
			t.Errorf("the spills hold %g records: want 8e6", sum)
		}
		return spills[0]
	}
	if got, want := first(nil), 262144.0; got < want-2 || got > want+2 {
		t.Errorf("Hadoop 1: the first spill has %g records: want %g", got, want)
	}
	if got, want := first(r.YARN), 80.0*1024*1024/26; got < want-2 || got > want+2 {
		t.Errorf("Hadoop 2: the first spill has %g records: want %g", got, want)
	}
}
