package station

// A Curve returns the total work of n streams in the time in which a single
// stream does 1. Each stream gets an equal part. Background streams count, so n
// need not be whole. It is never below 1. A nil Curve is constant at 1. No
// stream may gain when another arrives: Curve(n)/n must not rise.
type Curve func(n float64) float64

// Linear returns a Curve that loses a fraction alpha of one stream's work for
// each further stream.
func Linear(alpha float64) Curve {
	return func(n float64) float64 { return 1 / (1 + float64(alpha*(n-1))) }
}

// Floor returns a Curve that does not fall below least.
func Floor(least float64, c Curve) Curve {
	return func(n float64) float64 { return max(least, c(n)) }
}

// Seek returns the Curve of a disk that reads at rate bytes per second and
// moves its head, for seek seconds, after each chunk bytes of a stream.
func Seek(chunk, rate, seek float64) Curve {
	chunkTime := chunk / rate
	return func(n float64) float64 {
		if n < 2 {
			return 1
		}
		return chunkTime / (chunkTime + seek)
	}
}

// Cores returns the Curve of cores that serve up to n visitors at full speed.
// Further visitors are more threads on the same cores, spread evenly. gains holds
// the work of a core with 1, 2, ... threads, relative to one thread.
func Cores(cores float64, gains ...float64) Curve {
	if len(gains) == 0 {
		gains = []float64{1}
	}
	last := len(gains)
	return func(n float64) float64 {
		threads := n / cores
		if threads <= 1 {
			return n
		}
		if threads >= float64(last) {
			return cores * gains[last-1]
		}
		k := int(threads)
		part := threads - float64(k)
		return cores * (gains[k-1] + float64(part*(gains[k]-gains[k-1])))
	}
}

func (c Curve) at(n float64) float64 {
	if c == nil || n <= 1 {
		return 1
	}
	return c(n)
}
