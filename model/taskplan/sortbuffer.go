package taskplan

import (
	"fmt"
	"math"
)

// AccountingBytes is the size of one record's entry in the accounting part of the
// sort buffer (MapTask.MapOutputBuffer.RECSIZE).
const AccountingBytes = 16

// SortBuffer is the memory in which a map collects its output, in bytes and in
// records. A spill begins when the soft part is full (io.sort.spill.percent).
type SortBuffer struct {
	Bytes, SoftBytes     int64
	Records, SoftRecords int64

	// joint says that records and their metadata share the bytes: the two grow from one
	// point, the equator, in opposite directions.
	joint bool
}

// SortBuffer returns the buffer that the configuration makes.
func (c *Conf) SortBuffer() SortBuffer {
	// Hadoop computes in single precision.
	total := int64(c.SortMB) * mib
	if c.MRv2 {
		total -= total % AccountingBytes
		return SortBuffer{Bytes: total, SoftBytes: int64(float32(total) * float32(c.SpillPercent)), joint: true}
	}
	account := int64(float32(total) * float32(c.SortRecPercent))
	account -= account % AccountingBytes
	b := SortBuffer{Bytes: total - account, Records: account / AccountingBytes}
	b.SoftBytes = int64(float32(b.Bytes) * float32(c.SpillPercent))
	b.SoftRecords = int64(float32(b.Records) * float32(c.SpillPercent))
	return b
}

// Spill is the content of one spill, before the combiner.
type Spill struct {
	Records, Bytes float64
	Room           float64 // records that the map can collect during the spill; it then waits
}

// maxSpills is the largest number of spills of one map; more are an error in
// the input.
const maxSpills = 1 << 16

var errSpills = fmt.Errorf("the map's output makes more than %d spills", maxSpills)

// Spills returns the spills of a map that emits records of equal size. If
// io.sort.spill.percent is one half or more, they do not depend on the duration of
// a spill, since a spill frees its space only at its end. Below one half, each
// spill is assumed to end before the next is due. Less than one record beyond a
// limit starts no spill.
func (b SortBuffer) Spills(records, bytes float64) ([]Spill, error) {
	if records <= 0 {
		return nil, nil
	}
	if b.joint {
		return b.jointSpills(records, bytes/records)
	}
	width := bytes / records
	most := math.Inf(1) // records for which the byte part has space
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
		if start+b.SoftRecords >= b.Records { // Hadoop's test for a buffer that wraps is one record stricter
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

// jointSpills are the spills of a joint buffer (MapTask.MapOutputBuffer.collect of 2.7
// and 3.3). Metadata are written one entry ahead of the record. When a spill begins,
// the equator moves into the free part and divides it by the size of records so far.
func (b SortBuffer) jointSpills(records, width float64) (spills []Spill, err error) {
	each := width + AccountingBytes
	n := math.Max(1, math.Ceil((float64(b.SoftBytes)-AccountingBytes)/each))
	free := math.Max(0, float64(b.Bytes)-float64(n*each))
	metadata := math.Max(2*AccountingBytes-1, math.Min(math.Floor(free/2), math.Floor(free/(AccountingBytes+math.Floor(width)))*AccountingBytes))
	room := math.Floor(metadata / AccountingBytes)
	if width > 0 {
		room = math.Min(room, math.Floor((free-metadata)/width))
	}
	for ; records > 0; records -= n {
		if len(spills) == maxSpills {
			return nil, errSpills
		}
		if records < n+1 {
			n = records
		}
		spills = append(spills, Spill{Records: n, Bytes: float64(n * width), Room: math.Max(0, room)})
	}
	return spills, nil
}

// MapWait returns how long a map waits for its spills, in the unit of its
// arguments: main is the time to produce the output, spilling the time of all
// spills. Spills run in parallel with the map while the buffer has space. The
// map waits for the whole of the last spill.
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
