package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
)

// Evaluators answer for the stations of the simulator, by name, sorted.
var Evaluators = []model.Evaluator{
	model.NewEvaluator("disk", unknownDiskQuestion, diskQuestion.answer),
	model.NewEvaluator("flows", nil, flowsQuestion.answer),
	model.NewEvaluator("maxmin", nil, maxminQuestion.answer),
	model.NewEvaluator("pipeline", nil, pipelineQuestion.answer),
}

// These bounds keep all products of the numbers exact enough to compare.
const (
	leastNumber = 1e-12
	mostNumber  = 1e18
	mostSeconds = math.MaxInt64 / 1e9
)

type finishAnswer struct {
	Finish []float64 `json:"finish"` // seconds
}

// finishes records when each numbered item ends.
type finishes struct {
	eng    *engine.Engine
	finish []float64
	number map[any]int
}

func newFinishes(e *engine.Engine, n int) *finishes {
	f := &finishes{e, make([]float64, n), map[any]int{}}
	for i := range f.finish {
		f.finish[i] = math.NaN()
	}
	return f
}

func (f *finishes) Served(v *station.Visit)  { f.ended(v) }
func (f *finishes) Received(w *station.Flow) { f.ended(w) }
func (f *finishes) ended(who any)            { f.finish[f.number[who]] = f.eng.Now().Duration().Seconds() }

// answer runs the engine to the end.
func (f *finishes) answer(what string) (finishAnswer, error) {
	for f.eng.Step() {
	}
	if i := slices.IndexFunc(f.finish, math.IsNaN); i >= 0 {
		return finishAnswer{}, fmt.Errorf("%s[%d]: does not end within %.0f s", what, i, math.Floor(mostSeconds))
	}
	return finishAnswer{f.finish}, nil
}

// arrive calls start with each index at its time, in seconds.
func arrive(e *engine.Engine, index int, at float64, start func(int32)) {
	e.NewTimer(engine.Arrival, int32(index), start).Reset(engine.Time(math.Round(at * 1e9)))
}

type diskQuestion struct {
	Rates map[string]float64 `json:"rates" unit:"bytes/s"` // by kind of request
	Jobs  []diskJob          `json:"jobs" input:"rows"`
	Model curveQuestion      `json:"model"`
}

type diskJob struct {
	At    float64 `json:"at" unit:"s"`
	Bytes float64 `json:"bytes" unit:"bytes"`
	Kind  string  `json:"kind"`
}

type curveQuestion struct {
	Kind  string  `json:"kind"`
	Alpha float64 `json:"alpha,omitempty"`               // linear, floor
	Min   float64 `json:"min,omitempty"`                 // floor
	Chunk float64 `json:"chunk,omitempty" unit:"bytes"`  // seek
	Rate  float64 `json:"rate,omitempty" unit:"bytes/s"` // seek
	Seek  float64 `json:"seek,omitempty" unit:"s"`       // seek
}

func unknownDiskQuestion() diskQuestion {
	nan := math.NaN()
	return diskQuestion{Model: curveQuestion{Alpha: nan, Min: nan, Chunk: nan, Rate: nan, Seek: nan}}
}

func (q curveQuestion) curve(c *input.Check) station.Curve {
	switch q.Kind {
	case "none":
		return nil
	case "linear":
		c.Within("model.alpha", q.Alpha, 0, mostNumber)
		return station.Linear(q.Alpha)
	case "floor":
		c.Within("model.alpha", q.Alpha, 0, mostNumber)
		c.Part("model.min", q.Min)
		return station.Floor(q.Min, station.Linear(q.Alpha))
	case "seek":
		c.Within("model.chunk", q.Chunk, leastNumber, mostNumber)
		c.Within("model.rate", q.Rate, leastNumber, mostNumber)
		c.Within("model.seek", q.Seek, 0, mostNumber)
		return station.Seek(q.Chunk, q.Rate, q.Seek)
	}
	c.Fail("model.kind", "unknown %q%s", q.Kind, input.Suggest(q.Kind, []string{"none", "linear", "floor", "seek"}))
	return nil
}

func (q diskQuestion) answer() (finishAnswer, error) {
	var c input.Check
	curve := q.Model.curve(&c)
	kinds := slices.Sorted(maps.Keys(q.Rates))
	for _, kind := range kinds {
		c.Within("rates."+kind, q.Rates[kind], leastNumber, mostNumber)
	}
	for i, j := range q.Jobs {
		name := fmt.Sprintf("jobs[%d]", i)
		c.Within(name+".at", j.At, 0, mostSeconds)
		c.Within(name+".bytes", j.Bytes, 0, mostNumber)
		if _, known := q.Rates[j.Kind]; !known {
			c.Fail(name+".kind", "rates.%s: missing", j.Kind)
		}
	}
	if err := c.Err(); err != nil {
		return finishAnswer{}, err
	}
	e := engine.New()
	disk := station.NewDevice(e, curve)
	ends := newFinishes(e, len(q.Jobs))
	visits := make([]station.Visit, len(q.Jobs))
	for i, j := range q.Jobs {
		visits[i].Visitor = ends
		ends.number[&visits[i]] = i
		arrive(e, i, j.At, func(i int32) { disk.Start(&visits[i], j.Bytes/q.Rates[j.Kind]) })
	}
	return ends.answer("jobs")
}

// sharing is a flow as the other flows see it.
type sharing struct {
	Links  []string `json:"links"`
	Cap    *float64 `json:"cap" unit:"as capacity"`
	Weight *float64 `json:"weight"`
}

func (s sharing) flow(c *input.Check, name string, links map[string]*station.Link) *station.Flow {
	f := &station.Flow{}
	for _, l := range s.Links {
		if links[l] == nil {
			c.Fail(name+".links", "capacity.%s: missing", l)
		}
		f.Hops = station.Through(f.Hops, links[l], 1)
	}
	if s.Cap != nil {
		c.Within(name+".cap", *s.Cap, leastNumber, mostNumber)
		f.Cap = *s.Cap
	}
	if s.Weight != nil {
		c.Within(name+".weight", *s.Weight, leastNumber, mostNumber)
		f.Weight = *s.Weight
	}
	return f
}

// wires makes a link for each capacity.
func wires(c *input.Check, n *station.Network, capacity map[string]float64) map[string]*station.Link {
	links := map[string]*station.Link{}
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		c.Within("capacity."+name, capacity[name], leastNumber, mostNumber)
		links[name] = n.NewLink(capacity[name], nil)
	}
	return links
}

// ratesNow starts all flows and returns the rate of each.
func ratesNow(n *station.Network, flows []*station.Flow) ([]float64, error) {
	rates := make([]float64, len(flows))
	for _, f := range flows {
		n.Start(f, 1)
	}
	for i, f := range flows {
		if rates[i] = f.Rate(); math.IsInf(rates[i], 1) {
			return nil, fmt.Errorf("flows[%d]: nothing limits it", i)
		}
	}
	return rates, nil
}

type maxminQuestion struct {
	Capacity map[string]float64 `json:"capacity" unit:"any one"`
	Flows    []sharing          `json:"flows"`
}

type maxminAnswer struct {
	Rates []float64 `json:"rates"`
}

func (q maxminQuestion) answer() (maxminAnswer, error) {
	var c input.Check
	n := station.NewNetwork(engine.New())
	links := wires(&c, n, q.Capacity)
	flows := make([]*station.Flow, len(q.Flows))
	for i, s := range q.Flows {
		flows[i] = s.flow(&c, fmt.Sprintf("flows[%d]", i), links)
	}
	if err := c.Err(); err != nil {
		return maxminAnswer{}, err
	}
	rates, err := ratesNow(n, flows)
	return maxminAnswer{rates}, err
}

type flowsQuestion struct {
	Capacity map[string]float64 `json:"capacity" unit:"bytes/s"`
	Flows    []timedFlow        `json:"flows"`
}

type timedFlow struct {
	At    float64 `json:"at" unit:"s"`
	Bytes float64 `json:"bytes" unit:"bytes"`
	sharing
}

func (q flowsQuestion) answer() (finishAnswer, error) {
	var c input.Check
	e := engine.New()
	n := station.NewNetwork(e)
	links := wires(&c, n, q.Capacity)
	flows := make([]*station.Flow, len(q.Flows))
	for i, s := range q.Flows {
		name := fmt.Sprintf("flows[%d]", i)
		c.Within(name+".at", s.At, 0, mostSeconds)
		c.Within(name+".bytes", s.Bytes, 0, mostNumber)
		flows[i] = s.flow(&c, name, links)
	}
	if err := c.Err(); err != nil {
		return finishAnswer{}, err
	}
	ends := newFinishes(e, len(flows))
	for i, f := range flows {
		f.Receiver = ends
		ends.number[f] = i
		arrive(e, i, q.Flows[i].At, func(i int32) { n.Start(f, q.Flows[i].Bytes) })
	}
	return ends.answer("flows")
}

type pipelineQuestion struct {
	Rack     map[string]string  `json:"rack"`                    // of each node
	Capacity map[string]float64 `json:"capacity" unit:"bytes/s"` // disk:, tx:, rx: of nodes, up:, down: of racks
	Paths    [][]string         `json:"paths"`                   // the nodes of the replicas, the writer's first
}

type pipelineAnswer struct {
	Links [][]string `json:"links"`
	Rates []float64  `json:"rates"`
}

func (q pipelineQuestion) answer() (pipelineAnswer, error) {
	var c input.Check
	n := station.NewNetwork(engine.New())
	links := wires(&c, n, q.Capacity)
	names := map[*station.Link]string{}
	link := func(name string) *station.Link {
		if links[name] == nil {
			c.Fail("capacity."+name, "missing")
		}
		names[links[name]] = name
		return links[name]
	}
	nodes := slices.Sorted(maps.Keys(q.Rack))
	racks := slices.Compact(slices.Sorted(maps.Values(q.Rack)))
	var fabric station.Fabric
	var disks []*station.Link
	for _, r := range racks {
		fabric.Racks = append(fabric.Racks, station.Rack{Up: link("up:" + r), Down: link("down:" + r)})
	}
	for _, host := range nodes {
		rack, _ := slices.BinarySearch(racks, q.Rack[host])
		fabric.Hosts = append(fabric.Hosts, station.Host{Up: link("tx:" + host), Down: link("rx:" + host), Rack: rack})
		disks = append(disks, link("disk:"+host))
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if names[links[name]] == "" {
			c.Fail("capacity."+name, "no such node or rack")
		}
	}
	replicas := make([][]station.Replica, len(q.Paths))
	for i, path := range q.Paths {
		if len(path) == 0 {
			c.Fail(fmt.Sprintf("paths[%d]", i), "0 nodes: want 1 or more")
		}
		for k, host := range path {
			index, known := slices.BinarySearch(nodes, host)
			if !known {
				c.Fail(fmt.Sprintf("paths[%d][%d]", i, k), "rack.%s: missing", host)
				continue
			}
			replicas[i] = append(replicas[i], station.Replica{Host: index, Disk: disks[index], Cost: 1})
		}
	}
	if err := c.Err(); err != nil {
		return pipelineAnswer{}, err
	}
	a := pipelineAnswer{Links: make([][]string, len(q.Paths))}
	flows := make([]*station.Flow, len(q.Paths))
	for i, r := range replicas {
		flows[i] = &station.Flow{Hops: fabric.Write(nil, r[0].Host, r)}
		for _, h := range flows[i].Hops {
			a.Links[i] = append(a.Links[i], names[h.Link])
		}
	}
	var err error
	a.Rates, err = ratesNow(n, flows)
	return a, err
}
