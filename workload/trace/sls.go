package trace

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/slotwave/slotwave/workload"
)

// This file reads the input of YARN's scheduler load simulator
// (org.apache.hadoop.yarn.sls, 2.5): jobs with the times of their containers,
// and nodes by rack. Instants are milliseconds from the start of the file.

var slsFormat = Format{
	Name: "sls", About: "jobs and nodes of YARN's scheduler load simulator, JSON",
	Files:  "jobs.json, nodes.json",
	detect: detection{keys: slsKeys},
	read:   (*collector).readSLS,
	write: func(h *workload.History) (Output, error) {
		lost, left := lostInSLS(h)
		return Output{Lost: lost, Left: left, Files: []File{
			{"jobs.json", func(w io.Writer) error { return writeSLS(w, h) }},
			{"nodes.json", func(w io.Writer) error { return writeSLSNodes(w, h.Workers()) }},
		}}, nil
	},
}

var slsKeys = []string{"am.type", "job.start.ms", "job.end.ms", "job.tasks", "job.id", "nodes", "rack"}

type slsJob struct {
	AMType string    `json:"am.type"`
	Queue  string    `json:"job.queue.name"`
	ID     string    `json:"job.id"`
	User   string    `json:"job.user"`
	Start  *float64  `json:"job.start.ms"`
	End    *float64  `json:"job.end.ms"`
	Tasks  []slsTask `json:"job.tasks"`

	Others map[string]jsontext.Value `json:",embed"`

	// Of an object of nodes.json.
	Rack  string `json:"rack"`
	Nodes []struct {
		Node string `json:"node"`
	} `json:"nodes"`
}

type slsTask struct {
	Host   string   `json:"container.host"`
	Kind   string   `json:"container.type"`
	Start  *float64 `json:"container.start.ms"`
	End    *float64 `json:"container.end.ms"`
	Memory float64  `json:"container.memory"` // 3.x; 0: not stated
	VCores float64  `json:"container.vcores"`
}

// readSLS reads a file of jobs or of nodes.
func (c *collector) readSLS(s *source) error {
	return readObjects(c, s, "the object", func(j *slsJob, line int) error {
		for _, name := range slices.Sorted(maps.Keys(j.Others)) {
			c.unknownMember(line, name, slsKeys)
		}
		for _, n := range j.Nodes {
			c.list(line, j.Rack, n.Node)
		}
		if j.Nodes != nil {
			return nil
		}
		return c.slsJob(j, line)
	})
}

// unknownMember warns once about a member that nobody reads if it may be meant as one that
// somebody does: in other letters, as submit_time for submitTime, or without one of its
// parts.
func (c *collector) unknownMember(line int, name string, known []string) {
	if c.unknown[name] {
		return
	}
	c.unknown[name] = true
	apart := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("._- ", r) })
	}
	parts := apart(name)
	for _, k := range known {
		of := apart(k)
		other := func(part string) bool { return !slices.Contains(of, part) }
		if strings.Join(of, "") == strings.Join(parts, "") || !slices.ContainsFunc(parts, other) {
			c.problem(line, "%.80s is not read: want %s", name, k)
			return
		}
	}
}

// objects reads JSON objects one after another. One that is damaged is lost; named says
// what it was.
func (c *collector) objects(in *jsonScanner, read func() error, use func(line int) error, named func() string) error {
	for {
		more, err := in.begin()
		if !more {
			return err
		}
		line := in.line()
		err = read()
		switch {
		case err == nil:
			if err := use(line); err != nil {
				return err
			}
			continue
		case in.fatal(err):
			return atLine(in.line(), err)
		}
		c.problem(in.lineOf(err), "%s is lost (began in line %d): %v", named(), line, err)
		if err := in.resync(); err != nil {
			return err
		}
	}
}

func (c *collector) slsJob(s *slsJob, line int) error {
	if s.AMType != "" && s.AMType != "mapreduce" {
		c.problem(line, "job %s: am.type %.40q: only mapreduce jobs are read", s.ID, s.AMType)
		return nil
	}
	b := c.newJob(s.ID, line)
	j := &b.job
	j.User, j.Queue = s.User, s.Queue
	j.Submit = c.sinceStart(line, "job.start.ms", s.Start)
	j.Finish = c.sinceStart(line, "job.end.ms", s.End)
	j.Outcome = workload.Succeeded
	var count [2]int // number of maps and of reduces
	for i := range s.Tasks {
		st := &s.Tasks[i]
		kind, ok := map[string]workload.Kind{"map": workload.Map, "reduce": workload.Reduce}[st.Kind]
		if !ok {
			c.problem(line, "job %s: container.type %.40q is none of map, reduce: the task is dropped", s.ID, st.Kind)
			continue
		}
		c.slsSize(j, line, "container.memory", "mapreduce."+st.Kind+".memory.mb", st.Memory)
		c.slsSize(j, line, "container.vcores", "mapreduce."+st.Kind+".cpu.vcores", st.VCores)
		t := b.task(kind, kind == workload.Reduce, count[kind])
		count[kind]++
		a := b.attempt(t, 0)
		if c.full {
			return errAttempts
		}
		a.Start = c.sinceStart(line, "container.start.ms", st.Start)
		a.Finish = c.sinceStart(line, "container.end.ms", st.End)
		b.checkTimes(attemptName(a), line, a.Start, &a.Finish)
		a.State, t.State = workload.Succeeded, workload.Succeeded
		a.Rack, a.Node = c.host(line, st.Host)
		t.Start, t.Finish = a.Start, a.Finish
	}
	j.Maps, j.Reduces = count[workload.Map], count[workload.Reduce]
	return b.finish()
}

// slsSize sets a property of a job to the size of its containers.
func (c *collector) slsSize(j *workload.HistoryJob, line int, what, key string, size float64) {
	switch {
	case size == 0: // not stated
	case size < 0 || size > math.MaxInt32 || size != math.Trunc(size):
		c.problem(line, "job %s: %s = %g: want a whole number from 1 to %d", j.ID, what, size, math.MaxInt32)
	default:
		j.Conf.Set(key, strconv.Itoa(int(size)))
	}
}

// sinceStart returns an instant in milliseconds from the start of the file.
func (c *collector) sinceStart(line int, what string, ms *float64) time.Duration {
	if ms == nil {
		return workload.UnknownTime
	}
	n := math.Trunc(*ms)
	if n < workload.Unknown {
		c.problem(line, "%s = %g: want a time since the start of the workload", what, *ms)
		return workload.UnknownTime
	}
	return c.relative(line, what, n, time.Millisecond)
}

// inSLS reports whether the scheduler load simulator can run a task: it runs
// containers of successful maps and reduces on machines.
func inSLS(t *workload.HistoryTask) bool {
	a := t.Winner()
	return t.Kind <= workload.Reduce && a != nil && a.Node != "" && workload.Known(a.Start) && workload.Known(a.Finish)
}

// lostInSLS lists and counts what writeSLS leaves out.
func lostInSLS(h *workload.History) (lost []workload.Problem, left Left) {
	apart, others, attempts := 0, 0, 0
	for _, t := range h.Tasks() {
		left.Attempts += len(t.Attempts)
		switch {
		case inSLS(t):
			attempts += len(t.Attempts) - 1
			left.Attempts--
		case t.Kind > workload.Reduce:
			apart++
		default:
			others++
		}
	}
	left.Tasks = apart + others
	for _, x := range []struct {
		n               int
		one, many, what string
	}{
		{apart, "set-up or clean-up task", "set-up and clean-up tasks", "has no place"},
		{others, "task", "tasks", "wants a successful attempt with machine, start and finish"},
		{attempts, "attempt", "attempts", "has one attempt of a task"},
	} {
		if x.n > 0 {
			lost = append(lost, workload.Problem{File: "sls", What: fmt.Sprintf("%s left out: the format %s", workload.Counted(x.n, x.one, x.many), x.what)})
		}
	}
	return lost, left
}

// writeSLS writes jobs as input of YARN's scheduler load simulator: the times
// of the containers of successful attempts, in milliseconds from the start.
func writeSLS(w io.Writer, h *workload.History) error {
	e, j := newExporter(h), newJSONWriter(w, jsontext.WithIndent("  "))
	for i := range h.Jobs {
		job := &h.Jobs[i]
		if !workload.Known(job.Submit) || !workload.Known(job.Finish) {
			return fmt.Errorf("SLS needs submission and finish of every job: %s lacks one", job.ID)
		}
		o := object{
			"am.type", "mapreduce",
			"job.start.ms", roundMillis(job.Submit),
			"job.end.ms", roundMillis(job.Finish),
			"job.queue.name", cmp.Or(job.Queue, "default"),
			"job.id", e.ids[i],
		}
		if job.User != "" {
			o = append(o, "job.user", job.User)
		}
		j.write(append(o, "job.tasks", items(func(write func(any)) {
			for k := range job.Tasks {
				t := &job.Tasks[k]
				if !inSLS(t) {
					continue
				}
				a := t.Winner()
				write(object{
					"container.host", locationOf(rackOr(a.Rack), a.Node),
					"container.start.ms", roundMillis(a.Start),
					"container.end.ms", roundMillis(a.Finish),
					"container.priority", map[workload.Kind]int64{workload.Map: 20, workload.Reduce: 10}[t.Kind],
					"container.type", t.Kind.String(),
				})
			}
		})))
	}
	return j.err
}

// writeSLSNodes writes the machines in SLS's format, one object a rack.
func writeSLSNodes(w io.Writer, t workload.Topology) error {
	j := newJSONWriter(w)
	for _, r := range t.Racks {
		nodes := list{}
		for _, host := range r.Hosts {
			nodes = append(nodes, object{"node", host})
		}
		j.write(object{"rack", rackOr(r.Name), "nodes", nodes})
	}
	return j.err
}
