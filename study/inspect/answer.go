package inspect

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

// inspectionSchema is the first field of every inspection of this shape.
const inspectionSchema = "slotwave/inspection/1"

// Inspection is what a history records.
type Inspection struct {
	Schema    string                 `json:"schema"`
	Paths     []string               `json:"paths"`
	Formats   []string               `json:"formats"`
	Machines  int                    `json:"machines"` // workers: that ran tasks, or all that a topology lists
	Racks     int                    `json:"racks"`
	Idle      int                    `json:"machines_without_tasks"` // of Machines
	OnlyInput int                    `json:"machines_with_input_only"`
	Clusters  []recordedPart         `json:"clusters,omitempty"` // if the jobs are of several
	Slots     []RecordedSlots        `json:"slots"`
	Release   string                 `json:"hadoop"` // empty: unknown
	KnownBy   string                 `json:"hadoop_known_by"`
	OnYARN    bool                   `json:"on_yarn"`
	Epoch     int64                  `json:"first_submission_unix_ms"` // -1: not stated
	Span      int64                  `json:"span_ns"`
	Jobs      RecordedJobs           `json:"jobs"`
	Names     []RecordedName         `json:"names"`            // the largest slot time first
	Waited    *workload.RecordedWait `json:"waited,omitempty"` // of containers, if recorded
	Attempts  []RecordedKind         `json:"attempts"`
	Locality  RecordedLocality       `json:"locality"`
	Still     []StoodStill           `json:"stood_still"`
	Speeds    []recordedSpeed        `json:"speeds,omitempty"`
	Tells     []scenarios.Fact       `json:"tells"` // of the cluster
	Missing   []MissingFact          `json:"missing"`
	NoTimes   bool                   `json:"-"` // neither times of tasks nor counters of which they are made
	Warnings  []string               `json:"warnings"`
	Problems  int                    `json:"problems"` // lines or files that could not be read
}

// RecordedSlots is how many slots of a type were in use, on YARN containers.
type RecordedSlots struct {
	Type       string        `json:"type"`
	Most       int           `json:"most_in_use"`
	PerMachine int           `json:"most_on_a_machine"`
	Busy       text.Share    `json:"busy_share"` // slot time over the most in use and the time span
	Waves      results.Waves `json:"waves"`      // tasks of a job over the most in use, rounded up
}

// recordedPart is the part of a history that one cluster wrote.
type recordedPart struct {
	Patterns []string `json:"job_patterns"` // for --job
	Jobs     int      `json:"jobs"`
	Machines int      `json:"machines"`
	Epoch    int64    `json:"first_submission_unix_ms"` // -1: not stated
}

// RecordedJobs counts jobs by their end.
type RecordedJobs struct {
	Jobs       int `json:"jobs"`
	Succeeded  int `json:"succeeded"`
	Failed     int `json:"failed"`
	Killed     int `json:"killed"`
	Unfinished int `json:"unfinished"`
	Volumes    int `json:"volumes_only"` // of SWIM: no times are recorded
}

// RecordedName sums up the jobs of one name.
type RecordedName struct {
	Name     string `json:"name"`
	Jobs     int    `json:"jobs"`
	Maps     int    `json:"maps"`    // of all jobs
	Reduces  int    `json:"reduces"` // of all jobs
	InBytes  int64  `json:"in_bytes"`
	SlotTime int64  `json:"slot_time_ns"`
	Median   int64  `json:"median_time_ns"` // from submission to finish; 0: not recorded
}

// RecordedKind counts the attempts of one kind of task.
type RecordedKind struct {
	Kind      string `json:"kind"`
	Attempts  int    `json:"attempts"`
	Succeeded int    `json:"succeeded"`
	Failed    int    `json:"failed"`
	Killed    int    `json:"killed"`
	Median    int64  `json:"median_ns"`
}

// RecordedLocality counts map attempts by their distance from the split.
type RecordedLocality struct {
	Node    int `json:"node"`
	Rack    int `json:"rack"`
	Off     int `json:"off"`
	Unknown int `json:"unknown"`
}

// StoodStill is a machine on which no map, or no reduce, began or ended for long.
type StoodStill struct {
	Machine string `json:"machine"`
	Tasks   string `json:"tasks"`
	From    int64  `json:"from_ns"`
	To      int64  `json:"to_ns"`
	Usual   int64  `json:"usual_gap_ns"`
}

// recordedSpeed is how long equal tasks take on a machine, relative to the median
// machine, with a 95 % interval that holds for all machines together.
type recordedSpeed struct {
	Machine string  `json:"machine"`
	Time    float64 `json:"time_factor"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Tasks   int     `json:"tasks"`
	Differs bool    `json:"differs"`
}

// MissingFact is what a history does not record, and the questions that need it.
type MissingFact struct {
	What     string `json:"what"`
	Question string `json:"question"`
}

// WriteJSON writes the inspection.
func (s *Inspection) WriteJSON(w io.Writer) error { return resultdir.WriteJSON(w, s) }

// shownNames is how many names of jobs, and machines that stood still, the text
// lists; the JSON has all.
const shownNames = 12

// WriteText writes the inspection for a person.
func (s *Inspection) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading(text.Shorten(strings.Join(s.Paths, ", "), 80))
	fmt.Fprintf(t, "format\t%s\n", strings.Join(s.Formats, ", "))
	machines := fmt.Sprintf("%s in %s", text.Count(s.Machines, "machine"), text.Count(s.Racks, "rack"))
	fmt.Fprintf(t, "machines\t%s\n", machines)
	if s.Idle > 0 {
		fmt.Fprintf(t, "\twithout a task: %s, which count as workers\n", text.Number(int64(s.Idle)))
	}
	if s.OnlyInput > 0 {
		fmt.Fprintf(t, "\twith input only: %s, which do not count as workers\n", text.Number(int64(s.OnlyInput)))
	}
	release := s.Release
	if release == "" {
		release = "unknown"
	}
	fmt.Fprintf(t, "Hadoop\t%s (%s)\n", release, s.KnownBy)
	span := text.Duration(s.Span)
	if s.Epoch >= 0 {
		span += " from " + time.UnixMilli(s.Epoch).UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	fmt.Fprintf(t, "time\t%s\n", span)
	fmt.Fprintf(t, "jobs\t%s\n", s.Jobs.text())
	if l := s.Locality; l.Node+l.Rack+l.Off > 0 {
		n := int64(l.Node + l.Rack + l.Off)
		fmt.Fprintf(t, "locality\t%s of maps node-local, %s rack-local, %s off-rack", text.PercentOf(int64(l.Node), n), text.PercentOf(int64(l.Rack), n), text.PercentOf(int64(l.Off), n))
		if l.Unknown > 0 {
			fmt.Fprintf(t, "; not known of %s of the %s", text.Number(int64(l.Unknown)), text.Number(n+int64(l.Unknown)))
		}
		fmt.Fprintln(t)
	}
	if w := s.Waited; w != nil && w.Free > 0 {
		fmt.Fprintf(t, "waiting\t%s\n", strings.Replace(results.WaitText(w), ": ", ":\n\t", 1))
	}
	t.Flush()
	s.clusters(t)
	if len(s.Slots) > 0 {
		if s.OnYARN {
			t.Section("Containers of tasks")
		} else {
			t.Section("Slots")
		}
		fmt.Fprintf(t, "type\tmost in use\ton a machine\tbusy\twaves, median job\tmost\n")
		for _, sl := range s.Slots {
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%d\t%d\n", sl.Type, text.Number(int64(sl.Most)), sl.PerMachine, text.Percent(sl.Busy), sl.Waves.Median, sl.Waves.Max)
		}
		t.Flush()
	}
	if len(s.Attempts) > 0 {
		t.Section("Attempts")
		fmt.Fprintf(t, "kind\tattempts\tsucceeded\tfailed\tkilled\tmedian\n")
		for _, k := range s.Attempts {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Kind, text.Number(int64(k.Attempts)), text.Number(int64(k.Succeeded)), text.Number(int64(k.Failed)), text.Number(int64(k.Killed)), text.Duration(k.Median))
		}
		t.Flush()
	}
	s.names(t)
	s.still(t)
	s.speeds(t)
	t.Section("What the record tells of its cluster")
	fmt.Fprintln(t, "key\ttold\tvalue\tfrom")
	for _, f := range s.Tells {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Key, f.Told, text.Escape(f.Value), f.Why)
	}
	t.Flush()
	if len(s.Missing) > 0 {
		t.Section("Not recorded")
		for _, m := range s.Missing {
			fmt.Fprintf(t, "- %s\n  needed for: %s\n", m.What, m.Question)
		}
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(t, "\nwarning: %s\n", text.Printable(warning))
	}
	return t.Done()
}

func (s *Inspection) clusters(t *text.Writer) {
	if len(s.Clusters) == 0 {
		return
	}
	t.Section("Clusters without a JobTracker or machine in common")
	fmt.Fprintf(t, "jobs\tmachines\tfirst submission, UTC\tflags\n")
	for _, c := range s.Clusters[:min(len(s.Clusters), shownNames)] {
		first := ""
		if c.Epoch >= 0 {
			first = time.UnixMilli(c.Epoch).UTC().Format("2006-01-02 15:04:05")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t--job '%s'\n", text.Number(int64(c.Jobs)), text.Number(int64(c.Machines)), first, strings.Join(c.Patterns, "' --job '"))
	}
	endList(t, len(s.Clusters), "more cluster")
}

// endList ends a table of the first names of a list, and counts those that it leaves out.
func endList(t *text.Writer, listed int, what string) {
	t.Flush()
	if more := listed - shownNames; more > 0 {
		fmt.Fprintf(t, "and %s\n", text.Count(more, what))
	}
}

func (s *Inspection) names(t *text.Writer) {
	if len(s.Names) == 0 {
		return
	}
	t.Section("Jobs by name")
	fmt.Fprintf(t, "name\tjobs\tmaps\treduces\tinput\tslot time\tmedian\n")
	for _, n := range s.Names[:min(len(s.Names), shownNames)] {
		input, median, slotTime := "", "", ""
		if n.InBytes > 0 {
			input = sizeText(n.InBytes)
		}
		if n.Median > 0 {
			median = text.Duration(n.Median)
		}
		if n.SlotTime > 0 {
			slotTime = text.Duration(n.SlotTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", text.ShortenMiddle(n.Name, 28), text.Number(int64(n.Jobs)), text.Number(int64(n.Maps)), text.Number(int64(n.Reduces)),
			input, slotTime, median)
	}
	endList(t, len(s.Names), "more name")
}

func (s *Inspection) still(t *text.Writer) {
	if len(s.Still) == 0 {
		return
	}
	t.Section("Machines that stood still")
	fmt.Fprintf(t, "machine\ttasks\tfrom\tfor\tusual gap\n")
	for _, m := range s.Still[:min(len(s.Still), shownNames)] {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", text.Shorten(m.Machine, 40), m.Tasks, text.Duration(m.From), text.Duration(m.To-m.From), text.Duration(m.Usual))
	}
	endList(t, len(s.Still), "more time")
}

func (s *Inspection) speeds(t *text.Writer) {
	shown := 0
	for _, m := range s.Speeds {
		if !m.Differs || shown == shownNames {
			continue
		}
		if shown++; shown == 1 {
			t.Section("Machines whose tasks take longer or shorter than equal ones elsewhere")
			fmt.Fprintf(t, "machine\ttime\t95 %% interval\ttasks\n")
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f to %.2f\t%d\n", text.Shorten(m.Machine, 40), m.Time, m.Low, m.High, m.Tasks)
	}
	t.Flush()
}

func (j *RecordedJobs) text() string {
	line := fmt.Sprintf("%s: %s succeeded, %s failed, %s killed", text.Number(int64(j.Jobs)), text.Number(int64(j.Succeeded)), text.Number(int64(j.Failed)), text.Number(int64(j.Killed)))
	if j.Unfinished > 0 {
		line += fmt.Sprintf(", %s without an end", text.Number(int64(j.Unfinished)))
	}
	if j.Volumes > 0 {
		line = fmt.Sprintf("%s with volumes only", text.Count(j.Volumes, "job"))
	}
	return line
}

// sizeText writes bytes for people.
func sizeText(n int64) string {
	v, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, next
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
