package validation

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// TestPlantedHosts simulates clusters of equal machines, some with one or two slow
// ones, writes their histories, and looks what inspect says. It prints the figures of
// docs/validation.md. A healthy cluster is blamed by chance in 5 of 100 cases at
// most; of those with a slow machine most are found.
func TestPlantedHosts(t *testing.T) {
	worlds := layers.Draws(6, 200)
	type count struct{ planted, found, inside, others, blamed, healthy, clean int }
	var all count
	var misses []string
	for seed := range uint64(worlds) {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		scenario, slow := writeHosts(t, dir, seed)
		verb(t, "run", scenario, "--out", at("run"), "--quiet", "--set", "plots=none", "--seed", fmt.Sprint(seed+1))
		verb(t, "convert", at("run"), "--to", []string{"jhist", "rumen", "history"}[seed%3], "--out", at("history"), "--quiet")
		var seen struct {
			Speeds []struct {
				Machine   string
				Time      float64 `json:"time_factor"`
				Low, High float64
				Tasks     int
				Differs   bool
			}
		}
		if err := json.Unmarshal([]byte(verb(t, "inspect", at("history"), "--json")), &seen); err != nil {
			t.Fatal(err)
		}
		clean := true
		for _, m := range seen.Speeds {
			factor := slow[m.Machine]
			switch {
			case factor == 0:
				all.others++
				if m.Differs {
					clean = false
					all.blamed++
					misses = append(misses, fmt.Sprintf("world %d blames %s: %.2f (%.2f to %.2f), %d tasks", seed, m.Machine, m.Time, m.Low, m.High, m.Tasks))
				}
			default:
				all.planted++
				if m.Differs && m.Time > 1 {
					all.found++
				} else {
					misses = append(misses, fmt.Sprintf("world %d misses %s of %.2f: %.2f (%.2f to %.2f), %d tasks", seed, m.Machine, factor, m.Time, m.Low, m.High, m.Tasks))
				}
				if m.Low <= factor && factor <= m.High {
					all.inside++
				}
			}
		}
		if len(slow) == 0 {
			all.healthy++
			if clean {
				all.clean++
			}
		}
	}
	t.Logf("%d worlds\n| planted slow machines found | planted factor inside the interval | healthy clusters without a blamed machine | other machines blamed |\n|---|---|---|---|\n| %s | %s | %s | %d of %d |\n%s",
		worlds, share(all.found, all.planted), share(all.inside, all.planted), share(all.clean, all.healthy), all.blamed, all.others, strings.Join(misses, "\n"))
	// By chance: a binomial of 5 % exceeds three standard deviations in one of 700 cases.
	if most := 0.05*float64(all.healthy) + 3*math.Sqrt(0.05*0.95*float64(all.healthy)); float64(all.healthy-all.clean) > most {
		t.Errorf("%d of %d healthy clusters with a blamed machine: want %.1f at most", all.healthy-all.clean, all.healthy, most)
	}
	if float64(all.found) < 0.7*float64(all.planted) {
		t.Errorf("%d of %d slow machines found", all.found, all.planted)
	}
}

// writeHosts writes a scenario with random jobs on equal machines, of which one or
// two are slow in half of the worlds.
func writeHosts(t *testing.T, dir string, seed uint64) (scenario string, slow map[string]float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 77))
	nodes := 5 + r.IntN(10)
	var b strings.Builder
	fmt.Fprintf(&b, "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\nnodes = %d\nmap_slots = %d\nreduce_slots = %d\n", nodes, 1+r.IntN(3), 1+r.IntN(2))
	slow = map[string]float64{}
	if seed%2 == 1 {
		b.WriteString("[cluster.slowdowns]\n")
		for range 1 + r.IntN(2) {
			name, factor := fmt.Sprintf("node%0*d", len(fmt.Sprint(nodes)), 1+r.IntN(nodes)), 1.25+r.Float64()
			if slow[name] == 0 {
				slow[name] = factor
				fmt.Fprintf(&b, "%s = %.3f\n", name, factor)
			}
		}
	}
	b.WriteString("[conf]\n\"mapred.map.tasks.speculative.execution\" = false\n\"mapred.reduce.tasks.speculative.execution\" = false\n")
	for i, profile := range []string{"terasort", "wordcount", "grep", "join"}[:1+r.IntN(4)] {
		file := profile + ".toml"
		text := strings.Replace(verb(t, "show", profile), "map_record =", fmt.Sprintf("map_cv = %.2f\nreduce_cv = %.2f\nmap_record =", 0.3*r.Float64(), 0.2*r.Float64()), 1)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "[[job]]\nname = %q\nsubmit = \"%ds\"\nprofile = %q\ninput = \"%d MB\"\nreduces = %d\n", profile, 40*i, file, 128*nodes*(4+r.IntN(9)), nodes*(1+r.IntN(2)))
	}
	scenario = filepath.Join(dir, "world.toml")
	if err := os.WriteFile(scenario, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return scenario, slow
}

// TestEC2Hosts: the six jobs of a cluster show three slow machines, by names that are
// one host in all jobs.
func TestEC2Hosts(t *testing.T) {
	seen := verb(t, "inspect", ec2Folder(t, "201102151322_"))
	_, table, _ := strings.Cut(seen, "Machines whose tasks take longer")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range []string{"n10      1.13  1.05 to 1.21   38", "n13      1.15  1.06 to 1.24   44", "n14      1.21  1.12 to 1.31   39"} {
		if !strings.Contains(table, row) {
			t.Errorf("want the row %s in\n%s", row, table)
		}
	}
	if strings.Count(table, "\nn") != 3 {
		t.Errorf("want three machines in\n%s", table)
	}
}
