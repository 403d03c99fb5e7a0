package play

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study/play/live"
)

// write writes a page into a file and returns its name.
func write(t *testing.T, p *Page) string {
	t.Helper()
	var page bytes.Buffer
	if err := p.Write(&page); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "play.html")
	if err := os.WriteFile(name, page.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// A program that -trimpath has built finds the sources around the current folder.
func TestSources(t *testing.T) {
	const trimmed = "github.com/slotwave/slotwave/study/play/engine.go"
	folder, err := sources(trimmed)
	if _, missing := os.Stat(filepath.Join(folder, "study", "play", "engine.go")); err != nil || missing != nil {
		t.Errorf("got %q, %v: want the folder with go.mod", folder, errors.Join(err, missing))
	}
	t.Chdir(t.TempDir())
	if folder, err := sources(trimmed); err == nil {
		t.Errorf("got %q without a clone", folder)
	}
}

func open(t *testing.T, name string, set ...string) *Page {
	t.Helper()
	p, err := Open(Options{Name: name, Set: set, Seed: 1, Note: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fake replaces the engine, which takes long to build.
func fake(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	kept, err := keptName()
	if err != nil {
		t.Skip("no cache folder:", err)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("support();\n"+engineMark+"UEs="), 0o666); err != nil {
		t.Fatal(err)
	}
}

// The page holds the scenario with the files that it reads and the settings, and its
// policy allows nothing else: no address of another machine, no script but its own.
func TestPage(t *testing.T) {
	fake(t)
	folder := t.TempDir()
	t.Chdir(folder)
	text := "[cluster]\nnodes = 2\nmap_slots = 1\nreduce_slots = 1\n[workload]\ntrace = \"jobs.tsv\"\n[workload.rates]\nmap_rate = \"10 MB\"\n"
	for name, text := range map[string]string{"my.toml": text, "jobs.tsv": "job0\t0\t0\t67108864\t0\t0\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Open(Options{Name: "my.toml", Set: []string{`title="</script><b>"`}, Seed: 7, Note: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(write(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`(src|href)="?(https?:)?//`).Find(page); found != nil || bytes.Contains(page, []byte("</script><b>")) {
		t.Errorf("the page has %q or the text of a setting as HTML", found)
	}
	for _, want := range []string{"default-src 'none'", "script-src 'wasm-unsafe-eval' 'sha256-", "worker-src blob:", `content="slotwave play"`} {
		if !bytes.Contains(page, []byte(strings.ReplaceAll(want, "'", "&#39;"))) {
			t.Errorf("the page lacks %s", want)
		}
	}
	var begin first
	block := regexp.MustCompile(`id="first">([^<]*)<`).FindSubmatch(page)
	if err := json.Unmarshal(decoded(t, string(block[1])), &begin); err != nil {
		t.Fatal(err)
	}
	if len(begin.Files) != 2 || begin.Seed != 7 || len(begin.Set) != 1 || begin.Name != "my.toml" {
		t.Errorf("got %+v: want two files, seed 7 and a setting", begin)
	}
}

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Each control is a key that some shipped scenario may have.
func TestControls(t *testing.T) {
	known := map[string]bool{"cluster.slowdowns.*": true}
	for _, name := range []string{"two-jobs", "zhang-waves"} {
		f, err := scenarios.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := f.Keys()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			known[strings.Replace(k.Name, "job.0.", "job.*.", 1)] = k.Form != ""
		}
	}
	for _, c := range controls {
		if !known[c.Key] {
			t.Errorf("%s: no scenario has the key, or no form is known", c.Key)
		}
	}
}

// asker answers requests: the native session, or a worker with the engine. An error is
// an answer that begins with "error: ".
type asker func(name string, set []string, seed uint64) string

func native(name string, set []string, seed uint64) string {
	var s live.Session
	var data []byte
	for _, a := range []live.Asked{{Verb: "open", Name: name}, {Verb: "run", Set: set, Seed: seed}, {Verb: "attempts"}} {
		request, err := json.Marshal(a)
		if err == nil {
			_, data, err = s.Answer(request)
		}
		if err != nil {
			return "error: " + err.Error()
		}
	}
	return string(data)
}

// drawn returns a value for a key: near the value that it has, or anywhere in its range.
func drawn(k *scenarios.Key, r *rand.Rand) (string, bool) {
	now, err := strconv.ParseFloat(k.Value, 64)
	factor := math.Exp2(4*r.Float64() - 2)
	switch k.Form {
	case "whole":
		most := k.Least + 12
		if k.Most > 0 {
			most = min(most, k.Most)
		}
		v := k.Least + r.Float64()*(most-k.Least)
		if err == nil && now > 12 {
			v = min(now*factor, 20*now, 4000)
		}
		return strconv.Itoa(int(v)), true
	case "number":
		if k.Most > 0 {
			return fmt.Sprintf("%.3f", k.Least+r.Float64()*(min(k.Most, k.Least+4)-k.Least)), true
		}
		return fmt.Sprintf("%.3f", max(k.Least, max(1, now)*factor)), true
	case "switch":
		return strconv.FormatBool(r.IntN(2) == 0), true
	case "choice":
		return k.Words[r.IntN(len(k.Words))], true
	case "duration":
		return fmt.Sprintf("%.2fs", 0.3*math.Exp2(8*r.Float64())), true
	case "size":
		return fmt.Sprintf("%dm", 1<<r.IntN(10)), true
	case "text":
		return []string{"a", "b"}[r.IntN(2)], strings.HasSuffix(k.Name, ".pool") || strings.HasSuffix(k.Name, ".user")
	}
	return "", false
}

// compare draws settings until 50 are simulated, and wants the same attempts, or the same
// error, of both.
func compare(t *testing.T, seed uint64, other asker) {
	const wanted = 50
	names := []string{"two-jobs", "speculation", "delay-scheduling", "capacity-queues", "zhang-waves", "hitune-sort"}
	keys := make([][]scenarios.Key, len(names))
	for i, name := range names {
		f, err := scenarios.Open(name)
		if err == nil {
			keys[i], err = f.Keys()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	simulated, refused, rows := 0, 0, 0
	for draw := 0; simulated < wanted && draw < 20*wanted; draw++ {
		i := r.IntN(len(names))
		var set []string
		for range 1 + r.IntN(4) {
			k := &keys[i][r.IntN(len(keys[i]))]
			if v, ok := drawn(k, r); ok {
				set = append(set, k.Name+"="+v)
			}
		}
		if len(set) == 0 {
			continue
		}
		run := uint64(1 + r.IntN(1000))
		want := native(names[i], set, run)
		got := other(names[i], set, run)
		if got != want {
			t.Fatalf("draw %d: %s %q seed %d: %d bytes, want %d:\n%.300s\n%.300s", draw, names[i], set, run, len(got), len(want), got, want)
		}
		if strings.HasPrefix(want, "error: ") {
			refused++
		} else {
			simulated, rows = simulated+1, rows+strings.Count(want, "\n")-1
		}
	}
	t.Logf("seed %d: %d settings with %d attempts have the same bytes; %d refused with the same words", seed, simulated, rows, refused)
	if simulated < wanted {
		t.Errorf("only %d settings were simulated", simulated)
	}
}

// The engine in Node has the attempts of the native program. The build takes long.
func TestSameAttemptsInNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || os.Getenv("SLOTWAVE_LARGE") == "" {
		t.Skip("SLOTWAVE_LARGE is not set, or node is not on the PATH")
	}
	built, err := buildEngine()
	if err != nil {
		t.Fatal(err)
	}
	support, program := built.parts()
	folder := t.TempDir()
	const harness = `
const lines = require("node:readline").createInterface({ input: node.stdin });
globalThis.postMessage = m => node.stdout.write(JSON.stringify({ error: m.error, text: m.data ? Buffer.from(m.data).toString() : "" }) + "\n");
lines.on("line", line => onmessage({ data: { id: 1, ...JSON.parse(line), ...(line.includes('"program"') ? { program: require("node:fs").readFileSync(node.argv[2], "utf8") } : {}) } }));
`
	files := map[string]string{"worker.cjs": "const node = process;\n" + support + worker + harness, "program": program}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(node, filepath.Join(folder, "worker.cjs"), filepath.Join(folder, "program"))
	c.Stderr = os.Stderr
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err1 != nil || err2 != nil || c.Start() != nil {
		t.Fatal("node does not start")
	}
	defer func() { in.Close(); c.Wait() }()
	lines := bufio.NewReaderSize(out, 1<<20)
	ask := func(message string) (text, failed string) {
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Text, Error string }
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		return answer.Text, answer.Error
	}
	if _, failed := ask(`{"program": true}`); failed != "" {
		t.Fatal(failed)
	}
	compare(t, 31, func(name string, set []string, seed uint64) string {
		text := ""
		for _, a := range []live.Asked{{Verb: "open", Name: name}, {Verb: "run", Set: set, Seed: seed}, {Verb: "attempts"}} {
			request, err := json.Marshal(map[string]any{"request": a})
			if err != nil {
				t.Fatal(err)
			}
			failed := ""
			if text, failed = ask(string(request)); failed != "" {
				return "error: " + failed
			}
		}
		return text
	})
}
