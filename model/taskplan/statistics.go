package taskplan

import (
	"math"

	"github.com/slotwave/slotwave/model/input"
)

// Data is the dataflow statistics of a job profile. Selectivities are
// output/input, compression ratios compressed/uncompressed. Combine statistics
// apply only with a combiner, ratios only with that compression.
type Data struct {
	InputPairWidth float64 `json:"dsInputPairWidth" unit:"bytes"` // bytes per uncompressed input record
	RecsPerGroup   float64 `json:"dsRecsPerRedGroup"`

	MapSizeSel     float64 `json:"dsMapSizeSel"`
	MapRecsSel     float64 `json:"dsMapRecsSel"`
	ReduceSizeSel  float64 `json:"dsReduceSizeSel"`
	ReduceRecsSel  float64 `json:"dsReduceRecsSel"`
	CombineSizeSel float64 `json:"dsCombineSizeSel"`
	CombineRecsSel float64 `json:"dsCombineRecsSel"`

	InputRatio  float64 `json:"dsInputCompressRatio"`
	IntermRatio float64 `json:"dsIntermCompressRatio"`
	OutRatio    float64 `json:"dsOutCompressRatio"`

	// Memory statistics, bytes; in no equation.
	StartupMem   float64 `json:"dsStartupMem,omitzero" unit:"bytes"`
	SetupMem     float64 `json:"dsSetupMem,omitzero" unit:"bytes"`
	CleanupMem   float64 `json:"dsCleanupMem,omitzero" unit:"bytes"`
	MemPerMapRec float64 `json:"dsMemPerMapRec,omitzero" unit:"bytes"`
	MemPerRedRec float64 `json:"dsMemPerRedRec,omitzero" unit:"bytes"`
}

// Cost is the cost statistics of a job profile, nanoseconds.
type Cost struct {
	HDFSRead   float64 `json:"csHdfsReadCost" unit:"ns per byte"`
	HDFSWrite  float64 `json:"csHdfsWriteCost" unit:"ns per byte"`
	LocalRead  float64 `json:"csLocalIOReadCost" unit:"ns per byte"`
	LocalWrite float64 `json:"csLocalIOWriteCost" unit:"ns per byte"`
	Network    float64 `json:"csNetworkCost" unit:"ns per byte"`

	MapCPU       float64 `json:"csMapCPUCost" unit:"ns per record"`
	ReduceCPU    float64 `json:"csReduceCPUCost" unit:"ns per record"`
	CombineCPU   float64 `json:"csCombineCPUCost" unit:"ns per record"` // per record into the combiner
	PartitionCPU float64 `json:"csPartitionCPUCost" unit:"ns per record"`
	SerdeCPU     float64 `json:"csSerdeCPUCost" unit:"ns per record"`
	SortCPU      float64 `json:"csSortCPUCost" unit:"ns per comparison"`
	MergeCPU     float64 `json:"csMergeCPUCost" unit:"ns per record"`

	InUncompr     float64 `json:"csInUncomprCPUCost" unit:"ns per compressed byte"`
	IntermUncompr float64 `json:"csIntermUncomprCPUCost" unit:"ns per compressed byte"`
	IntermCompr   float64 `json:"csIntermComprCPUCost" unit:"ns per byte"` // per uncompressed byte
	OutCompr      float64 `json:"csOutComprCPUCost" unit:"ns per byte"`    // per uncompressed byte

	Setup   float64 `json:"csSetupCPUCost" unit:"ns per task"`
	Cleanup float64 `json:"csCleanupCPUCost" unit:"ns per task"`
}

// Used says which statistics the equations of a job use.
type Used struct {
	Reduces, Combiner, InCompressed, IntermCompressed, OutCompressed bool
}

// Check reports statistics that an equation uses and that are missing or out of
// range. A statistic that no equation uses may be missing.
func (u Used) Check(c *input.Check, d *Data, cost *Cost) {
	combine := u.Reduces && u.Combiner
	packed := u.Reduces && u.IntermCompressed
	for _, v := range []struct {
		used  bool
		check func(name string, value float64)
		name  string
		value float64
	}{
		{true, positive(c), "dsInputPairWidth", d.InputPairWidth},
		{u.Reduces, positive(c), "dsRecsPerRedGroup", d.RecsPerGroup},
		{true, notNegative(c), "dsMapSizeSel", d.MapSizeSel},
		{true, notNegative(c), "dsMapRecsSel", d.MapRecsSel},
		{u.Reduces, notNegative(c), "dsReduceSizeSel", d.ReduceSizeSel},
		{u.Reduces, notNegative(c), "dsReduceRecsSel", d.ReduceRecsSel},
		{combine, notNegative(c), "dsCombineSizeSel", d.CombineSizeSel},
		{combine, notNegative(c), "dsCombineRecsSel", d.CombineRecsSel},
		{u.InCompressed, c.Part, "dsInputCompressRatio", d.InputRatio},
		{packed, c.Part, "dsIntermCompressRatio", d.IntermRatio},
		{u.OutCompressed, c.Part, "dsOutCompressRatio", d.OutRatio},
		{true, notNegative(c), "csHdfsReadCost", cost.HDFSRead},
		{true, notNegative(c), "csHdfsWriteCost", cost.HDFSWrite},
		{u.Reduces, notNegative(c), "csLocalIOReadCost", cost.LocalRead},
		{u.Reduces, notNegative(c), "csLocalIOWriteCost", cost.LocalWrite},
		{u.Reduces, notNegative(c), "csNetworkCost", cost.Network},
		{true, notNegative(c), "csMapCPUCost", cost.MapCPU},
		{u.Reduces, notNegative(c), "csReduceCPUCost", cost.ReduceCPU},
		{combine, notNegative(c), "csCombineCPUCost", cost.CombineCPU},
		{u.Reduces, notNegative(c), "csPartitionCPUCost", cost.PartitionCPU},
		{u.Reduces, notNegative(c), "csSerdeCPUCost", cost.SerdeCPU},
		{u.Reduces, notNegative(c), "csSortCPUCost", cost.SortCPU},
		{u.Reduces, notNegative(c), "csMergeCPUCost", cost.MergeCPU},
		{u.InCompressed, notNegative(c), "csInUncomprCPUCost", cost.InUncompr},
		{packed, notNegative(c), "csIntermUncomprCPUCost", cost.IntermUncompr},
		{packed, notNegative(c), "csIntermComprCPUCost", cost.IntermCompr},
		{u.OutCompressed, notNegative(c), "csOutComprCPUCost", cost.OutCompr},
		{true, notNegative(c), "csSetupCPUCost", cost.Setup},
		{true, notNegative(c), "csCleanupCPUCost", cost.Cleanup},
	} {
		if v.used || !math.IsNaN(v.value) {
			v.check(v.name, v.value)
		}
	}
}

func positive(c *input.Check) func(string, float64) {
	return func(name string, v float64) { c.Above(name, v, 0) }
}

func notNegative(c *input.Check) func(string, float64) {
	return func(name string, v float64) { c.AtLeast(name, v, 0) }
}

// Neutral sets the statistics that the job does not use to values that change
// nothing (eq. 1).
func (u Used) Neutral(d *Data, c *Cost) {
	if !u.Combiner {
		d.CombineSizeSel, d.CombineRecsSel, c.CombineCPU = 1, 1, 0
	}
	if !u.InCompressed {
		d.InputRatio, c.InUncompr = 1, 0
	}
	if !u.IntermCompressed {
		d.IntermRatio, c.IntermUncompr, c.IntermCompr = 1, 0, 0
	}
	if !u.OutCompressed {
		d.OutRatio, c.OutCompr = 1, 0
	}
}
