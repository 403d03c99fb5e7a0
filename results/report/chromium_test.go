package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// inChromium returns the document after the script has run. The variable
// SLOTWAVE_CHROMIUM names the browser.
func inChromium(t *testing.T, p *Page, fragment string) string {
	t.Helper()
	browser := os.Getenv("SLOTWAVE_CHROMIUM")
	if browser == "" {
		t.Skip("SLOTWAVE_CHROMIUM does not name a browser")
	}
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, []byte(written(t, p)), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--window-size=1200,900",
		"--dump-dom", "file://"+name+fragment).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), `data-ready="true"`) {
		t.Fatal("the script has not come to its end")
	}
	return string(out)
}

// The script runs under the policy of the page. Names stay text, also those that
// the script shows: the chosen attempt and the nodes.
func TestNamesInChromium(t *testing.T) {
	const chosen = "#run=0&attempt=4&job=0&finding=0&from=0&to=60000000"
	text := inChromium(t, page(func(n string) string { return n }), chosen)
	if !strings.Contains(text, "median of 20") {
		t.Error("the page does not show the phases of the chosen attempt")
	}
	plain := tag.FindAllString(text, -1)
	for _, hostile := range []string{`<img src=x onerror=alert(1)>`, `</script><b>`, `"><svg onload=alert(1)>`, `&lt;i&gt;`} {
		tags := tag.FindAllString(inChromium(t, page(func(n string) string { return n + hostile }), chosen), -1)
		if len(tags) != len(plain) {
			t.Errorf("%q: %d elements, want %d", hostile, len(tags), len(plain))
		}
	}
}

// A million attempts fit into 12 MB and are drawn.
func TestMillionInChromium(t *testing.T) {
	p := page(func(n string) string { return n })
	r := &p.Runs[0]
	r.Attempts = nil
	for i := range MostAttempts {
		start := time.Duration(i/2000) * 10 * s
		a := workload.Attempt{Job: "j", Task: i, Node: "n" + string(rune('a'+i%20)), Slot: i / 20 % 100, Start: start + time.Duration(i*7919%1000)*time.Millisecond}
		a.Phases[workload.PhaseRead], a.Phases[workload.PhaseMap] = time.Duration(i*31%2000)*time.Millisecond, time.Duration(i*17%5000)*time.Millisecond
		a.Finish = a.Start + a.Phases[workload.PhaseRead] + a.Phases[workload.PhaseMap] + s
		r.Attempts = append(r.Attempts, a)
	}
	r.Jobs[0].Finish = 6000 * s
	if size := len(written(t, p)); size > 12<<20 {
		t.Errorf("the page has %d bytes: want 12 MB or less", size)
	}
	start := time.Now()
	inChromium(t, p, "")
	t.Logf("%.1f s with the start of the browser", time.Since(start).Seconds())
}
