package trace

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

const dynoSample = `{"amResourceRequest":{"memoryMB":4096,"vcores":2},"appId":"app_1","appType":"MAPREDUCE","queue":"etl","user":"ann","submitTime":1607151674000,
"resourceRequestSpecs":[{"runtimes":[5000],"numInstances":1,"resource":{"memoryMB":8192,"vcores":2},"priority":10},{"runtimes":[21197, 100],"numInstances":1,"resource":{"memoryMB":2048,"vcores":1},"priority":20}]}
{"appId":"app_2","submitTime":1607151675000,"user":"bob","queue":"default","resourceRequestSpecs":[{"delay":5,"numInstances":3,"averageRuntime":1500,"runtimes":[7],"priority":1,"resource":{"memoryMB":1024,"gpus":1}}]}
`

// The containers of the larger priority number are maps, the others reduces; an average
// goes before a list of times.
func TestDynoYARN(t *testing.T) {
	h := readString(t, "w.json", dynoSample)
	if len(h.Problems) > 0 || len(h.Jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(h.Jobs), h.Problems)
	}
	j := &h.Jobs[0]
	got := fmt.Sprint(j.ID, " ", j.User, " ", j.Queue, " ", j.Maps, j.Reduces, j.Tasks[1].Finish-j.Submit, j.Tasks[2].Kind, j.Tasks[2].Start-j.Submit, j.Tasks[2].Finish-j.Tasks[2].Start, h.Jobs[1].Submit-j.Submit)
	if want := "app_1 ann etl 2 1 100ms reduce 21.197s 5s 1s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for key, want := range map[string]string{
		"yarn.app.mapreduce.am.resource.mb": "4096", "mapreduce.map.memory.mb": "2048", "mapreduce.reduce.memory.mb": "8192", "mapreduce.reduce.cpu.vcores": "2",
		"mapreduce.job.reduce.slowstart.completedmaps": "1",
	} {
		if got := j.Conf.String(key, ""); got != want {
			t.Errorf("%s: got %q, want %s", key, got, want)
		}
	}
	if k := &h.Jobs[1]; k.Maps != 3 || k.Tasks[2].Finish-k.Submit != 1500*time.Millisecond {
		t.Errorf("got %d maps of %v: want 3 of 1.5 s", k.Maps, k.Tasks[2].Finish-k.Submit)
	}
}

const synthSample = `{"description":"d","num_nodes":20,"nodes_per_rack":4,"num_jobs":400,"rand_seed":2,"workloads":[
{"workload_weight":0.5,"queue_name":"q1","job_classes":[{"class_name":"c1","user_name":"u","class_weight":1.0,"type":"mapreduce",
"tasks":[{"type":"map","priority":20,"count":{"val":5,"std":1},"time":{"val":10,"std":2},"max_memory":{"val":100},"max_vcores":{"discrete":["2"]}},
{"type":"reduce","priority":10,"count":{"val":5,"std":1,"dist":"NORM"},"time":{"discrete":["3","9"],"weights":[1,2]},"max_memory":{"val":2048},"max_vcores":{"val":2}}]}],
"time_distribution":[{"time":1,"weight":100},{"time":60,"weight":0}]}]}`

// The drawn jobs have the means of their classes, at least 1 GiB in a container, and are
// submitted within the drawn part of the day; the older keys mean the same.
func TestSynth(t *testing.T) {
	older := `{"num_nodes":20,"nodes_per_rack":4,"num_jobs":400,"rand_seed":2,"workloads":[{"workload_weight":1,"queue_name":"q1","job_classes":[
{"class_name":"c1","user_name":"u","class_weight":1.0,"mtasks_avg":5,"mtasks_stddev":1,"rtasks_avg":5,"rtasks_stddev":1,"mtime_avg":10,"mtime_stddev":2,
"rtime_avg":7,"rtime_stddev":2,"map_max_memory_avg":100,"map_max_memory_stddev":0.001,"map_max_vcores_avg":2,"map_max_vcores_stddev":0.001,
"reduce_max_memory_avg":2048,"reduce_max_memory_stddev":0.001,"reduce_max_vcores_avg":2,"reduce_max_vcores_stddev":0.001}],"time_distribution":[{"time":1,"weight":100},{"time":60,"weight":0}]}]}`
	for name, text := range map[string]string{"tasks": synthSample, "older": older} {
		h := readString(t, "syn.json", text)
		if len(h.Problems) > 0 || len(h.Jobs) != 400 || h.Topology.Hosts() != 20 || len(h.Topology.Racks) != 5 {
			t.Fatalf("%s: %d jobs on %d machines, %v", name, len(h.Jobs), h.Topology.Hosts(), h.Problems)
		}
		var n, seconds [2]float64
		first, last := time.Hour, time.Duration(0)
		for i := range h.Jobs {
			j := &h.Jobs[i]
			first, last = min(first, j.Submit), max(last, j.Submit)
			for k := range j.Tasks {
				x := &j.Tasks[k]
				n[x.Kind]++
				seconds[x.Kind] += (x.Finish - x.Start).Seconds()
			}
			if got := j.Conf.String("mapreduce.map.memory.mb", "") + j.Conf.String("mapreduce.map.cpu.vcores", "") + j.Conf.String("mapreduce.reduce.memory.mb", ""); got != "102422048" {
				t.Fatalf("%s: sizes %s", name, got)
			}
		}
		for kind, mean := range [2]float64{10, 7} {
			if math.Abs(n[kind]/400-5) > 0.2 || math.Abs(seconds[kind]/n[kind]-mean) > 0.3 {
				t.Errorf("%s: %v: %.2f tasks a job of %.2f s: want 5 of %g", name, workload.Kind(kind), n[kind]/400, seconds[kind]/n[kind], mean)
			}
		}
		if first < 0 || last-first > 59*time.Second || last-first < 50*time.Second {
			t.Errorf("%s: submitted from %v to %v: want over 59 s", name, first, last)
		}
	}
}

// More nodes or jobs than a question may have are refused before they are made.
func TestSynthOfTooMany(t *testing.T) {
	for _, c := range [][2]string{{`"num_nodes":20`, `"num_nodes":1000000000000`}, {`"num_jobs":400`, `"num_jobs":1000000000000`}} {
		h := readString(t, "syn.json", strings.Replace(synthSample, c[0], c[1], 1))
		if len(h.Jobs) > 0 || len(h.Problems) != 1 || !strings.Contains(h.Problems[0].String(), "1000000000000") {
			t.Errorf("%s: %d jobs, %v", c[1], len(h.Jobs), h.Problems)
		}
	}
}
