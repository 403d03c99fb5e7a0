package model

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model/fit"
)

// WorkProfile holds the measured tasks of each phase.
type WorkProfile map[string][]WorkRow

// workColumns are those of a table of tasks that say what they did.
var workColumns = []string{
	"task", "map_in_bytes", "map_in_recs", "map_out_bytes", "map_out_recs", "spills", "spilled_recs", "file_bytes_written",
	"shuffle_bytes", "red_in_recs", "red_out_recs", "inmem_merges", "hdfs_bytes_written",
	"read_ms", "collect_ms", "spill_ms", "combine_ms", "merge_ms", "shuffle_ms", "write_ms",
}

// ReadWork adds a table of measured tasks, one to a row, to the profile: type (map
// or reduce), task (its index), counters, and times of phases in ms. The rows of one point or app
// are a group. The combiner is the job's own: its time is no part of the spill.
func (p WorkProfile) ReadWork(r io.Reader) error {
	lines := csv.NewReader(r)
	header, err := lines.Read()
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	at := map[string]int{}
	for i, name := range header {
		if _, twice := at[name]; !twice { // a later sort_ms is the map's again
			at[name] = i
		}
	}
	group := slices.IndexFunc(header, func(s string) bool { return s == "point" || s == "app" })
	for _, name := range append([]string{"type"}, workColumns...) {
		if _, ok := at[name]; !ok || group < 0 {
			return fmt.Errorf("line 1: want the columns type, point or app, and %s", name)
		}
	}
	var maps, reduces []measuredTask
	partitions := map[string]float64{} // reduces of a group
	for {
		row, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		line, _ := lines.FieldPos(0)
		value := map[string]float64{}
		for _, name := range workColumns {
			text := row[at[name]]
			if text == "" {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v >= 0) || math.IsInf(v, 1) {
				return fmt.Errorf("line %d: %s %q: want a number, 0 or more", line, name, text)
			}
			value[name] = v
		}
		task := measuredTask{row[group], value}
		switch kind := row[at["type"]]; kind {
		case "map":
			maps = append(maps, task)
		case "reduce":
			reduces = append(reduces, task)
			partitions[task.group] = math.Max(partitions[task.group], value["task"]+1)
		default:
			return fmt.Errorf("line %d: type %q: want map or reduce", line, kind)
		}
	}
	for _, t := range maps {
		p.addMap(t.value, t.group, partitions[t.group])
	}
	for _, t := range reduces {
		p.addReduce(t.value, t.group)
	}
	return nil
}

type measuredTask struct {
	group string
	value map[string]float64
}

func (p WorkProfile) add(phase string, w Work, ms float64, group string) {
	p[phase] = append(p[phase], WorkRow{w, math.Max(0, ms), group})
}

func (p WorkProfile) addMap(v map[string]float64, group string, partitions float64) {
	w := Work{
		InMB: v["map_in_bytes"] / mib, InRecords: v["map_in_recs"] / 1e6,
		OutMB: v["map_out_bytes"] / mib, OutRecords: v["map_out_recs"] / 1e6, Spills: v["spills"],
		SpillMB: v["file_bytes_written"] / mib, SpillRecords: v["spilled_recs"] / 1e6,
	}
	if w.Spills > 1 { // half of what was written came from the merge
		w.SpillMB, w.SpillRecords = w.SpillMB/2, w.SpillRecords/2
	}
	w.Compares = w.OutRecords
	if w.Spills > 0 {
		w.Compares *= fit.Log2(math.Max(2, v["map_out_recs"]/w.Spills/math.Max(1, partitions)))
	}
	p.add("read", w, v["read_ms"], group)
	p.add("collect", w, v["collect_ms"], group)
	p.add("spill", w, v["spill_ms"]-v["combine_ms"], group)
	p.add("merge", w, v["merge_ms"], group)
}

func (p WorkProfile) addReduce(v map[string]float64, group string) {
	w := Work{
		ShuffleMB: v["shuffle_bytes"] / mib, ShuffleRecords: v["red_in_recs"] / 1e6,
		WriteMB: v["hdfs_bytes_written"] / mib, WriteRecords: v["red_out_recs"] / 1e6,
	}
	// What the last merge left in memory is half of what one takes, on average.
	merged := v["inmem_merges"] / (v["inmem_merges"] + 0.5)
	w.MergedMB, w.MergedRecords = merged*w.ShuffleMB, merged*w.ShuffleRecords
	p.add("shuffle", w, v["shuffle_ms"], group)
	p.add("write", w, v["write_ms"], group)
}
