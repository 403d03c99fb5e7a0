package scenarios

import (
	"slices"
	"strings"
	"testing"
)

// Keys that vary are in the order of the file, on one line too.
func TestOrderOfVariedKeys(t *testing.T) {
	const rest = "\n[cluster]\nnodes = 2\n[[job]]\nmaps = 3\nmap_ms = 1000\n"
	want := []string{"cluster.nodes", "cluster.heartbeat", "cluster.map_slots"}
	for _, text := range []string{
		`vary = { "cluster.nodes" = [2, 3], "cluster.heartbeat" = ["1s", "3s"], "cluster.map_slots" = [1, 2] }` + rest,
		rest + "[vary]\n\"cluster.nodes\" = [2, 3]\n\"cluster.heartbeat\" = [\"1s\", \"3s\"]\n\"cluster.map_slots\" = [1, 2]\n",
	} {
		tree, err := parse([]byte(text), "s.toml")
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if names, _ := tree.variations(); !slices.Equal(names, want) {
				t.Fatalf("got %v: want %v", names, want)
			}
		}
	}
}

// A recorded case is a single object; what follows it is named with its line.
func TestTextAfterObject(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1} {"b": 2}`:   "two.json:1: got text after the object: want a single object",
		"{\"a\": 1}\n\n  x":   "two.json:3: got text after the object: want a single object",
		"{\"a\":\n 1,\n 2}\n": "two.json:3: ",
	} {
		if _, err := parseJSON([]byte(text), "two.json"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v: want %s", text, err, want)
		}
	}
	if _, err := parseJSON([]byte("{\"a\": 1}\n \n"), "one.json"); err != nil {
		t.Error(err)
	}
}

// A number under a key in milliseconds is milliseconds in a distribution too; else a number
// of a distribution is seconds.
func TestUnitOfDistributions(t *testing.T) {
	for text, want := range map[string]float64{
		"map_ms = { dist = \"constant\", mean = 10 }":         0.01,
		"map_ms = { dist = \"constant\", mean = \"10s\" }":    10,
		"duration = { dist = \"constant\", mean = 10 }":       10,
		"map_ms = { dist = \"uniform\", min = 10, max = 30 }": 0.02,
	} {
		s := scenarioOf(t, "[cluster]\nnodes = 1\n[[job]]\nmaps = 1\n"+text+"\n")
		if d := s.Runs[0].Question.Jobs[0].Maps.Time.Dist; d == nil || d.Mean() != want {
			t.Errorf("%s: got %v: want a mean of %v s", text, d, want)
		}
	}
}
