package yarn

import (
	"cmp"
	"math"

	"github.com/slotwave/slotwave/model"
)

// Resource is an amount of memory and virtual cores.
type Resource = model.Resource

// calculator compares and rounds amounts (ResourceCalculator). The two that Hadoop has
// differ in whether virtual cores count. Without them it is DefaultResourceCalculator,
// which gives every container one core; with them DominantResourceCalculator, which
// compares by the larger share of the cluster, then by the smaller (3.3.6). Ratios are in
// single precision, as Hadoop's are, because queues with equal ratios stand in the order
// of the list.
type calculator struct{ cores bool }

var (
	memoryOnly = calculator{}
	dominant   = calculator{cores: true}
)

// amount makes an amount of both. Where cores do not count, memory has one.
func (c calculator) amount(mib, cores int64) Resource {
	r := Resource{MemoryMiB: mib, VCores: cores}
	if !c.cores {
		r.VCores = min(1, max(0, mib))
	}
	return r
}

func ceilDiv(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return (a + b - 1) / b
}

func ceilDivFloat(a int64, b float32) int64 {
	if b == 0 {
		return 0
	}
	return int64(math.Ceil(float64(float32(a) / b)))
}

func upTo(a, step int64) int64   { return ceilDiv(a, step) * step }
func downTo(a, step int64) int64 { return a / step * step }

// share is a / b in single precision; nothing of nothing is none.
func share(a, b int64) float32 {
	if a == 0 && b == 0 {
		return 0
	}
	return float32(a) / float32(b)
}

// compare orders two amounts in a cluster of a given size.
func (c calculator) compare(cluster, a, b Resource) int {
	switch {
	case !c.cores:
		return cmp.Compare(a.MemoryMiB, b.MemoryMiB)
	case a == b:
		return 0
	case cluster == (Resource{}):
		return compareBoth(a, b)
	}
	aLarge, aSmall := shares(cluster, a)
	bLarge, bSmall := shares(cluster, b)
	return cmp.Or(cmp.Compare(aLarge, bLarge), cmp.Compare(aSmall, bSmall))
}

// shares returns the larger and the smaller share of a cluster. Of what the cluster does
// not have any amount is infinitely much (DominantResourceCalculator.calculateShare).
func shares(cluster, r Resource) (large, small float64) {
	part := func(a, of int64) float64 {
		if of == 0 {
			return math.Inf(1)
		}
		return float64(a) / float64(of)
	}
	m, v := part(r.MemoryMiB, cluster.MemoryMiB), part(r.VCores, cluster.VCores)
	return max(m, v), min(m, v)
}

// dominantShare is the larger share of what the cluster has.
func dominantShare(cluster, r Resource) float64 {
	large, small := shares(cluster, r)
	switch {
	case !math.IsInf(large, 1):
		return max(large, 0)
	case !math.IsInf(small, 1):
		return max(small, 0)
	}
	return 0
}

// compareBoth orders amounts in an empty cluster: by both components, where they agree.
func compareBoth(a, b Resource) int {
	m, v := cmp.Compare(a.MemoryMiB, b.MemoryMiB), cmp.Compare(a.VCores, b.VCores)
	if m*v < 0 {
		return 0
	}
	return cmp.Or(m, v)
}

func (c calculator) fits(small, big Resource) bool {
	return small.MemoryMiB <= big.MemoryMiB && (!c.cores || small.VCores <= big.VCores)
}

func (c calculator) anyAboveZero(r Resource) bool { return r.MemoryMiB > 0 || c.cores && r.VCores > 0 }

// anyUsedUp reports whether one of those that count is 0 or less.
func (c calculator) anyUsedUp(r Resource) bool { return r.MemoryMiB <= 0 || c.cores && r.VCores <= 0 }

// available is how many requests fit into an amount.
func (c calculator) available(free, request Resource) int64 {
	n := int64(math.MaxInt32)
	if request.MemoryMiB != 0 {
		n = free.MemoryMiB / request.MemoryMiB
	}
	if c.cores && request.VCores != 0 {
		n = min(n, free.VCores/request.VCores)
	}
	return n
}

func (c calculator) divide(cluster, a, b Resource) float32 {
	if !c.cores {
		return share(a.MemoryMiB, b.MemoryMiB)
	}
	return float32(dominantShare(cluster, a) / dominantShare(cluster, b))
}

func (c calculator) ratio(a, b Resource) float32 {
	if !c.cores {
		return share(a.MemoryMiB, b.MemoryMiB)
	}
	return max(0, share(a.MemoryMiB, b.MemoryMiB), share(a.VCores, b.VCores))
}

func (c calculator) divideUp(a Resource, by float32) Resource {
	return c.amount(ceilDivFloat(a.MemoryMiB, by), ceilDivFloat(a.VCores, by))
}

// divideWhole rounds up.
func (c calculator) divideWhole(a Resource, by int64) Resource {
	return c.amount(ceilDiv(a.MemoryMiB, by), ceilDiv(a.VCores, by))
}

// normalize rounds a request up to a multiple of the step, between the least and the most
// that is given.
func (c calculator) normalize(r, least, most, step Resource) Resource {
	r = c.roundUp(r.Max(least), step).Min(most)
	return c.amount(r.MemoryMiB, r.VCores)
}

func (c calculator) roundUp(r, step Resource) Resource {
	return c.amount(upTo(r.MemoryMiB, step.MemoryMiB), upTo(r.VCores, step.VCores))
}

func (c calculator) roundDown(r, step Resource) Resource {
	return c.amount(downTo(r.MemoryMiB, step.MemoryMiB), downTo(r.VCores, step.VCores))
}

func (c calculator) timesUp(r Resource, by float64, step Resource) Resource {
	if !c.cores {
		return c.amount(upTo(int64(float64(r.MemoryMiB)*by+0.5), step.MemoryMiB), 0)
	}
	up := func(a, step int64) int64 { return upTo(int64(math.Ceil(float64(float32(float64(a)*by)))), step) }
	return c.amount(up(r.MemoryMiB, step.MemoryMiB), up(r.VCores, step.VCores))
}

// timesUpEach multiplies memory and cores by factors of their own.
func (c calculator) timesUpEach(r Resource, by [2]float64) Resource {
	if !c.cores {
		return c.amount(int64(float64(r.MemoryMiB)*by[0]+0.5), 0)
	}
	return c.amount(int64(math.Ceil(float64(r.MemoryMiB)*by[0])), int64(math.Ceil(float64(r.VCores)*by[1])))
}

func (c calculator) timesDown(r Resource, by float64, step Resource) Resource {
	down := func(a, step int64) int64 { return downTo(int64(float64(a)*by), step) }
	return c.amount(down(r.MemoryMiB, step.MemoryMiB), down(r.VCores, step.VCores))
}

// times multiplies by component and cuts the fractions off (Resources.multiply).
func times(r Resource, by float64) Resource {
	return Resource{MemoryMiB: int64(float64(r.MemoryMiB) * by), VCores: int64(float64(r.VCores) * by)}
}

// lesser and greater choose by a calculator; of equal amounts the first.
func lesser(c calculator, cluster, a, b Resource) Resource {
	if c.compare(cluster, a, b) <= 0 {
		return a
	}
	return b
}

func greater(c calculator, cluster, a, b Resource) Resource {
	if c.compare(cluster, a, b) >= 0 {
		return a
	}
	return b
}
