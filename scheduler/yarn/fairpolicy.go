package yarn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// schedulable is a queue or an application that shares with its siblings
// (Schedulable, 3.3.6).
type schedulable interface {
	wish() Resource // demand, as of the last update
	use() Resource
	least() Resource
	most() Resource
	weigh() float32
	since() int64
	label() string
	running() bool // a queue with runnable applications; an application always
	fair() *Resource
}

// unbounded is more than any cluster has.
var unbounded = Resource{MemoryMiB: math.MaxInt64, VCores: math.MaxInt32}

// sharing is a SchedulingPolicy of the FairScheduler.
type sharing struct {
	compare  func(cluster Resource, a, b schedulable) int
	before28 func(cluster Resource, a, b schedulable) int // in its place before 2.8
	share    func(list []schedulable, total Resource)
	calc     calculator
	below    func(cluster, use, share Resource) bool
	cores    bool // the headroom in cores counts the fair share too
}

var sharings = map[string]*sharing{
	"fair": {compare: compareFair, before28: compareFair27, share: shareMemory, calc: memoryOnly, below: belowMemory},
	"drf":  {compare: compareDominant, before28: compareDominant27, share: shareBoth, calc: dominant, below: belowDominant, cores: true},
	"fifo": {compare: compareStart, before28: compareStart, share: shareFirst, calc: memoryOnly, below: belowMemory},
}

// sharingOf finds a policy by its name or the name of its class.
func sharingOf(name string) *sharing {
	name = strings.TrimSpace(name)
	name = name[strings.LastIndex(name, ".")+1:]
	switch name {
	case "FairSharePolicy":
		name = "fair"
	case "DominantResourceFairnessPolicy":
		name = "drf"
	case "FifoPolicy":
		name = "fifo"
	}
	return sharings[strings.ToLower(name)]
}

func compareStart(_ Resource, a, b schedulable) int { return byStart(a, b) }

func byStart(a, b schedulable) int {
	if d := cmp.Compare(a.since(), b.since()); d != 0 {
		return d
	}
	return strings.Compare(a.label(), b.label())
}

func signOf(f float64) int {
	switch {
	case f < 0:
		return -1
	case f > 0:
		return 1
	}
	return 0
}

// compareFair orders by memory: who wants something first, then who is below its
// minimum, then use by weight (FairSharePolicy.FairShareComparator).
func compareFair(_ Resource, a, b schedulable) int {
	wishA, wishB := a.wish().MemoryMiB, b.wish().MemoryMiB
	switch {
	case wishA == 0 && wishB > 0:
		return 1
	case wishB == 0 && wishA > 0:
		return -1
	}
	return compareUse(a, b, true)
}

// compareFair27 is the comparator before 2.8: who wants nothing is not last, and of two
// below their minima the use by weight does not count.
func compareFair27(_ Resource, a, b schedulable) int { return compareUse(a, b, false) }

// compareUse orders by memory: who is below its minimum first, then use by weight.
func compareUse(a, b schedulable, alsoNeedy bool) int {
	wishA, wishB := a.wish().MemoryMiB, b.wish().MemoryMiB
	useA, useB := a.use().MemoryMiB, b.use().MemoryMiB
	leastA, leastB := min(a.least().MemoryMiB, wishA), min(b.least().MemoryMiB, wishB)
	needyA, needyB := useA < leastA, useB < leastB
	d := 0
	switch {
	case needyA && !needyB:
		return -1
	case needyB && !needyA:
		return 1
	case needyA:
		d = signOf(float64(useA)/float64(max(leastA, 1)) - float64(useB)/float64(max(leastB, 1)))
	}
	if d == 0 && (alsoNeedy || !needyA) {
		d = compareByWeight(useA, useB, float64(a.weigh()), float64(b.weigh()))
	}
	if d == 0 {
		d = byStart(a, b)
	}
	return d
}

func compareByWeight(useA, useB int64, a, b float64) int {
	switch {
	case a > 0 && b > 0:
		return signOf(float64(useA)/a - float64(useB)/b)
	case a == b:
		return cmp.Compare(useA, useB)
	}
	return signOf(b - a)
}

// compareDominant orders by the dominant resource
// (DominantResourceFairnessPolicy.DominantResourceFairnessComparator2).
func compareDominant(cluster Resource, a, b schedulable) int {
	return cmp.Or(dominantOf(cluster, a).compare(dominantOf(cluster, b)), byStart(a, b))
}

// compareDominant27 is the comparator before 2.8: in single precision, cores first where
// both shares are equal, and without a rule for those that began together.
func compareDominant27(cluster Resource, a, b schedulable) int {
	x, y := dominantOf(cluster, a).single(), dominantOf(cluster, b).single()
	return cmp.Or(x.compare(y), cmp.Compare(a.since(), b.since()))
}

// single rounds a standing to single precision, and finds the dominant resource of that.
func (x standing) single() standing {
	for _, list := range []*[2]float64{&x.shares, &x.least} {
		list[0], list[1] = float64(float32(list[0])), float64(float32(list[1]))
	}
	x.dominant = 1
	if x.shares[0] > x.shares[1] {
		x.dominant = 0
	}
	x.needy = x.least[x.dominant] < 1
	return x
}

// standing is how one schedulable stands by its dominant resource: 0 memory, 1 cores.
type standing struct {
	dominant int
	needy    bool
	shares   [2]float64 // of the cluster, by weight
	least    [2]float64 // of the minimum share
}

func dominantOf(cluster Resource, s schedulable) standing {
	use, least, w := s.use(), s.least(), float64(s.weigh())
	var x standing
	x.shares[0] = float64(use.MemoryMiB) / float64(cluster.MemoryMiB)
	x.shares[1] = float64(use.VCores) / float64(cluster.VCores)
	x.needy = use.MemoryMiB < least.MemoryMiB
	if x.shares[1] > x.shares[0] {
		x.dominant = 1
		x.needy = use.VCores < least.VCores
	}
	x.shares[0] /= w
	x.shares[1] /= w
	x.least[0] = float64(use.MemoryMiB) / float64(least.MemoryMiB)
	x.least[1] = float64(use.VCores) / float64(least.VCores)
	return x
}

// compare puts who is below its minimum first, then who has less.
func (x standing) compare(y standing) int {
	mine, others := x.shares, y.shares
	switch {
	case x.needy && !y.needy:
		return -1
	case y.needy && !x.needy:
		return 1
	case x.needy:
		mine, others = x.least, y.least
	}
	if d := signOf(mine[x.dominant] - others[y.dominant]); d != 0 {
		return d
	}
	return signOf(mine[1-x.dominant] - others[1-y.dominant])
}

func belowMemory(_, use, share Resource) bool { return use.MemoryMiB < share.MemoryMiB }

func belowDominant(cluster, use, share Resource) bool {
	return dominantShare(cluster, use) < dominantShare(cluster, share)
}

// component picks memory or cores of a resource.
type component func(*Resource) *int64

func memoryOf(r *Resource) *int64 { return &r.MemoryMiB }
func coresOf(r *Resource) *int64  { return &r.VCores }

func shareMemory(list []schedulable, total Resource) { shareOne(list, total, memoryOf) }

func shareBoth(list []schedulable, total Resource) {
	shareOne(list, total, memoryOf)
	shareOne(list, total, coresOf)
}

// shareFirst gives everything to the one that began first; the others keep what they
// had (FifoPolicy.computeShares).
func shareFirst(list []schedulable, total Resource) {
	var first schedulable
	for _, s := range list {
		if first == nil || s.since() < first.since() {
			first = s
		}
	}
	if first != nil {
		*first.fair() = total
	}
}

// shareOne divides one resource by weight between minimum and maximum shares: it finds
// the ratio of amount to weight by bisection (ComputeFairShares, 3.3.6).
func shareOne(all []schedulable, total Resource, of component) {
	const steps = 25 // COMPUTE_FAIR_SHARES_ITERATIONS
	value := func(r Resource) int64 { return *of(&r) }
	var list []schedulable
	left := value(total)
	for _, s := range all {
		fixed, ok := fixedShare(s, value)
		if !ok {
			list = append(list, s)
			continue
		}
		*of(s.fair()) = fixed
		left -= fixed
	}
	if len(list) == 0 {
		return
	}
	left = max(left, 0)
	var most int64
	for _, s := range list {
		if most += value(s.most()); most < 0 || most >= left {
			most = left
			break
		}
	}
	left = min(left, most)
	used := func(ratio float64) int64 {
		var sum int64
		for _, s := range list {
			if sum += shareAt(s, ratio, value); sum < 0 {
				return math.MaxInt64
			}
		}
		return sum
	}
	high := 1.0
	for used(high) < left {
		high *= 2
	}
	low := 0.0
	for range steps {
		mid := (low + high) / 2
		planned := used(mid)
		if planned < left {
			low = mid
			continue
		}
		high = mid
		if planned == left {
			break
		}
	}
	for _, s := range list {
		*of(s.fair()) = shareAt(s, high, value)
	}
}

// fixedShare is the share of what takes no part: no maximum, not active, no weight.
func fixedShare(s schedulable, value func(Resource) int64) (int64, bool) {
	switch {
	case value(s.most()) <= 0, !s.running():
		return 0, true
	case s.weigh() <= 0:
		return max(value(s.least()), 0), true
	}
	return 0, false
}

func shareAt(s schedulable, ratio float64, value func(Resource) int64) int64 {
	share := float64(s.weigh()) * ratio
	share = max(share, float64(value(s.least())))
	if most := value(s.most()); share >= float64(most) {
		return most
	}
	return int64(share)
}

// compare returns the comparator of a policy.
func (s *fair) compare(p *sharing) func(a, b schedulable) int {
	compare := p.compare
	if !s.release.Fair28 {
		compare = p.before28
	}
	return func(a, b schedulable) int { return compare(s.total, a, b) }
}

// inOrder returns a list in the order of a policy. Before 2.8 the list itself is sorted,
// and so keeps the order of equals.
func inOrder[S schedulable](s *fair, p *sharing, list []S) []S {
	compare := s.compare(p)
	if s.release.Fair28 {
		list = slices.Clone(list)
	}
	slices.SortStableFunc(list, func(a, b S) int { return compare(a, b) })
	return list
}

// applicationLabel is the name by which applications that began together are ordered.
func applicationLabel(id int32) string { return fmt.Sprintf("application_%04d", id) }
