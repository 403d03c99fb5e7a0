package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// TestJhistWithConf reads a job and the configuration beside it, in either
// order.
func TestJhistWithConf(t *testing.T) {
	const job = "mrv2-jhist/job_1526555215992_0001"
	for _, paths := range [][]string{
		{shared(t, job+"-pi-1-1.jhist"), shared(t, job+"_conf.xml")},
		{shared(t, job+"_conf.xml"), shared(t, job+"-pi-1-1.jhist")},
	} {
		h := mustOpen(t, paths...)
		if len(h.Problems) > 0 || len(h.Jobs) != 1 {
			t.Fatalf("%d jobs, problems %v", len(h.Jobs), h.Problems)
		}
		j := &h.Jobs[0]
		m, r := &j.Tasks[0].Attempts[0], &j.Tasks[1].Attempts[0]
		for _, x := range []struct {
			what      string
			got, want any
		}{
			{"name", j.Name, "QuasiMonteCarlo"}, {"queue", j.Queue, "default"},
			{"launch", j.Launch, 6254 * time.Millisecond}, {"outcome", j.Outcome, workload.Succeeded},
			{"sort buffer", j.Conf.String("io.sort.mb", ""), "100"}, // set as mapreduce.task.io.sort.mb
			{"node", m.Node, "172.23.244.182"}, {"rack", m.Rack, "default-rack"}, {"locality", m.Locality, workload.NodeLocal},
			{"map phase", m.Phases[workload.PhaseMap], 2031 * time.Millisecond}, {"merge", m.Phases[workload.PhaseMerge], 66 * time.Millisecond},
			{"split read", m.InBytes, int64(118)}, {"map output", m.OutBytes, int64(18)}, {"stored", m.MaterializedBytes, int64(28)},
			{"sort", r.Phases[workload.PhaseMerge], 17 * time.Millisecond}, {"reduce", r.Phases[workload.PhaseReduce], 212 * time.Millisecond},
			{"shuffled", r.ShuffleBytes, int64(28)}, {"groups", r.More.InGroups, int64(2)},
		} {
			if x.got != x.want {
				t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
			}
		}
	}
}

// TestJhistFailed: four attempts of two maps time out and the job fails.
func TestJhistFailed(t *testing.T) {
	h := mustOpen(t, shared(t, "mrv2-jhist/job_1400206191003_0001-failed-2.0.3-alpha.jhist"))
	j := &h.Jobs[0]
	if j.Outcome != workload.Failed || !strings.Contains(j.Error, "Task failed") || j.Queue != "unfunded" {
		t.Errorf("outcome %v (%q) in queue %q", j.Outcome, j.Error, j.Queue)
	}
	for i := range 2 {
		if task := &j.Tasks[i]; task.State != workload.Failed && task.State != workload.Killed || task.Winner() != nil {
			t.Errorf("map %d ended %v", i, task.State)
		}
	}
}

func TestJhistBinary(t *testing.T) {
	path := t.TempDir() + "/j.jhist"
	for _, head := range []string{"Avro-Binary\n{}", "Obj\x01\x04"} {
		writeFile(t, path, head)
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "mapreduce.jobhistory.jhist.format=json") {
			t.Errorf("%q: got %v, want the advice to write JSON", head, err)
		}
	}
}

const jhistSample = `Avro-Json
{"type":"record","name":"Event","namespace":"org.apache.hadoop.mapreduce.jobhistory","fields":[]}
{"type":"JOB_SUBMITTED","event":{"org.apache.hadoop.mapreduce.jobhistory.JobSubmitted":{"jobid":"job_1300000000000_0001","jobName":"n","userName":"u","submitTime":1300000001000,"jobConfPath":"","acls":{},"jobQueueName":"q"}}}
{"type":"JOB_INITED","event":{"org.apache.hadoop.mapreduce.jobhistory.JobInited":{"jobid":"job_1300000000000_0001","launchTime":1300000002000,"totalMaps":1,"totalReduces":0,"jobStatus":"INITED","uberized":false}}}
{"type":"TASK_STARTED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskStarted":{"taskid":"task_1300000000000_0001_m_000000","taskType":"MAP","startTime":1300000003000,"splitLocations":"a,b"}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskAttemptStarted":{"taskid":"task_1300000000000_0001_m_000000","taskType":"MAP","attemptId":"attempt_1300000000000_0001_m_000000_0","startTime":1300000004000,"trackerName":"b","httpPort":1,"shufflePort":2,"containerId":"c","locality":{"string":"RACK_LOCAL"},"avataar":null}}}
{"type":"MAP_ATTEMPT_FINISHED","event":{"org.apache.hadoop.mapreduce.jobhistory.MapAttemptFinished":{"taskid":"task_1300000000000_0001_m_000000","attemptId":"attempt_1300000000000_0001_m_000000_0","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":1300000008000,"finishTime":1300000009000,"hostname":"b","port":1,"rackname":"/r","state":"","counters":{"name":"COUNTERS","groups":[]},"clockSplits":[],"cpuUsages":[],"vMemKbytes":[],"physMemKbytes":[]}}}
{"type":"TASK_FINISHED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskFinished":{"taskid":"task_1300000000000_0001_m_000000","taskType":"MAP","finishTime":1300000009000,"status":"SUCCEEDED","counters":{"name":"COUNTERS","groups":[]},"successfulAttemptId":{"string":"attempt_1300000000000_0001_m_000000_0"}}}}
{"type":"JOB_FINISHED","event":{"org.apache.hadoop.mapreduce.jobhistory.JobFinished":{"jobid":"job_1300000000000_0001","finishTime":1300000010000,"finishedMaps":1,"finishedReduces":0,"failedMaps":0,"failedReduces":0,"totalCounters":{"name":"T","groups":[]},"mapCounters":{"name":"M","groups":[]},"reduceCounters":{"name":"R","groups":[]}}}}
`

func TestJhistDamage(t *testing.T) {
	testDamage(t, jhistSample, []damage{
		{"truncated in an event", cutAfter(6, 100), 7, "the event is lost", 1},
		{"one line is not JSON", insertAt(5, "log4j:WARN no appenders"), 5, "the event is lost", 1},
		{"no finish", deleteLine(7), 6, "has no end", 1},
		{"no start", deleteLine(6), 6, "has no start", 1},
		{"two jobs", replaceIn(9, "job_1300000000000_0001", "job_1300000000000_0002"), 9, "in the history of job_1300000000000_0001", 1},
		{"negative", replaceIn(4, `"totalMaps":1`, `"totalMaps":-4`), 4, "cannot be negative", 1},
		{"wrong count", replaceIn(4, `"totalMaps":1`, `"totalMaps":2`), 3, "but 1 are recorded", 1},
		{"not a time", replaceIn(7, "1300000009000", "-5"), 7, "want a time", 1},
		{"map phase out of order", replaceIn(7, `"mapFinishTime":1300000008000`, `"mapFinishTime":1300000010000`), 7, "out of order", 1},
	})
}
