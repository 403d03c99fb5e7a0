package validation

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// records reads a table by the names of its columns.
func records(t *testing.T, path string) []map[string]string {
	t.Helper()
	data, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	text, err := gzip.NewReader(data)
	if err != nil {
		t.Fatal(err)
	}
	in := csv.NewReader(text)
	in.LazyQuotes = true // names of threads
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, row := range rows[1:] {
		r := map[string]string{}
		for i, name := range rows[0] {
			r[name] = row[i]
		}
		all = append(all, r)
	}
	return all
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func quantile(v []float64, p float64) float64 {
	v = slices.Sorted(slices.Values(v))
	at := p * float64(len(v)-1)
	i := min(int(at), len(v)-2)
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// taskRun is what the tasks of a run show.
type taskRun struct {
	attempts []workload.Attempt
	finish   time.Duration
	devices  []model.DeviceUse
}

func (r *taskRun) Attempt(a *workload.Attempt) { r.attempts = append(r.attempts, *a) }

func runTasks(q model.WhatIf) (*taskRun, error) {
	r := &taskRun{}
	p, err := sim.Simulator{Recorder: r}.Predict(q)
	r.finish, r.devices = p.Mean, p.Devices
	return r, err
}

// of is something of each successful task of a kind.
func (r *taskRun) of(k workload.Kind, something func(*workload.Attempt) float64) (all []float64) {
	for i := range r.attempts {
		if a := &r.attempts[i]; a.Kind == k && a.State == workload.Succeeded {
			all = append(all, something(a))
		}
	}
	return all
}

func inPhases(phases ...workload.Phase) func(*workload.Attempt) float64 {
	return func(a *workload.Attempt) (s float64) {
		for _, p := range phases {
			s += a.Phases[p].Seconds()
		}
		return s
	}
}

// samples is what HiTune's sampler saw of the recorded Sort.
type samples struct {
	phases map[string]map[int]float64 // seconds of a successful task: by phase and task
	still  string                     // the node that lost more than half of its samples, and when nothing happened there
	from   float64                    // seconds
	until  float64
}

// readSamples takes the phases of maps apart by the part of the samples that are
// in the reader and in the flush of the output.
func readSamples(t *testing.T) *samples {
	t.Helper()
	folder := shared(t, "data/hitune-sort")
	s := &samples{phases: map[string]map[int]float64{"read": {}, "collect": {}, "spill": {}, "write": {}}}
	begin := number(t, records(t, folder+"/job.csv.gz")[0]["SUBMIT_TIME"])
	won, events := map[string]bool{}, map[string][]float64{}
	for _, table := range []string{"MapAttempt", "ReduceAttempt"} {
		for _, r := range records(t, folder+"/"+table+".csv.gz") {
			won[r["id"]] = r["TASK_STATUS"] == "SUCCESS"
			host, _, _ := strings.Cut(strings.TrimPrefix(r["TRACKER_NAME"], "tracker_"), ":")
			if table == "MapAttempt" && won[r["id"]] {
				events[host] = append(events[host], (number(t, r["FINISH_TIME"])-begin)/1000)
			}
		}
	}
	every := map[string][]float64{} // ms between samples, by host
	for _, table := range []string{"map", "red"} {
		for _, r := range records(t, folder+"/instruments_"+table+".csv.gz") {
			from, count := number(t, r["phase_start"]), number(t, r["phase_count"])
			length := (number(t, r["phase_end"]) - from) / 1000
			if table == "map" {
				events[r["host"]] = append(events[r["host"]], (from-begin)/1000)
			}
			if r["phase_name"] == "Shuffle" {
				every[r["host"]] = append(every[r["host"]], 1000*length/count)
			}
			if !won[r["attempt_id"]] || count == 0 {
				continue
			}
			task := int(number(t, strings.Split(r["attempt_id"], "_")[4]))
			part := length * number(t, r["breakdown_count"]) / count
			switch {
			case r["phase_name"] == "Reduce":
				s.phases["write"][task] = length
			case r["phase_name"] != "Mapphase" || r["breakdown_type"] != "function":
			case strings.HasSuffix(r["breakdown_name"], "TrackedRecordReader.next"):
				s.phases["read"][task] = part
				s.phases["collect"][task] += length - part
			case r["breakdown_name"] == "MapOutputBuffer.flush":
				s.phases["spill"][task] = part
				s.phases["collect"][task] -= part
			}
		}
	}
	var usual []float64
	for _, e := range every {
		usual = append(usual, quantile(e, 0.5))
	}
	for host, e := range every {
		if quantile(e, 0.5) > 2*quantile(usual, 0.5) {
			s.still = host
		}
	}
	at := slices.Sorted(slices.Values(events[s.still]))
	for i := range at[1:] {
		// After the last maps a node has nothing to do but to copy.
		if at[i+1]-at[i] > s.until-s.from && at[i+1] < 200 {
			s.from, s.until = at[i], at[i+1]
		}
	}
	return s
}

// sortPhases are the phases that the samples tell, as the simulation has them.
var sortPhases = []struct {
	name string
	kind workload.Kind
	of   func(*workload.Attempt) float64
}{
	{"read", workload.Map, inPhases(workload.PhaseRead)},
	{"collect", workload.Map, inPhases(workload.PhaseMap, workload.PhaseCollect)},
	{"spill", workload.Map, inPhases(workload.PhaseSpill)},
	{"write", workload.Reduce, inPhases(workload.PhaseReduce, workload.PhaseWrite)},
}

// measured is the medians of the tasks of even or odd numbers, ms.
func (s *samples) measured(odd int) platform.Profile {
	return sortProfile(func(phase int) (half []float64) {
		for task, seconds := range s.phases[sortPhases[phase].name] {
			if task%2 == odd {
				half = append(half, seconds)
			}
		}
		return half
	})
}

func (r *taskRun) sortPhases() platform.Profile {
	return sortProfile(func(phase int) []float64 { return r.of(sortPhases[phase].kind, sortPhases[phase].of) })
}

// sortProfile has a row for each phase, all of the same data.
func sortProfile(times func(int) []float64) platform.Profile {
	p := platform.Profile{{Phase: "merge"}, {Phase: "shuffle"}}
	for i, phase := range sortPhases {
		p.Add(phase.name, platform.PhaseRow{MB: 128, MS: 1000 * quantile(times(i), 0.5)})
	}
	return p
}

func openSort(t *testing.T, seed uint64) model.WhatIf {
	t.Helper()
	f, err := scenarios.Open("hitune-sort")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(seed)
	if err != nil {
		t.Fatal(err)
	}
	return s.Runs[0].Question
}

// sortFacts is what the job's clock shows, seconds since its submission.
type sortFacts struct {
	maps, shuffles, reduces []float64 // ends
	job                     float64
	local                   float64 // part of the maps
	read, written           float64 // bytes of local disks
	use                     [2][3]float64
}

// systemSamples holds what sar and iostat of the eight slaves wrote every 5 s: cpu.csv,
// io.csv (mean use and sums of the three disks with data; a kB is 1024 bytes) and
// network.csv (eth1) of HiTune's visual_report_example, under the Apache licence 2.0.
const systemSamples = "testdata/hitune-sort-system.csv.gz"

// sortDevices are the devices of sortFacts.use, by their column of systemSamples, with
// what a share of 1 is there. Of a gigabit, frames of 1514 of 1538 bytes are counted
// as received.
var sortDevices = [3]struct {
	name, column string
	whole        float64
}{{"cpu", "cpu_percent", 100}, {"disk", "disks_percent", 100}, {"network-in", "received_mb_s", 125 * 1514.0 / 1538}}

// mean takes the mean use of the devices until the last map but one ended (the last
// one waited a minute for a node that stood still), and after that.
func (f *sortFacts) mean(of func(device int, from, until float64) float64) {
	parted := quantile(f.maps, float64(len(f.maps)-2)/float64(len(f.maps)-1))
	for i := range sortDevices {
		f.use[0][i], f.use[1][i] = of(i, 0, parted), of(i, parted, f.job)
	}
}

// recordedSort takes the facts from the tables.
func recordedSort(t *testing.T) *sortFacts {
	t.Helper()
	h, err := trace.Open(shared(t, "data/hitune-sort"))
	if err != nil {
		t.Fatal(err)
	}
	j, f := &h.Jobs[0], &sortFacts{}
	for i := range j.Tasks {
		switch w := j.Tasks[i].Winner(); j.Tasks[i].Kind {
		case workload.Map:
			f.maps = append(f.maps, w.Finish.Seconds())
			if w.Locality == workload.NodeLocal {
				f.local++
			}
		case workload.Reduce:
			f.shuffles = append(f.shuffles, (w.Start + w.Phases[workload.PhaseStartup] + w.Phases[workload.PhaseShuffle]).Seconds())
			f.reduces = append(f.reduces, w.Finish.Seconds())
		}
	}
	job := records(t, shared(t, "data/hitune-sort/job.csv.gz"))[0]
	f.read, f.written = number(t, job["FILE_BYTES_READ"]), number(t, job["FILE_BYTES_WRITTEN"])
	f.job, f.local = j.Finish.Seconds(), f.local/float64(len(f.maps))
	system := records(t, systemSamples)
	f.mean(func(device int, from, until float64) float64 {
		sum, n := 0.0, 0.0
		for _, r := range system {
			const half = 2.5 // seconds: middle of a sample
			if at := number(t, r["until_s"]) - half; at > from && at <= until {
				sum, n = sum+number(t, r[sortDevices[device].column])/sortDevices[device].whole, n+1
			}
		}
		return sum / n
	})
	return f
}

func (r *taskRun) sort() *sortFacts {
	end := func(a *workload.Attempt) float64 { return a.Finish.Seconds() }
	f := &sortFacts{
		maps: r.of(workload.Map, end), reduces: r.of(workload.Reduce, end), job: r.finish.Seconds(),
		shuffles: r.of(workload.Reduce, func(a *workload.Attempt) float64 {
			return (a.Start + a.Phases[workload.PhaseStartup] + a.Phases[workload.PhaseShuffle]).Seconds()
		}),
	}
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		for _, bytes := range r.of(kind, func(a *workload.Attempt) float64 { return float64(a.LocalReadBytes) }) {
			f.read += bytes
		}
		for _, bytes := range r.of(kind, func(a *workload.Attempt) float64 { return float64(a.LocalWriteBytes) }) {
			f.written += bytes
		}
	}
	for _, here := range r.of(workload.Map, func(a *workload.Attempt) float64 {
		if a.Locality == workload.NodeLocal {
			return 1
		}
		return 0
	}) {
		f.local += here / float64(len(f.maps))
	}
	f.mean(func(device int, from, until float64) float64 {
		sum, all := 0.0, 0.0
		for _, d := range r.devices {
			if d.Node == "*" || !strings.HasPrefix(d.Device, sortDevices[device].name) {
				continue
			}
			for i, use := range d.Uses {
				seconds := max(0, min(d.Times[i+1].Seconds(), until)-max(d.Times[i].Seconds(), from))
				sum, all = sum+seconds*use.Busy, all+seconds
			}
		}
		return sum / all
	})
	return f
}

// HiTune's own Sort on the devices that sar and iostat saw, with and without the
// standstills of a node: phases, the job's clock, and the mean use of devices.
func TestHiTuneSort(t *testing.T) {
	s := readSamples(t)
	for _, file := range []string{"job", "MapTask", "MapAttempt", "ReduceTask", "ReduceAttempt"} {
		file = "data/hitune-sort/" + file + ".csv.gz"
		if data, _ := scenarios.Data(file); string(data) != read(t, shared(t, file)) {
			t.Errorf("%s is not what was recorded", file)
		}
	}
	loads := openSort(t, 1).Cluster.Loads
	if l := loads[0]; math.Abs(l.From.Seconds()-s.from) > 1 || math.Abs(l.Until.Seconds()-s.until) > 1 {
		t.Errorf("first standstill: %+v, want %.0f to %.0f s", l, s.from, s.until)
	}
	later := loads[len(loads)-1]
	for _, r := range records(t, systemSamples) {
		const step = 5 // seconds
		until, received := number(t, r["until_s"]), number(t, r["received_mb_s"])
		if r["node"] == s.still && until-step >= later.From.Seconds() && until <= later.Until.Seconds() && received > 0.1 {
			t.Errorf("second standstill: %+v, but %s received %.1f MB/s until %.0f s", later, s.still, received, until)
		}
	}
	const seeds = 3
	want := recordedSort(t)
	var runs [2][]*sortFacts // as it was, and without standstills
	var phases [seeds]platform.Profile
	for seed := range seeds {
		for smooth := range runs {
			q := openSort(t, uint64(seed)+1)
			if smooth == 1 {
				q.Cluster.Loads = nil
			}
			r, err := runTasks(q)
			if err != nil {
				t.Fatal(err)
			}
			runs[smooth] = append(runs[smooth], r.sort())
			if smooth == 0 {
				phases[seed] = r.sortPhases()
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| median of a phase | even tasks: measured s | odd tasks: measured s | simulated | of odd tasks |\n|---|---|---|---|---|\n")
	even, odd := s.measured(0), s.measured(1)
	for i, phase := range even[2:] {
		got := 0.0
		for _, p := range phases {
			got += p[i+2].Rows[0].MS / seeds / 1000
		}
		known, other := phase.Rows[0].MS/1000, odd[i+2].Rows[0].MS/1000
		name := map[string]string{"spill": "flush of the map's output", "write": "reduce phase"}[phase.Phase]
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.2f | %+.1f %% |\n", cmp.Or(name, phase.Phase), known, other, got, 100*(got/other-1))
		// Half of the flushes find room in memory and take a second, the others ten:
		// their median lies where it is steep.
		most := cmp.Or(map[string]float64{"spill": 0.25, "read": 0.15}[phase.Phase], 0.08)
		if math.Abs(got/known-1) > most {
			t.Errorf("%s: %.2f s, want %.2f", phase.Phase, got, known)
		}
	}
	evidence.Compare(t, "hitune-sort-phases", b.String(), *update)
	b.Reset()
	fmt.Fprintf(&b, "| figure | measured | simulated (%d seeds) | difference | without standstills of %s | difference |\n|---|---|---|---|---|---|\n", seeds, s.still)
	off := map[string][2]float64{}
	row := func(name, format string, of func(*sortFacts) float64) {
		fmt.Fprintf(&b, "| %s | "+format+" |", name, of(want))
		var offs [2]float64
		for k := range runs {
			mean, low, high := 0.0, math.Inf(1), math.Inf(-1)
			for _, f := range runs[k] {
				mean, low, high = mean+of(f)/seeds, math.Min(low, of(f)), math.Max(high, of(f))
			}
			offs[k] = mean/of(want) - 1
			result := ""
			if math.Abs(offs[k]) > 0.1 {
				result = ", miss"
			}
			fmt.Fprintf(&b, " "+format+" ("+format+" to "+format+") | %+.1f %%%s |", mean, low, high, 100*offs[k], result)
		}
		b.WriteString("\n")
		off[name] = offs
	}
	at := func(p float64, list func(*sortFacts) []float64) func(*sortFacts) float64 {
		return func(f *sortFacts) float64 { return quantile(list(f), p) }
	}
	maps := func(f *sortFacts) []float64 { return f.maps }
	shuffles := func(f *sortFacts) []float64 { return f.shuffles }
	reduces := func(f *sortFacts) []float64 { return f.reduces }
	row("job, s", "%.1f", func(f *sortFacts) float64 { return f.job })
	row("half of the maps ended", "%.1f", at(0.5, maps))
	row("95 % of the maps ended", "%.1f", at(0.95, maps))
	row("last map but one ended", "%.1f", at(638.0/639, maps))
	row("last map ended", "%.1f", at(1, maps))
	row("first shuffle ended", "%.1f", at(0, shuffles))
	row("last shuffle ended", "%.1f", at(1, shuffles))
	row("first reduce ended", "%.1f", at(0, reduces))
	row("second reduce ended", "%.1f", at(1.0/31, reduces))
	row("a quarter of the reduces ended", "%.1f", at(0.25, reduces))
	row("half of the reduces ended", "%.1f", at(0.5, reduces))
	row("last reduce ended", "%.1f", at(1, reduces))
	row("maps next to their split, %", "%.1f", func(f *sortFacts) float64 { return 100 * f.local })
	row("GB read from local disks", "%.2f", func(f *sortFacts) float64 { return f.read / 1e9 })
	row("GB written to local disks", "%.2f", func(f *sortFacts) float64 { return f.written / 1e9 })
	for part, name := range []string{"while maps run", "while reduces write"} {
		for i, device := range []string{"processors", "disks", "network"} {
			figure := fmt.Sprintf("%s %s, %% busy", device, name)
			row(figure, "%.1f", func(f *sortFacts) float64 { return 100 * f.use[part][i] })
			if math.Abs(off[figure][0]) > 0.15 {
				t.Errorf("%s: %+.1f %%", figure, 100*off[figure][0])
			}
		}
	}
	for name, most := range map[string]float64{
		"job, s": 0.15, "last reduce ended": 0.15, "half of the reduces ended": 0.15,
		"maps next to their split, %": 0.03, "GB read from local disks": 0.005, "GB written to local disks": 0.005,
	} {
		if o := off[name][0]; math.Abs(o) > most {
			t.Errorf("%s: %+.1f %%, want at most %v", name, 100*o, most)
		}
	}
	evidence.Compare(t, "hitune-sort", b.String(), *update)
}
