package taskplan_test

import (
	"testing"

	"github.com/slotwave/slotwave/model/taskplan"
)

func output(raw float64) taskplan.Segment {
	return taskplan.Segment{Stored: raw + 4, Raw: raw, Records: raw / 100}
}

// fetch brings an output in, if there is memory for it.
func fetch(t *testing.T, s *taskplan.Shuffle, out taskplan.Segment) {
	t.Helper()
	if !s.InMemory(out) {
		s.Stored(out)
		return
	}
	if !s.Reserve(out) {
		t.Fatalf("no memory for %v bytes", out.Raw)
	}
	s.Copied(out)
	s.Listed(out)
}

func merges(t *testing.T, s *taskplan.Shuffle, when string, want int) []taskplan.Segment {
	t.Helper()
	inputs := s.InMemMerge()
	if len(inputs) != want {
		t.Errorf("%s: a merge of %d, want %d", when, len(inputs), want)
	}
	return inputs
}

// The limits that Hadoop 0.20.2 logs at 200 MB of heap: 146,800,640 bytes, of
// which one output may have a quarter.
func TestShuffleLimits(t *testing.T) {
	conf := defaultConf()
	s := conf.NewShuffle(10)
	if !s.InMemory(output(36_700_159)) || s.InMemory(output(36_700_160)) {
		t.Error("the limit of a single output is not 36,700,160 bytes")
	}
	for range 4 {
		if out := output(36_700_159); !s.Reserve(out) {
			t.Fatal("four quarters do not fit")
		}
	}
	if s.Reserve(output(5)) {
		t.Error("more than 146,800,640 bytes fit")
	}
	if !s.Retry(output(4)) {
		t.Error("146,800,640 bytes do not fit")
	}
}

func TestShuffleMergesAtTwoThirds(t *testing.T) {
	conf := defaultConf()
	s := conf.NewShuffle(10)
	const third = 33_000_000
	for range 2 {
		fetch(t, &s, output(third))
		merges(t, &s, "below two thirds", 0)
	}
	late := output(third)
	s.Reserve(late)
	s.Copied(late)
	inputs := merges(t, &s, "above, with the last output not listed", 2)
	s.Listed(late)
	for _, in := range inputs {
		s.Free(in)
	}
	merges(t, &s, "while a merge runs", 0)
	s.InMemMerged(output(2 * third))
	merges(t, &s, "with one output left", 0)
	if s.Missing() != 7 || s.Done() {
		t.Errorf("%d outputs are missing", s.Missing())
	}
	s.Close()
	if !s.Done() {
		t.Error("not done")
	}
}

// One output alone is not merged, however much of the memory it fills.
func TestShuffleMergesTwoOrMore(t *testing.T) {
	conf := defaultConf()
	conf.ShuffleMerge = 0.1
	s := conf.NewShuffle(10)
	fetch(t, &s, output(30_000_000))
	merges(t, &s, "one", 0)
	fetch(t, &s, output(1))
	merges(t, &s, "two", 2)
}

func TestShuffleMergesManyOutputs(t *testing.T) {
	conf := defaultConf()
	conf.InMemMergeThr = 3
	s := conf.NewShuffle(10)
	for range 2 {
		fetch(t, &s, output(100))
	}
	merges(t, &s, "two of three", 0)
	fetch(t, &s, output(100))
	merges(t, &s, "three", 3)
}

// Four of five copiers waiting for memory start a merge, and so do all that are
// still to come.
func TestShuffleMergesForTheStalled(t *testing.T) {
	conf := defaultConf()
	conf.ShuffleMerge = 1
	stalled := func(maps int) taskplan.Shuffle {
		s := conf.NewShuffle(maps)
		for range 4 {
			fetch(t, &s, output(36_000_000))
		}
		return s
	}
	s := stalled(100)
	for i := range 4 {
		merges(t, &s, "before enough are stalled", 0)
		if s.Reserve(output(36_000_000)) {
			t.Fatalf("copier %d is not stalled", i)
		}
	}
	merges(t, &s, "with four stalled", 4)

	s = stalled(5)
	merges(t, &s, "with one to come", 0)
	s.Reserve(output(36_000_000))
	merges(t, &s, "with the last one stalled", 4)
}

// Ten of nineteen files are merged, the smallest ones.
func TestShuffleMergesOnDisk(t *testing.T) {
	conf := defaultConf()
	s := conf.NewShuffle(100)
	for i := range 19 {
		if s.OnDiskMerge() != nil {
			t.Fatalf("a merge of %d files", i)
		}
		fetch(t, &s, output(float64(60-i)*1e6))
	}
	inputs := s.OnDiskMerge()
	if len(inputs) != 10 || inputs[0].Raw != 42e6 || inputs[9].Raw != 51e6 {
		t.Fatalf("inputs %v", inputs)
	}
	if s.OnDiskMerge() != nil {
		t.Error("a second merge at once")
	}
	s.OnDiskMerged(output(465e6))
	for range 9 {
		if s.OnDiskMerge() != nil {
			t.Fatal("a merge too early")
		}
		fetch(t, &s, output(60e6))
	}
	if len(s.OnDiskMerge()) != 10 {
		t.Error("no merge of the next nineteen files")
	}
}

// The limits of Hadoop 2 for a heap of 1 GiB, in single precision: 751,619,264 bytes, of
// which one output may have a quarter. One reservation may pass the limit. All outputs
// merge at 496,068,736 bytes, and the fetchers wait meanwhile.
func TestShuffleOfHadoop2(t *testing.T) {
	conf := defaultConf()
	conf.MRv2, conf.ReduceHeap, conf.InMemMergeThr = true, 1<<30, 2
	s := conf.NewShuffle(20)
	if s.Memory() != 751_619_264 || !s.InMemory(output(187_904_816)) || s.InMemory(output(187_904_817)) {
		t.Errorf("%v bytes, a single output of 187,904,816 %v", s.Memory(), s.InMemory(output(187_904_816)))
	}
	const part = 187_904_816
	for i := range 5 {
		if !s.Reserve(output(part)) {
			t.Fatalf("output %d does not fit", i)
		}
	}
	if s.Reserve(output(1)) {
		t.Error("an output fits above the limit")
	}
	s.Abandon(output(1), true)
	arrive := func(raw float64) {
		s.Copied(output(raw))
		s.Listed(output(raw))
	}
	arrive(part)
	arrive(part)
	arrive(120_259_103)
	merges(t, &s, "at 496,068,735 bytes", 0)
	if s.Merging() {
		t.Error("the fetchers wait for no merge")
	}
	arrive(1)
	inputs := merges(t, &s, "at 496,068,736 bytes", 4)
	if !s.Merging() {
		t.Error("the fetchers do not wait for the merge")
	}
	for _, in := range inputs {
		s.Free(in)
	}
	s.InMemMerged(output(496_068_736))
	if s.Merging() || !s.Reserve(output(1)) {
		t.Error("the merge leaves no room")
	}
	conf.MRv2 = false
	if one := conf.NewShuffle(20); one.Merging() {
		t.Error("the fetchers of Hadoop 1 wait for a merge")
	}
}
