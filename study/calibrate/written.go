package calibrate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// writeStart writes the platform to start from.
func (c *RunCalibration) writeStart(w io.Writer) error {
	if study.IsFile(c.start) {
		data, err := os.ReadFile(c.start)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	m, err := scenarios.Platform(c.start)
	if err != nil {
		return err
	}
	return scenarios.WritePlatform(w, &m)
}

// take enters what was found into the machine and the programs.
func (c *RunCalibration) take() {
	m := &c.Machine
	m.Title = "Machine of recorded jobs"
	m.Source = []string{"slotwave platform calibrate: on this platform simulated tasks take as long as those recorded in " + strings.Join(baseNames(c.traces), ", ")}
	m.Assumed = nil
	if len(c.keys) == 0 { // made of a profile
		for _, key := range []string{"cores", "memory", "disk.count", "uplink_mb", "jvm.start", "jvm.heap_part"} {
			if key == "uplink_mb" && math.IsInf(m.Uplink, 1) {
				continue // the platform file does not have it
			}
			m.Assumed = append(m.Assumed, key+": as in "+filepath.Base(c.start)+"; a history does not tell it")
		}
	}
	for i := range c.keys {
		f := &c.keys[i]
		inFile := (f.key != "overlap" || m.Overlap) && (f.key != "page_cache" || m.PageCache) && (f.key != "dirty" || m.Dirty > 0)
		if f.told() != scenarios.Determined && inFile {
			m.Assumed = append(m.Assumed, fmt.Sprintf("%s: %s by the record, %s", f.key, f.told(), f.interval()))
		}
	}
	for i := range c.Programs {
		p, found := &c.Programs[i], &c.found.costs[i]
		p.MapCPU, p.ReduceCPU, p.CombineCPU = found.cost[workload.Map], found.cost[workload.Reduce], found.combine
		if len(c.found.misfits) > 0 {
			p.Misfit = c.found.misfits[i]
		}
		for kind, key := range []string{"cpu.map_record", "cpu.reduce_record"} {
			if why := found.known(kind); why != "" {
				p.Assumed = append(p.Assumed, key+": "+why)
			}
		}
	}
}

// known tells why a cost is not known well; empty: it is. An error of one percent
// in the time of the rest of a task is one of 1 % (1 - part)/part in the cost.
func (p *programCosts) known(kind int) string {
	switch part := p.part[kind]; {
	case part == 0:
		return "none is left: the rest of the task takes the recorded time"
	case part < 0.1:
		return fmt.Sprintf("%.0f %% of the recorded time, less than the rest of the task is known to", 100*part)
	}
	return ""
}

// Names of what a calibration by recorded jobs writes.
const (
	platformName   = "platform.toml"
	scenarioName   = "scenario.toml"
	profilesFolder = "profiles"

	alternativesFolder = "alternatives"
)

// Files returns the platform, the profiles and a scenario that runs the recorded
// workload with them, for a folder. The scenario names the traces relative to
// the folder; without a folder their names are absolute.
func (c *RunCalibration) Files(folder string) []trace.File {
	files := []trace.File{
		{Name: scenarioName, Write: func(w io.Writer) error { return c.writeScenario(w, folder) }},
		{Name: platformName, Write: func(w io.Writer) error { return scenarios.WritePlatform(w, &c.Machine) }},
	}
	for i, name := range c.files {
		files = append(files, trace.File{Name: profilesFolder + "/" + name + ".toml", Write: func(w io.Writer) error {
			return scenarios.WriteProgram(w, &c.Programs[i])
		}})
	}
	draw := rand.New(rand.NewPCG(1, uint64(len(c.files))))
	for n, a := range c.alternatives {
		number := fmt.Sprintf("%02d", n+1)
		a.machine.Title, a.machine.Source, a.machine.Assumed = c.Machine.Title, c.Machine.Source, nil
		files = append(files, trace.File{Name: alternativesFolder + "/" + number + ".toml", Write: func(w io.Writer) error { return scenarios.WritePlatform(w, &a.machine) }})
		for i, name := range c.files {
			p := c.Programs[i]
			p.MapCPU, p.ReduceCPU, p.CombineCPU, p.Assumed = a.costs[i].cost[workload.Map], a.costs[i].cost[workload.Reduce], a.costs[i].combine, nil
			p.Misfit = a.misfits[i]
			if !c.packed[i] {
				p.Ratios = drawRatios(draw)
			}
			files = append(files, trace.File{Name: profilesFolder + "-" + number + "/" + name + ".toml", Write: func(w io.Writer) error { return scenarios.WriteProgram(w, &p) }})
		}
	}
	return files
}

// drawRatios draws how well codecs compress the data of a job. The ratio of a codec
// that the record uses follows from its bytes, whatever is drawn.
func drawRatios(r *rand.Rand) map[string]float64 {
	// The ratios of the measured programs differ from those of the codecs by factors
	// of 0.43 (TeraSort) to 2.1 (Sort).
	const spread = 0.6
	factor := math.Exp(spread * r.NormFloat64())
	ratios := map[string]float64{}
	for _, codec := range model.Codecs[1:] {
		ratios[codec.Name] = math.Min(1, codec.Ratio*factor)
	}
	return ratios
}

func (c *RunCalibration) writeScenario(w io.Writer, folder string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "title = %s\n", workload.TOMLText("Jobs of "+strings.Join(baseNames(c.traces), ", ")+" on the platform found from them"))
	fmt.Fprintf(&b, "fidelity = %s\n\n[cluster]\nplatform = %s\n", workload.TOMLText(c.fidelity), workload.TOMLText(platformName))
	if c.release != "" {
		fmt.Fprintf(&b, "hadoop = %s\n", workload.TOMLText(c.release))
	}
	for _, s := range c.scheduler.In("cluster") {
		fmt.Fprintf(&b, "%s = %s   # %s\n", s.Key, s.Value, c.scheduler.Why)
	}
	if c.launch {
		fmt.Fprintf(&b, "[cluster.costs]\nlaunch = \"1s\"   # not recorded\n")
	}
	if slices.ContainsFunc(c.hosts, func(f hostFactor) bool { return f.Differs }) {
		fmt.Fprintf(&b, "[cluster.slowdowns]   # 95 %% intervals\n")
		for i := range c.hosts {
			if f := &c.hosts[i]; f.Differs {
				fmt.Fprintf(&b, "%s = %.3f   # %.2f to %.2f\n", workload.TOMLText(f.Host), f.Factor, f.Low, f.High)
			}
		}
	}
	if c.scheduler.Name != "" {
		fmt.Fprintf(&b, "[scheduler]\nname = %s   # %s\n", workload.TOMLText(c.scheduler.Name), c.scheduler.Why)
		for _, s := range c.scheduler.In("scheduler") {
			fmt.Fprintf(&b, "%q = %s\n", s.Key, s.Value)
		}
	}
	var names []string
	for _, path := range c.traces {
		if folder != "" {
			to, err := filepath.Abs(folder)
			if err != nil {
				return err
			}
			if relative, err := filepath.Rel(to, path); err == nil {
				path = relative
			}
		}
		names = append(names, workload.TOMLText(path))
	}
	fmt.Fprintf(&b, "\n[workload]\ntrace = [%s]\nprofiles = %s\n", strings.Join(names, ", "), workload.TOMLText(profilesFolder))
	if c.format != "" {
		fmt.Fprintf(&b, "format = %s\n", workload.TOMLText(c.format))
	}
	if len(c.chosen) > 0 {
		var patterns []string
		for _, p := range c.chosen {
			patterns = append(patterns, workload.TOMLText(p))
		}
		fmt.Fprintf(&b, "job = [%s]\n", strings.Join(patterns, ", "))
	}
	if len(c.Unused) > 0 {
		fmt.Fprintf(&b, "profile = %s   # of jobs that record too little\n", workload.TOMLText(profilesFolder+"/"+c.files[0]+".toml"))
	}
	if len(c.alternatives) > 0 {
		fmt.Fprintf(&b, "alternatives = %s   # calibrations that explain the record about as well\n", workload.TOMLText(alternativesFolder))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes the errors by job, what was found with how well the record
// determines it, and what the record cannot tell.
func (c *RunCalibration) WriteText(w io.Writer) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	var jobs []string
	for _, row := range c.recorded {
		if phase, job, _ := strings.Cut(row.Phase, " "); phase == mapRow {
			jobs = append(jobs, job)
		}
	}
	c.writeMisfits(t, jobs)
	fmt.Fprintln(t, "\nmachine\tfound\t90 % interval\tby the record")
	for i := range c.keys {
		f := &c.keys[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.key, f.text(f.found), f.interval(), f.told())
	}
	fmt.Fprintln(t)
	c.writeCosts(t)
	fmt.Fprintln(t)
	c.writeScatter(t)
	fmt.Fprintln(t)
	writeHosts(t, c.hosts)
	t.Flush()
	for _, a := range c.Machine.Assumed {
		if len(c.keys) == 0 { // otherwise the table has them
			fmt.Fprintf(&text, "Not recorded: %s\n", a)
		}
	}
	for _, u := range c.Unused {
		fmt.Fprintf(&text, "Not used: %s\n", u)
	}
	for _, w := range c.warnings {
		fmt.Fprintf(&text, "Warning: %s\n", w)
	}
	fmt.Fprintf(&text, "\n%d simulations\n", c.Runs)
	_, err := text.WriteTo(w)
	return err
}

// writeMisfits writes how far the machine is off in the mean times of each job.
func (c *RunCalibration) writeMisfits(w io.Writer, jobs []string) {
	fmt.Fprintln(w, "misfit: simulated - recorded\t"+strings.Join(runRows, "\t"))
	for _, job := range jobs {
		fmt.Fprint(w, job)
		for _, name := range runRows {
			fmt.Fprintf(w, "\t%s", c.rowText(name+" "+job))
		}
		fmt.Fprintln(w)
	}
}

// writeCosts writes the costs of each program with their 90 % intervals, the ranges
// over the alternatives.
func (c *RunCalibration) writeCosts(w io.Writer) {
	fmt.Fprintln(w, "program\tns per map record\t90 % interval\tof map time\tns per reduce record\t90 % interval\tof reduce time")
	for i := range c.Programs {
		fmt.Fprint(w, c.Programs[i].Title)
		for kind := range c.found.costs[i].cost {
			cost := c.found.costs[i].cost[kind]
			low, high := cost, cost
			for _, a := range c.alternatives {
				low, high = min(low, a.costs[i].cost[kind]), max(high, a.costs[i].cost[kind])
			}
			fmt.Fprintf(w, "\t%.4g\t%.4g to %.4g\t%.0f %%", cost, low, high, 100*c.found.costs[i].part[kind])
		}
		fmt.Fprintln(w)
	}
}

// rowText returns the error of a row as text.
func (c *RunCalibration) rowText(row string) string {
	want, got := rowOf(c.recorded, row), rowOf(c.simulated, row)
	switch {
	case want < 0 || got < 0:
		return ""
	case want < 1:
		return fmt.Sprintf("%+.0f ms", got-want)
	}
	return signedPercent((got - want) / want)
}

func signedPercent(x float64) string { return fmt.Sprintf("%+.1f %%", 100*x) }
