package diagnose

import (
	"github.com/slotwave/slotwave/model/input"
)

// Facts are what the rules look at: one stage, the node of its critical tasks,
// the phases of a critical task. Shares are parts of 1.
type Facts struct {
	Kind     string `json:"kind"` // map or reduce
	Critical int    `json:"critical_tasks"`
	SameNode bool   `json:"same_node"` // one node holds nearly all critical tasks

	CPUNode       float64 `json:"cpu_node"`        // utilisation
	CPUCluster    float64 `json:"cpu_cluster"`     // utilisation
	CPUDrop       float64 `json:"cpu_drop"`        // relative fall of the node's CPU during the task
	IONodeRatio   float64 `json:"io_node_ratio"`   // I/O of the node over the median of the others
	DiskNodeRatio float64 `json:"disk_node_ratio"` // disk rate likewise
	DiskJobShare  float64 `json:"disk_job_share"`  // of the node's disk traffic, this job's
	NetNodeShare  float64 `json:"net_node_share"`  // of the network adapter's capacity
	NetSlowNodes  int     `json:"net_slow_nodes"`  // nodes with an unusually low network rate

	Spills         int     `json:"spills"`
	ShareSortSpill float64 `json:"share_sort_spill"`
	ShareWaitFetch float64 `json:"share_wait_fetch"`
	ShareShuffle   float64 `json:"share_shuffle"`
	ShareReduce    float64 `json:"share_reduce"`

	MapsPending    bool    `json:"maps_pending"`
	Compressed     bool    `json:"compressed"` // map output
	CodecCPUShare  float64 `json:"codec_cpu_share"`
	SharedSlots    bool    `json:"shared_slots"`
	IdleOtherSlots int     `json:"idle_other_slots"` // idle slots of the other kind
	InputRatio     float64 `json:"input_ratio"`      // input of critical tasks over that of the others
}

// Thresholds are the limits in the rules' conditions.
type Thresholds struct {
	CPUStarved  float64 `json:"cpu_starved"`  // R01, R09
	IOLow       float64 `json:"io_low"`       // R01
	DiskHigh    float64 `json:"disk_high"`    // R02, R09
	DiskForeign float64 `json:"disk_foreign"` // R02
	SortSpill   float64 `json:"sort_spill"`   // R03
	WaitFetch   float64 `json:"wait_fetch"`   // R04
	CPUFree     float64 `json:"cpu_free"`     // R04
	Shuffle     float64 `json:"shuffle"`      // R05, R06
	Codec       float64 `json:"codec"`        // R06
	ClusterIdle float64 `json:"cluster_idle"` // R07
	InputSkew   float64 `json:"input_skew"`   // R08, R09, R10
	CPUDrop     float64 `json:"cpu_drop"`     // R11
	CPUNetwork  float64 `json:"cpu_network"`  // R12
	NetworkHigh float64 `json:"network_high"` // R12
	ReduceHeavy float64 `json:"reduce_heavy"` // R14
}

// DefaultThresholds are those of the paper where it states one (sort and spill,
// shuffle, starved CPU), else ours.
func DefaultThresholds() Thresholds {
	return Thresholds{
		CPUStarved: 0.99, IOLow: 0.5, DiskHigh: 1.5, DiskForeign: 0.7, SortSpill: 0.20,
		WaitFetch: 0.90, CPUFree: 0.95, Shuffle: 0.70, Codec: 0.5, ClusterIdle: 0.40,
		InputSkew: 1.5, CPUDrop: 0.5, CPUNetwork: 0.95, NetworkHigh: 0.5, ReduceHeavy: 0.70,
	}
}

// Advice is a rule that fired: its id and its recommendation.
type Advice [2]string

type rule struct {
	id, advice string
	fires      func(f *Facts, t *Thresholds) bool
}

// rules are in the order of their ids.
var rules = []rule{
	{"R01", "check-cpu-config", func(f *Facts, t *Thresholds) bool {
		return f.SameNode && f.CPUNode >= t.CPUStarved && f.IONodeRatio < t.IOLow
	}},
	{"R02", "check-external-disk-load", func(f *Facts, t *Thresholds) bool {
		return f.SameNode && f.DiskNodeRatio > t.DiskHigh && f.DiskJobShare < t.DiskForeign
	}},
	{"R03", "raise-sort-buffer", func(f *Facts, t *Thresholds) bool {
		return f.Kind == "map" && f.Spills > 1 && f.ShareSortSpill > t.SortSpill
	}},
	{raiseSlowstart, "raise-slowstart", func(f *Facts, t *Thresholds) bool {
		return f.Kind == "reduce" && f.ShareWaitFetch > t.WaitFetch && f.CPUNode < t.CPUFree && f.MapsPending
	}},
	{"R05", "compress-map-output", func(f *Facts, t *Thresholds) bool {
		return f.ShareShuffle > t.Shuffle && !f.Compressed
	}},
	{"R06", "cheaper-codec", func(f *Facts, t *Thresholds) bool {
		return f.ShareShuffle > t.Shuffle && f.Compressed && f.CodecCPUShare > t.Codec
	}},
	{"R07", "share-slots", func(f *Facts, t *Thresholds) bool {
		return !f.SharedSlots && f.CPUCluster < t.ClusterIdle && f.IdleOtherSlots > 0
	}},
	{"R08", "rebalance-partitions", func(f *Facts, t *Thresholds) bool {
		return f.Critical > 0 && !f.SameNode && f.InputRatio > t.InputSkew
	}},
	{"R09", "check-node-config", func(f *Facts, t *Thresholds) bool {
		return f.SameNode && f.InputRatio <= t.InputSkew && f.CPUNode < t.CPUStarved && f.DiskNodeRatio <= t.DiskHigh
	}},
	{"R10", "rebalance-partitions-or-slots", func(f *Facts, t *Thresholds) bool {
		return f.SameNode && f.InputRatio > t.InputSkew
	}},
	{lowerSlowstart, "lower-slowstart-or-add-reduces", func(f *Facts, t *Thresholds) bool {
		return f.Kind == "map" && f.Critical > 0 && f.CPUDrop > t.CPUDrop
	}},
	{"R12", "offload-network-copies", func(f *Facts, t *Thresholds) bool {
		return f.CPUNode > t.CPUNetwork && f.NetNodeShare > t.NetworkHigh
	}},
	{"R13", "check-network-adapter", func(f *Facts, t *Thresholds) bool {
		return f.Critical == 0 && f.NetSlowNodes > 0
	}},
	{"R14", "split-reduce-work", func(f *Facts, t *Thresholds) bool {
		return f.Kind == "reduce" && f.Critical > 0 && f.ShareReduce > t.ReduceHeavy
	}},
}

// The two rules that pull mapred.reduce.slowstart.completed.maps in opposite
// directions.
const (
	raiseSlowstart = "R04"
	lowerSlowstart = "R11"
)

// Recommend lists the rules that fire, in the order of their ids (SONATA,
// section 5).
func Recommend(f Facts, t Thresholds) ([]Advice, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	fired := []Advice{}
	for _, r := range rules {
		if r.fires(&f, &t) {
			fired = append(fired, Advice{r.id, r.advice})
		}
	}
	return fired, nil
}

func (f *Facts) check() error {
	var c input.Check
	if f.Kind != "map" && f.Kind != "reduce" {
		c.Fail("kind", "unknown %q; want map or reduce", f.Kind)
	}
	c.Count("critical_tasks", f.Critical, 0)
	c.Count("net_slow_nodes", f.NetSlowNodes, 0)
	c.Count("spills", f.Spills, 0)
	c.Count("idle_other_slots", f.IdleOtherSlots, 0)
	c.AtLeast("cpu_node", f.CPUNode, 0)
	c.AtLeast("cpu_cluster", f.CPUCluster, 0)
	c.Number("cpu_drop", f.CPUDrop)
	c.AtLeast("io_node_ratio", f.IONodeRatio, 0)
	c.AtLeast("disk_node_ratio", f.DiskNodeRatio, 0)
	c.AtLeast("disk_job_share", f.DiskJobShare, 0)
	c.AtLeast("net_node_share", f.NetNodeShare, 0)
	c.AtLeast("share_sort_spill", f.ShareSortSpill, 0)
	c.AtLeast("share_wait_fetch", f.ShareWaitFetch, 0)
	c.AtLeast("share_shuffle", f.ShareShuffle, 0)
	c.AtLeast("share_reduce", f.ShareReduce, 0)
	c.AtLeast("codec_cpu_share", f.CodecCPUShare, 0)
	c.AtLeast("input_ratio", f.InputRatio, 0)
	return c.Err()
}

// SettleSlowstart drops one of R04 and R11 where both fired for the stages of a
// job: while as many maps wait as there are map slots, reduces hold slots too
// early; later, the tail wants them sooner.
func SettleSlowstart(fired []Advice, pendingMaps, mapSlots int) []Advice {
	has := func(id string) bool {
		for _, a := range fired {
			if a[0] == id {
				return true
			}
		}
		return false
	}
	if !has(raiseSlowstart) || !has(lowerSlowstart) {
		return fired
	}
	drop := raiseSlowstart
	if pendingMaps >= mapSlots {
		drop = lowerSlowstart
	}
	var kept []Advice
	for _, a := range fired {
		if a[0] != drop {
			kept = append(kept, a)
		}
	}
	return kept
}
