package reproduce

import (
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// herodotouTables makes the tables merges, the plan of a merge by the number of spills
// with io.sort.factor 10, and defaults, the values of Hadoop's properties as numbers.
func herodotouTables(*reproducing) (tables, error) {
	var merges, defaults []row
	for spills := 1; spills <= 100; spills++ {
		m, err := taskplan.Merge(spills, 10)
		if err != nil {
			return nil, err
		}
		merges = append(merges, cells{"spills": float64(spills), "first": float64(m.FirstPass), "reads": float64(m.IntermReads), "final": float64(m.FinalFiles), "passes": float64(m.Passes)})
	}
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		if v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(p.Default, "-Xmx"), "m"), 64); err == nil {
			defaults = append(defaults, cells{"key": key, "value": v})
		}
	}
	return tables{"run": {"merges": merges, "defaults": defaults}}, nil
}
