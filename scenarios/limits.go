package scenarios

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/workload"
)

// The values of a question are checked against these limits, so that a typing
// error neither exhausts the memory nor overflows a time.
const (
	mostNodes = workload.MostNodes
	mostSlots = workload.MostSlots
	allSlots  = 20_000_000 // in a cluster, and in all runs of a scenario
	mostJobs  = 500_000
	mostTasks = 20_000_000 // in a question
	mostInAll = 1_000_000  // nodes and jobs of all runs of a scenario
	mostRuns  = 10_000     // combinations of [vary]
	mostDrawn = 15         // runs with pictures, unless the user asks for them

	mostContainer = 1 << 31 // MiB or vcores: Hadoop's resources hold at most 2^31 - 1
	mostInput     = 1 << 60 // bytes of a recorded job

	unlimited = math.MaxInt32
	anyNumber = 1e12 // for factors

	// mostTime is far above the thousand days after which a simulation stops.
	// A sum of several still fits an int64.
	mostTime = 10 * 365 * 24 * time.Hour

	leastSlowdown, mostSlowdown = 1e-3, 1e3
	mostFactor                  = 1e6 // factor on the time of a map far from its split
)

// beyond reports limits that only the whole question can exceed: the number of
// tasks, or the time of one task.
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
		if p := q.Program(j); p != nil {
			longest = slowest * longestPlan(q, j, p)
		}
		switch {
		case j.Submit < 0 || j.Submit > mostTime:
			return fmt.Sprintf("job %s is submitted after %s: want at most 10 years", j.ID, years(j.Submit.Seconds()))
		case !(longest <= mostTime.Seconds()):
			return fmt.Sprintf("job %s: a task takes %s alone on its node: want at most 10 years", j.ID, years(longest))
		case latestEnd(j) > mostTime:
			return fmt.Sprintf("job %s: an attempt or the job itself is ended after %s: want at most 10 years", j.ID, years(latestEnd(j).Seconds()))
		}
	}
	return ""
}

// latestEnd returns when the last attempt of a job that is killed or fails does
// so, from its start.
func latestEnd(j *workload.Job) time.Duration {
	latest := j.Ends.After
	for _, end := range j.AttemptEnds() {
		latest = max(latest, end.After)
	}
	return latest
}

func years(seconds float64) string {
	const year = 365 * 86400
	return fmt.Sprintf("%.3g years", seconds/year)
}

// longestTask returns the longest given time of a job in seconds.
func longestTask(j *workload.Job) float64 {
	m, r := &j.Maps, &j.Reduces
	contained := 0.0
	for _, g := range j.Containers {
		for _, d := range g.Times {
			contained = math.Max(contained, d.Seconds())
		}
	}
	return math.Max(math.Max(contained, longest(&m.Time)*math.Max(1, math.Max(m.RackFactor, m.OffFactor))),
		math.Max(longest(&r.Shuffle), math.Max(longest(&r.FirstWave), longest(&r.Copy)))+longest(&r.Sort)+longest(&r.Time))
}

func longest(d *workload.Durations) float64 {
	most := d.All
	for _, one := range d.Each {
		most = max(most, one)
	}
	return most.Seconds()
}

// longestPlan returns an upper bound on the time of any task of a job that runs
// alone, in seconds: the costs of all data of the job on the slowest disk or
// link.
func longestPlan(q *model.WhatIf, j *workload.Job, p *model.Program) float64 {
	d := &p.Data
	bytes, records := float64(j.Maps.InputBytes), float64(j.Maps.InputBytes)/d.InputPairWidth
	bytes /= math.Max(1, float64(j.Maps.Count))
	records /= math.Max(1, float64(j.Maps.Count))
	if j.Reduces.Count > 0 { // skew may give all of it to one task
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
		fitted := 0.0 // ms
		if m.Fitted != nil {
			for _, phase := range platform.Phases {
				fitted += m.Fitted.Phase(phase, bytes/(1<<20))
			}
		}
		worst = math.Max(worst, fitted/1000+(float64(bytes*perByte)+float64(records*perRecord)+c.Open)/1e9/m.Speed+bytes/rate)
	}
	return worst
}

// sizeOf returns the share of a question in the limits of all runs: its nodes
// and jobs, and its slots, with allSlots scaled to mostInAll.
func sizeOf(q *model.WhatIf) int {
	return len(q.Cluster.Nodes) + len(q.Jobs) + slotsOf(&q.Cluster)/(allSlots/mostInAll)
}

// slotsOf counts slots; there are at most mostNodes * 2 * mostSlots.
func slotsOf(c *model.Cluster) int {
	slots := c.Slots()
	return slots[workload.Map] + slots[workload.Reduce]
}

// mostReplications is how often a point may be simulated.
const mostReplications = 100_000

// maxFile is larger than any scenario that people or programs write.
const maxFile = 64 << 20

// tasks counts the tasks that a question simulates.
func tasks(jobs []workload.Job) (n int) {
	for i := range jobs {
		n += jobs[i].Maps.Count + jobs[i].Reduces.Count
		for _, g := range jobs[i].Containers {
			n += len(g.Times)
		}
	}
	return n
}

func digits(n int) int { return len(fmt.Sprint(n)) }

// applications of YARN: what asks for containers.
var applications = []string{"mapreduce", "fixed"}
