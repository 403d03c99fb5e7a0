package validation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
)

// nodeFaults are faults of one node, as keys of its group.
var nodeFaults = []struct {
	key         string
	least, most float64
	unit        string
}{
	{"disk_slowdown", 1.5, 6, ""}, {"nic_slowdown", 4, 40, ""}, {"cpu_slowdown", 1.5, 6, ""}, {"slowdown", 1.5, 5, ""},
	{"fail_after", 3, 20, "s"}, {"dies", 10, 60, "s"},
}

// recordedDay writes a scenario into a file, and returns the makespan of the run that
// runSet records: a fault that costs nothing there is in no history of it.
func recordedDay(t *testing.T, name, text string) float64 {
	t.Helper()
	p, err := sim.Simulator{}.Predict(written(t, name, text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Mean.Seconds()
}

// From histories of Hadoop alone, without samples, the first finding names the node
// with a fault that costs 3 % or more, and no finding names a node of a healthy
// cluster. A slow interface slows the replicas and fetches of all nodes alike, and is
// found only where the shuffles of its own reduces end apart.
func TestNodeFaultsInHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("whole jobs at fidelity device")
	}
	n := cmp.Or(*evaluates, 6)
	if layers.Whole {
		n = max(n, 30)
	}
	formats := []string{"history", "jhist"}
	var first, named, accused [2]int
	worlds, healthy := 0, 0
	for seed := cmp.Or(*evaluated, 1); worlds < int(n); seed++ {
		r := rand.New(rand.NewPCG(seed, 13))
		fault := nodeFaults[seed%uint64(len(nodeFaults))]
		text, value := slowWorld(r), factor(fault.least, fault.most)(r)
		if fault.unit != "" {
			value = fmt.Sprintf("%q", value+fault.unit)
		}
		var days [2]float64
		dir := t.TempDir()
		for i, key := range []string{"", fault.key} {
			world := withSlow(text, key, value)
			if key == "slowdown" {
				world = strings.Replace(world, "slowdown = 1\nslowdown", "slowdown", 1)
			}
			name := filepath.Join(dir, fmt.Sprintf("%d.toml", i))
			days[i] = recordedDay(t, name, world)
			runSet(t, name, filepath.Join(dir, fmt.Sprint(i)), study.Options{})
		}
		planted := days[1] >= 1.03*days[0]
		if planted {
			worlds++
		}
		healthy++
		for k, format := range formats {
			for i := range 2 {
				if i == 1 && !planted {
					continue
				}
				history := filepath.Join(dir, fmt.Sprintf("%s-%d", format, i))
				verb(t, "convert", filepath.Join(dir, fmt.Sprint(i)), "--to", format, "--out", history, "--quiet")
				d, err := diagnosis.Diagnose([]string{history}, diagnosis.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var list []string
				nodes, at := 0, 0
				for p := range d.Findings {
					f := &d.Findings[p]
					if f.Node != "" {
						nodes++
					}
					if strings.HasPrefix(f.Node, sick) && at == 0 {
						at = p + 1
					}
					if p < 3 {
						list = append(list, fmt.Sprintf("%s %s %s %.3g %.3g %s", f.Rule, f.Node, f.Device, f.Value, f.Z, f.Evidence))
					}
				}
				switch {
				case i == 0 && nodes > 0:
					accused[k]++
					t.Logf("seed %d %s healthy: %s", seed, format, strings.Join(list, "; "))
				case i == 1:
					if at == 1 {
						first[k]++
					}
					if at > 0 {
						named[k]++
					}
					t.Logf("seed %d %s: %s = %s costs %.1f %%: at %d: %s", seed, format, fault.key, value, 100*(days[1]/days[0]-1), at, strings.Join(list, "; "))
				}
			}
		}
	}
	for k, format := range formats {
		t.Logf("| %s | first %d, named %d of %d; healthy accused %d of %d |", format, first[k], named[k], worlds, accused[k], healthy)
		if 10*first[k] < 5*worlds || 10*accused[k] > 1+healthy { // docs/validation.md has the figures of more worlds
			t.Errorf("%s: first %d of %d: want 50 %%; healthy accused %d of %d: want at most 10 %%", format, first[k], worlds, accused[k], healthy)
		}
	}
}
