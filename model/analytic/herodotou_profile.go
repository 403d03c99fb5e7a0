package analytic

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// StatisticsOf writes the data and cost statistics of a recorded job as JSON under the
// names of Herodotou's report. A record has fewer costs than the report: assumed says
// how the others follow. A cost that the record does not determine is an error.
func StatisticsOf(w io.Writer, p *workload.Profile) (assumed []string, err error) {
	var c input.Check
	values := map[string]any{}
	known := func(v float64) bool { return !math.IsNaN(v) }
	need := func(name string, v float64, key string) {
		if !known(v) {
			c.Fail(name, "%s is not recorded", key)
		}
		values[name] = v
	}
	assume := func(format string, args ...any) { assumed = append(assumed, fmt.Sprintf(format, args...)) }

	d, cost := &p.Data, &p.Cost
	need("dsInputPairWidth", d.InputPairWidth, "data.input_pair_width")
	need("dsMapSizeSel", d.MapSizeSel, "data.map_size_sel")
	need("dsMapRecsSel", d.MapRecsSel, "data.map_records_sel")
	need("csHdfsReadCost", cost.ReadPerByte, "cost.read_per_byte")
	need("csMapCPUCost", cost.MapPerRecord, "cost.map_per_record")
	values["csSetupCPUCost"], values["csCleanupCPUCost"] = 0, 0
	assume("csSetupCPUCost, csCleanupCPUCost: 0; a record does not separate them")
	if ratio := d.InputCompressRatio; known(ratio) && ratio != 1 {
		values["pIsInCompressed"], values["dsInputCompressRatio"], values["csInUncomprCPUCost"] = true, ratio, 0
		values["csHdfsReadCost"] = cost.ReadPerByte / ratio
		assume("csInUncomprCPUCost: 0; csHdfsReadCost includes it")
	}
	if p.Reduces == 0 {
		need("csHdfsWriteCost", cost.WritePerByte, "cost.write_per_byte")
	} else {
		need("dsReduceSizeSel", d.ReduceSizeSel, "data.reduce_size_sel")
		need("dsReduceRecsSel", d.ReduceRecsSel, "data.reduce_records_sel")
		need("csReduceCPUCost", cost.ReducePerRecord, "cost.reduce_per_record")
		need("csHdfsWriteCost", cost.WritePerByte, "cost.write_per_byte")
		need("csSerdeCPUCost", cost.CollectPerRecord, "cost.collect_per_record")
		values["csPartitionCPUCost"], values["csMergeCPUCost"] = 0, 0
		assume("csPartitionCPUCost: 0; csSerdeCPUCost is the whole cost of collecting a record")
		need("csLocalIOWriteCost", cost.SpillPerByte, "cost.spill_per_byte")
		local, sort := cost.SpillPerByte, 0.0
		if half := cost.MergePerByte / 2; half > 0 && half < local {
			records := p.MapInRecords.Mean * d.MapRecsSel
			depth := fit.Log2(math.Max(2, records/float64(p.Reduces)))
			sort = (local - half) * p.MapInBytes.Mean * d.MapSizeSel / (records * depth)
			local = half
			assume("csLocalIOReadCost, csLocalIOWriteCost: half of a map's merge per byte each; csMergeCPUCost: 0")
			assume("csSortCPUCost: the rest of the spill, over the comparisons of one spill")
		} else {
			assume("csLocalIOReadCost, csLocalIOWriteCost: the spill of a map per byte; csSortCPUCost, csMergeCPUCost: 0")
		}
		values["csLocalIOReadCost"], values["csLocalIOWriteCost"], values["csSortCPUCost"] = local, local, sort
		if network := cost.ShufflePerByte; known(network) {
			values["csNetworkCost"] = network
			assume("csNetworkCost: the whole shuffle of later reduces per byte, with its waits and merges to disk, which the model adds again")
		} else {
			need("csNetworkCost", 1e9*p.TypicalShuffle.Mean/p.ReduceInBytes.Mean, "the shuffle of reduces")
			assume("csNetworkCost: the shuffle after the last map per byte, with its waits and merges to disk, which the model adds again")
		}
		if known(d.RecsPerRedGroup) {
			values["dsRecsPerRedGroup"] = d.RecsPerRedGroup
		}
		if sel := d.CombineRecsSel; known(sel) && sel != 1 {
			need("dsCombineSizeSel", d.CombineSizeSel, "data.combine_size_sel")
			values["pUseCombine"], values["dsCombineRecsSel"], values["csCombineCPUCost"] = true, sel, 0
			assume("csCombineCPUCost: 0; the spill includes it")
		}
		if ratio := d.IntermCompressRatio; known(ratio) && ratio != 1 {
			values["dsIntermCompressRatio"] = ratio
			values["csIntermComprCPUCost"], values["csIntermUncomprCPUCost"] = 0, 0
			assume("csIntermComprCPUCost, csIntermUncomprCPUCost: 0; spill and shuffle include them")
		}
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return assumed, out.Encode(values)
}
