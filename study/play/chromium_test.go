package play

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/chromium"
)

// idle waits until the page has answered all changes and has painted.
const idle = "document.documentElement.dataset.state === 'idle'"

// shown opens the page of a scenario and returns a function that does something there,
// waits, and returns the value of an expression.
func shown(t *testing.T, scenario, fragment string) (*chromium.Browser, func(action, value string) any) {
	t.Helper()
	b := chromium.New(t)
	t.Logf("first picture after %.0f ms", b.Open(write(t, open(t, scenario))+fragment))
	b.Until(idle)
	return b, func(action, value string) any {
		t.Helper()
		b.Eval("(async () => { " + action + "; await " + chromium.Painted + " })()")
		b.Until(idle)
		return b.Eval("(async () => { await " + chromium.Painted + "; return " + value + " })()")
	}
}

// set changes the control of a key.
func set(key, value string) string {
	return fmt.Sprintf("{ const c = shownControls.find(c => c.key === %q); if (c.field.type === 'checkbox') c.field.checked = %[2]q === 'true'; else c.field.value = %[2]q; c.field.dispatchEvent(new Event('change')) }", key, value)
}

// The page has the attempts of the program, byte for byte.
func TestSameAttemptsInChromium(t *testing.T) {
	b, _ := shown(t, "two-jobs", "")
	compare(t, 47, func(name string, set []string, seed uint64) string {
		request, err := json.Marshal(map[string]any{"name": name, "set": set, "seed": seed})
		if err != nil {
			t.Fatal(err)
		}
		return b.Eval("(async q => { try { await ask({ verb: 'open', name: q.name }); await ask({ verb: 'run', set: q.set, seed: q.seed });" +
			"return new TextDecoder().decode((await ask({ verb: 'attempts' })).data) } catch (e) { return 'error: ' + e.message } })(" + string(request) + ")").(string)
	})
}

// What a reader does: change a setting, compare two, choose a bar and a job, copy the
// link and open it.
func TestWalkInChromium(t *testing.T) {
	b, do := shown(t, "two-jobs", "")
	const status, hash = "document.querySelector('#status').textContent.split(' · simulated')[0]", "decodeURIComponent(location.hash)"
	for _, c := range [][3]string{
		{"", status, "makespan 2 min 21 s, mean job 2 min 06 s, 54 attempts, up to 7 waves of maps, 100 % of maps node-local"},
		{set("cluster.nodes", "6"), status, "makespan 1 min 20 s, mean job 54.2 s, 54 attempts, up to 4 waves of maps, 98 % of maps node-local"},
		{"", hash, "#s=two-jobs&a=cluster.nodes=6"},
		{set("cluster.nodes", "3"), hash, "#s=two-jobs"},
		{"document.querySelector('#second').click()", "document.querySelector('#difference li').textContent", "The run takes 2 min 21 s with both."},
		{set("conf.mapred.reduce.slowstart.completed.maps", "0.9"), hash, "#s=two-jobs&b=conf.mapred.reduce.slowstart.completed.maps=0.9&two=1"},
		{"", "document.querySelectorAll('#difference li').length > 3", ""},
		{"[...document.querySelectorAll('#jobs button')].find(b => b.textContent === 'short').click()", "document.querySelector('#ledger h2').textContent", "Ledger of short with B"},
		{"", "document.querySelector('#ledger tbody td').textContent.length > 3", ""},
		{"{ const c = document.querySelector('.lanes'); c.focus(); c.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true })) }", "document.querySelector('#explained p').textContent.startsWith('Attempt 0 of ')", ""},
		{"document.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }))", "document.querySelector('#shown textarea').value", "slotwave run two-jobs --out out/a\nslotwave run two-jobs --set conf.mapred.reduce.slowstart.completed.maps=0.9 --out out/b\nslotwave compare out/a out/b --why"},
		{"document.querySelector('#shown').close(); document.dispatchEvent(new KeyboardEvent('keydown', { key: 't', bubbles: true }))", "document.querySelector('#shown textarea').value.includes('\"mapred.reduce.slowstart.completed.maps\" = 0.9')", ""},
		{"document.querySelector('#shown').close();" + set("cluster.map_slots", "-1"), "document.querySelector('#error').textContent", "--set cluster.map_slots=-1: cluster.map_slots: -1: want a whole number from 0 to 100000"},
		{"", "String([...document.querySelectorAll('figcaption')].some(c => c.textContent.includes('-1')))", "false"},
		{set("cluster.map_slots", "2"), "document.querySelector('#error').hidden", ""},
	} {
		if got := do(c[0], c[1]); got != c[2] && (c[2] != "" || got != true) {
			t.Errorf("%s: got %v, want %s", c[0], got, c[2])
		}
	}
	// The link is the experiment.
	link, texts := b.Eval("location.hash").(string), "[...document.querySelectorAll('#status, #difference li, #ledger td, #explained p')].map(e => e.textContent.split(' · simulated')[0]).join('|')"
	want := b.Eval(texts)
	if _, do := shown(t, "two-jobs", link); do("", texts) != want {
		t.Errorf("the link shows %v, want %v", do("", texts), want)
	}
}

// The controls of a scenario with [vary] show the chosen variation and replace it, and
// the caption says what is drawn. A killed attempt is hatched.
func TestVariationInChromium(t *testing.T) {
	const reduces, slow, delay = "conf.mapred.reduce.tasks.speculative.execution", "cluster.group.1.slowdown", "conf.mapred.fairscheduler.locality.delay"
	const caption, variation = "document.querySelector('figcaption').firstChild.textContent", "shownControls[0].field.value"
	field := func(key string) string {
		return fmt.Sprintf("(c => c.field.type === 'checkbox' ? String(c.field.checked) : c.field.value)(shownControls.find(c => c.key === %q))", key)
	}
	text := "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\nmap_slots = 2\nreduce_slots = 2\n[[cluster.group]]\ncount = 7\n[[cluster.group]]\nname = \"slow\"\nslowdown = 3\n[scheduler]\nname = \"fair2\"\n\"mapred.fairscheduler.locality.delay\" = 500\n[conf]\n\"mapred.reduce.slowstart.completed.maps\" = 0.8\n[[job]]\nprofile = \"terasort\"\ninput = \"8 GB\"\nreduces = 14\n[vary]\n\"conf.'mapred.reduce.tasks.speculative.execution'\" = [false, true]\n"
	name := filepath.Join(t.TempDir(), "my.toml")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	b, do := shown(t, name, "")
	for _, c := range [][3]string{
		{"", field(reduces), "false"},
		{"", field(slow), "3"},
		{"", "shownControls.find(c => c.key === '" + slow + "').label", "slowness of the last node"},
		{"", field(delay), "500"},
		{"", "String(pics[0].state.some((s, i) => s > 0 && pics[0].kind[i] === 1))", "false"},
		{set(reduces, "true"), "String(pics[0].state.some((s, i) => s > 0 && pics[0].kind[i] === 1))", "true"},
		{"", caption, "speculative reduces = true"},
		{"", variation, "own"},
		{"shownControls[0].field.value = 1; shownControls[0].field.dispatchEvent(new Event('change'))", caption, "reduce.tasks.speculative.execution=true"},
		{"", field(reduces), "true"},
		{set(slow, "1"), "String(pics[0].v.Nodes.at(-1).Slowness)", "1"},
		{set(slow, "3") + set(delay, "0"), caption, "reduce.tasks.speculative.execution=true, locality delay, ms (fair2) = 0"},
	} {
		if got := do(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %s: got %v, want %s", c[0], c[1], got, c[2])
		}
	}
	b.Picture("variation")
}

// The slowness of the last node is that of the last one when the number of nodes
// changes, and the page shows what the release decides.
func TestLastNodeInChromium(t *testing.T) {
	const hash, last = "decodeURIComponent(location.hash)", "(n => n.Name + ' ' + n.Slowness)(pics[0].v.Nodes.at(-1))"
	const slow = "{ const c = shownControls.find(c => c.label === 'slowness of the last node'); c.field.value = 4; c.field.dispatchEvent(new Event('change')) }"
	const control = "(c => c.key + ' ' + c.field.value)(shownControls.find(c => c.last))"
	_, do := shown(t, "two-jobs", "")
	for _, c := range [][3]string{
		{"", "shownControls.find(c => c.key === 'cluster.heartbeat').field.placeholder", "0.30 s"},
		{"change('cluster.hadoop', '0.20.2')", "shownControls.find(c => c.key === 'cluster.heartbeat').field.placeholder", "3.00 s"},
		{"change('cluster.hadoop', '')", last, "node3 1"},
		{set("cluster.nodes", "8") + slow, last, "node8 4"},
		{set("cluster.nodes", "12"), last, "node12 4"},
		{"", hash, "#s=two-jobs&a=cluster.nodes=12&a=cluster.slowdowns.node12=4"},
		{"", control, "cluster.slowdowns.node12 4"},
		{set("cluster.nodes", "2"), last, "node2 4"},
	} {
		if got := do(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %s: got %v, want %s", c[0], c[1], got, c[2])
		}
	}
}

// With the keyboard alone a reader comes to the controls, the picture and the jobs, and
// the focus is never lost.
func TestKeyboardInChromium(t *testing.T) {
	b, do := shown(t, "two-jobs", "")
	press := func(key string, code int) {
		for _, kind := range []string{"keyDown", "keyUp"} {
			b.Call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": map[string]string{"Enter": "\r"}[key]})
		}
		b.Until(idle)
	}
	tabTo := func(what string) {
		for range 150 {
			press("Tab", 9)
			if b.Eval("document.activeElement === document.body") == true {
				t.Fatalf("the focus is lost before %s", what)
			}
			if b.Eval("document.activeElement.matches("+strconv.Quote(what)+")") == true {
				return
			}
		}
		t.Fatalf("no focus on %s", what)
	}
	for _, c := range []struct {
		to, key, value, want string
		code                 int
	}{
		{"#controls input[type=range]", "ArrowRight", "decodeURIComponent(location.hash)", "#s=two-jobs&a=cluster.nodes=4", 39},
		{".lanes", "ArrowRight", "document.querySelector('#explained h2').textContent", "long/m/0", 39},
		{"#jobs button", "Enter", "document.querySelector('#ledger h2').textContent", "Ledger of long", 13},
	} {
		tabTo(c.to)
		press(c.key, c.code)
		if got := do("", c.value); got != c.want {
			t.Errorf("%s, %s: got %v, want %s", c.to, c.key, got, c.want)
		}
	}
}

// Files that are dropped on the page are read as the program reads them.
func TestDroppedInChromium(t *testing.T) {
	b, do := shown(t, "two-jobs", "")
	drop := func(name, text string) string {
		return fmt.Sprintf("{ const d = new DataTransfer(); d.items.add(new File([%q], %q)); dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true })) }", text, name)
	}
	if got := do(drop("mine.toml", "title = \"dropped <b>\"\n[cluster]\nnodes = 2\nmap_slots = 1\n[[job]]\nname = \"a\"\nmaps = 5\nmap_ms = 4000\n"), "document.querySelector('#about').textContent"); got != "dropped <b>" {
		t.Errorf("got %v: want the title of the dropped scenario", got)
	}
	link := b.Eval("location.hash").(string)
	if got := do(drop("wrong.toml", "[cluster]\nnode = 2\n"), "document.querySelector('#error').textContent"); !strings.Contains(got.(string), "wrong.toml:2: unknown key cluster.node") {
		t.Errorf("got %v: want the line of the mistake", got)
	}
	// The attempts of this run are themselves a history, which is replayed and changed.
	const history = "{ const r = await ask({ verb: 'attempts', side: 0 }); await openFiles([new File([r.data], 'attempts.csv')]) }"
	do(drop("again.toml", "[cluster]\nnodes = 2\nmap_slots = 1\n[[job]]\nname = \"a\"\nmaps = 5\nmap_ms = 4000\n"), "")
	if got := do(history, "document.querySelector('#about').textContent"); got != "Replay of attempts.csv" {
		t.Errorf("got %v: want a replay of the attempts", got)
	}
	if got := do(set("cluster.nodes", "5"), "pics[0].v.Nodes.length"); got != 5.0 {
		t.Errorf("the replay has %v nodes, want 5", got)
	}
	if _, do := shown(t, "two-jobs", link); do("", "document.querySelector('#about').textContent") != "dropped <b>" {
		t.Error("the link does not hold the text of the scenario")
	}
}

// The page with two settings, a job and an attempt in windows of all widths. Each job has
// its colour if that is asked for, and the link says so.
func TestWindowsInChromium(t *testing.T) {
	b, do := shown(t, "two-jobs", "#s=two-jobs&a=conf.mapred.reduce.slowstart.completed.maps=0.9&b=cluster.nodes=5&two=1&job=short&bar=0,map,3,0,short")
	b.Windows()
	if got := do("document.querySelector('#byjob').click()", "document.querySelector('.legend span').textContent + new URLSearchParams(location.hash.slice(1)).get('colour')"); got != "longjob" {
		t.Errorf("got %v: want the first job in the legend, and the colours in the link", got)
	}
}

// How long a change takes. The log has the times: a test does not judge them.
func TestTimesInChromium(t *testing.T) {
	for name, key := range map[string]string{"two-jobs": "cluster.heartbeat", "delay-scheduling": "cluster.heartbeat", "fb2009": "cluster.heartbeat"} {
		b, do := shown(t, name, "")
		var times []any
		for _, v := range []string{"4s", "5s", "6s", "7s", "8s"} {
			times = append(times, do("globalThis.began = performance.now();"+set(key, v), "`${Math.round(pics[0].took)} ms in the worker, ${pics[0].v.Attempts} attempts`"))
		}
		t.Logf("%s: %v; heap %v", name, times, b.Call("Runtime.getHeapUsage", nil)["usedSize"])
	}
}
