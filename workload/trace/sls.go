package trace

import (
	"strconv"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// This file reads the input of YARN's scheduler load simulator
// (org.apache.hadoop.yarn.sls, 2.5): jobs with the times of their containers,
// and nodes by rack. Instants are milliseconds from the start of the file.

var slsFormat = Format{
	Name: "sls", About: "jobs and nodes of YARN's scheduler load simulator, JSON",
	detect: detection{keys: []string{"am.type", "job.start.ms", "job.end.ms", "job.tasks", "job.id", "nodes", "rack"}},
	read:   (*collector).readSLS,
}

type slsJob struct {
	amType, queue, id, user string
	start, end              int64
	tasks                   []slsTask
	rack                    string
	nodes                   []string
	isNodes                 bool
}

type slsTask struct {
	host, kind     string
	start, end     int64
	memory, vcores int64 // 3.x; 0: not stated
}

// readSLS reads a file of jobs or of nodes.
func (c *collector) readSLS(s *source) error {
	var j slsJob
	return c.objects(s, func(in *jsonScanner) error {
		j = slsJob{start: workload.Unknown, end: workload.Unknown}
		return (slsReader{c}).read(in, &j)
	}, func(line int) error {
		for _, n := range j.nodes {
			c.place(line, j.rack, n)
			c.listed = true
		}
		if j.isNodes {
			return nil
		}
		return (slsReader{c}).job(&j, line)
	})
}

// objects reads JSON objects one after another. One that is damaged is lost.
func (c *collector) objects(s *source, read func(*jsonScanner) error, use func(line int) error) error {
	in := newJSONScanner(s, c.limits.LineBytes)
	for {
		more, err := in.begin()
		if !more {
			return err
		}
		line := in.line()
		err = read(in)
		switch {
		case err == nil:
			if err := use(line); err != nil {
				return err
			}
			continue
		case in.fatal(err):
			return atLine(in.line(), err)
		}
		c.problem(in.lineOf(err), "the object is lost (began in line %d): %v", line, err)
		if err := in.resync(); err != nil {
			return err
		}
	}
}

// slsReader collects the jobs of a trace of the YARN simulator.
type slsReader struct{ *collector }

func (c slsReader) read(in *jsonScanner, j *slsJob) error {
	return c.fields(in, map[string]any{
		"am.type": &j.amType, "job.queue.name": &j.queue, "job.id": &j.id, "job.user": &j.user, "rack": &j.rack,
		"job.start.ms": &j.start, "job.end.ms": &j.end,
		"job.tasks": func() error {
			j.tasks = j.tasks[:0]
			return in.list(func() error {
				j.tasks = append(j.tasks, slsTask{start: workload.Unknown, end: workload.Unknown})
				return c.readTask(in, &j.tasks[len(j.tasks)-1])
			})
		},
		"nodes": func() error {
			j.isNodes, j.nodes = true, j.nodes[:0]
			return in.list(func() error {
				var node string
				err := c.fields(in, map[string]any{"node": &node})
				if node != "" {
					j.nodes = append(j.nodes, node)
				}
				return err
			})
		},
	})
}

func (c slsReader) readTask(in *jsonScanner, t *slsTask) error {
	return c.fields(in, map[string]any{
		"container.host": &t.host, "container.type": &t.kind, "container.start.ms": &t.start, "container.end.ms": &t.end,
		"container.memory": &t.memory, "container.vcores": &t.vcores,
	})
}

func (c slsReader) job(s *slsJob, line int) error {
	if s.amType != "" && s.amType != "mapreduce" {
		c.problem(line, "job %s: am.type %.40q: only mapreduce jobs are read", s.id, s.amType)
		return nil
	}
	b := c.newJob(s.id, line)
	j := &b.job
	j.User, j.Queue = s.user, s.queue
	j.Submit = c.sinceStart(line, "job.start.ms", s.start)
	j.Finish = c.sinceStart(line, "job.end.ms", s.end)
	j.Outcome = workload.Succeeded
	var count [2]int // number of maps and of reduces
	for i := range s.tasks {
		st := &s.tasks[i]
		kind, ok := map[string]workload.Kind{"map": workload.Map, "reduce": workload.Reduce}[st.kind]
		if !ok {
			c.problem(line, "job %s: container.type %.40q is none of map, reduce: the task is dropped", s.id, st.kind)
			continue
		}
		if st.memory > 0 {
			j.Conf.Set("mapreduce."+st.kind+".memory.mb", strconv.FormatInt(st.memory, 10))
		}
		if st.vcores > 0 {
			j.Conf.Set("mapreduce."+st.kind+".cpu.vcores", strconv.FormatInt(st.vcores, 10))
		}
		t := b.task(kind, kind == workload.Reduce, count[kind])
		count[kind]++
		a := b.attempt(t, 0)
		if c.full {
			return errAttempts
		}
		a.Start = c.sinceStart(line, "container.start.ms", st.start)
		a.Finish = c.sinceStart(line, "container.end.ms", st.end)
		b.checkTimes(attemptName(a), line, a.Start, &a.Finish)
		a.State, t.State = workload.Succeeded, workload.Succeeded
		a.Rack, a.Node = c.host(line, st.host)
		t.Start, t.Finish = a.Start, a.Finish
	}
	j.Maps, j.Reduces = count[workload.Map], count[workload.Reduce]
	return b.finish()
}

// sinceStart returns an instant in milliseconds from the start of the file.
func (c *collector) sinceStart(line int, what string, n int64) time.Duration {
	return c.relative(line, what, float64(c.count(line, what, n)), time.Millisecond)
}
