package validation

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
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
		verb(t, "platform", "calibrate", shared(t, "data/ec2-starfish/profiles.tsv"), dir, "--platform", "ec2-large", "--out", out, "--quiet")
		verb(t, "validate", filepath.Join(out, "scenario.toml"))
		printed := verb(t, "platform", "calibrate", shared(t, "data/ec2-starfish/profiles.tsv"), dir, "--platform", "ec2-large")
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
