package scheduler

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// A list that items come into and go out of at random stays as if it were sorted.
func TestSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := newSorted(cmp.Compare[int])
	in := map[int]bool{}
	var want []int
	for step := range 20_000 {
		x := rng.IntN(1000)
		if grow := step < 10_000; grow == (rng.IntN(4) > 0) {
			in[x] = s.set(x, in[x], true)
		} else {
			in[x] = s.set(x, in[x], false)
		}
		if step%100 > 0 {
			continue
		}
		want = want[:0]
		for x := range 1000 {
			if in[x] {
				want = append(want, x)
			}
		}
		if got := slices.Collect(s.all()); !slices.Equal(got, want) {
			t.Fatalf("step %d: the list is %v, want %v", step, got, want)
		}
		if s.empty() != (len(want) == 0) {
			t.Fatalf("step %d: empty is %v of %d items", step, s.empty(), len(want))
		}
	}
}

// An item whose key changes moves to where it then belongs, and only then.
func TestSortedReorder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	keys := make([]int, 500)
	byKey := func(a, b int) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) }
	s := newSorted(byKey)
	for x := range keys {
		keys[x] = rng.IntN(100)
		s.insert(x)
	}
	for step := range 20_000 {
		x := rng.IntN(len(keys))
		at := s.find(x)
		keys[x] += rng.IntN(5) - 2
		s.reorder(at)
		if got := slices.Collect(s.all()); len(got) != len(keys) || !slices.IsSortedFunc(got, byKey) {
			t.Fatalf("step %d: the list is %v", step, got)
		}
	}
}

// No block is longer than it may be, and each item moves few others.
func TestSortedInShortBlocks(t *testing.T) {
	s := newSorted(cmp.Compare[int])
	for x := range 10_000 {
		s.insert(x * 7919 % 10_000)
	}
	for _, block := range s.blocks {
		if len(block) > itemsPerBlock || len(block) < itemsPerBlock/2 {
			t.Errorf("a block has %d items, want %d to %d", len(block), itemsPerBlock/2, itemsPerBlock)
		}
	}
}

// Java's sort keeps equal elements in place, and with an order that is none, like
// this one in which 0 equals everything, it gives what binary insertion makes of
// the first run: worked out by hand from java.util.ComparableTimSort.
func TestSortLikeJava(t *testing.T) {
	compare := func(a, b int) int {
		if a == 0 || b == 0 {
			return 0
		}
		return cmp.Compare(a, b)
	}
	for _, x := range []struct{ in, want []int }{
		{nil, nil},
		{[]int{3}, []int{3}},
		{[]int{2, 1}, []int{1, 2}},
		{[]int{3, 2, 1}, []int{1, 2, 3}},             // a falling run is turned round
		{[]int{1, 2, 3, 2}, []int{1, 2, 2, 3}},       // a rising one is kept
		{[]int{3, 1, 2}, []int{1, 2, 3}},             // 1 3, then 2 between them
		{[]int{3, 0, 1}, []int{3, 0, 1}},             // rises as 0 equals both
		{[]int{1, 3, 0, 2}, []int{1, 3, 0, 2}},       // and so does this
		{[]int{5, 4, 0, 1, 3}, []int{1, 3, 4, 5, 0}}, // 4 5, then 0, 1 and 3
	} {
		got := slices.Clone(x.in)
		sortLikeJava(got, compare)
		if !slices.Equal(got, x.want) {
			t.Errorf("%v: sorted into %v, want %v", x.in, got, x.want)
		}
	}
	long := make([]int, 100)
	for i := range long {
		long[i] = i * 37 % 100
	}
	sortLikeJava(long, cmp.Compare[int])
	if !slices.IsSorted(long) {
		t.Errorf("100 elements: %v", long)
	}
}

// The factors of the five priorities in both fair schedulers.
func TestPriorityFactor(t *testing.T) {
	want := 4.0
	for p := workload.VeryHigh; p <= workload.VeryLow; p++ {
		if got := priorityFactor(p); got != want {
			t.Errorf("%v: factor %v, want %v", p, got, want)
		}
		want /= 2
	}
}

// The ratio of slots to weight is found at which the shares add up. Ten slots: of
// weights 1 and 3, 2.5 and 7.5; if the heavy one demands only 4, the other gets
// 6; a minimum of 4 leaves 6; and what nobody demands stays free. TestComputeFairShares
// of Hadoop has such cases.
func TestComputeFairShares(t *testing.T) {
	for _, x := range []struct {
		weights      []float64
		mins, demand []int
		want         []float64
	}{
		{[]float64{1, 3}, []int{0, 0}, []int{100, 100}, []float64{2.5, 7.5}},
		{[]float64{1, 3}, []int{0, 0}, []int{100, 4}, []float64{6, 4}},
		{[]float64{1, 3}, []int{4, 0}, []int{100, 100}, []float64{4, 6}},
		{[]float64{1, 1}, []int{0, 0}, []int{2, 3}, []float64{2, 3}},
		{[]float64{1, 1, 1, 1}, []int{0, 0, 0, 0}, []int{1, 100, 100, 100}, []float64{1, 3, 3, 3}},
		{[]float64{1, 1}, []int{8, 8}, []int{100, 100}, []float64{8, 8}}, // more promised than there is
		{[]float64{1, 1}, []int{8, 0}, []int{5, 100}, []float64{5, 5}},   // and more than is demanded
	} {
		got := make([]float64, len(x.weights))
		var of []sharer
		for i := range x.weights {
			of = append(of, sharer{x.weights[i], x.mins[i], x.demand[i], &got[i]})
		}
		computeFairShares(of, 10)
		for i := range got {
			// 25 bisections leave 16 / 2^25 at most, times a weight.
			if d := got[i] - x.want[i]; d < 0 || d > 1e-5 {
				t.Errorf("weights %v, minima %v, demands %v: shares %v, want %v", x.weights, x.mins, x.demand, got, x.want)
				break
			}
		}
	}
}
