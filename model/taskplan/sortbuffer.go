package taskplan

import (
	"fmt"
	"math"
)

const mib = 1 << 20

// AccountingBytes is what the accounting part of the sort buffer holds for each
// record (MapTask.MapOutputBuffer.RECSIZE).
const AccountingBytes = 16

// SortBuffer is the two-part buffer into which a map collects its output
// (MapTask.MapOutputBuffer of 0.20.2 and 1.x): serialised bytes, and 16 bytes of
// accounting for each record. A spill starts when either part is filled beyond
// its soft limit; the map goes on collecting until a part is full.
type SortBuffer struct {
	Bytes, SoftBytes     int64
	Records, SoftRecords int64
}

// SortBuffer is the buffer that the configuration makes.
func (c *Conf) SortBuffer() SortBuffer {
	// The framework computes in single precision.
	total := int64(c.SortMB) * mib
	account := int64(float32(total) * float32(c.SortRecPercent))
	account -= account % AccountingBytes
	b := SortBuffer{Bytes: total - account, Records: account / AccountingBytes}
	b.SoftBytes = int64(float32(b.Bytes) * float32(c.SpillPercent))
	b.SoftRecords = int64(float32(b.Records) * float32(c.SpillPercent))
	return b
}

// Spill is what one sort-and-spill takes out of the buffer, before the combiner.
type Spill struct {
	Records, Bytes float64
	Room           float64 // records that fit beside it: the map then waits for its end
}

// maxSpills bounds the spills of one map; a map with more is a mistake.
const maxSpills = 1 << 16

var errSpills = fmt.Errorf("the map's output makes more than %d spills", maxSpills)

// Spills are the contents of the spills of a map that emits records of equal
// size. Their limits do not depend on how long a spill takes as long as
// io.sort.spill.percent is at least one half, since nothing that is being
// spilled is freed before the spill ends; below that, each spill is taken to end
// before the next is due. Less than one record beyond a limit starts no spill.
func (b SortBuffer) Spills(records, bytes float64) ([]Spill, error) {
	if records <= 0 {
		return nil, nil
	}
	width := bytes / records
	most := math.Inf(1) // records that the bytes allow
	soft := math.Inf(1)
	if width > 0 {
		most = math.Floor(float64(b.Bytes) / width)
		soft = math.Floor(float64(b.SoftBytes)/width) + 1
	}
	var spills []Spill
	for start := int64(0); records > 0; {
		if len(spills) == maxSpills {
			return nil, errSpills
		}
		n := float64(b.SoftRecords)
		if start+b.SoftRecords >= b.Records { // the test for a buffer that wraps is one record stricter
			n--
		}
		n = math.Max(1, math.Min(n, math.Min(soft, most)))
		if records < n+1 {
			n = records
		}
		room := math.Min(float64(b.Records-1)-n, most-n)
		spills = append(spills, Spill{Records: n, Bytes: float64(n * width), Room: math.Max(0, room)})
		records -= n
		start = (start + int64(n)) % b.Records
	}
	return spills, nil
}

// MapWait is how long a map waits for its spills, in the unit of the times: main
// is the time in which its output is produced, spilling that of all spills. The
// spills run beside the map as far as the buffer has room; the last one is
// waited for.
func MapWait(spills []Spill, main, spilling float64) float64 {
	records := 0.0
	for _, s := range spills {
		records += s.Records
	}
	if records == 0 {
		return 0
	}
	now, done, room := 0.0, 0.0, math.Inf(1)
	for _, s := range spills {
		early := math.Min(room, s.Records)
		now += early / records * main
		if early < s.Records {
			now = math.Max(now, done) + float64((s.Records-early)/records*main)
		}
		done = math.Max(now, done) + float64(s.Records/records*spilling)
		room = s.Room
	}
	return math.Max(now, done) - main
}
