package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// limitText says what each limit means, after its share of the jobs' time.
var limitText = map[string]string{
	"slots": "other jobs held the slots", "scheduler": "the scheduler left slots free although tasks could run, or held the job back",
	"heartbeats": "tasks and trackers waited for heartbeats", "processors": "maps and reduces computed",
	"reads, spills, merges and writes": "tasks moved data, with disks and processors", "network": "reduces fetched map outputs",
	"lost attempts":                      "attempts ran that failed, were killed or were lost with their node",
	"start-up and end of tasks and jobs": "tasks and jobs started or ended", "given times of tasks": "tasks ran, for as long as the scenario or trace says",
	"tasks": "tasks ran",
}

// SharesOf returns limits with their shares, and the largest in a sentence.
func SharesOf(limits []Limit) (list []Limit, sentence string) {
	total := int64(0)
	for _, l := range limits {
		total += l.Time
	}
	for _, l := range limits {
		l.Share = text.Share(float64(l.Time) / float64(total))
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, ""
	}
	if means := list[0].means(); means != "" {
		sentence = fmt.Sprintf("%s: in %s of the jobs' time %s", list[0].What, text.Percent(list[0].Share), means)
	}
	return list, sentence
}

// means says what a limit does.
func (l *Limit) means() string {
	if l.Waiting == 0 {
		return limitText[l.What]
	}
	waited := "a container waited"
	if l.Waiting > 1 {
		waited = "up to " + text.Number(int64(l.Waiting)) + " containers waited"
	}
	if l.Unit == "" {
		return waited
	}
	return waited + ", with " + text.InUse(l.Used, l.Of, l.Unit)
}

// Group divides the run by the pools, queues or users of its jobs, or by nodes.
type Group struct {
	By   string     `json:"by"`
	Of   int        `json:"of"` // number of them, if not all are listed
	Rows []GroupRow `json:"rows"`
}

// GroupRow is one pool, queue, user or node.
type GroupRow struct {
	Name     string      `json:"name"`
	Jobs     int         `json:"jobs,omitempty"`
	Mean     int64       `json:"mean_ns"`                    // time of its jobs, or of the maps of a node
	Local    *text.Share `json:"node_local_share,omitempty"` // of the maps of its jobs
	Attempts int64       `json:"attempts,omitempty"`
	SlotTime int64       `json:"slot_time_ns"`
	Share    text.Share  `json:"share"`
	Lost     int64       `json:"lost"` // failed and killed attempts
}

// mostRows is the largest number of rows of a group.
const mostRows = 10

// groups returns the groups with more than one row.
func (r *Run) groups() []Group {
	var groups []Group
	jobs := r.Predictions[0].Jobs
	for _, g := range []struct {
		by string
		of func(*model.JobOutcome) string
	}{
		{"pool", func(j *model.JobOutcome) string { return j.Pool }},
		{"queue", func(j *model.JobOutcome) string { return j.Queue }},
		{"user", func(j *model.JobOutcome) string { return j.User }},
	} {
		rows := jobRows(jobs, g.of)
		slices.SortStableFunc(rows, func(a, b GroupRow) int { return cmp.Compare(b.SlotTime, a.SlotTime) })
		groups = append(groups, Group{By: g.by, Rows: rows})
	}
	nodes := r.Stats.nodeRows()
	slices.SortStableFunc(nodes, func(a, b GroupRow) int { return cmp.Compare(b.Mean, a.Mean) })
	groups = append(groups, Group{By: "node", Rows: nodes})
	groups = slices.DeleteFunc(groups, func(g Group) bool { return len(g.Rows) < 2 })
	for i := range groups {
		g := &groups[i]
		total := int64(0)
		for _, row := range g.Rows {
			total += row.SlotTime
		}
		for k := range g.Rows {
			g.Rows[k].Share = text.Share(float64(g.Rows[k].SlotTime) / float64(max(1, total)))
		}
		g.Of = len(g.Rows)
		g.Rows = g.Rows[:min(mostRows, len(g.Rows))]
	}
	return groups
}

// jobRows sums the jobs by a name.
func jobRows(jobs []model.JobOutcome, of func(*model.JobOutcome) string) []GroupRow {
	type placing struct{ local, all int }
	sums, finishes, placed := map[string]*GroupRow{}, map[string]int64{}, map[string]placing{}
	for i := range jobs {
		j := &jobs[i]
		name := of(j)
		row := sums[name]
		if row == nil {
			row = &GroupRow{Name: text.Escape(name)}
			sums[name] = row
		}
		row.Jobs++
		row.SlotTime += int64(j.MapTime + j.ReduceTime)
		row.Lost += int64(j.Failed + j.Killed)
		p, l := placed[name], &j.Locality
		p.local += l[workload.NodeLocal]
		p.all += l[workload.NodeLocal] + l[workload.RackLocal] + l[workload.OffRack]
		placed[name] = p
		if j.Finished() {
			row.Mean += int64(j.Finish - j.Submit)
			finishes[name]++
		}
	}
	var rows []GroupRow
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		row := sums[name]
		row.Mean /= max(1, finishes[name])
		if p := placed[name]; p.all > 0 {
			local := text.Share(float64(p.local) / float64(p.all))
			row.Local = &local
		}
		rows = append(rows, *row)
	}
	return rows
}

func (s *Stats) nodeRows() []GroupRow {
	var rows []GroupRow
	for i := range s.slots.nodes {
		n := &s.slots.nodes[i]
		if n.attempts > 0 {
			rows = append(rows, GroupRow{
				Name: text.Escape(n.name), Mean: n.mapTime / max(1, n.maps), Attempts: n.attempts, SlotTime: n.time, Lost: n.lost,
			})
		}
	}
	return rows
}
