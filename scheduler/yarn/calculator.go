package yarn

import (
	"math"

	"github.com/slotwave/slotwave/model"
)

// Resource is an amount of memory and virtual cores.
type Resource = model.Resource

// calculator compares and rounds amounts (ResourceCalculator). The two that Hadoop
// has differ in whether virtual cores count. Ratios are in single precision, as
// Hadoop's are, because queues with equal ratios stand in the order of the list.
type calculator interface {
	// compare orders two amounts in a cluster of a given size.
	compare(cluster, a, b Resource) int
	fits(small, big Resource) bool
	// available is how many requests fit into an amount.
	available(free, request Resource) int64
	divide(cluster, a, b Resource) float32
	ratio(a, b Resource) float32
	divideUp(a Resource, by float32) Resource
	divideWhole(a Resource, by int64) Resource // rounds up
	// normalize rounds a request up to a multiple of the step, between the least and
	// the most that is given.
	normalize(r, least, most, step Resource) Resource
	roundUp(r, step Resource) Resource
	roundDown(r, step Resource) Resource
	timesUp(r Resource, by float64, step Resource) Resource
	timesDown(r Resource, by float64, step Resource) Resource
	timesUpEach(r Resource, by [2]float64) Resource // memory and cores by factors of their own
	anyAboveZero(r Resource) bool
	anyUsedUp(r Resource) bool // one of those that count is 0 or less
}

// memoryOnly counts memory and gives every container one core
// (DefaultResourceCalculator, 3.3.6).
type memoryOnly struct{}

// ofMemory is an amount of memory with the one core that such an amount has.
func ofMemory(mib int64) Resource {
	r := Resource{MemoryMiB: mib}
	if mib > 0 {
		r.VCores = 1
	}
	return r
}

func sign(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
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

func (memoryOnly) compare(_, a, b Resource) int    { return sign(a.MemoryMiB, b.MemoryMiB) }
func (memoryOnly) fits(small, big Resource) bool   { return small.MemoryMiB <= big.MemoryMiB }
func (memoryOnly) anyAboveZero(r Resource) bool    { return r.MemoryMiB > 0 }
func (memoryOnly) anyUsedUp(r Resource) bool       { return r.MemoryMiB <= 0 }
func (memoryOnly) ratio(a, b Resource) float32     { return share(a.MemoryMiB, b.MemoryMiB) }
func (memoryOnly) divide(_, a, b Resource) float32 { return share(a.MemoryMiB, b.MemoryMiB) }

func (memoryOnly) available(free, request Resource) int64 { return free.MemoryMiB / request.MemoryMiB }

func (memoryOnly) divideUp(a Resource, by float32) Resource {
	return ofMemory(ceilDivFloat(a.MemoryMiB, by))
}

func (memoryOnly) divideWhole(a Resource, by int64) Resource {
	return ofMemory(ceilDiv(a.MemoryMiB, by))
}

func (memoryOnly) normalize(r, least, most, step Resource) Resource {
	return ofMemory(min(upTo(max(r.MemoryMiB, least.MemoryMiB), step.MemoryMiB), most.MemoryMiB))
}

func (memoryOnly) roundUp(r, step Resource) Resource {
	return ofMemory(upTo(r.MemoryMiB, step.MemoryMiB))
}

func (memoryOnly) roundDown(r, step Resource) Resource {
	return ofMemory(downTo(r.MemoryMiB, step.MemoryMiB))
}

func (memoryOnly) timesUp(r Resource, by float64, step Resource) Resource {
	return ofMemory(upTo(int64(float64(r.MemoryMiB)*by+0.5), step.MemoryMiB))
}

func (memoryOnly) timesUpEach(r Resource, by [2]float64) Resource {
	return ofMemory(int64(float64(r.MemoryMiB)*by[0] + 0.5))
}

func (memoryOnly) timesDown(r Resource, by float64, step Resource) Resource {
	return ofMemory(downTo(int64(float64(r.MemoryMiB)*by), step.MemoryMiB))
}

// dominant compares by the larger share of the cluster, then by the smaller
// (DominantResourceCalculator, 3.3.6).
type dominant struct{}

// shares returns the larger and the smaller share of a cluster.
func shares(cluster, r Resource) (large, small float64) {
	m := float64(r.MemoryMiB) / float64(cluster.MemoryMiB)
	v := float64(r.VCores) / float64(cluster.VCores)
	return max(m, v), min(m, v)
}

func (dominant) compare(cluster, a, b Resource) int {
	if a == b {
		return 0
	}
	if cluster == (Resource{}) {
		return compareBoth(a, b)
	}
	aLarge, aSmall := shares(cluster, a)
	bLarge, bSmall := shares(cluster, b)
	switch {
	case aLarge > bLarge:
		return 1
	case aLarge < bLarge:
		return -1
	case aSmall > bSmall:
		return 1
	case aSmall < bSmall:
		return -1
	}
	return 0
}

// compareBoth orders amounts in an empty cluster: by both components, where they agree.
func compareBoth(a, b Resource) int {
	m, v := sign(a.MemoryMiB, b.MemoryMiB), sign(a.VCores, b.VCores)
	switch {
	case m*v < 0:
		return 0
	case m != 0:
		return m
	}
	return v
}

func (dominant) fits(small, big Resource) bool { return small.Within(big) }
func (dominant) anyAboveZero(r Resource) bool  { return r.MemoryMiB > 0 || r.VCores > 0 }
func (dominant) anyUsedUp(r Resource) bool     { return r.MemoryMiB <= 0 || r.VCores <= 0 }

func (dominant) available(free, request Resource) int64 {
	n := int64(math.MaxInt32)
	if request.MemoryMiB != 0 {
		n = min(n, free.MemoryMiB/request.MemoryMiB)
	}
	if request.VCores != 0 {
		n = min(n, free.VCores/request.VCores)
	}
	return n
}

func (dominant) divide(cluster, a, b Resource) float32 {
	aLarge, _ := shares(cluster, a)
	bLarge, _ := shares(cluster, b)
	return float32(max(aLarge, 0) / max(bLarge, 0))
}

func (dominant) ratio(a, b Resource) float32 {
	return max(0, share(a.MemoryMiB, b.MemoryMiB), share(a.VCores, b.VCores))
}

func (dominant) divideUp(a Resource, by float32) Resource {
	return Resource{MemoryMiB: ceilDivFloat(a.MemoryMiB, by), VCores: ceilDivFloat(a.VCores, by)}
}

func (dominant) divideWhole(a Resource, by int64) Resource {
	return Resource{MemoryMiB: ceilDiv(a.MemoryMiB, by), VCores: ceilDiv(a.VCores, by)}
}

func (dominant) normalize(r, least, most, step Resource) Resource {
	r = r.Max(least)
	return dominant{}.roundUp(r, step).Min(most)
}

func (dominant) roundUp(r, step Resource) Resource {
	return Resource{MemoryMiB: upTo(r.MemoryMiB, step.MemoryMiB), VCores: upTo(r.VCores, step.VCores)}
}

func (dominant) roundDown(r, step Resource) Resource {
	return Resource{MemoryMiB: downTo(r.MemoryMiB, step.MemoryMiB), VCores: downTo(r.VCores, step.VCores)}
}

func (dominant) timesUp(r Resource, by float64, step Resource) Resource {
	up := func(a, step int64) int64 { return upTo(int64(math.Ceil(float64(float32(float64(a)*by)))), step) }
	return Resource{MemoryMiB: up(r.MemoryMiB, step.MemoryMiB), VCores: up(r.VCores, step.VCores)}
}

func (dominant) timesUpEach(r Resource, by [2]float64) Resource {
	return Resource{
		MemoryMiB: int64(math.Ceil(float64(r.MemoryMiB) * by[0])), VCores: int64(math.Ceil(float64(r.VCores) * by[1])),
	}
}

func (dominant) timesDown(r Resource, by float64, step Resource) Resource {
	down := func(a, step int64) int64 { return downTo(int64(float64(a)*by), step) }
	return Resource{MemoryMiB: down(r.MemoryMiB, step.MemoryMiB), VCores: down(r.VCores, step.VCores)}
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
