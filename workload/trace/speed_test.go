package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// rumenText is a trace of n jobs of 40 maps and 10 reduces each, in Rumen's
// own layout.
func rumenText(n int) []byte {
	var b bytes.Buffer
	for j := range n {
		fmt.Fprintf(&b, "{\n  \"priority\" : \"NORMAL\",\n  \"jobID\" : \"job_201001010000_%04d\",\n  \"user\" : \"u%d\",\n  \"jobName\" : \"n\",\n  \"mapTasks\" : [ ", j, j%7)
		tasks := func(letter byte, kind string, count int) {
			for i := range count {
				if i > 0 {
					b.WriteString(", ")
				}
				fmt.Fprintf(&b, "{\n    \"startTime\" : 1262304%06d,\n    \"taskID\" : \"task_201001010000_%04d_%c_%06d\",\n    \"taskType\" : %q,\n    \"attempts\" : [ {\n", i, j, letter, i, kind)
				fmt.Fprintf(&b, "      \"location\" : {\n        \"layers\" : [ \"rack%d\", \"host%d\" ]\n      },\n      \"hostName\" : \"/rack%d/host%d\",\n", i%5, i, i%5, i)
				fmt.Fprintf(&b, "      \"result\" : \"SUCCESS\",\n      \"startTime\" : 1262304%06d,\n      \"finishTime\" : 1262305%06d,\n      \"attemptID\" : \"attempt_201001010000_%04d_%c_%06d_0\",\n", i+1, i, j, letter, i)
				for _, f := range []string{"hdfsBytesRead", "hdfsBytesWritten", "fileBytesRead", "fileBytesWritten", "mapInputRecords", "mapOutputBytes",
					"mapOutputRecords", "combineInputRecords", "reduceInputGroups", "reduceInputRecords", "reduceShuffleBytes", "reduceOutputRecords", "spilledRecords", "mapInputBytes"} {
					fmt.Fprintf(&b, "      %q : %d,\n", f, 12345*i-1)
				}
				b.WriteString("      \"clockSplits\" : [ 1481, 1481, 1481, 1481, 1481, 1481, 1169, 1064, 1064, 1173, 1197, 2485 ]\n    } ],\n    \"preferredLocations\" : [ {\n      \"layers\" : [ \"rack1\", \"host1\" ]\n    } ],\n")
				fmt.Fprintf(&b, "    \"finishTime\" : 1262305%06d,\n    \"inputBytes\" : 5,\n    \"inputRecords\" : 6,\n    \"outputBytes\" : 7,\n    \"outputRecords\" : 8,\n    \"taskStatus\" : \"SUCCESS\"\n  }", i)
			}
		}
		tasks('m', "MAP", 40)
		b.WriteString(" ],\n  \"reduceTasks\" : [ ")
		tasks('r', "REDUCE", 10)
		fmt.Fprintf(&b, " ],\n  \"submitTime\" : 1262304000%03d,\n  \"launchTime\" : 1262304001000,\n  \"finishTime\" : 1262306000000,\n  \"totalMaps\" : 40,\n  \"totalReduces\" : 10,\n  \"outcome\" : \"SUCCESS\"\n}\n", j%1000)
	}
	return b.Bytes()
}

// BenchmarkRumen: megabytes of a trace per second on one core, streamed.
func BenchmarkRumen(b *testing.B) {
	text := rumenText(100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		jobs := 0
		err := readRumen(bytes.NewReader(text), "trace", Limits{}, func(*workload.HistoryJob) error { jobs++; return nil },
			func(p workload.Problem) { b.Fatal(p) })
		if err != nil || jobs != 100 {
			b.Fatal(jobs, err)
		}
	}
}

// BenchmarkRumenFiles: the same of recorded traces, decompression included, per
// megabyte of content.
func BenchmarkRumenFiles(b *testing.B) {
	for _, file := range []string{"rumen/folder-input-trace.json.gz", "gridmix-traces/trace_5m.json.gz", "rumen/dispatch-trace-output.json.gz"} {
		b.Run(file, func(b *testing.B) {
			path := shared(b, file)
			b.SetBytes(int64(len(gunzip(b, path))))
			for b.Loop() {
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				err = readRumen(f, file, Limits{}, func(*workload.HistoryJob) error { return nil }, func(p workload.Problem) { b.Fatal(p) })
				f.Close()
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestRumenMemory streams a trace sixteen times as long as another one: the live
// memory must not grow with it.
func TestRumenMemory(t *testing.T) {
	peak := func(copies int) uint64 {
		text := rumenText(50)
		// The same jobs again would be refused: their ids are made new.
		r, w := io.Pipe()
		go func() {
			for i := range copies {
				w.Write(bytes.ReplaceAll(text, []byte("201001010000"), fmt.Appendf(nil, "2010010100%02d", i)))
			}
			w.Close()
		}()
		most, jobs := uint64(0), 0
		err := readRumen(r, "trace", Limits{Attempts: 100}, func(*workload.HistoryJob) error {
			if jobs++; jobs%20 == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			return nil
		}, func(p workload.Problem) { t.Fatal(p) })
		if err != nil || jobs != 50*copies {
			t.Fatal(jobs, err)
		}
		return most
	}
	small, large := peak(2), peak(32)
	const noise = 6 << 20 // of the test's own text
	if large > small+noise {
		t.Errorf("%d KiB live for a trace of one length, %d KiB for sixteen times that", small>>10, large>>10)
	}
}

// TestManyHistories profiles many small job histories. A history costs a fixed number of
// allocations, however many there are; the benchmark below has the time.
func TestManyHistories(t *testing.T) {
	const files = 300
	dir := t.TempDir()
	for i := range files {
		text := strings.ReplaceAll(mrv1Sample, "201001010000_0001", fmt.Sprintf("201001010000_%04d", i+1))
		writeFile(t, filepath.Join(dir, fmt.Sprintf("host_1262304000000_job_201001010000_%04d_ann_word", i+1)), text)
	}
	var p workload.Profiler
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := ReadOptions{}.Each([]string{dir}, func(j *workload.HistoryJob) error { p.Add(j); return nil })
	if err != nil || len(h.Problems) > 0 {
		t.Fatal(err, h)
	}
	if all := p.Profiles(); len(all) != 1 || all[0].Runs != files {
		t.Fatalf("%d profiles", len(all))
	}
	runtime.ReadMemStats(&after)
	each := (after.Mallocs - before.Mallocs) / files
	t.Logf("%d allocations a history", each)
	if each > 500 {
		t.Errorf("%d allocations a history: want at most 500", each)
	}
}

// BenchmarkJhistProfile: one small MRv2 history, read and profiled.
func BenchmarkJhistProfile(b *testing.B) {
	text, err := os.ReadFile(shared(b, "mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist"))
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "j.jhist")
	writeFile(b, path, string(text))
	for b.Loop() {
		var p workload.Profiler
		if _, err := (ReadOptions{}).Each([]string{path}, func(j *workload.HistoryJob) error { p.Add(j); return nil }); err != nil {
			b.Fatal(err)
		}
		p.Profiles()
	}
}

// readRumen reads a Rumen trace, calling each for every job as soon as it is
// complete; instants are then Unix times. It keeps one job in memory. file
// names the source in problems; what is lost goes to report.
func readRumen(r io.Reader, file string, limits Limits, each func(*workload.HistoryJob) error, report func(workload.Problem)) error {
	c := newCollector(limits)
	c.file, c.each, c.passing = file, each, true
	s := &source{}
	if err := s.decompress(r, c.limits); err != nil {
		return err
	}
	defer s.Close()
	err := c.readRumen(s)
	c.damage(s)
	for _, p := range c.h.Problems {
		report(p)
	}
	return err
}
