package scenarios

import (
	"testing"
)

// Whatever stands in a scenario or a recorded case, reading it ends without a
// panic, and with a name if it is sound.
func FuzzScenario(f *testing.F) {
	for _, name := range []string{"two-jobs", "hitune-small-files"} {
		text, _ := Text(name)
		f.Add([]byte(text))
	}
	for _, text := range []string{
		"", "{", "a = [", "[vary]\n\"x\" = [1]", "[[job]]\nmaps = 1\nmap_ms = 1\n[cluster]\nnodes = 1",
		`{"hadoop": "1.2.1", "cluster": {"trackers": 1, "map_slots": 1}, "runs": [[0]], "jobs": [{"maps": {"count": 1, "ms": [5]}}]}`,
		"[[cluster.group]]\ncount = 2\n[[job]]\ninput = \"1g\"\nduration = { dist = \"empirical\", quantiles = [1, 2] }\n[job.conf]\nio.sort.mb = 1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		file := &File{name: "fuzz.toml", slug: "fuzz", data: data, folder: t.TempDir(), traces: map[string]*openedTrace{}, parsed: new(parsed)}
		if s, err := file.Scenario(1); err == nil && s.Name == "" {
			t.Error("a scenario without a name")
		}
	})
}
