package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kindOf says what a TOML file is, by its tables, and what takes it.
func kindOf(t *table) (what, next string) {
	has := func(keys ...string) bool { return slices.ContainsFunc(keys, t.has) }
	switch {
	case has("cluster", "job", "workload", "conf", "vary"):
	case has("scenario") && has("goal"):
		return "a study of sizes", "slotwave size " + t.file + " asks it"
	case has("scenario"):
		return "a study", "slotwave sweep " + t.file + " simulates it"
	case has("goal", "node"):
		return goalsAndOffers, "slotwave size SCENARIO " + t.file + " asks them"
	case has("factor"):
		return "a study without the key scenario", "scenario = \"two-jobs\" names one"
	case has("cores", "disk", "nic_mb"):
		return "a platform", "it takes --set cluster.platform=" + t.file
	case has("data", "combiner"):
		return "a job profile", "a [[job]] takes profile = \"" + t.file + "\""
	}
	return "a scenario", "slotwave run " + t.file + " simulates it"
}

const goalsAndOffers = "goals and offers"

// Kind says what a scenario or another TOML file is, and what takes it; empty: it is
// neither.
func Kind(name string) (what, next string) {
	_, missing := os.Stat(name)
	data, err := os.ReadFile(name)
	switch {
	case missing != nil && slices.Contains(List(), name):
		return "a scenario", fmt.Sprintf("slotwave run %s writes one into out/%s", name, name)
	case err != nil || filepath.Ext(name) != ".toml":
		return "", ""
	}
	t, err := parse(data, name)
	if err != nil {
		t = &table{report: &report{file: name}}
	}
	if what, next = kindOf(t); what == "a scenario" {
		next = fmt.Sprintf("slotwave run %s writes one into out/%s", name, strings.TrimSuffix(filepath.Base(name), ".toml"))
	}
	return what, next
}
