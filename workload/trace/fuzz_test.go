package trace

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// readBytes reads a text as a file.
func readBytes(data []byte, format string) (*workload.History, error) {
	c := newCollector(Limits{LineBytes: 1 << 16, Attempts: 5000})
	c.file = "fuzz"
	s := &source{}
	if err := s.decompress(bytes.NewReader(data), c.limits); err != nil {
		return nil, err
	}
	defer s.Close()
	if err := c.readSource(s, format); err != nil {
		return nil, err
	}
	if err := c.finishTables(); err != nil {
		return nil, err
	}
	return c.close(), nil
}

// fuzz reads anything as a format. Whatever was read must be in order, and must
// survive everything else that is done with a history.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := readBytes(data, format)
		if err != nil {
			return
		}
		attempts := h.Attempts()
		for i := range attempts {
			a := &attempts[i]
			if workload.Known(a.Start) && workload.Known(a.Finish) && a.Finish < a.Start {
				t.Errorf("%+v finishes before it starts", a)
			}
			for _, d := range a.Phases {
				if workload.Known(d) && d < 0 {
					t.Errorf("%+v has a negative phase", a)
				}
			}
		}
		for _, v := range []int{len(h.Problems), h.Dropped, len(h.Jobs)} {
			if v < 0 {
				t.Error("negative count")
			}
		}
		_, _ = h.Replay(workload.ReplayOptions{Startup: time.Second, Commit: time.Second})
		var p workload.Profiler
		for i := range h.Jobs {
			p.Add(&h.Jobs[i])
		}
		p.Profiles()
		h.Common()
		anonymous := h.Anonymise(&workload.Names{Seed: 1})
		for _, write := range []func(io.Writer, *workload.History) error{writeAttempts, writeJobs, writeRumen} {
			if err := write(io.Discard, h); err != nil {
				t.Error(err)
			}
			if err := write(io.Discard, anonymous); err != nil {
				t.Error(err)
			}
		}
		for _, f := range jobFiles(h) {
			for _, write := range []func(io.Writer) error{f.writeJhist, f.writeMRv1, func(w io.Writer) error { return writeConf(w, f.job.Conf) }} {
				if err := write(io.Discard); err != nil {
					t.Error(err)
				}
			}
		}
		var b bytes.Buffer
		if err := writeAttempts(&b, h); err != nil {
			t.Fatal(err)
		}
		if len(attempts) == 0 || b.Len() > 1<<15 {
			return
		}
		again, err := readBytes(b.Bytes(), "csv")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, b.Bytes())
		}
		if got := len(again.Attempts()); got != len(attempts) {
			t.Errorf("%d attempts became %d: %v\n%s", len(attempts), got, again.Problems, b.Bytes())
		}
	})
}

// sampleFile is the beginning of a sample, decompressed: what the fuzzer is to
// change is the text.
func sampleFile(f *testing.F, name string) string {
	f.Helper()
	s, err := openSource(nil, filepath.Join("testdata", name), Limits{}.withDefaults())
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	const enough = 4 << 10
	text := make([]byte, enough)
	n, _ := io.ReadFull(s, text)
	return string(text[:n])
}

const confSample = `<?xml version="1.0"?><configuration>
<property><name>io.sort.mb</name><value>100</value><final>true</final></property>
<property><name>x</name><value>a &amp; b</value><source>job.xml</source></property>
</configuration>`

const rumenSample = `{"jobID":"job_1_0001","jobName":"n","priority":"HIGH","submitTime":1300000000000,"totalMaps":1,"totalReduces":1,"outcome":"SUCCESS",
"jobProperties":{"io.sort.mb":"100"},"mapTasks":[{"taskID":"task_1_0001_m_000000","taskType":"MAP","taskStatus":"SUCCESS","startTime":1300000001000,
"preferredLocations":[{"layers":["r","h\\.x"]}],"attempts":[{"attemptID":"attempt_1_0001_m_000000_0","hostName":"/r/h\\.x","result":"SUCCESS",
"startTime":1300000001000,"finishTime":1300000002000,"mapInputRecords":5,"spilledRecords":-1,"clockSplits":[1,2]}]}],
"reduceTasks":[{"taskID":"task_1_0001_r_000000","taskType":"REDUCE","attempts":[{"attemptID":"attempt_1_0001_r_000000_0","result":"KILLED","startTime":1300000001000,
"shuffleFinished":1300000001500,"sortFinished":1300000001600,"finishTime":1300000001700}]}]}
{"jobID":"job_1_0002","mapTasks":null}
`

const topologySample = `{"name":"<root>","children":[{"name":"r1","children":[{"name":"h1","children":null},{"name":"h2","children":[]}]}]}`

const hituneSample = `csource,capp,id,TASK_TYPE,START_TIME,FINISH_TIME,SPLITS,TASK_STATUS,Map input bytes,TRACKER_NAME,TASKID
s,/x/h_1_job_1_0001_ann_sort,task_1_0001_m_000000,MAP,1300000001000,1300000002000,/r/a;/r/b,SUCCESS,5,,
s,/x/h_1_job_1_0001_ann_sort,attempt_1_0001_m_000000_0,,1300000001000,1300000002000,,SUCCESS,5,tracker_a:localhost/127\.0\.0\.1:1,task_1_0001_m_000000
`

func FuzzDetect(f *testing.F) {
	fuzz(f, "", mrv1Sample, jhistSample, tableSample, slsSample, confSample, rumenSample, topologySample, hituneSample,
		"job0\t49\t49\t740773\t2339561\t627471\n", "a.b=c\n", sampleFile(f, "counters-test-trace.json.gz"), sampleFile(f, "ReduceAttempt.csv.gz"))
}

func FuzzSwim(f *testing.F) {
	fuzz(f, "swim", sampleFile(f, "FB-2009-first-40.tsv"), "j\t1\t1\t2\t3\t4\tpath\t\t\n")
}
func FuzzRumen(f *testing.F) {
	fuzz(f, "rumen", rumenSample, sampleFile(f, "counters-test-trace.json.gz"))
}
func FuzzTopology(f *testing.F) {
	fuzz(f, "topology", topologySample, sampleFile(f, "dispatch-topology-output.json.gz"))
}
func FuzzMRv1(f *testing.F) {
	fuzz(f, "history", mrv1Sample, "!!FILE=job_1_0001_conf.xml!!\n"+confSample+"\f!!FILE=x!!\n"+mrv1Sample,
		sampleFile(f, "chukwa-Hadoop18JobHistoryLog.txt.gz"), sampleFile(f, "job_201311192236_3583_Sleep_job.hist"))
}
func FuzzJhist(f *testing.F) {
	fuzz(f, "jhist", jhistSample, sampleFile(f, "job_1526555215992_0001-pi-1-1.jhist"))
}
func FuzzConf(f *testing.F)       { fuzz(f, "conf", confSample) }
func FuzzProperties(f *testing.F) { fuzz(f, "properties", "io.sort.mb=100\n# x\n!y\na b\n") }
func FuzzTable(f *testing.F) {
	fuzz(f, "csv", tableSample, "job\tkey\tvalue\na\tb\tc\n", "job\tmaps\tsubmit_s\tfinish_ts\nx\t3\t1.5\t1300000000000\n",
		"job,kind,slot,index,attempt,tracker,start_ms,finish_ms,state\na,setup,reduce,1,0,c0,5,9,KILLED_UNCLEAN\n",
		"job\ttype\ttask\ttotal_run_ms\tread_ms\tspills\na\tMAP\t0\t5\t1\t2\n",
		",task,kind,p_map_ts\n,0,map,1\n") // a length of time that is an instant
}
func FuzzHiTune(f *testing.F) {
	fuzz(f, "hitune", hituneSample, sampleFile(f, "ReduceAttempt.csv.gz"))
}
func FuzzDynoYARN(f *testing.F) { fuzz(f, "dynoyarn", dynoSample) }
func FuzzSynth(f *testing.F)    { fuzz(f, "synth", synthSample) }
func FuzzSLS(f *testing.F) {
	fuzz(f, "sls", slsSample, `{"rack":"r","nodes":[{"node":"n"}]}`)
}
