package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// tally is what a data set's README counts.
type tally struct {
	jobs, maps, reduces, others int
	attempts                    int // of maps and reduces
}

func tallyOf(h *workload.History) tally {
	var n tally
	n.jobs = len(h.Jobs)
	for i := range h.Jobs {
		j := &h.Jobs[i]
		m, ma := j.Count(workload.Map)
		r, ra := j.Count(workload.Reduce)
		s, _ := j.Count(workload.Setup)
		c, _ := j.Count(workload.Cleanup)
		n.maps, n.reduces, n.others, n.attempts = n.maps+m, n.reduces+r, n.others+s+c, n.attempts+ma+ra
	}
	return n
}

// TestSharedCounts reads every file and compares with data/README.md; what that
// file does not count (attempts of single traces, set-up and clean-up) was
// counted once from the raw files.
func TestSharedCounts(t *testing.T) {
	for _, x := range []struct {
		file     string // or several of a folder
		want     tally
		makespan float64 // s, first submit to last finish; 0: not stated
		problems int
	}{
		{"hitune-sort/job.csv.gz MapTask.csv.gz ReduceTask.csv.gz MapAttempt.csv.gz ReduceAttempt.csv.gz instruments_map.csv.gz instruments_red.csv.gz",
			tally{1, 640, 32, 2, 697}, 664.6, 0}, // 699 attempts with set-up and clean-up
		{"ec2-starfish/conf.tsv jobs.tsv tasks.tsv phases.tsv", tally{8, 1150, 216, 16, 1374}, 1779.4, 0}, // 1,390 with set-up and clean-up
		{"ec2-starfish/jobs.tsv", tally{jobs: 8}, 1779.4, 0},
		{"prod-hive-jobs/jobs.tsv", tally{jobs: 20}, 0, 0},
		{"yarn-slowstart/runs.tsv", tally{jobs: 90}, 0, 0},
		{"aloja/terasort_100g_tasks.tsv", tally{1, 384, 48, 2, 432}, 0, 0},
		{"rumen/folder-input-trace.json.gz", tally{59, 787, 321, 118, 1108}, 0, 0},
		{"rumen/dispatch-trace-output.json.gz", tally{4, 154, 49, 7, 276}, 0, 0},
		{"rumen/counters-test-trace.json.gz", tally{2, 4, 10, 4, 17}, 0, 0},
		{"rumen/2jobs2min-rumen-jh.json.gz", tally{2, 192, 0, 0, 192}, 0, 0},
		{"rumen/dispatch-sample-v20-jt-log.gz", tally{4, 154, 49, 7, 276}, 0, 0},
		{"mrv1-history/chukwa-sorter-JobHistory.log.gz", tally{1, 10, 8, 2, 18}, 228.1, 0},
		{"mrv1-history/chukwa-Hadoop18JobHistoryLog.txt.gz", tally{1, 9, 8, 0, 17}, 29.6, 0},
		{"mrv1-history/job_201002080801_40864.hist.gz", tally{1, 2, 5, 2, 9}, 0, 0},
		{"mrv1-history/job_201311192236_3583_Sleep_job.hist", tally{1, 1, 1, 2, 2}, 0, 0},
		{"mrv2-jhist/job_1329348432655_0001-sleep-10-1.jhist", tally{1, 10, 2, 0, 12}, 0, 1}, // announces one reduce
		{"mrv2-jhist/job_1393307629410_0001-failed.jhist", tally{1, 1, 0, 0, 1}, 0, 0},
		{"mrv2-jhist/job_1400206191003_0001-failed-2.0.3-alpha.jhist", tally{1, 2, 1, 0, 4}, 0, 0},
		{"mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist", tally{1, 1, 1, 0, 2}, 0, 0},
		{"gridmix-traces/trace_1m.json.gz", tally{5, 42, 5, 10, 47}, 50.3, 0},
		{"gridmix-traces/trace_3m.json.gz", tally{12, 148, 18, 24, 166}, 100.7, 0},
		{"gridmix-traces/trace_5m.json.gz", tally{16, 240, 540, 32, 780}, 286.6, 0},
		{"gridmix-traces/trace_7m.json.gz", tally{26, 176, 440, 52, 616}, 341.8, 0},
		{"gridmix-traces/trace_10m.json.gz", tally{29, 77, 184, 58, 261}, 321.1, 0},
		{"gridmix-traces/2m_stream_trace.json.gz", tally{5, 166, 5, 10, 171}, 79.2, 0},
		{"gridmix-traces/3m_stream_trace.json.gz", tally{9, 151, 36, 18, 187}, 95.9, 0},
		{"gridmix-traces/distcache_case1_trace.json.gz", tally{1, 100, 12, 2, 112}, 67.5, 0},
		{"gridmix-traces/distcache_case2_trace.json.gz", tally{2, 200, 17, 4, 217}, 223.2, 0},
		{"gridmix-traces/distcache_case3_trace.json.gz", tally{1, 100, 12, 2, 112}, 52.9, 0},
		{"gridmix-traces/distcache_case7_trace.json.gz", tally{1, 100, 12, 2, 112}, 67.8, 0},
		{"gridmix-traces/compression_case1_trace.json.gz", tally{2, 21, 112, 4, 133}, 223.2, 0},
		{"gridmix-traces/compression_case3_trace.json.gz", tally{1, 100, 12, 2, 112}, 59.9, 0},
	} {
		t.Run(x.file, func(t *testing.T) {
			var files []string
			folder, names, _ := strings.Cut(x.file, "/")
			for name := range strings.FieldsSeq(names) {
				files = append(files, shared(t, folder+"/"+name))
			}
			h := mustOpen(t, files...)
			if got := tallyOf(h); got != x.want {
				t.Errorf("got %+v, want %+v", got, x.want)
			}
			if len(h.Problems) != x.problems {
				t.Errorf("%d problems, want %d: %v", len(h.Problems), x.problems, h.Problems[:min(3, len(h.Problems))])
			}
			if x.makespan > 0 {
				last := time.Duration(0)
				for i := range h.Jobs {
					last = max(last, h.Jobs[i].Finish)
				}
				if got := last.Seconds(); got < x.makespan-0.05 || got > x.makespan+0.05 {
					t.Errorf("makespan %.3f s, want %.1f", got, x.makespan)
				}
			}
		})
	}
}

func TestSharedTopology(t *testing.T) {
	h := mustOpen(t, shared(t, "rumen/dispatch-topology-output.json.gz"))
	if racks, hosts := len(h.Topology.Racks), h.Topology.Hosts(); racks != 41 || hosts != 547 {
		t.Errorf("%d racks and %d hosts, want 41 and 547", racks, hosts)
	}
	// The trace names the same machines as the topology made with it.
	trace := mustOpen(t, shared(t, "rumen/dispatch-trace-output.json.gz"))
	if racks, hosts := len(trace.Topology.Racks), trace.Topology.Hosts(); racks != 41 || hosts != 547 {
		t.Errorf("trace: %d racks and %d hosts, want 41 and 547", racks, hosts)
	}
}

func TestSharedSwim(t *testing.T) {
	for _, x := range []struct {
		file                         string
		jobs, mapOnly, noInput, void int
		in, shuffle, out             float64 // TB
	}{
		{"swim/FB-2009_samples_24_times_1hr_0.tsv.gz", 5894, 75, 86, 33, 26.9, 22.2, 6.9},
		{"swim/FB-2010_samples_24_times_1hr_0.tsv.gz", 24442, 34, -1, 127, 1083, 438, 339},
	} {
		t.Run(x.file, func(t *testing.T) {
			h := mustOpen(t, shared(t, x.file))
			if len(h.Swim) != x.jobs || len(h.Problems) != 0 {
				t.Fatalf("%d jobs, want %d; problems %v", len(h.Swim), x.jobs, h.Problems)
			}
			mapOnly, noInput, void := 0, 0, 0
			var in, shuffle, out float64
			for i, j := range h.Swim {
				if j.ShuffleBytes == 0 {
					mapOnly++
				}
				if j.InputBytes == 0 {
					noInput++
				}
				if j.InputBytes+j.ShuffleBytes+j.OutputBytes == 0 {
					void++
				}
				if i > 0 && j.Submit-h.Swim[i-1].Submit != j.Gap {
					t.Fatalf("%s: gap %v, but %v since the job before", j.ID, j.Gap, j.Submit-h.Swim[i-1].Submit)
				}
				in, shuffle, out = in+float64(j.InputBytes)/1e12, shuffle+float64(j.ShuffleBytes)/1e12, out+float64(j.OutputBytes)/1e12
			}
			if got := int(100*float64(mapOnly)/float64(x.jobs) + 0.5); got != x.mapOnly {
				t.Errorf("%d %% map-only, want %d", got, x.mapOnly)
			}
			if void != x.void || x.noInput >= 0 && noInput != x.noInput {
				t.Errorf("%d jobs without input, %d without anything; want %d, %d", noInput, void, x.noInput, x.void)
			}
			for _, v := range []struct{ got, want float64 }{{in, x.in}, {shuffle, x.shuffle}, {out, x.out}} {
				if d := v.got/v.want - 1; d < -0.01 || d > 0.01 {
					t.Errorf("%.1f TB, want %.1f", v.got, v.want)
				}
			}
		})
	}
}
