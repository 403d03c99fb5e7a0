package platform

import (
	"maps"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// termsFile is the JSON of a WorkModel.
type termsFile struct {
	Terms   []termFile         `json:"terms"`
	Copies  int                `json:"copies,omitzero"`       // of a shuffle: how many of the terms are those of its copies
	Slower  map[string]float64 `json:"slower,omitzero"`       // by part: how much longer it takes beside other tasks, 0.5 for half
	Retried float64            `json:"retried_part,omitzero"` // share of the tasks that wait 400 ms more
}

type termFile struct {
	Term string  `json:"term"`
	MS   float64 `json:"ms"` // of a unit
}

func (m *WorkModel) file() termsFile {
	f := termsFile{Copies: m.fetching, Retried: m.Retried}
	for i, t := range m.Terms {
		f.Terms = append(f.Terms, termFile{t.Name, m.B[i]})
	}
	for _, s := range m.Slowdowns {
		if f.Slower == nil {
			f.Slower = map[string]float64{}
		}
		f.Slower[s.Phase] = s.By
	}
	return f
}

// model returns the terms of a phase, and reports those that it cannot have.
func (f *termsFile) model(c *input.Check, phase string) WorkModel {
	m := WorkModel{BIC: math.NaN(), fetching: f.Copies, Retried: f.Retried}
	c.Within("terms."+phase+".retried_part", f.Retried, 0, 1)
	if f.Copies < 0 || f.Copies > len(f.Terms) || f.Copies > 0 && phase != "shuffle" {
		c.Fail("terms."+phase+".copies", "got %d: want the number of terms of a shuffle's copies", f.Copies)
		return m
	}
	for _, part := range slices.Sorted(maps.Keys(f.Slower)) {
		m.Slowdowns = append(m.Slowdowns, slowdown{part, f.Slower[part]})
		c.AtLeast("terms."+phase+".slower."+part, f.Slower[part], 0)
	}
	for i, t := range f.Terms {
		part := phase
		if f.Copies > 0 {
			if part = merges; i < f.Copies {
				part = copies
			}
		}
		candidates := slowedTerms(part, f.Slower[part])
		at := slices.IndexFunc(candidates, func(x workTerm) bool { return x.Name == t.Term })
		if at < 0 {
			c.Fail("terms."+phase, "unknown term %q of %s", t.Term, part)
			continue
		}
		c.AtLeast("terms."+phase+"."+t.Term, t.MS, 0)
		m.Terms, m.B = append(m.Terms, candidates[at]), append(m.B, t.MS)
	}
	return m
}

// Work implements model.FittedWork. A task alone on its node has no contended part.
func (m *Model) Work(phase string, n *model.TaskCounts) (ms float64, fitted bool) {
	terms, ok := m.Terms[phase]
	if !ok {
		return 0, false
	}
	var w Work
	if n.Reduce {
		w = reduceWork(map[string]float64{
			"shuffle_bytes": float64(n.ShuffleBytes), "red_in_recs": float64(n.InRecords), "fetches": float64(n.Fetches),
			"hdfs_bytes_written": float64(n.HDFSWriteBytes), "red_out_recs": float64(n.OutRecords), "inmem_merges": float64(n.Merges),
		})
	} else {
		w = mapWork(map[string]float64{
			"map_in_bytes": float64(n.InBytes), "map_in_recs": float64(n.InRecords),
			"map_out_bytes": float64(n.OutBytes), "map_out_recs": float64(n.OutRecords),
			"spills": float64(n.Spills), "file_bytes_written": float64(n.LocalWriteBytes), "spilled_recs": float64(n.SpilledRecords),
		}, float64(n.Partitions))
		w.WriteMB, w.WriteRecords = float64(n.HDFSWriteBytes)/mib, float64(n.OutRecords)/1e6 // of a job without reduces
	}
	return terms.Mean(&w), true
}

// mapWork returns the work of a map from its counters.
func mapWork(v map[string]float64, partitions float64) Work {
	w := Work{
		InMB: v["map_in_bytes"] / mib, InRecords: v["map_in_recs"] / 1e6,
		OutMB: v["map_out_bytes"] / mib, OutRecords: v["map_out_recs"] / 1e6, Spills: v["spills"],
		SpillMB: v["file_bytes_written"] / mib, SpillRecords: v["spilled_recs"] / 1e6,
	}
	if w.Spills > 1 { // the merge wrote the other half
		w.SpillMB, w.SpillRecords = w.SpillMB/2, w.SpillRecords/2
	}
	w.Compares = w.OutRecords
	if w.Spills > 0 {
		w.Compares *= fit.Log2(math.Max(2, v["map_out_recs"]/w.Spills/math.Max(1, partitions)))
	}
	return w
}

// reduceWork returns the work of a reduce from its counters.
func reduceWork(v map[string]float64) Work {
	w := Work{
		ShuffleMB: v["shuffle_bytes"] / mib, ShuffleRecords: v["red_in_recs"] / 1e6, Fetches: v["fetches"],
		WriteMB: v["hdfs_bytes_written"] / mib, WriteRecords: v["red_out_recs"] / 1e6,
	}
	merged := inBackground(v)
	w.MergedMB, w.MergedRecords = merged*w.ShuffleMB, merged*w.ShuffleRecords
	return w
}

// inBackground returns the part of a reduce's data that is merged to disk in the
// background. On average the outputs left in memory are half of one merge.
func inBackground(v map[string]float64) float64 { return v["inmem_merges"] / (v["inmem_merges"] + 0.5) }

const mib = 1 << 20
