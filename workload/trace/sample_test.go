package trace

import "testing"

// TestSamples reads the samples that come with the source.
func TestSamples(t *testing.T) {
	for _, x := range []struct {
		file  string
		want  tally
		hosts int
		swim  int
	}{
		{"FB-2009-first-40.tsv", tally{}, 0, 40},
		{"counters-test-trace.json.gz", tally{2, 4, 10, 4, 17}, 20, 0},
		{"dispatch-topology-output.json.gz", tally{}, 547, 0},
		{"job_201311192236_3583_Sleep_job.hist", tally{1, 1, 1, 2, 2}, 1, 0},
		{"chukwa-Hadoop18JobHistoryLog.txt.gz", tally{1, 9, 8, 0, 17}, 5, 0},
		{"job_1526555215992_0001-pi-1-1.jhist", tally{1, 1, 1, 0, 2}, 1, 0},
		{"ReduceAttempt.csv.gz", tally{1, 0, 32, 0, 32}, 8, 0},
	} {
		h := mustOpen(t, "testdata/"+x.file)
		if got := tallyOf(h); got != x.want || h.Topology.Hosts() != x.hosts || len(h.Swim) != x.swim || len(h.Problems) > 0 {
			t.Errorf("%s: %+v, %d hosts, %d SWIM jobs, problems %v; want %+v, %d, %d", x.file, got, h.Topology.Hosts(), len(h.Swim), h.Problems, x.want, x.hosts, x.swim)
		}
	}
}
