package validation

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
)

// ec2Folder writes the rows of one recorded job into a folder.
func ec2Folder(t *testing.T, job string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my-"+job)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"jobs.tsv", "tasks.tsv", "conf.tsv"} {
		header, rest, _ := strings.Cut(read(t, shared(t, "data/ec2-starfish/"+name)), "\n")
		kept := header + "\n"
		for line := range strings.Lines(rest) {
			if id, _, _ := strings.Cut(line, "\t"); strings.HasPrefix(id, job) || strings.HasSuffix(id, job) {
				kept += line
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(kept), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestStarfishOnEC2 makes a machine of each profile with calibrate, and runs the job
// on it. It compares docs/evidence/ec2-starfish.csv.
func TestStarfishOnEC2(t *testing.T) {
	var b strings.Builder
	b.WriteString("| job | map | shuffle | sort | reduce and write | job, recorded | difference |\n|---|---|---|---|---|---|---|\n")
	var off []float64
	near := 0
	for _, job := range []string{"0076", "0077", "0148", "0149", "0328", "0006", "0043"} {
		dir := ec2Folder(t, job)
		out := filepath.Join(t.TempDir(), "found")
		printed := verb(t, "platform", "calibrate", shared(t, "data/ec2-starfish/profiles.tsv"), dir, "--platform", "ec2-large", "--out", out)
		verb(t, "validate", filepath.Join(out, "scenario.toml"))
		run := filepath.Join(t.TempDir(), "run")
		verb(t, "run", filepath.Join(out, "scenario.toml"), "--out", run, "--quiet", "--set", "plots=none")
		row := rowsOf(t, filepath.Join(run, "replay.csv"))[0]
		ns := func(column string) float64 { v, _ := strconv.ParseFloat(row[column], 64); return v }
		d := ns("simulated_ns")/ns("recorded_ns") - 1
		off = append(off, math.Abs(d))
		if math.Abs(d) <= 0.15 {
			near++
		}
		rows := strings.Split(printed, "\n")
		header := columnsOf(rows[2])
		fmt.Fprintf(&b, "| %s |", row["job"][8:])
		for _, name := range []string{"map", "shuffle", "sort", "reduce"} {
			cell := ""
			for i, at := range header {
				if strings.TrimSpace(rows[2][at[0]:at[1]]) == name {
					cell = strings.TrimSpace(slice(rows[3], at[0], after(header, i)))
				}
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		fmt.Fprintf(&b, " %.1f s | %+.1f %% |\n", ns("recorded_ns")/1e9, 100*d)
	}
	fmt.Fprintf(&b, "\nWithin 15 %%: %d of %d.\n", near, len(off))
	if near < 6 {
		t.Errorf("%d of %d jobs within 15 %%: want 6", near, len(off))
	}
	evidence.Compare(t, "ec2-starfish", b.String(), *update)
}

// TestCodecPairs asks of the record of each of two pairs of real runs, which differ in
// the codec of map outputs alone, what the other would have taken. A profile of Starfish
// has the work of the codec in its costs of writing, and is refused; a history is
// calibrated, with the cores that its nodes are known to have. The change has the sign of
// the real one, and the real time is within the 90 % interval.
func TestCodecPairs(t *testing.T) {
	var b strings.Builder
	b.WriteString("| recorded | asked | real change | answer | real time | 90 % interval |\n|---|---|---|---|---|---|\n")
	for _, pair := range []struct {
		job, compress     string
		recorded, changed float64 // seconds
	}{
		{"0148", "false", 872.5, 795.6}, {"0149", "true", 795.6, 872.5},
		{"0076", "false", 1761.3, 1239.0}, {"0077", "true", 1239.0, 1761.3},
	} {
		dir, change := ec2Folder(t, pair.job), "conf.mapred.compress.map.output="+pair.compress
		profiled, found := filepath.Join(t.TempDir(), "profiled"), filepath.Join(t.TempDir(), "found")
		verb(t, "platform", "calibrate", shared(t, "data/ec2-starfish/profiles.tsv"), dir, "--platform", "ec2-large", "--out", profiled, "--quiet")
		if code, _, refusal := call("", "run", filepath.Join(profiled, "scenario.toml"), "--set", change, "--out", t.TempDir()); code != 2 || !strings.Contains(refusal, "mapred.compress.map.output: got codec") {
			t.Errorf("%s: the profile's answer is %s", pair.job, refusal)
		}
		if !layers.Whole {
			continue
		}
		verb(t, "platform", "calibrate", dir, "--know", "cores=2", "--out", found, "--quiet")
		var mean, low, high [2]float64
		for i, set := range [][]string{nil, {"--set", change}} {
			var answer struct {
				Makespan struct {
					Mean float64 `json:"mean_ns"`
				} `json:"makespan"`
				Interval struct {
					Low  float64 `json:"low_ns"`
					High float64 `json:"high_ns"`
				} `json:"calibrations"`
			}
			text := verb(t, append([]string{"run", filepath.Join(found, "scenario.toml"), "--replications", "5", "--json", "--quiet", "--set", "plots=none", "--out", filepath.Join(t.TempDir(), "run")}, set...)...)
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			mean[i], low[i], high[i] = answer.Makespan.Mean/1e9, answer.Interval.Low/1e9, answer.Interval.High/1e9
		}
		real, said := pair.changed/pair.recorded-1, mean[1]/mean[0]-1
		fmt.Fprintf(&b, "| %s | %s | %+.1f %% | %+.1f %% | %.1f s | %.0f to %.0f s |\n", pair.job, strings.TrimPrefix(change, "conf."), 100*real, 100*said, pair.changed, low[1], high[1])
		if real*said <= 0 || pair.changed < low[1] || pair.changed > high[1] {
			t.Errorf("%s: real %+.1f %%, %.1f s; answered %+.1f %%, %.1f to %.1f s", pair.job, 100*real, pair.changed, 100*said, low[1], high[1])
		}
	}
	if layers.Whole {
		evidence.Compare(t, "codec-pairs", b.String(), *update)
	}
}

// columnsOf returns where the words of a printed line are that two spaces divide.
func columnsOf(line string) [][]int {
	return regexp.MustCompile(`\S+( \S+)*`).FindAllStringIndex(line, -1)
}

// after returns where the column after i begins, or far behind the line.
func after(columns [][]int, i int) int {
	if i+1 < len(columns) {
		return columns[i+1][0]
	}
	return math.MaxInt
}

func slice(line string, from, to int) string {
	return line[min(from, len(line)):min(to, len(line))]
}
