package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/input"
)

// facts are the input of the rules: one stage, the node of its critical tasks,
// the phases of a critical task. Shares are fractions of 1.
type facts struct {
	Kind     string `json:"kind"` // map or reduce
	Critical int    `json:"critical_tasks"`
	SameNode bool   `json:"same_node"` // one node has nearly all critical tasks

	CPUNode       float64 `json:"cpu_node"`        // utilisation
	CPUCluster    float64 `json:"cpu_cluster"`     // utilisation
	CPUDrop       float64 `json:"cpu_drop"`        // relative fall of the node's CPU during the task
	IONodeRatio   float64 `json:"io_node_ratio"`   // I/O of the node over the median of the others
	DiskNodeRatio float64 `json:"disk_node_ratio"` // disk rate over the median of the others
	DiskJobShare  float64 `json:"disk_job_share"`  // Hadoop's share of the node's disk traffic
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

// advice is a rule that fired: its id and its recommendation.
type advice [2]string

// rule is one row of the table: a condition and a recommendation. A rule with
// fires is a condition on the facts of a stage, as in SONATA. find examines a
// whole job and proposes changes.
type rule struct {
	id       string
	basis    string // P: from the paper, O: own
	cause    string
	evidence string
	change   string
	advice   string  // condition of the published rules
	onNode   bool    // the cause is on the node of the critical tasks
	weight   float64 // of a gain when findings are ranked; 0: that of its change, or of a key that is set
	fires    func(f *facts, t *Thresholds) bool
	find     func(s *scene, r *rule) []hit
}

// RuleText explains the rule of an id: its cause, evidence and change; empty: there is none.
func RuleText(id string) string {
	for i := range rules {
		if r := &rules[i]; strings.EqualFold(r.id, id) {
			return fmt.Sprintf("%s: %s. Evidence: %s. Change: %s.", r.id, r.cause, r.evidence, r.change)
		}
	}
	return ""
}

// rules are in the order of their ids.
var rules = []rule{
	ruleR01, ruleR02, ruleR03, ruleR04, ruleR05, ruleR06, ruleR07, ruleR08, ruleR09, ruleR10, ruleR11, ruleR12, ruleR13, ruleR14,
	ruleR15, ruleR16, ruleR17, ruleR18, ruleR19, ruleR20, ruleR21, ruleR22, ruleR23, ruleR24, ruleR25, ruleR26,
}

// hit is a rule that holds for a job.
type hit struct {
	node, device string
	tasks        []string
	evidence     string
	value        float64
	peers        float64
	z            float64
	account      Account
	saves        float64 // estimate in seconds of the job, used only to order the findings
	change       *Change
	others       []*Change // tested in this order while the change before gains nothing
}

// The two rules that pull mapred.reduce.slowstart.completed.maps in opposite
// directions.
const (
	raiseSlowstart = "R04"
	lowerSlowstart = "R11"
)

// recommend lists the rules that fire, in the order of their ids (SONATA,
// section 5).
func recommend(f facts, t Thresholds) ([]advice, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	fired := []advice{}
	for _, r := range rules {
		if r.fires != nil && r.fires(&f, &t) {
			fired = append(fired, advice{r.id, r.advice})
		}
	}
	return fired, nil
}

func (f *facts) check() error {
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

// settleSlowstart drops one of R04 and R11 if both fired for a job. If at least
// as many maps wait as there are map slots, reduces hold slots too early.
// Otherwise they start too late.
func settleSlowstart(fired []advice, pendingMaps, mapSlots int) []advice {
	has := func(id string) bool { return slices.ContainsFunc(fired, func(a advice) bool { return a[0] == id }) }
	if !has(raiseSlowstart) || !has(lowerSlowstart) {
		return fired
	}
	drop := raiseSlowstart
	if pendingMaps >= mapSlots {
		drop = lowerSlowstart
	}
	return slices.DeleteFunc(slices.Clone(fired), func(a advice) bool { return a[0] == drop })
}
