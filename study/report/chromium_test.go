package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/internal/chromium"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study/play"
	"github.com/slotwave/slotwave/workload"
)

// open shows a page and returns when its script has run and the browser has
// painted: the time since the navigation in ms.
func open(b *chromium.Browser, t *testing.T, p *Page, fragment string) float64 {
	t.Helper()
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, []byte(written(t, p)), 0o666); err != nil {
		t.Fatal(err)
	}
	return b.Open(name + fragment)
}

func press(key string) string {
	return fmt.Sprintf("document.dispatchEvent(new KeyboardEvent('keydown', {key: %q}))", key)
}

// The script runs under the policy of the page. Names stay text, also those that
// the script shows: the chosen attempt and the nodes.
func TestNamesInChromium(t *testing.T) {
	const chosen, text = "#run=0&attempt=4&job=0&finding=0&from=0&to=60000000", "document.documentElement.outerHTML"
	b := chromium.New(t)
	open(b, t, page(func(n string) string { return n }), chosen)
	shown := b.Eval(text).(string)
	if !strings.Contains(shown, "median of 20") {
		t.Error("the page does not show the phases of the chosen attempt")
	}
	plain := tag.FindAllString(shown, -1)
	for _, hostile := range hostileNames {
		open(b, t, page(func(n string) string { return n + hostile }), chosen)
		if tags := tag.FindAllString(b.Eval(text).(string), -1); len(tags) != len(plain) {
			t.Errorf("%q: %d elements, want %d", hostile, len(tags), len(plain))
		}
	}
}

// The dataflow is drawn, and the chosen attempt has its equation beside the
// prediction of the model.
func TestEquationInChromium(t *testing.T) {
	b := chromium.New(t)
	open(b, t, page(func(n string) string { return n }), "#run=0&attempt=1&job=0&finding=-1&from=0&to=60000000")
	for what, want := range map[string]any{
		"document.querySelectorAll('.flow g').length":                                                  2.0,
		"document.querySelector('.flow svg').getAttribute('aria-label')":                               "in to map: HDFS; map: busy 6.00 s, idle 2.00 s in 20 tasks",
		"[...document.querySelectorAll('.chosen tr:last-child td')].map(c => c.textContent).join('|')": "map|3.00 s|2.00 s|3.00 s|2.00 s|1.00 s + 1,000,000 × 1.00 ms/1,000 (records of input)",
		"document.querySelector('.answers tbody').textContent.trim()":                                  "aria50.0 s40.0 s to 60.0 s-16.7 %",
	} {
		if got := b.Eval(what); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}

// An account of the ledger that is a phase has the colour of the phase.
func TestAccountColoursInChromium(t *testing.T) {
	b, p := chromium.New(t), page(func(n string) string { return n })
	for step := &p.Runs[0].Jobs[0].Ledger[0]; step.Account.String() != "sort and spill"; {
		step.Account++
	}
	open(b, t, p, "")
	if b.Eval("(s => [getComputedStyle(s).backgroundColor, s.style.background = 'var(--spill)', getComputedStyle(s).backgroundColor])(document.querySelector('.accounts .swatch')).filter((c, i, all) => i != 1 && c === all[0]).length") != 2.0 {
		t.Error("sort and spill does not have the colour of the phase spill")
	}
}

// Each key does what the help says.
func TestKeysInChromium(t *testing.T) {
	b := chromium.New(t)
	open(b, t, page(func(n string) string { return n }), "")
	state := func() string { return b.Eval("location.hash").(string) }
	for _, c := range []struct{ key, want string }{
		{"n", "finding=0"}, {"ArrowRight", "attempt=0&job=0"}, {"ArrowRight", "attempt=1&job=0"}, {"ArrowLeft", "attempt=0&job=0"}, {"Escape", "attempt=-1&job=-1&finding=-1"},
		{"o", "attempt=0&job=0&finding=-1"}, {"+", "from=15000000&to=45000000"}, {"-", "from=0&to=60000000"}, {"+", "from=15000000&to=45000000"}, {"0", "from=0&to=60000000"},
	} {
		b.Eval("(async () => { " + press(c.key) + "; await " + chromium.Painted + " })()")
		if got := state(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.key, got, c.want)
		}
	}
	for _, c := range [][2]string{
		{"d", "document.documentElement.className === 'dark'"}, {"j", "document.activeElement.matches('.jobs tbody tr')"},
		{"/", "document.activeElement.id === 'search'"}, {"?", "document.querySelector('#help').open"},
	} {
		if b.Eval("document.activeElement.blur();"+press(c[0])+";"+c[1]) != true {
			t.Errorf("%s: not %s", c[0], c[1])
		}
	}
}

// The table of tasks follows the range of time and the filter, sorts by what is
// clicked, and chooses an attempt. A finding names its tasks, which lead to them. An
// attempt out of the range of time moves the range.
func TestTasksInChromium(t *testing.T) {
	b := chromium.New(t)
	p := page(func(n string) string { return n })
	p.Runs[0].Findings[0].Tasks = []string{"j/m/17"}
	p.Runs[0].Tables = []Table{{Name: "Outliers", Head: []string{"job", "task"}, Rows: [][]string{{"j", "j/m/16"}}}}
	open(b, t, p, "")
	do := func(action string) {
		b.Eval("(async () => { " + action + "; await " + chromium.Painted + "; await " + chromium.Painted + " })()")
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
		{sort(3), first, "j/m/19"}, {sort(3), first, "j/m/0"}, {"document.querySelector('.tasks th').focus();" + sort(0), first + "+document.activeElement.textContent", "j/m/19task"},
		{input("node", "*1"), counted, "7 attempts"}, {input("node", "*1"), first, "j/m/19"}, {input("kind", "reduce"), counted, "0 attempts"},
		{input("kind", "") + ";" + input("node", ""), counted, "20 attempts"},
		{"location.hash = '#run=0&from=0&to=5000000'", counted, "6 attempts"},
		{"document.querySelector('[data-finding]').click()", "document.querySelector('.chosen button').textContent", "j/m/17"},
		{"document.querySelector('.chosen button').click()", counted, "7 attempts"},
		{"document.querySelector('.evidence tbody tr').click()", "document.querySelector('.chosen p').textContent.split(' ')[0]", "j/m/16"},
		{"document.querySelector('#search').value = 'j'; document.querySelector('#search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))", "location.hash.match(/attempt=[^&]*&job=[^&]*/)[0]", "attempt=-1&job=0"},
		{input("colour", "job"), "document.querySelector('.legend').textContent.trim()", "j"}, {"", "location.hash.match(/colour=.*/)[0]", "colour=job"},
		{"document.querySelector('.tasks tbody tr').click()", "String(document.querySelector('.tasks tbody tr').classList.contains('on'))", "true"},
		{"{ const o = document.querySelector('.overview'), r = o.getBoundingClientRect(); o.dispatchEvent(new PointerEvent('pointerdown', {clientX: r.left + 92, bubbles: true}));" +
			"window.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + 92 + (r.width - 92) / 2})); window.dispatchEvent(new PointerEvent('pointerup')) }", "location.hash.match(/to=(\\d+)/)[1]", "30000000"},
	} {
		do(c[0])
		if got := b.Eval(c[1]); got != c[2] {
			t.Errorf("%s: %v, want %s", c[0], got, c[2])
		}
	}
}

// Two runs side by side, in the dark, in print and in windows of all widths. A page in the
// dark is printed in the colours of paper.
func TestMediaInChromium(t *testing.T) {
	b, p := chromium.New(t), page(func(n string) string { return n })
	p.Runs, p.Difference = append(p.Runs, p.Runs[0]), "one against the other"
	p.Runs[0].Verdict = strings.Repeat("mapred.reduce.slowstart.", 5)
	open(b, t, p, "")
	b.Windows()
	if b.Eval("new Set([...document.querySelectorAll('.run')].map(r => r.getBoundingClientRect().top)).size") != 1.0 {
		t.Error("the runs do not stand side by side in a wide window")
	}
	for _, c := range [][2]string{
		{"document.documentElement.className = ''", "rgb(13, 17, 23)"}, {"dispatchEvent(new Event('beforeprint'))", "rgb(255, 255, 255)"}, {"dispatchEvent(new Event('afterprint'))", "rgb(13, 17, 23)"},
	} {
		b.Call("Emulation.setEmulatedMedia", map[string]any{"media": "screen", "features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
		if got := b.Eval(c[0] + "; getComputedStyle(document.body).backgroundColor"); got != c[1] {
			t.Errorf("%s: the ground is %v, want %s", c[0], got, c[1])
		}
	}
}

// A million attempts fit into 12 MB, and into the memory of the page. The log has
// the times of its answers: a test does not judge times.
func TestMillionInChromium(t *testing.T) {
	b := chromium.New(t)
	p := page(func(n string) string { return n })
	r := p.Runs[0]
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
	times("first paint", open(b, t, p, ""), 2000)
	times("redraw", b.Milliseconds("window.dispatchEvent(new Event('resize'))"), 300)
	b.Eval(press("+") + ";" + press("+"))
	times("zoom", b.Milliseconds(press("+")), 100)
	b.Eval(press("0"))
	const click = "{ const c = document.querySelector('.chart'), box = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent('click', {clientX: box.left + box.width / 2, clientY: box.top + %d, bubbles: true})) }"
	chosen := "document.querySelector('.chosen').textContent.includes('median of')"
	y := 1
	for ; y < 100; y++ { // until an attempt is there
		if b.Eval("(async () => { "+fmt.Sprintf(click, y)+"; await "+chromium.Painted+"; return "+chosen+" })()") == true {
			break
		}
	}
	times("click", b.Milliseconds(press("Escape")+";"+fmt.Sprintf(click, y)), 100)
	if b.Eval(chosen) != true {
		t.Error("the click has chosen no attempt")
	}
	b.Eval("(async () => { document.querySelector('.tasks').parentElement.parentElement.open = true; await " + chromium.Painted + " })()")
	times("table of tasks", b.Milliseconds(press("+")+";"+press("-")), 100)
	times("sort", b.Milliseconds("document.querySelectorAll('.tasks th')[5].click()"), 100)
	times("filter", b.Milliseconds("{ const e = document.querySelector('.filter').elements.node; e.value = e.value ? '' : 'na'; e.dispatchEvent(new Event('input', {bubbles: true})) }"), 100)
	heap := b.Call("Runtime.getHeapUsage", nil)
	if used := (heap["usedSize"].(float64) + heap["backingStorageSize"].(float64)) / 1e6; used > 500 {
		t.Errorf("the page uses %.0f MB: want 500 at most", used)
	}
}

// The button of a finding simulates its change, and the page says what it does.
func TestTryInChromium(t *testing.T) {
	b := chromium.New(t)
	f, err := scenarios.Open("two-jobs")
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	p := page(func(n string) string { return n })
	r := p.Runs[0]
	more := func(q model.WhatIf) (model.WhatIf, error) {
		q.Cluster.Nodes = slices.Clone(q.Cluster.Nodes)
		for i := range q.Cluster.Nodes {
			q.Cluster.Nodes[i].MapSlots *= 2
		}
		return q, nil
	}
	r.Findings[0].Change.Edit = more
	r.Findings = append(r.Findings, diagnose.Finding{Rule: "R01", Cause: "another", Change: &diagnose.Change{Text: "none", Edit: func(q model.WhatIf) (model.WhatIf, error) { return q, errors.New("it is so already") }}})
	r.Question = &all.Runs[0].Question
	r.offerTrials("slotwave diagnose out/two-jobs")
	if p.Engine, err = play.Load(func(string) {}); err != nil {
		t.Skip(err)
	}
	open(b, t, p, "")
	if got := b.Eval("[...document.querySelectorAll('.findings button, .try')].map(e => e.textContent).join('|')"); got != "try it|it is so already" {
		t.Errorf("the findings offer %v", got)
	}
	b.Eval("document.querySelector('.findings button').click()")
	b.Until("!!document.querySelector('.tried li')")
	if got := b.Eval("document.querySelector('.tried li').textContent"); got != "The run takes 2 min 21 s with A and 1 min 28 s with B: 53.1 s less (37.7 %)." {
		t.Errorf("the page says %v", got)
	}
	b.Windows()
	limit := all.Runs[0].Question
	limit.Jobs = slices.Repeat(limit.Jobs, mostTried/limit.Tasks()+1)
	r.Question = &limit
	r.offerTrials("slotwave diagnose out/large")
	if got := r.Trials[0].Try; got != "the run is too large for a page: slotwave diagnose out/large" {
		t.Errorf("a large run: %q", got)
	}
}
