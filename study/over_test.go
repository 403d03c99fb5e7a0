package study

import (
	"slices"
	"testing"
)

// A key without a dot is one of every [[job]], but for those of the whole scenario.
func TestKeySettings(t *testing.T) {
	for _, x := range []struct {
		key, value string
		jobs       int
		want       []string
	}{
		{"reduces", "4", 2, []string{"job.0.reduces=4", "job.1.reduces=4"}},
		{"fidelity", "phase", 2, []string{"fidelity=phase"}},
		{"cluster.nodes", "8", 2, []string{"cluster.nodes=8"}},
		{"reduces", "4", 0, []string{"reduces=4"}},
	} {
		if got := KeySettings(x.key, x.value, x.jobs); !slices.Equal(got, x.want) {
			t.Errorf("%s=%s with %d jobs: got %v: want %v", x.key, x.value, x.jobs, got, x.want)
		}
	}
}
