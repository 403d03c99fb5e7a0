// Package play writes a page that simulates. The page holds the simulator, compiled for
// the browser (package wasm), and needs no server and no network:
//
//	Open  -> study.Open           the scenario and its files
//	Write -> findEngine           the simulator: embedded, kept, or built now
//	      -> page.html, page.css, page.js, worker.js
//	page.js -> worker.js -> package wasm -> package live -> scenarios, sim, diagnose
package play

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/play/live"
)

// Options say what the page shows first.
type Options struct {
	Name string       // scenario, trace or history
	Set  []string     // KEY=VALUE settings of the first setting
	Seed uint64       //
	Note func(string) // is told what takes long
}

//go:embed page.html
var pageText string

//go:embed page.css
var styles string

//go:embed page.js
var script string

//go:embed worker.js
var worker string

// control is a key that the page offers for every scenario that has it. A * stands for
// each of a few jobs, or for the last node. Ranges are those of its slider: a value
// beyond them can be typed.
type control struct {
	Group string  `json:"group"`
	Key   string  `json:"key"`
	Label string  `json:"label"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	Step  float64 `json:"step"`  // 0: a factor
	Inner bool    `json:"inner"` // acts within a task: at fidelities phase and device
}

var controls = []control{
	{Group: "Cluster", Key: "cluster.nodes", Label: "nodes", Least: 1, Most: 60, Step: 1},
	{Group: "Cluster", Key: "cluster.map_slots", Label: "map slots of a node", Least: 1, Most: 16, Step: 1},
	{Group: "Cluster", Key: "cluster.reduce_slots", Label: "reduce slots of a node", Least: 1, Most: 16, Step: 1},
	{Group: "Cluster", Key: "cluster.shared_slots", Label: "slots serve maps and reduces"},
	{Group: "Cluster", Key: "cluster.racks", Label: "racks", Least: 1, Most: 10, Step: 1},
	{Group: "Cluster", Key: "cluster.heartbeat", Label: "heartbeat interval", Least: 0.1, Most: 60},
	{Group: "Cluster", Key: "cluster.slowdowns.*", Label: "slowness of the last node", Least: 1, Most: 10, Step: 0.5},
	{Group: "Scheduler", Key: "scheduler.name", Label: "scheduler"},
	{Group: "Scheduler", Key: "conf.mapred.fairscheduler.locality.delay", Label: "locality delay, ms (fair2)", Least: -1, Most: 30000, Step: 100},
	{Group: "Scheduler", Key: "conf.mapred.reduce.slowstart.completed.maps", Label: "slowstart", Most: 1, Step: 0.05},
	{Group: "Scheduler", Key: "conf.mapred.map.tasks.speculative.execution", Label: "speculative maps"},
	{Group: "Scheduler", Key: "conf.mapred.reduce.tasks.speculative.execution", Label: "speculative reduces"},
	{Group: "Data", Key: "conf.dfs.replication", Label: "replicas of a block", Least: 1, Most: 10, Step: 1},
	{Group: "Data", Key: "conf.dfs.block.size", Label: "block size", Least: 1 << 24, Most: 1 << 30, Inner: true},
	{Group: "Data", Key: "conf.io.sort.mb", Label: "sort buffer, MiB", Least: 10, Most: 2000, Inner: true},
	{Group: "Data", Key: "conf.io.sort.factor", Label: "files merged at once", Least: 2, Most: 100, Step: 1, Inner: true},
	{Group: "Jobs", Key: "job.*.deadline", Label: "deadline", Least: 1, Most: 3600},
}

// first is what the page shows first, and the files that it reads.
type first struct {
	Name     string            `json:"name"`
	Set      []string          `json:"set"`
	Seed     uint64            `json:"seed"`
	Files    map[string]string `json:"files"` // by name, in base64
	Controls []control         `json:"controls"`
}

// Page is a page that is not written yet.
type Page struct {
	*study.Study
	options Options
}

// Open opens the scenario as run does, and as the page will, so that its mistakes are
// reported now.
func Open(o Options) (*Page, error) {
	s, err := study.Open(o.Name, study.Options{Seed: o.Seed, Set: o.Set})
	if err != nil {
		return nil, err
	}
	var session live.Session
	return &Page{s, o}, session.Open(o.Name, o.Seed)
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	o := &p.options
	engine, err := Load(o.Note)
	if err != nil {
		return err
	}
	begin := first{Name: filepath.ToSlash(filepath.Clean(o.Name)), Set: append([]string{}, o.Set...), Seed: o.Seed, Files: map[string]string{}, Controls: controls}
	for _, in := range p.Scenario.Inputs {
		data := in.Data
		if data == nil {
			if data, err = os.ReadFile(in.Name); err != nil {
				return err
			}
		}
		begin.Files[filepath.ToSlash(filepath.Clean(in.Name))] = base64.StdEncoding.EncodeToString(data)
	}
	state, err := json.Marshal(begin)
	if err != nil {
		return err
	}
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	style := styles + figure.PageStyles()
	return page.Execute(w, struct {
		Title, Policy string
		Style         template.CSS
		Script        template.JS
		First         template.HTML // in base64
		*Engine
	}{
		fmt.Sprintf("slotwave play: %s", p.Scenario.Name),
		"default-src 'none'; img-src data:; worker-src blob:; style-src " + Hash(style) + "; script-src 'wasm-unsafe-eval' " + Hash(script),
		template.CSS(style), template.JS(script),
		packed(string(state)), engine,
	})
}

// Engine is the simulator on a page, in base64: a worker, and the program that it starts.
type Engine struct{ Worker, Program template.HTML }

// Load returns the engine. If it has to be built, note is told.
func Load(note func(string)) (*Engine, error) {
	found, err := findEngine(note)
	support, program := found.parts()
	return &Engine{packed(support + worker), template.HTML(program)}, err
}

// packed returns a text in base64, which a page can hold as it is.
func packed(text string) template.HTML {
	return template.HTML(base64.StdEncoding.EncodeToString([]byte(text)))
}
