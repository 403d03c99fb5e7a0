package scenarios

import (
	"time"

	"github.com/slotwave/slotwave/workload"
)

// applications of YARN: what asks for containers.
var applications = []string{"mapreduce", "fixed"}

// Priorities of the containers of maps and reduces that an application with given
// containers asks for (org.apache.hadoop.yarn.sls.appmaster.MRAMSimulator).
const (
	fixedReduces = 10
	fixedMaps    = 20
)

// asContainers makes a job one that asks for its containers at once and holds each for
// the time of its task: no slowstart, shuffle or failure.
func (t *table) asContainers(j *workload.Job, seed workload.Seed) {
	group := func(kind workload.Kind, priority, n int, times ...*workload.Durations) workload.ContainerGroup {
		size, err := t.yarn.TaskSize(j.Conf, kind)
		if err != nil {
			t.fail(t.line(""), "job %s: %v", j.ID, err)
		}
		g := workload.ContainerGroup{Priority: priority, MemoryMiB: size.MemoryMiB, VCores: size.VCores}
		for i := range n {
			whole := time.Duration(0)
			for _, d := range times {
				whole += d.At(i, seed.Stream(i, 0))
			}
			g.Times = append(g.Times, whole)
		}
		return g
	}
	m, r := &j.Maps, &j.Reduces
	maps := group(workload.Map, fixedMaps, m.Count, &m.Time)
	if m.Splits != nil {
		for i := range m.Splits {
			maps.Hosts = append(maps.Hosts, m.Splits[i].Hosts)
		}
	}
	j.Containers = []workload.ContainerGroup{maps}
	if r.Count > 0 {
		j.Containers = append(j.Containers, group(workload.Reduce, fixedReduces, r.Count, &r.Shuffle, &r.Sort, &r.Time))
	}
	j.Maps, j.Reduces = workload.MapTasks{}, workload.ReduceTasks{}
}

// readContainers reads the [[job.container]] tables of an application that is no
// MapReduce job.
func (t jobTable) readContainers(j *workload.Job) {
	for _, in := range t.tables("container") {
		const usual = 1024 // MiB
		count := in.integer("count", 1, 1, mostTasks)
		g := workload.ContainerGroup{
			Priority: in.integer("priority", 1, 1, unlimited), MemoryMiB: in.size("memory", usual<<20) >> 20, VCores: int64(in.integer("vcores", 1, 1, unlimited)),
		}
		d := in.oneTime(count, "ms", "duration")
		if !in.has("ms") && !in.has("duration") {
			in.fail(in.line(""), "%s: want the time of its containers: ms or duration", in.path)
		}
		for i := range count {
			g.Times = append(g.Times, d.At(i, workload.Seed(len(j.Containers)).Stream(i, 0)))
		}
		in.done()
		j.Containers = append(j.Containers, g)
	}
	if len(j.Containers) == 0 {
		t.fail(t.line(""), "%s: want [[job.container]] tables", t.path)
	}
}
