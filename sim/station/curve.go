package station

// A Curve is the work that n streams together get done in the time in which
// one alone gets 1 done; each gets the same part of it. Background streams
// count, so n need not be whole; it is never below 1. A nil Curve is 1
// throughout. No stream may gain by another's coming: Curve(n)/n must not rise.
type Curve func(n float64) float64

// Linear loses a part alpha of the time of one stream for each further stream.
func Linear(alpha float64) Curve {
	return func(n float64) float64 { return 1 / (1 + float64(alpha*(n-1))) }
}

// Floor returns a Curve that does not fall below least.
func Floor(least float64, c Curve) Curve {
	return func(n float64) float64 { return max(least, c(n)) }
}

// Seek moves the head, for seek seconds, whenever another stream's turn comes:
// after each chunk bytes, read at rate bytes per second.
func Seek(chunk, rate, seek float64) Curve {
	turn := chunk / rate
	return func(n float64) float64 {
		if n < 2 {
			return 1
		}
		return turn / (turn + seek)
	}
}

// Cores serve up to n visitors as fast as one. Further visitors are more threads
// on the same cores, spread evenly; gains are the work that a core with 1, 2, ...
// threads gets done, in that of one thread alone.
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
