package validation

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlantedHosts simulates clusters of equal machines, some with one or two slow
// ones, writes their histories, and looks what inspect says. It prints the table of
// docs/validation.md. A healthy cluster is blamed by chance in 5 of 100 cases at
// most; of those with a slow machine most are found.
func TestPlantedHosts(t *testing.T) {
	worlds := 10
	if os.Getenv("SLOTWAVE_LARGE") != "" {
		worlds = 200
	}
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

// TestPlantedScatter simulates jobs whose equal tasks vary by a known coefficient, or
// not at all, and looks what calibrate finds. It prints the figures of
// docs/validation.md.
func TestPlantedScatter(t *testing.T) {
	if os.Getenv("SLOTWAVE_LARGE") == "" {
		t.Skip("SLOTWAVE_LARGE is not set: 15 calibrations take a quarter of an hour")
	}
	const worlds = 15
	var planted, inside, none, clean int
	var off []float64
	var misses []string
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 78))
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		world := "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\nnodes = 6\nmap_slots = 2\nreduce_slots = 2\n" +
			"[conf]\n\"mapred.map.tasks.speculative.execution\" = false\n\"mapred.reduce.tasks.speculative.execution\" = false\n"
		cvs := map[string][2]float64{}
		for i, profile := range []string{"terasort", "wordcount"} {
			var cv [2]float64
			if (int(seed)+i)%3 > 0 {
				cv = [2]float64{0.1 + 0.3*r.Float64(), 0.1 + 0.3*r.Float64()}
			}
			cvs[profile] = cv
			text := strings.Replace(verb(t, "show", profile), "map_record =", fmt.Sprintf("map_cv = %.3f\nreduce_cv = %.3f\nmap_record =", cv[0], cv[1]), 1)
			if err := os.WriteFile(at(profile+".toml"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			world += fmt.Sprintf("[[job]]\nname = %q\nsubmit = \"%ds\"\nprofile = %q\ninput = \"%d MB\"\nreduces = 24\n", profile, 60*i, profile+".toml", 6144)
		}
		if err := os.WriteFile(at("world.toml"), []byte(world), 0o666); err != nil {
			t.Fatal(err)
		}
		verb(t, "run", at("world.toml"), "--out", at("run"), "--quiet", "--set", "plots=none", "--seed", fmt.Sprint(seed+1))
		verb(t, "convert", at("run"), "--to", "jhist", "--out", at("history"), "--quiet")
		text := verb(t, "calibrate", at("history"), "--out", at("found"))
		for _, line := range strings.Split(text, "\n") {
			words := strings.Fields(line)
			if len(words) < 7 || words[1] != "map" && words[1] != "reduce" || cvs[words[0]] == [2]float64{} && words[0] != "terasort" && words[0] != "wordcount" {
				continue
			}
			kind := map[string]int{"map": 0, "reduce": 1}[words[1]]
			want, found, err := cvs[words[0]][kind], 0.0, 0.0
			if n, _ := fmt.Sscanf(words[6]+" "+words[len(words)-1], "%g %g", &found, &err); n < 2 {
				found, err = 0, 0
			}
			if want == 0 {
				none++
				if found == 0 {
					clean++
				} else {
					misses = append(misses, fmt.Sprintf("world %d: %s, want 0", seed, line))
				}
				continue
			}
			planted++
			off = append(off, math.Abs(found-want))
			if math.Abs(found-want) <= 2*err {
				inside++
			} else {
				misses = append(misses, fmt.Sprintf("world %d: %s, want %.3f", seed, line, want))
			}
		}
	}
	slices.Sort(off)
	t.Logf("planted coefficients within two standard errors: %s, median difference %.3f; without one: %s\n%s",
		share(inside, planted), off[len(off)/2], share(clean, none), strings.Join(misses, "\n"))
	if float64(inside) < 0.75*float64(planted) || float64(clean) < 0.8*float64(none) {
		t.Errorf("inside: %d of %d; none found: %d of %d", inside, planted, clean, none)
	}
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
