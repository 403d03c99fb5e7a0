package scenarios

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// What enters a question is checked against these limits, so that a slip of the
// pen neither fills the memory nor leaves the range of a time.
const (
	mostNodes = 200_000
	mostSlots = 100_000    // of one kind, on a node
	allSlots  = 20_000_000 // of a cluster, and of all runs of a scenario
	mostJobs  = 500_000
	mostTasks = 20_000_000 // of a question
	mostInAll = 1_000_000  // nodes and jobs of all runs of a scenario
	mostRuns  = 10_000     // combinations of [vary]
	mostDrawn = 15         // runs with pictures, unless they are asked for

	unlimited = math.MaxInt32
	anyNumber = 1e12 // for factors

	// mostTime is far beyond the thousand days after which a simulation stops,
	// and so far within int64 that the sum of a few is, too.
	mostTime = 10 * 365 * 24 * time.Hour

	leastSlowdown, mostSlowdown = 1e-3, 1e3
	mostFactor                  = 1e6 // on the time of a map that is far from its split
)

// limited checks a whole question.
func (t *table) limited(q *model.WhatIf) {
	if what := beyond(q); what != "" {
		t.fail(t.line("job"), "%s", what)
	}
}

// beyond says which limit only the whole question shows to be passed: the number
// of tasks, or the time of one of them.
func beyond(q *model.WhatIf) string {
	if n := tasks(q.Jobs); n > mostTasks {
		return fmt.Sprintf("%d tasks: want at most %d in one question", n, mostTasks)
	}
	slowest := 1.0
	for i := range q.Cluster.Nodes {
		slowest = math.Max(slowest, q.Cluster.Nodes[i].Slowness)
	}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		longest := slowest * longestTask(j)
		if p := programOf(q, j); p != nil {
			longest = slowest * longestPlan(q, j, p)
		}
		switch {
		case j.Submit < 0 || j.Submit > mostTime:
			return fmt.Sprintf("job %s is submitted after %s: want at most 10 years", j.ID, years(j.Submit.Seconds()))
		case !(longest <= mostTime.Seconds()):
			return fmt.Sprintf("job %s: a task takes %s alone on its node: want at most 10 years", j.ID, years(longest))
		}
	}
	return ""
}

func years(seconds float64) string {
	const year = 365 * 86400
	return fmt.Sprintf("%.3g years", seconds/year)
}

// longestTask returns the longest of the times that are given for a job,
// seconds.
func longestTask(j *workload.Job) float64 {
	m, r := &j.Maps, &j.Reduces
	return math.Max(longest(&m.Time)*math.Max(1, math.Max(m.RackFactor, m.OffFactor)),
		math.Max(longest(&r.Shuffle), math.Max(longest(&r.FirstWave), longest(&r.Copy)))+longest(&r.Sort)+longest(&r.Time))
}

func longest(d *workload.Durations) float64 {
	most := d.All
	for _, one := range d.Each {
		most = max(most, one)
	}
	return most.Seconds()
}

func programOf(q *model.WhatIf, j *workload.Job) *model.Program {
	for i := range q.Programs {
		if q.Programs[i].Name == j.Program {
			return &q.Programs[i]
		}
	}
	return nil
}

// longestPlan is more than any task of a job can take that does nothing but its
// own work, seconds: the costs of all data of the job, and no disk or link
// faster than the slowest.
func longestPlan(q *model.WhatIf, j *workload.Job, p *model.Program) float64 {
	d := &p.Data
	bytes, records := float64(j.Maps.InputBytes), float64(j.Maps.InputBytes)/d.InputPairWidth
	bytes /= math.Max(1, float64(j.Maps.Count))
	records /= math.Max(1, float64(j.Maps.Count))
	if j.Reduces.Count > 0 { // skew may give one of them all
		count := math.Max(1, float64(j.Maps.Count))
		bytes = math.Max(bytes, bytes*count*d.MapSizeSel*math.Max(1, d.ReduceSizeSel))
		records = math.Max(records, records*count*d.MapRecsSel*math.Max(1, d.ReduceRecsSel))
	} else {
		bytes *= math.Max(1, d.MapSizeSel)
		records *= math.Max(1, d.MapRecsSel)
	}
	worst := 0.0
	for i := range q.Cluster.Machines {
		m := &q.Cluster.Machines[i]
		c := &m.CPU
		perByte := c.HDFSRead + c.HDFSWrite + c.LocalRead + c.LocalWrite + c.SerdeByte + c.Fetch
		for _, codec := range m.Codecs {
			perByte += codec.Compress + codec.Decompress
		}
		perRecord := p.MapCPU + p.ReduceCPU + p.CombineCPU + c.Partition + c.SerdeRecord + float64(64*c.Compare) + c.Merge
		rate := m.NIC
		for _, disk := range m.Disks {
			rate = math.Min(rate, math.Min(disk.Read, disk.Write))
		}
		worst = math.Max(worst, (float64(bytes*perByte)+float64(records*perRecord)+c.Open)/1e9/m.Speed+bytes/rate)
	}
	return worst
}

// sizeOf returns what a question adds to the memory of all runs: nodes and
// jobs, and slots, of which allSlots weigh as much as mostInAll of these.
func sizeOf(q *model.WhatIf) int {
	return len(q.Cluster.Nodes) + len(q.Jobs) + slotsOf(&q.Cluster)/(allSlots/mostInAll)
}

// slotsOf counts slots; there are at most mostNodes * 2 * mostSlots.
func slotsOf(c *model.Cluster) (n int) {
	for i := range c.Nodes {
		n += c.Nodes[i].MapSlots + c.Nodes[i].ReduceSlots
	}
	return n
}

// someSlots wants a slot, and no more of them than memory has room for.
func (t *table) someSlots(c *model.Cluster) {
	switch all := slotsOf(c); {
	case all == 0:
		t.failf("map_slots", "no node has a slot: want at least one")
	case all > allSlots:
		t.failf("map_slots", "%d slots on %d nodes: want at most %d in all", all, len(c.Nodes), allSlots)
	}
}
