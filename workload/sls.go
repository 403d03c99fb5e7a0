package workload

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Input of YARN's scheduler load simulator (org.apache.hadoop.yarn.sls, 2.5):
// jobs, which state how long containers ran, and nodes by rack. Instants are
// milliseconds from the start of the file.

type slsJob struct {
	AMType string     `json:"am.type"`
	Start  jsonNumber `json:"job.start.ms"`
	End    jsonNumber `json:"job.end.ms"`
	Queue  string     `json:"job.queue.name"`
	ID     string     `json:"job.id"`
	User   string     `json:"job.user"`
	Tasks  []slsTask  `json:"job.tasks"`
	Rack   string     `json:"rack"`
	Nodes  []struct {
		Node string `json:"node"`
	} `json:"nodes"`
}

type slsTask struct {
	Host     string     `json:"container.host"`
	Start    jsonNumber `json:"container.start.ms"`
	End      jsonNumber `json:"container.end.ms"`
	Priority jsonNumber `json:"container.priority"`
	Type     string     `json:"container.type"`
}

// readSLS reads a file of jobs or of nodes.
func (c *collector) readSLS(s *source) error {
	in := newJSONStream(s, c.limits.LineBytes)
	for {
		more, err := in.begin()
		if !more {
			return err
		}
		line := in.line()
		var j slsJob
		err = json.UnmarshalDecode(in.dec, &j, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if errors.Is(err, errLineLong) || errors.Is(err, errRatio) {
			return atLine(in.line(), err)
		}
		if err != nil {
			c.problem(in.lineOf(err), "what stands here is lost (began in line %d): %s", line, jsonCause(err))
			if err := in.resync(); err != nil {
				return err
			}
			continue
		}
		for _, n := range j.Nodes {
			c.place(line, j.Rack, n.Node)
		}
		if j.Nodes != nil {
			continue
		}
		if err := c.slsJob(&j, line); err != nil {
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
	j.User, j.Queue = c.intern(s.User), c.intern(s.Queue)
	j.Submit = c.sinceStart(line, "job.start.ms", s.Start)
	j.Finish = c.sinceStart(line, "job.end.ms", s.End)
	j.Outcome = Succeeded
	var count [2]int // of maps and of reduces
	for i := range s.Tasks {
		st := &s.Tasks[i]
		kind, ok := map[string]Kind{"map": Map, "reduce": Reduce}[st.Type]
		if !ok {
			c.problem(line, "job %s: container.type %.40q is none of map, reduce: the task is dropped", s.ID, st.Type)
			continue
		}
		t := b.task(kind, kind == Reduce, count[kind])
		count[kind]++
		a := b.attempt(t, 0)
		if c.full {
			return errAttempts
		}
		a.Start = c.sinceStart(line, "container.start.ms", st.Start)
		a.Finish = c.sinceStart(line, "container.end.ms", st.End)
		b.checkTimes(attemptName(a), line, a.Start, &a.Finish)
		a.State, t.State = Succeeded, Succeeded
		a.Rack, a.Node = c.host(line, st.Host)
		t.Start, t.Finish = a.Start, a.Finish
	}
	j.Maps, j.Reduces = count[Map], count[Reduce]
	return b.finish()
}

// sinceStart is an instant in milliseconds from the start of the file.
func (c *collector) sinceStart(line int, what string, n jsonNumber) time.Duration {
	return c.relative(line, what, float64(c.count(line, what, n)), time.Millisecond)
}
