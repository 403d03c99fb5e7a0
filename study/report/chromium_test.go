package report

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// chromium is a browser that the test drives with the DevTools protocol, over a
// pair of pipes. The variable SLOTWAVE_CHROMIUM names the program.
type chromium struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	session string
	calls   int
}

func newChromium(t *testing.T) *chromium {
	t.Helper()
	program := os.Getenv("SLOTWAVE_CHROMIUM")
	if program == "" {
		t.Skip("SLOTWAVE_CHROMIUM does not name a browser")
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1200,900", "--user-data-dir="+t.TempDir())
	c.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	b := &chromium{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil)
		c.Wait()
		in.Close()
		out.Close()
	})
	return b
}

// call calls a method of the protocol and returns its result.
func (b *chromium) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.calls++
	message := map[string]any{"id": b.calls, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			if method == "Browser.close" {
				return nil
			}
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result map[string]any
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.calls {
			continue // an event
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		return answer.Result
	}
}

// open shows a page and returns when its script has run and the browser has
// painted: the time since the navigation in ms.
func (b *chromium) open(p *Page, fragment string) float64 {
	b.t.Helper()
	name := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(name, []byte(written(b.t, p)), 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.session = ""
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})["targetId"]
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	b.call("Page.navigate", map[string]any{"url": "file://" + name + fragment})
	for limit := time.Now().Add(time.Minute); ; {
		if ready := b.eval("document.documentElement && document.documentElement.dataset.ready === 'true' && location.protocol === 'file:'"); ready == true {
			break
		}
		if time.Now().After(limit) {
			b.t.Fatal("the script has not come to its end")
		}
		time.Sleep(5 * time.Millisecond)
	}
	return b.eval(painted + ".then(() => performance.now())").(float64)
}

const painted = "new Promise(r => requestAnimationFrame(() => setTimeout(r)))"

// eval returns the value of an expression of JavaScript in the page.
func (b *chromium) eval(expression string) any {
	b.t.Helper()
	r := b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if e, failed := r["exceptionDetails"]; failed {
		b.t.Fatalf("%s: %v", expression, e)
	}
	return r["result"].(map[string]any)["value"]
}

// milliseconds is the median time of five actions until the browser has painted
// what they change.
func (b *chromium) milliseconds(action string) float64 {
	b.t.Helper()
	var all []float64
	for range 5 {
		all = append(all, b.eval("(async () => { const t = performance.now(); "+action+"; await "+painted+"; return performance.now() - t })()").(float64))
	}
	slices.Sort(all)
	return all[2]
}

func press(key string) string {
	return fmt.Sprintf("document.dispatchEvent(new KeyboardEvent('keydown', {key: %q}))", key)
}

// picture keeps what the browser shows, if SLOTWAVE_PICTURES names a folder.
func (b *chromium) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("SLOTWAVE_PICTURES")
	if folder == "" {
		return
	}
	data, err := base64.StdEncoding.DecodeString(b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})["data"].(string))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// The script runs under the policy of the page. Names stay text, also those that
// the script shows: the chosen attempt and the nodes.
func TestNamesInChromium(t *testing.T) {
	const chosen, text = "#run=0&attempt=4&job=0&finding=0&from=0&to=60000000", "document.documentElement.outerHTML"
	b := newChromium(t)
	b.open(page(func(n string) string { return n }), chosen)
	shown := b.eval(text).(string)
	if !strings.Contains(shown, "median of 20") {
		t.Error("the page does not show the phases of the chosen attempt")
	}
	plain := tag.FindAllString(shown, -1)
	for _, hostile := range hostileNames {
		b.open(page(func(n string) string { return n + hostile }), chosen)
		if tags := tag.FindAllString(b.eval(text).(string), -1); len(tags) != len(plain) {
			t.Errorf("%q: %d elements, want %d", hostile, len(tags), len(plain))
		}
	}
}

// The dataflow is drawn, and the chosen attempt has its equation beside the
// prediction of the model.
func TestEquationInChromium(t *testing.T) {
	b := newChromium(t)
	b.open(page(func(n string) string { return n }), "#run=0&attempt=1&job=0&finding=-1&from=0&to=60000000")
	for what, want := range map[string]any{
		"document.querySelectorAll('.flow g').length":                                                  2.0,
		"document.querySelector('.flow svg').getAttribute('aria-label')":                               "in to map: HDFS; map: busy 6.00 s, idle 2.00 s in 20 tasks",
		"[...document.querySelectorAll('.chosen tr:last-child td')].map(c => c.textContent).join('|')": "map|3.00 s|2.00 s|3.00 s|2.00 s|1.00 s + 1,000,000 × 1.00 ms/1,000 (records of input)",
		"document.querySelector('.answers tbody').textContent.trim()":                                  "aria50.0 s40.0 s to 60.0 s-16.7 %",
	} {
		if got := b.eval(what); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}

// Each key does what the help says.
func TestKeysInChromium(t *testing.T) {
	b := newChromium(t)
	b.open(page(func(n string) string { return n }), "")
	state := func() string { return b.eval("location.hash").(string) }
	for _, c := range []struct{ key, want string }{
		{"n", "finding=0"}, {"ArrowRight", "attempt=0&job=0"}, {"ArrowRight", "attempt=1&job=0"}, {"ArrowLeft", "attempt=0&job=0"}, {"Escape", "attempt=-1&job=-1&finding=-1"},
		{"o", "attempt=0&job=0&finding=-1"}, {"+", "from=15000000&to=45000000"}, {"-", "from=0&to=60000000"}, {"+", "from=15000000&to=45000000"}, {"0", "from=0&to=60000000"},
	} {
		b.eval("(async () => { " + press(c.key) + "; await " + painted + " })()")
		if got := state(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.key, got, c.want)
		}
	}
	for _, c := range [][2]string{
		{"d", "document.documentElement.className === 'dark'"}, {"j", "document.activeElement.matches('.jobs tbody tr')"},
		{"/", "document.activeElement.id === 'search'"}, {"?", "document.querySelector('#help').open"},
	} {
		if b.eval("document.activeElement.blur();"+press(c[0])+";"+c[1]) != true {
			t.Errorf("%s: not %s", c[0], c[1])
		}
	}
}

// The table of tasks follows the range of time and the filter, sorts by what is
// clicked, and chooses an attempt. A finding names its tasks, which lead to them. An
// attempt out of the range of time moves the range.
func TestTasksInChromium(t *testing.T) {
	b := newChromium(t)
	p := page(func(n string) string { return n })
	p.Runs[0].Findings[0].Tasks = []string{"j/m/17"}
	b.open(p, "")
	do := func(action string) {
		b.eval("(async () => { " + action + "; await " + painted + "; await " + painted + " })()")
	}
	const first, counted = "document.querySelector('.tasks tbody td').textContent", "document.querySelector('.counted').textContent"
	input := func(name, value string) string {
		return fmt.Sprintf("{ const e = document.querySelector('.filter').elements[%q]; e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})) }", name, value)
	}
	sort := func(column int) string {
		return fmt.Sprintf("document.querySelectorAll('.tasks th')[%d].click()", column)
	}
	for _, c := range [][3]string{
		{"document.querySelector('.tasks').parentElement.parentElement.open = true", counted, "20 attempts"},
		{sort(3), first, "j/m/19"}, {sort(3), first, "j/m/0"}, {sort(0), first, "j/m/19"},
		{input("node", "*1"), counted, "7 attempts"}, {input("node", "*1"), first, "j/m/19"}, {input("kind", "reduce"), counted, "0 attempts"},
		{input("kind", "") + ";" + input("node", ""), counted, "20 attempts"},
		{"location.hash = '#run=0&from=0&to=5000000'", counted, "6 attempts"},
		{"document.querySelector('[data-finding]').click()", "document.querySelector('.chosen button').textContent", "j/m/17"},
		{"document.querySelector('.chosen button').click()", counted, "7 attempts"},
		{"document.querySelector('.tasks tbody tr').click()", "String(document.querySelector('.tasks tbody tr').classList.contains('on'))", "true"},
		{"{ const o = document.querySelector('.overview'), r = o.getBoundingClientRect(); o.dispatchEvent(new PointerEvent('pointerdown', {clientX: r.left + 92, bubbles: true}));" +
			"window.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + 92 + (r.width - 92) / 2})); window.dispatchEvent(new PointerEvent('pointerup')) }", "location.hash.match(/to=(\\d+)/)[1]", "30000000"},
	} {
		do(c[0])
		if got := b.eval(c[1]); got != c[2] {
			t.Errorf("%s: %v, want %s", c[0], got, c[2])
		}
	}
}

// The page in the dark, in print and in a narrow window: nothing is wider than the
// window.
func TestMediaInChromium(t *testing.T) {
	b := newChromium(t)
	b.open(page(func(n string) string { return n }), "")
	b.picture("light")
	wide := func(what string) {
		b.eval(painted)
		if b.eval("document.documentElement.scrollWidth <= window.innerWidth") != true {
			t.Errorf("%s: %v pixels in a window of %v", what, b.eval("document.documentElement.scrollWidth"), b.eval("window.innerWidth"))
		}
		b.picture(what)
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
	wide("dark")
	if got := b.eval("getComputedStyle(document.body).backgroundColor"); got != "rgb(13, 17, 23)" {
		t.Errorf("dark: the ground is %v", got)
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []any{}})
	wide("print")
	if b.eval("getComputedStyle(document.querySelector('.keys')).display") != "none" {
		t.Error("print: the keys are shown")
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "", "features": []any{}})
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false})
	wide("narrow")
}

// A million attempts fit into 12 MB, and into the memory of the page. The log has
// the times of its answers: a test does not judge times.
func TestMillionInChromium(t *testing.T) {
	b := newChromium(t)
	p := page(func(n string) string { return n })
	r := &p.Runs[0]
	var attempts []workload.Attempt
	for i := range mostAttempts {
		start := time.Duration(i/2000) * 10 * s
		a := workload.Attempt{Job: "j", Task: i, Node: "n" + string(rune('a'+i%20)), Slot: i / 20 % 100, Start: start + time.Duration(i*7919%1000)*time.Millisecond}
		a.Phases[workload.PhaseRead], a.Phases[workload.PhaseMap] = time.Duration(i*31%2000)*time.Millisecond, time.Duration(i*17%5000)*time.Millisecond
		a.Finish = a.Start + a.Phases[workload.PhaseRead] + a.Phases[workload.PhaseMap] + s
		attempts = append(attempts, a)
	}
	r.Attempts, r.Jobs[0].Finish = each(attempts), 6000*s
	if size := len(written(t, p)); size > 12<<20 {
		t.Errorf("the page has %d bytes: want 12 MB or less", size)
	}
	times := func(what string, got, wanted float64) {
		t.Logf("%s: %.0f ms, wanted at most %.0f", what, got, wanted)
	}
	times("first paint", b.open(p, ""), 2000)
	times("redraw", b.milliseconds("window.dispatchEvent(new Event('resize'))"), 300)
	b.eval(press("+") + ";" + press("+"))
	times("zoom", b.milliseconds(press("+")), 100)
	b.eval(press("0"))
	const click = "{ const c = document.querySelector('.chart'), box = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent('click', {clientX: box.left + box.width / 2, clientY: box.top + %d, bubbles: true})) }"
	chosen := "document.querySelector('.chosen').textContent.includes('median of')"
	y := 1
	for ; y < 100; y++ { // until an attempt is there
		if b.eval("(async () => { "+fmt.Sprintf(click, y)+"; await "+painted+"; return "+chosen+" })()") == true {
			break
		}
	}
	times("click", b.milliseconds(press("Escape")+";"+fmt.Sprintf(click, y)), 100)
	if b.eval(chosen) != true {
		t.Error("the click has chosen no attempt")
	}
	b.eval("(async () => { document.querySelector('.tasks').parentElement.parentElement.open = true; await " + painted + " })()")
	times("table of tasks", b.milliseconds(press("+")+";"+press("-")), 100)
	times("sort", b.milliseconds("document.querySelectorAll('.tasks th')[5].click()"), 100)
	times("filter", b.milliseconds("{ const e = document.querySelector('.filter').elements.node; e.value = e.value ? '' : 'na'; e.dispatchEvent(new Event('input', {bubbles: true})) }"), 100)
	heap := b.call("Runtime.getHeapUsage", nil)
	if used := (heap["usedSize"].(float64) + heap["backingStorageSize"].(float64)) / 1e6; used > 500 {
		t.Errorf("the page uses %.0f MB: want 500 at most", used)
	}
}
