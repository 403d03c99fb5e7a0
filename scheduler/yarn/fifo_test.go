package yarn

import (
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
)

func fifoDesk(t *testing.T, nodes int, total Resource) *desk {
	t.Helper()
	d := &desk{t: t, names: []string{"*"}}
	s, err := New(&model.YARN{Policy: "fifo"}, release(t, ""), d)
	if err != nil {
		t.Fatal(err)
	}
	return d.with(s, nodes, total)
}

// The first application takes all that fits in one heartbeat, whatever the cores and
// wherever its data; the next one takes the rest.
func TestFifo(t *testing.T) {
	d := fifoDesk(t, 2, mib(8192, 1))
	a, b := d.start("a", "any", "u"), d.start("b", "any", "u")
	d.ask(a, 10, mib(3072, 1), 1)
	d.ask(a, 20, mib(1024, 1), 2, "elsewhere")
	d.ask(b, 20, mib(1024, 1), 9)
	want(t, "one beat", d.beat(d.nodes[1]), 6)
	want(t, "a", len(a.granted), 3)
	want(t, "b", len(b.granted), 3)
	want(t, "headroom", d.headroom(b).MemoryMiB, 16384-2048-8192)
}

// A priority that gets nothing keeps the later ones of its application from the node.
func TestFifoFirstPriorityBlocks(t *testing.T) {
	d := fifoDesk(t, 1, mib(4096, 4))
	a, b := d.start("a", "any", "u"), d.start("b", "any", "u")
	d.ask(a, 10, mib(4096, 1), 1)
	d.ask(a, 20, mib(1024, 1), 1)
	d.ask(b, 20, mib(1024, 1), 1)
	d.heard = nil
	d.beat(d.nodes[0])
	want(t, "given", strings.Join(d.heard, ", "), "allocated b/2 n0")
}

// Nothing but nodes keeps a container from an application.
func TestFifoRefusal(t *testing.T) {
	d := &desk{t: t, names: []string{"*"}}
	s, err := New(&model.YARN{Policy: "fifo"}, release(t, ""), d)
	if err != nil {
		t.Fatal(err)
	}
	d.with(s, 1, mib(2048, 2))
	a := d.start("a", "default", "u")
	want(t, "asks for nothing", s.Refusal(a), Refusal{})
	d.ask(a, 20, mib(1024, 1), 3)
	want(t, "room", s.Refusal(a), Refusal{What: "heartbeats of nodes"})
	d.beat(d.nodes[0])
	want(t, "none", s.Refusal(a), Refusal{"nodes", 2048, 2048, "MiB"})
}
