package calibrate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// ProfiledMachine is a machine and the costs of a job's code from a profile of
// Starfish.
type ProfiledMachine struct {
	profile platform.StarfishProfile
	file    string
	machine model.Machine
	program model.Program
	runs    *RunCalibration // of the recorded job; nil: the profile alone
}

// IsStarfish reports whether a path is a profile of Starfish.
func IsStarfish(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 1<<10)
	n, _ := io.ReadFull(f, head)
	return platform.IsStarfish(head[:n])
}

// OpenStarfish makes a machine of a profile. The history of the same job, if it is
// given, has the data of each task, the slow machines and the scatter of tasks. Of
// a file with several profiles that of the recorded job is taken.
func OpenStarfish(file string, history []string, r scenarios.Reading, start string, seed uint64) (*ProfiledMachine, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	profiles, err := platform.ReadStarfish(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	usual, err := scenarios.Platform(start)
	if err != nil {
		return nil, fmt.Errorf("--platform %s: %w", start, err)
	}
	m := &ProfiledMachine{file: file}
	if len(history) > 0 {
		return m, m.record(profiles, history, r, &usual, seed)
	}
	if len(profiles) > 1 {
		return nil, fmt.Errorf("%s: profiles of %d jobs: want the history of one of them too", file, len(profiles))
	}
	m.take(&profiles[0], &usual)
	m.program = profiles[0].Program()
	m.program.Source = m.machine.Source
	return m, nil
}

// take makes the machine of a profile.
func (m *ProfiledMachine) take(p *platform.StarfishProfile, usual *model.Machine) {
	m.profile, m.machine = *p, p.Machine(*usual)
	m.machine.Source = []string{fmt.Sprintf("slotwave platform calibrate: costs of Starfish's profile of %s in %s", p.Job, filepath.Base(m.file))}
}

// record takes the profile of the recorded job.
func (m *ProfiledMachine) record(profiles []platform.StarfishProfile, history []string, r scenarios.Reading, usual *model.Machine, seed uint64) error {
	h, err := r.Open(history...)
	if err != nil {
		return err
	}
	c := &RunCalibration{start: usual.Name, fidelity: model.Device.String(), release: h.Release, format: r.Format, chosen: r.Jobs}
	if err := c.open(h, history, r.Topology); err != nil {
		return err
	}
	m.runs = c
	job, profile := -1, -1
	for i := range c.jobs {
		for k := range profiles {
			if len(c.jobs[i]) == 1 && strings.HasSuffix(c.jobs[i][0], strings.TrimPrefix(profiles[k].Job, "job_")) {
				job, profile = i, k
			}
		}
	}
	if job < 0 || len(c.Programs) > 1 {
		return fmt.Errorf("%s: %s of %s: want the history of one job that %s has a profile of, by its id", strings.Join(history, ", "),
			workload.Counted(len(c.tasks), "job", "jobs"), workload.Counted(len(c.Programs), "name", "names"), m.file)
	}
	p := &profiles[profile]
	p.MapTime = rowOf(c.recorded, mapRow+" "+c.jobs[job][0]) - 1000*c.startup().Seconds()
	p.ReduceTime = math.Max(0, rowOf(c.recorded, reduceRow+" "+c.jobs[job][0]))
	m.take(p, usual)
	c.Machine = m.machine
	c.complete(job, p.Program())
	q, err := c.question(seed)
	if err != nil {
		return err
	}
	maps, reduces, combine := m.profile.Costs()
	c.found.costs = []programCosts{{cost: [2]float64{maps, reduces}, combine: combine, part: [2]float64{1, 1}}}
	if !c.Programs[job].Combiner {
		c.found.costs[0].combine = 0
	}
	if err := c.findScatter(q, h.AtOnce() != ""); err != nil {
		return err
	}
	if c.simulated, err = c.simulate(q, candidate{machine: c.Machine, costs: c.found.costs}); err != nil {
		return err
	}
	program := &c.Programs[job]
	program.MapCPU, program.ReduceCPU, program.CombineCPU = maps, reduces, c.found.costs[0].combine
	program.Source = append([]string{m.machine.Source[0]}, "data, and the time that the profiler took of maps and reduces: "+strings.Join(baseNames(c.traces), ", "))
	m.program = *program
	return nil
}

// complete takes what a history does not record, and a profile does: how much a
// combiner and the reduces leave of the bytes, and the codec.
func (c *RunCalibration) complete(program int, from model.Program) {
	p := &c.Programs[program]
	p.Combiner, p.Again, p.Ratios = from.Combiner, from.Again, from.Ratios
	p.Data.CombineSizeSel, p.Data.CombineRecsSel, p.Data.ReduceSizeSel = from.Data.CombineSizeSel, from.Data.CombineRecsSel, from.Data.ReduceSizeSel
	p.Assumed = slices.DeleteFunc(p.Assumed, func(text string) bool {
		return strings.HasPrefix(text, "combiner.size_sel: ") || strings.HasPrefix(text, "data.reduce_size_sel: ")
	})
}

// Files returns the platform and the profile of the job, and with a history a
// scenario that runs it.
func (m *ProfiledMachine) Files(folder string) []trace.File {
	if m.runs != nil {
		return m.runs.Files(folder)
	}
	return []trace.File{
		{Name: platformName, Write: func(w io.Writer) error { return scenarios.WritePlatform(w, &m.machine) }},
		{Name: profilesFolder + "/" + text.Slug(m.program.Name) + ".toml", Write: func(w io.Writer) error { return scenarios.WriteProgram(w, &m.program) }},
	}
}

// WriteText writes what the profile holds and what it does not, and the errors of
// the recorded job.
func (m *ProfiledMachine) WriteText(w io.Writer) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s and the costs of their node\n", m.profile.Job, workload.Counted(m.profile.Maps, "map", "maps"))
	if c := m.runs; c != nil {
		fmt.Fprintln(t)
		c.writeMisfits(t, c.jobs[0][:1])
		fmt.Fprintln(t)
		c.writeScatter(t)
		fmt.Fprintln(t)
		writeHosts(t, c.hosts)
	}
	fmt.Fprintf(t, "\nprogram\tns per map record\tns per reduce record\n%s\t%.4g\t%.4g\n\n", m.program.Title, m.program.MapCPU, m.program.ReduceCPU)
	t.Flush()
	for _, a := range m.machine.Assumed {
		fmt.Fprintf(&text, "Assumed: %s\n", a)
	}
	fmt.Fprintln(&text, "The costs are times on busy nodes: changes of disks, cores and network have no effect.")
	_, err := text.WriteTo(w)
	return err
}
