// Package chromium drives a browser in tests of pages.
package chromium

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
	"testing"
	"time"
)

// Browser is a browser that a test drives with the DevTools protocol, over a
// pair of pipes. The variable SLOTWAVE_CHROMIUM names the program.
type Browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	session string
	calls   int
}

// New starts the browser. Without the variable it skips the test.
func New(t *testing.T) *Browser {
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
	b := &Browser{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	t.Cleanup(func() {
		b.session = ""
		b.Call("Browser.close", nil)
		c.Wait()
		in.Close()
		out.Close()
	})
	return b
}

// Call calls a method of the protocol and returns its result.
func (b *Browser) Call(method string, params map[string]any) map[string]any {
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

// Open shows a file, with a fragment or without, and returns when the element html of the
// page has data-ready and the browser has painted: the time since the navigation in ms.
func (b *Browser) Open(name string) float64 {
	b.t.Helper()
	b.session = ""
	target := b.Call("Target.createTarget", map[string]any{"url": "about:blank"})["targetId"]
	b.session = b.Call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	b.Call("Page.navigate", map[string]any{"url": "file://" + name})
	b.Until("document.documentElement && document.documentElement.dataset.ready === 'true' && location.protocol === 'file:'")
	return b.Eval(Painted + ".then(() => performance.now())").(float64)
}

// Until waits until an expression of JavaScript is true, for a minute at most.
func (b *Browser) Until(expression string) {
	b.t.Helper()
	for limit := time.Now().Add(time.Minute); b.Eval(expression) != true; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			b.t.Fatalf("%s: not within a minute", expression)
		}
	}
}

// Painted waits in JavaScript until the browser has painted.
const Painted = "new Promise(r => requestAnimationFrame(() => setTimeout(r)))"

// Eval returns the value of an expression of JavaScript in the page.
func (b *Browser) Eval(expression string) any {
	b.t.Helper()
	r := b.Call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if e, failed := r["exceptionDetails"]; failed {
		b.t.Fatalf("%s: %v", expression, e)
	}
	return r["result"].(map[string]any)["value"]
}

// Milliseconds is the median time of five actions until the browser has painted
// what they change.
func (b *Browser) Milliseconds(action string) float64 {
	b.t.Helper()
	var all []float64
	for range 5 {
		all = append(all, b.Eval("(async () => { const t = performance.now(); "+action+"; await "+Painted+"; return performance.now() - t })()").(float64))
	}
	slices.Sort(all)
	return all[2]
}

// Windows shows the page in windows of a telephone to a large screen, in the light, in
// the dark and in print, which it must not be wider than.
func (b *Browser) Windows() {
	b.t.Helper()
	for _, medium := range []string{"light", "print", "dark"} {
		media := map[bool]string{true: "print", false: "screen"}[medium == "print"]
		b.Call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []any{map[string]any{"name": "prefers-color-scheme", "value": medium}}})
		for _, width := range []int{390, 768, 1280, 1920} {
			b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false})
			b.Eval(Painted)
			if more := b.Eval("document.documentElement.scrollWidth - document.documentElement.clientWidth"); more.(float64) > 0 {
				b.t.Errorf("%s: %v pixels more than a window of %d", medium, more, width)
			}
			b.Picture(fmt.Sprintf("%s-%d", medium, width))
		}
	}
}

// Picture keeps what the browser shows, if SLOTWAVE_PICTURES names a folder.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	folder := os.Getenv("SLOTWAVE_PICTURES")
	if folder == "" {
		return
	}
	data, err := base64.StdEncoding.DecodeString(b.Call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})["data"].(string))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o666); err != nil {
		b.t.Fatal(err)
	}
}
