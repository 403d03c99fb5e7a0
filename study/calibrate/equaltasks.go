package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/workload"
)

// taskTimes are the times of tasks of one kind of a job that would be equal on
// equal machines: without what their data and the attempts beside them explain.
type taskTimes struct {
	host []string
	log  []float64 // of seconds
	used int       // covariates, each of which takes a degree of freedom
}

// hostFactor is how much longer the tasks of a machine take than those of the
// median machine.
type hostFactor struct {
	Host              string
	Factor, Low, High float64
	Tasks             int
	Differs           bool
}

const (
	// leastTask is the time from which on tasks show how fast their machine is: the
	// commit of the output and the like, about a second, take as long on any.
	leastTask = 5 * time.Second

	leastTasks    = 3   // of a machine that is said to differ
	leastFactor   = 1.1 // of a machine that is said to differ
	unknownFactor = 1.5 // a machine whose interval holds 1 and this factor, or its inverse, may be slow or not
)

// equalTasks returns the times of the successful tasks of a kind of a job.
// startup is that of a JVM where it is not recorded. beside returns the mean number
// of attempts on the machine during an attempt.
func equalTasks(attempts []workload.Attempt, kind workload.Kind, startup time.Duration, beside func(*workload.Attempt) float64) taskTimes {
	locality := mostFrequentLocality(attempts)
	var t taskTimes
	covariates := make([][]float64, 3) // data in, data out, attempts beside
	for i := range attempts {
		a := &attempts[i]
		if a.Kind != kind || a.State != workload.Succeeded || a.Node == "" || !workload.Known(a.Start) || !workload.Known(a.Finish) {
			continue
		}
		if kind == workload.Map && a.Locality != locality {
			continue
		}
		took, known := ownTime(a, startup)
		if !known || took <= 0 {
			continue
		}
		in, out := max(a.HDFSReadBytes, a.InBytes), a.OutBytes
		if kind == workload.Reduce {
			in, out = max(a.ShuffleBytes, a.InRecords), max(a.HDFSWriteBytes, a.OutBytes)
		}
		t.host, t.log = append(t.host, a.Node), append(t.log, math.Log(took.Seconds()))
		for k, x := range []float64{logOf(in), logOf(out), beside(a)} {
			covariates[k] = append(covariates[k], x)
		}
	}
	t.explain(covariates)
	return t
}

// short reports whether half of the tasks took less than leastTask.
func (t *taskTimes) short() bool {
	sorted := slices.Sorted(slices.Values(t.log))
	return len(sorted) == 0 || sorted[len(sorted)/2] < math.Log(leastTask.Seconds())
}

// logOf is NaN for a number that is not recorded, or 0.
func logOf(n int64) float64 {
	if n <= 0 {
		return math.NaN()
	}
	return math.Log(float64(n))
}

// ownTime is the time that an attempt had for work of its own: a map after the
// start of its JVM, a reduce after its sort.
func ownTime(a *workload.Attempt, startup time.Duration) (time.Duration, bool) {
	if known := a.Phases[workload.PhaseStartup]; workload.Known(known) {
		startup = known
	}
	if a.Kind == workload.Map {
		return a.Duration() - startup, true
	}
	shuffle, merge := a.Phases[workload.PhaseShuffle], a.Phases[workload.PhaseMerge]
	if !workload.Known(shuffle) || !workload.Known(merge) {
		return 0, false
	}
	return a.Duration() - max(0, a.Phases[workload.PhaseStartup]) - shuffle - merge, true
}

func mostFrequentLocality(attempts []workload.Attempt) workload.Locality {
	var n [workload.NumLocalities]int
	for i := range attempts {
		if a := &attempts[i]; a.Kind == workload.Map && a.State == workload.Succeeded {
			n[a.Locality]++
		}
	}
	best := workload.NodeLocal
	for l := range n {
		if n[l] > n[best] {
			best = workload.Locality(l)
		}
	}
	return best
}

// explain removes what covariates explain of the times of tasks on one machine.
func (t *taskTimes) explain(covariates [][]float64) {
	const (
		least  = 8    // degrees of freedom
		varied = 0.02 // standard deviation of a covariate
		most   = 1.5  // power of the data to which the time grows
		rounds = 3
	)
	hosts := map[string]int{}
	for _, host := range t.host {
		hosts[host]++
	}
	if len(t.log)-len(hosts) < least {
		return
	}
	var used [][]float64
	for _, x := range covariates {
		off := t.aboutHosts(x)
		if sd := math.Sqrt(dot(off, off) / float64(len(off)-len(hosts))); sd > varied { // not NaN
			used = append(used, x)
		}
	}
	t.used = len(used)
	for range rounds {
		for _, x := range used {
			off := t.aboutHosts(x)
			slope := math.Max(0, math.Min(most, dot(off, t.aboutHosts(t.log))/dot(off, off)))
			mean := 0.0
			for _, v := range x {
				mean += v / float64(len(x))
			}
			for i, v := range x {
				t.log[i] -= float64(slope * (v - mean))
			}
		}
	}
}

// aboutHosts returns values less the mean of their machine.
func (t *taskTimes) aboutHosts(values []float64) []float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for i, v := range values {
		sum[t.host[i]] += v
		n[t.host[i]]++
	}
	off := make([]float64, len(values))
	for i, v := range values {
		off[i] = v - sum[t.host[i]]/n[t.host[i]]
	}
	return off
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// hostLoad returns the mean number of attempts that ran on the machine of an
// attempt while it ran.
func hostLoad(lists ...[]workload.Attempt) func(*workload.Attempt) float64 {
	starts, ends := map[string][]time.Duration{}, map[string][]time.Duration{}
	for _, attempts := range lists {
		for i := range attempts {
			if a := &attempts[i]; a.Node != "" && workload.Known(a.Start) && workload.Known(a.Finish) && a.Start < a.Finish {
				starts[a.Node], ends[a.Node] = append(starts[a.Node], a.Start), append(ends[a.Node], a.Finish)
			}
		}
	}
	until := map[string]func(time.Duration) float64{}
	for host := range starts {
		until[host] = workload.Integral(starts[host], ends[host], func(running int) float64 { return float64(running) })
	}
	return func(a *workload.Attempt) float64 {
		if a.Start >= a.Finish {
			return 0
		}
		return (until[a.Node](a.Finish) - until[a.Node](a.Start)) / (a.Finish - a.Start).Seconds()
	}
}

// loadsBeside returns hostLoad for each job: of the attempts of all jobs, or of its
// own if the jobs did not run beside each other.
func loadsBeside(jobs []jobAttempts, apart bool) []func(*workload.Attempt) float64 {
	loads := make([]func(*workload.Attempt) float64, len(jobs))
	var all [][]workload.Attempt
	for i, j := range jobs {
		if apart {
			loads[i] = hostLoad(j.attempts)
		}
		all = append(all, j.attempts)
	}
	if !apart {
		load := hostLoad(all...)
		for i := range loads {
			loads[i] = load
		}
	}
	return loads
}

// FactorsOf compares the machines of a history.
func FactorsOf(h *workload.History) []hostFactor {
	var jobs []jobAttempts
	startup := time.Second // where the record does not have it apart, as a scenario of it states
	for i := range h.Jobs {
		j := &h.Jobs[i]
		if j.Outcome != workload.Succeeded {
			continue
		}
		of := jobAttempts{job: j.ID}
		for k := range j.Tasks {
			for n := range j.Tasks[k].Attempts {
				a := j.Tasks[k].Attempts[n].Attempt
				a.Kind = j.Tasks[k].Kind
				if workload.Known(a.Phases[workload.PhaseStartup]) {
					startup = 0
				}
				of.attempts = append(of.attempts, a)
			}
		}
		jobs = append(jobs, of)
	}
	return hostFactors(jobs, startup, h.AtOnce() != "")
}

// jobAttempts are the attempts of a job.
type jobAttempts struct {
	job      string
	attempts []workload.Attempt
}

// hostFactors compares the machines that ran equal tasks. apart says that the jobs
// did not run beside each other, although they have one time of submission.
func hostFactors(jobs []jobAttempts, startup time.Duration, apart bool) []hostFactor {
	loads := loadsBeside(jobs, apart)
	var values []fit.GroupValue
	var hosts []string
	at := map[string]int{}
	for i, j := range jobs {
		for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
			times := equalTasks(j.attempts, kind, startup, loads[i])
			if times.short() {
				continue
			}
			for n, host := range times.host {
				if _, known := at[host]; !known {
					at[host] = len(hosts)
					hosts = append(hosts, host)
				}
				values = append(values, fit.GroupValue{Group: at[host], Condition: 2*i + int(kind), Value: times.log[n]})
			}
		}
	}
	const far = 7 // a factor of a thousand, as good as none
	var factors []hostFactor
	for g, e := range fit.GroupEffects(values, len(hosts)) {
		f := hostFactor{Host: hosts[g], Tasks: e.Values, Factor: math.Exp(e.Effect), Low: math.Exp(math.Max(-far, e.Low)), High: math.Exp(math.Min(far, e.High))}
		f.Differs = e.Differs && f.Tasks >= leastTasks && math.Max(f.Factor, 1/f.Factor) >= leastFactor
		factors = append(factors, f)
	}
	slices.SortFunc(factors, func(a, b hostFactor) int { return cmp.Compare(a.Host, b.Host) })
	return factors
}

// known reports whether the record can tell that the machine is as fast as others.
func (f *hostFactor) known() bool {
	return f.Differs || f.Tasks >= leastTasks && f.High < unknownFactor && f.Low > 1/unknownFactor
}

// writeHosts writes the machines that differ, and those of which the record does
// not tell it.
func writeHosts(w io.Writer, factors []hostFactor) {
	const most = 12 // machines to list
	differ, unknown, shown, rest := 0, 0, 0, 1.0
	for i := range factors {
		switch f := &factors[i]; {
		case f.Differs:
			if differ++; differ == 1 {
				fmt.Fprintln(w, "machine\ttime of a task\t95 % interval\ttasks")
			}
			fmt.Fprintf(w, "%s\t%.2f of the usual\t%.2f to %.2f\t%d\n", f.Host, f.Factor, f.Low, f.High, f.Tasks)
		case !f.known():
			unknown++
		default:
			rest = math.Max(rest, math.Max(f.High, 1/f.Low))
		}
	}
	if same := len(factors) - differ - unknown; same > 0 {
		fmt.Fprintf(w, "%s: no difference shown; one of a factor of %.2f would be\n", workload.Counted(same, "other machine", "other machines"), math.Max(rest, leastFactor))
	}
	if unknown > 0 {
		fmt.Fprintf(w, "Not known of %s, of too few or too unequal tasks:", workload.Counted(unknown, "machine", "machines"))
		for i := range factors {
			if f := &factors[i]; !f.known() {
				if shown++; shown <= most {
					fmt.Fprintf(w, " %s (n=%d)", f.Host, f.Tasks)
				}
			}
		}
		if more := unknown - most; more > 0 {
			fmt.Fprintf(w, " and %d more", more)
		}
		fmt.Fprintln(w)
	}
}
