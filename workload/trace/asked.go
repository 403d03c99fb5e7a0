package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

// This file reads workloads that say what applications ask for, and not what came of
// it: those of LinkedIn's DynoYARN, and the synthetic ones of YARN's scheduler load
// simulator (org.apache.hadoop.yarn.sls.synthetic, 3.3).

var dynoyarnFormat = Format{
	Name: "dynoyarn", About: "applications of DynoYARN with the times of their containers, JSON",
	detect: detection{keys: []string{"amResourceRequest", "resourceRequestSpecs", "appId", "appType"}},
	read: func(c *collector, s *source) error {
		return readObjects(c, s, "the object", func(v *dynoApp, line int) error { return v.add(c, line) })
	},
}

var synthFormat = Format{
	Name: "synth", About: "classes of random jobs of YARN's scheduler load simulator, JSON",
	detect: detection{keys: []string{"num_nodes", "nodes_per_rack", "num_jobs", "rand_seed", "workloads"}},
	read: func(c *collector, s *source) error {
		return readObjects(c, s, "the object", func(v *synthTrace, line int) error { return v.add(c, line) })
	},
}

// readObjects decodes JSON objects one after another.
func readObjects[T any](c *collector, s *source, what string, use func(v *T, line int) error) error {
	var v T
	in := newJSONScanner(s, c.limits.LineBytes)
	return c.objects(in, func() error {
		v = *new(T)
		return in.plain(json.UnmarshalDecode(in.dec, &v))
	}, func(line int) error { return use(&v, line) }, func() string { return what })
}

// askedSize is the size of a container.
type askedSize struct {
	Memory int64 `json:"memoryMB"`
	VCores int64 `json:"vcores"`
}

func (s askedSize) set(conf *workload.Conf, memory, vcores string) {
	if s.Memory > 0 {
		conf.Set(memory, strconv.FormatInt(s.Memory, 10))
	}
	if s.VCores > 0 {
		conf.Set(vcores, strconv.FormatInt(s.VCores, 10))
	}
}

// asks adds containers of a size for maps or reduces, as tasks that all run at once:
// maps when the job is submitted, reduces when its last map has ended.
func (b *jobBuilder) asks(kind workload.Kind, size askedSize, count int64, at func(int64) float64) error {
	const longest = 1e11 // ms
	j, of := &b.job, "mapreduce."+kind.String()
	size.set(&j.Conf, of+".memory.mb", of+".cpu.vcores")
	begin := j.Submit
	if kind == workload.Reduce {
		begin = j.Finish
	}
	for i := range count {
		t := b.task(kind, kind == workload.Reduce, int(i))
		a := b.attempt(t, 0)
		if b.c.full {
			return errAttempts
		}
		t.Start, t.State = begin, workload.Succeeded
		t.Finish = begin + time.Duration(math.Round(min(max(0, at(i)), longest)))*time.Millisecond
		a.Start, a.Finish, a.State = t.Start, t.Finish, t.State
		j.Finish = max(j.Finish, t.Finish)
	}
	if kind == workload.Map {
		j.Maps = int(count)
	} else {
		j.Reduces = int(count)
	}
	return nil
}

// newAsked begins a job whose reduces wait for all its maps, as in both simulators.
func (c *collector) newAsked(id, user, queue string, submit time.Duration, line int) *jobBuilder {
	b := c.newJob(c.intern(id), line)
	j := &b.job
	j.User, j.Queue, j.Submit, j.Finish, j.Outcome = c.intern(user), c.intern(queue), submit, submit, workload.Succeeded
	j.Maps, j.Reduces = 0, 0
	j.Conf.Set("mapreduce.job.reduce.slowstart.completedmaps", "1")
	return b
}

// dynoApp is an application (AppSpec, ResourceRequestSpec). Times are in ms.
type dynoApp struct {
	ID     string    `json:"appId"`
	User   string    `json:"user"`
	Queue  string    `json:"queue"`
	Submit int64     `json:"submitTime"`
	Master askedSize `json:"amResourceRequest"`
	Specs  []struct {
		Priority int64     `json:"priority"`
		Runtimes []float64 `json:"runtimes"`
		Count    int64     `json:"numInstances"`
		Average  float64   `json:"averageRuntime"`
		Size     askedSize `json:"resource"`
	} `json:"resourceRequestSpecs"`
}

// add adds an application: what it asks for first are its maps, then its reduces.
func (v *dynoApp) add(c *collector, line int) error {
	b := c.newAsked(v.ID, v.User, v.Queue, max(0, c.unixMillis(line, "submitTime", v.Submit)), line)
	v.Master.set(&b.job.Conf, "yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores")
	sort.SliceStable(v.Specs, func(i, k int) bool { return v.Specs[i].Priority > v.Specs[k].Priority })
	for i, s := range v.Specs {
		if i > int(workload.Reduce) {
			c.problem(line, "application %s: its containers of priority %d are dropped: only two priorities are read", v.ID, s.Priority)
			continue
		}
		count, at := int64(len(s.Runtimes)), func(k int64) float64 { return s.Runtimes[k] }
		if s.Average != 0 {
			count, at = s.Count, func(int64) float64 { return s.Average }
		}
		if err := b.asks(workload.Kind(i), s.Size, count, at); err != nil {
			return err
		}
	}
	return b.finish()
}

// synthTrace describes random jobs (SynthTraceJobProducer). Times are in s.
type synthTrace struct {
	Nodes     int             `json:"num_nodes"`
	PerRack   int             `json:"nodes_per_rack"`
	Jobs      int             `json:"num_jobs"`
	Seed      int64           `json:"rand_seed"`
	Workloads []synthWorkload `json:"workloads"`
}

type synthWorkload struct {
	Weight  float64      `json:"workload_weight"`
	Queue   string       `json:"queue_name"`
	Classes []synthClass `json:"job_classes"`
	Times   []struct {
		Time   int64   `json:"time"`
		Weight float64 `json:"weight"`
	} `json:"time_distribution"`
}

// synthClass is a class of jobs. One without tasks has the older keys.
type synthClass struct {
	Name   string      `json:"class_name"`
	User   string      `json:"user_name"`
	Weight float64     `json:"class_weight"`
	Tasks  []synthTask `json:"tasks"`

	old map[string]jsontext.Value
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *synthClass) UnmarshalJSON(text []byte) error {
	type plain synthClass
	return errors.Join(json.Unmarshal(text, (*plain)(s), scannerOptions), json.Unmarshal(text, &s.old, scannerOptions))
}

type synthTask struct {
	Type   string `json:"type"`
	Count  sample `json:"count"`
	Time   sample `json:"time"`
	Memory sample `json:"max_memory"`
	VCores sample `json:"max_vcores"`
}

// sample is a number or a distribution of numbers.
type sample struct {
	Value    float64          `json:"val"`
	Spread   *float64         `json:"std"` // nil: always the value
	Law      string           `json:"dist"`
	Discrete []jsontext.Value `json:"discrete"`
	Weights  []float64        `json:"weights"`
}

// synthDraws are the random choices for one job.
type synthDraws struct {
	seed workload.Seed
	n    int
}

func (d *synthDraws) next() workload.Stream {
	d.n++
	return d.seed.Stream(d.n, 0)
}

// pick returns one of n by weight; negative: there is none.
func (d *synthDraws) pick(n int, weight func(int) float64) int {
	sum := 0.0
	for i := range n {
		sum += weight(i)
	}
	at := d.next().Uniform() * sum
	for i := range n {
		if at -= weight(i); at < 0 {
			return i
		}
	}
	return n - 1
}

func (d *synthDraws) number(s *sample) float64 {
	if n := len(s.Discrete); n > 0 {
		i := d.pick(n, func(i int) float64 {
			if i < len(s.Weights) {
				return s.Weights[i]
			}
			return 1
		})
		v, _ := strconv.ParseFloat(strings.Trim(string(s.Discrete[i]), `"`), 64)
		return v
	}
	if s.Spread == nil || s.Value <= 0 {
		return s.Value
	}
	law := "lognormal"
	if s.Law == "NORM" {
		law = "normal"
	}
	dist, err := workload.NewDist(law, workload.DistParams{Mean: s.Value, SD: cmp.Or(*s.Spread, s.Value/6)})
	if err != nil {
		return s.Value
	}
	return dist.Draw(d.next())
}

func (d *synthDraws) whole(s *sample, least int64) int64 {
	return max(least, int64(math.Round(min(d.number(s), math.MaxInt32))))
}

// add draws the jobs. The numbers are those of slotwave's generator, not of Java's.
func (v *synthTrace) add(c *collector, line int) error {
	if v.Nodes > workload.MostNodes || v.Jobs > c.limits.Attempts {
		c.problem(line, "num_nodes %d, num_jobs %d: want at most %d and %d", v.Nodes, v.Jobs, workload.MostNodes, c.limits.Attempts)
		return nil
	}
	for i := range v.Nodes {
		c.list(line, fmt.Sprint("rack", i/max(1, v.PerRack)), fmt.Sprint("node", i))
	}
	for i := range v.Jobs {
		d := &synthDraws{seed: workload.Seed(v.Seed).For(i)}
		w := d.pick(len(v.Workloads), func(k int) float64 { return v.Workloads[k].Weight })
		if w < 0 || len(v.Workloads[w].Classes) == 0 {
			c.problem(line, "workloads: want one or more, each with job_classes")
			return nil
		}
		load := &v.Workloads[w]
		submit := load.submit(d)
		class := &load.Classes[d.pick(len(load.Classes), func(k int) float64 { return load.Classes[k].Weight })]
		b := c.newAsked(fmt.Sprintf("%s_%06d", class.Name, i), class.User, load.Queue, c.relative(line, "time_distribution", submit, time.Second), line)
		for k, t := range class.tasks() {
			if k > int(workload.Reduce) {
				c.problem(line, "class %s: its tasks of type %s are dropped: only two types are read", class.Name, t.Type)
				continue
			}
			kind := workload.Kind(k)
			if t.Type == "reduce" {
				kind = workload.Reduce
			}
			count, size := d.whole(&t.Count, 0), askedSize{d.whole(&t.Memory, 1024), d.whole(&t.VCores, 1)}
			if err := b.asks(kind, size, count, func(int64) float64 { return 1000 * math.Round(d.number(&t.Time)) }); err != nil {
				return err
			}
		}
		if err := b.finish(); err != nil {
			return err
		}
	}
	return nil
}

// submit draws when a job is submitted, s: at any time of a drawn part of the day.
func (w *synthWorkload) submit(d *synthDraws) float64 {
	i := d.pick(len(w.Times), func(k int) float64 { return w.Times[k].Weight })
	if i < 0 {
		return 0
	}
	from, to := w.Times[i].Time, w.Times[min(i+1, len(w.Times)-1)].Time
	return float64(from) + math.Floor(d.next().Uniform()*float64(max(0, to-from)))
}

// tasks returns the types of tasks of a class (validateJobDef).
func (s *synthClass) tasks() []synthTask {
	if s.Tasks != nil {
		return s.Tasks
	}
	old := func(name string) (x sample) {
		var spread float64
		_ = json.Unmarshal(s.old[name+"_avg"], &x.Value)
		_ = json.Unmarshal(s.old[name+"_stddev"], &spread)
		x.Spread = &spread
		return x
	}
	return []synthTask{
		{"map", old("mtasks"), old("mtime"), old("map_max_memory"), old("map_max_vcores")},
		{"reduce", old("rtasks"), old("rtime"), old("reduce_max_memory"), old("reduce_max_vcores")},
	}
}
