package analytic

import (
	"errors"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/taskplan"
)

// spillsQuestion is the sort buffer of a map, what the map emits before the
// combiner, and how long it takes to produce and to spill it, ms.
type spillsQuestion struct {
	SortMB         int     `json:"pSortMB,omitempty"`
	SortRecPercent float64 `json:"pSortRecPerc,omitempty"`
	SpillPercent   float64 `json:"pSpillPerc,omitempty"`
	Records        float64 `json:"records"`
	Bytes          float64 `json:"bytes"`
	MapMS          float64 `json:"map_ms,omitempty"`
	SpillMS        float64 `json:"spill_ms,omitempty"`
}

// defaultSpillsQuestion has Hadoop's defaults.
func defaultSpillsQuestion() spillsQuestion {
	return spillsQuestion{SortMB: 100, SortRecPercent: 0.05, SpillPercent: 0.8}
}

type spillsAnswer struct {
	BufferBytes   int64         `json:"buffer_bytes"`
	BufferRecords int64         `json:"buffer_records"`
	Spills        []spillAnswer `json:"spills"`
	WaitMS        float64       `json:"wait_ms"` // of the map for its spills
}

type spillAnswer struct {
	Records float64 `json:"records"`
	Bytes   float64 `json:"bytes"`
	Room    float64 `json:"room_records"` // that the map can collect during the spill
}

func (q spillsQuestion) answer() (spillsAnswer, error) {
	var c input.Check
	c.Part("pSpillPerc", q.SpillPercent)
	c.AtLeast("records", q.Records, 0)
	c.AtLeast("bytes", q.Bytes, 0)
	c.AtLeast("map_ms", q.MapMS, 0)
	c.AtLeast("spill_ms", q.SpillMS, 0)
	conf := taskplan.Conf{SortMB: q.SortMB, SortRecPercent: q.SortRecPercent, SpillPercent: q.SpillPercent}
	if err := errors.Join(conf.CheckRanges("io.sort.mb", "io.sort.record.percent"), c.Err()); err != nil {
		return spillsAnswer{}, err
	}
	buffer := conf.SortBuffer()
	spills, err := buffer.Spills(q.Records, q.Bytes)
	answer := spillsAnswer{
		BufferBytes: buffer.Bytes, BufferRecords: buffer.Records, Spills: []spillAnswer{},
		WaitMS: taskplan.MapWait(spills, q.MapMS, q.SpillMS),
	}
	for _, s := range spills {
		answer.Spills = append(answer.Spills, spillAnswer(s))
	}
	return answer, err
}
