package yarn

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/model"
)

// desk is a small cluster around a policy: it keeps time and what it hears.
type desk struct {
	t     *testing.T
	s     Scheduler
	now   int64
	calls []*timed
	heard []string
	nodes []*Node
	names []string
	apps  int32
}

type timed struct {
	at int64
	do func()
}

const second = int64(1e9)

func (d *desk) hear(what string, c *Container) {
	d.heard = append(d.heard, fmt.Sprintf("%s %s/%d n%d", what, c.app.Name, c.Number, c.Node))
}

func (d *desk) Reserved(c *Container)  { d.hear("reserved", c) }
func (d *desk) Allocated(c *Container) { d.hear("allocated", c) }
func (d *desk) Acquired(*Container)    {}
func (d *desk) Finished(c *Container, exit Exit, tell bool) {
	d.hear(fmt.Sprintf("finished %d %v", exit, tell), c)
}
func (d *desk) Nanos() int64        { return d.now }
func (d *desk) Post(do func())      { do() }
func (d *desk) Name(p Place) string { return d.names[p] }
func (d *desk) After(nanos int64, do func()) (stop func()) {
	c := &timed{d.now + nanos, do}
	d.calls = append(d.calls, c)
	return func() { d.calls = slices.DeleteFunc(d.calls, func(x *timed) bool { return x == c }) }
}

// until runs what is due up to an instant.
func (d *desk) until(at int64) {
	for {
		var next *timed
		for _, c := range d.calls {
			if c.at <= at && (next == nil || c.at < next.at) {
				next = c
			}
		}
		if next == nil {
			d.now = at
			return
		}
		d.calls = slices.DeleteFunc(d.calls, func(x *timed) bool { return x == next })
		d.now = next.at
		next.do()
	}
}

func (d *desk) place(name string) Place {
	if i := slices.Index(d.names, name); i >= 0 {
		return Place(i)
	}
	d.names = append(d.names, name)
	return Place(len(d.names) - 1)
}

func mib(memory, vcores int64) Resource { return Resource{MemoryMiB: memory, VCores: vcores} }

// release returns a release of Hadoop, 3.3.6 without a name.
func release(t *testing.T, name string) *model.YARNRelease {
	r, err := model.FindRelease(cmp.Or(name, "3.3.6"))
	if err != nil {
		t.Fatal(err)
	}
	return r.YARN
}

// capacityDesk makes a cluster of equal nodes with the capacity scheduler; settings are
// without their prefix. The setting hadoop is the release.
func capacityDesk(t *testing.T, nodes int, total Resource, settings map[string]string) *desk {
	t.Helper()
	p := Properties{capacityPrefix + "root.queues": "default", capacityPrefix + "root.default.capacity": "100"}
	for k, v := range settings {
		if k[0] == '!' {
			p[k[1:]] = v
		} else {
			p[capacityPrefix+k] = v
		}
	}
	d := &desk{t: t, names: []string{"*"}}
	s, err := New(&model.YARN{Policy: "capacity", Properties: p}, release(t, settings["hadoop"]), d)
	if err != nil {
		t.Fatal(err)
	}
	return d.with(s, nodes, total)
}

func fairDesk(t *testing.T, nodes int, total Resource, p Properties, file *model.Allocations) *desk {
	t.Helper()
	d := &desk{t: t, names: []string{"*"}}
	s, err := New(&model.YARN{Policy: "fair", Properties: p, Allocations: file}, release(t, p["hadoop"]), d)
	if err != nil {
		t.Fatal(err)
	}
	return d.with(s, nodes, total)
}

func (d *desk) with(s Scheduler, nodes int, total Resource) *desk {
	d.s = s
	for i := range nodes {
		name := fmt.Sprintf("c%03d", i)
		n := &Node{Index: int32(i), Name: name, Host: d.place(name), Rack: d.place("/default-rack"), Total: total}
		d.nodes = append(d.nodes, n)
		s.NodeAdded(n)
	}
	return d
}

// submit adds an application that asks for its ApplicationMaster.
func (d *desk) submit(name, queue, user string, am Resource) *App {
	d.t.Helper()
	d.apps++
	a := &App{ID: d.apps, Attempt: 1, Name: name, User: user, Queue: queue, Size: am, Start: d.now}
	if err := d.s.AppAdded(a); err != nil {
		d.t.Fatal(err)
	}
	d.s.Update(a, []Ask{{Size: am, Count: 1}}, nil, nil, nil)
	return a
}

// start adds an application whose ApplicationMaster runs on the first node.
func (d *desk) start(name, queue, user string) *App {
	d.t.Helper()
	a := d.submit(name, queue, user, mib(1024, 1))
	d.pass()
	for _, n := range d.nodes {
		if d.beat(n); len(a.granted) > 0 {
			break
		}
	}
	if am := d.pull(a); len(am) != 1 {
		d.t.Fatalf("%s got %d containers for its ApplicationMaster: want 1", name, len(am))
	}
	return a
}

// pass lets the fair scheduler's update run.
func (d *desk) pass() {
	if f, ok := d.s.(*fair); ok {
		f.pass()
	}
}

func (d *desk) beat(n *Node) int {
	before := len(d.heard)
	d.s.NodeUpdate(n, nil)
	given := 0
	for _, h := range d.heard[before:] {
		if h[:4] == "allo" {
			given++
		}
	}
	return given
}

// ask asks for containers at a priority, at hosts and anywhere.
func (d *desk) ask(a *App, p Priority, size Resource, count int32, hosts ...string) {
	var asks []Ask
	for _, h := range hosts {
		asks = append(asks, Ask{Priority: p, Place: d.place(h), Size: size, Count: count})
	}
	if hosts != nil {
		asks = append(asks, Ask{Priority: p, Place: d.place("/default-rack"), Size: size, Count: count})
	}
	d.s.Update(a, append(asks, Ask{Priority: p, Size: size, Count: count}), nil, nil, nil)
	d.pass()
}

func (d *desk) pull(a *App) []*Container {
	list, _ := d.s.Pull(a, nil)
	return list
}

func (d *desk) headroom(a *App) Resource {
	_, h := d.s.Pull(a, nil)
	return h
}

func want[T comparable](t *testing.T, what string, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s: got %v, want %v", what, got, wanted)
	}
}

// launch reports containers as running.
func launch(list ...*Container) {
	for _, c := range list {
		c.Launched()
	}
}
