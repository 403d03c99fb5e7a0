package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
)

const (
	// shardTime is the least work of a shard. Slurm and Hadoop take seconds to
	// start a task.
	shardTime = 30 * time.Second
	// mostShards is below the largest array that Slurm allows by default.
	mostShards = 1000
)

// A Submission is a folder with the shards of a sweep and a script that has an
// engine work on them.
type Submission struct {
	Folder string
	Shards int // 0: of at least 30 s each, by the measured time of some points
	build  resultdir.Build
	sweep  *Sweep
}

// Submission prepares the sweep for another engine.
func (s *Sweep) Submission(folder string, shards int, b resultdir.Build) *Submission {
	return &Submission{Folder: folder, Shards: shards, build: b, sweep: s}
}

// measure simulates the first, the middle and the last point, and returns the
// number of shards of at least 30 s each.
func (s *Sweep) measure() (int, error) {
	points := []int{0, s.NumPoints / 2, s.NumPoints - 1}
	began := time.Now()
	for _, p := range points {
		if _, err := s.simulate(p, 0); err != nil {
			return 0, err
		}
	}
	each := time.Since(began).Seconds() / float64(len(points)) * float64(s.File.Replications)
	n := math.Floor(each * float64(s.NumPoints) / shardTime.Seconds())
	return int(max(1, min(n, mostShards, float64(s.NumPoints)))), nil
}

// shardName names the file of a shard.
func (m *Submission) shardName(i int) string {
	return filepath.Join(m.Folder, fmt.Sprintf("shard-%d", i))
}

// write writes the shards, and a script. A folder with shards of the same sweep
// keeps them, so that a repeated submission continues the first.
func (m *Submission) write(script string, text func() string) error {
	if err := os.MkdirAll(m.Folder, 0o777); err != nil {
		return err
	}
	path := filepath.Join(m.Folder, script)
	if _, err := os.Stat(path); err == nil {
		return m.sameShards()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if m.Shards == 0 {
		n, err := m.sweep.measure()
		if err != nil {
			return err
		}
		m.Shards = n
	}
	m.Shards = min(m.Shards, m.sweep.NumPoints)
	for i := range m.Shards {
		if err := m.writeShard(i); err != nil {
			return err
		}
	}
	return resultdir.WriteFile(path, 0o777, resultdir.Text(text()))
}

// writeShard writes every so manyth point, so that costs that grow with a factor are
// divided evenly.
func (m *Submission) writeShard(i int) error {
	points := func(yield func(int) bool) {
		for k := i; k < m.sweep.NumPoints && yield(k); k += m.Shards {
		}
	}
	return resultdir.WriteFile(m.shardName(i+1), 0o666, func(w io.Writer) error { return m.sweep.plan(w, m.build, points) })
}

// sameShards counts the shards in the folder, which have to be of this sweep.
func (m *Submission) sameShards() error {
	f, err := os.Open(m.shardName(1))
	if err != nil {
		return err
	}
	defer f.Close()
	var line planned
	if err := json.NewDecoder(f).Decode(&line); err != nil {
		line.Schema = ""
	}
	if err := line.known(m.shardName(1), 1); err != nil {
		return err
	}
	if err := line.agrees(m.shardName(1), m.sweep.identity(m.build)); err != nil {
		return err
	}
	for m.Shards = 1; ; m.Shards++ {
		if _, err := os.Stat(m.shardName(m.Shards + 1)); err != nil {
			return nil
		}
	}
}

// Slurm writes a script with one task of a job array for each shard, and submits
// it with sbatch unless dry. It returns what sbatch printed.
func (m *Submission) Slurm(dry bool) (string, error) {
	program, folder, here, err := m.places()
	if err != nil {
		return "", err
	}
	const script = "slurm.sh"
	err = m.write(script, func() string {
		return strings.Join([]string{
			"#!/bin/sh",
			"#SBATCH --job-name=slotwave-" + m.sweep.Name(),
			"#SBATCH --array=1-" + strconv.Itoa(m.Shards),
			"#SBATCH --requeue",
			"#SBATCH --open-mode=append",
			"#SBATCH --cpus-per-task=1",
			"#SBATCH --chdir=" + batchValue(here),
			"#SBATCH --output=" + batchValue(strings.ReplaceAll(folder, "%", "%%")+"/shard-%a.log"),
			"exec " + quoted(program) + " sweep work " + quoted(filepath.Join(folder, "shard-")) + `"$SLURM_ARRAY_TASK_ID" --workers "${SLURM_CPUS_PER_TASK:-1}" --quiet`,
			"",
		}, "\n")
	})
	if err != nil || dry {
		return "", err
	}
	return submitted("sbatch", filepath.Join(m.Folder, script))
}

// Hadoop writes the points as the input of a job of Hadoop Streaming, with a script
// that runs it, and runs it unless dry.
func (m *Submission) Hadoop(dry bool) (string, error) {
	program, folder, here, err := m.places()
	if err != nil {
		return "", err
	}
	const script = "hadoop.sh"
	err = m.write(script, func() string {
		lines := (m.sweep.NumPoints + m.Shards - 1) / m.Shards
		files := []string{program}
		for _, in := range m.sweep.inputs {
			if !strings.HasPrefix(in.Name, scenarios.ShippedPrefix) {
				files = append(files, in.Name)
			}
		}
		input := "slotwave-" + m.sweep.Name() + "-" + m.sweep.identity(m.build).Inputs[:8]
		output := input + "-rows"
		return strings.Join([]string{
			"#!/bin/sh",
			"# HADOOP_STREAMING is the path of hadoop-streaming.jar.",
			"set -e",
			"cd " + quoted(here),
			"hadoop fs -rm -r -f -skipTrash " + quoted(input) + " " + quoted(output), // of an earlier submission
			"hadoop fs -mkdir -p " + quoted(input),
			"hadoop fs -put -f " + quoted(folder) + "/shard-* " + quoted(input),
			`hadoop jar "$HADOOP_STREAMING" \`,
			"  -D mapreduce.job.reduces=0 \\",
			"  -D mapreduce.input.lineinputformat.linespermap=" + strconv.Itoa(lines) + " \\",
			"  -D mapreduce.task.timeout=0 \\",
			"  -files " + quoted(strings.Join(files, ",")) + " \\",
			"  -inputformat org.apache.hadoop.mapred.lib.NLineInputFormat \\",
			"  -input " + quoted(input) + " -output " + quoted(output) + " \\",
			"  -mapper " + quoted("./"+filepath.Base(program)+" sweep work --stdin --workers 1"),
			"hadoop fs -cat " + quoted(output) + "/part-* > " + quoted(filepath.Join(folder, "hadoop.rows")),
			"",
		}, "\n")
	})
	if err != nil || dry {
		return "", err
	}
	return submitted("sh", filepath.Join(m.Folder, script))
}

// places returns the paths of the program, of the folder and of the working folder.
func (m *Submission) places() (program, folder, here string, err error) {
	if program, err = os.Executable(); err != nil {
		return
	}
	if here, err = os.Getwd(); err != nil {
		return
	}
	folder, err = filepath.Abs(m.Folder)
	return
}

// batchValue writes a path as the value of an option of sbatch, in quotes where it holds
// what would end the value.
func batchValue(path string) string {
	if !strings.ContainsAny(path, " \t\"'\\#") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// quoted quotes a word for sh.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// submitted runs a command and returns what it prints.
func submitted(command string, args ...string) (string, error) {
	var out, message bytes.Buffer
	c := exec.Command(command, args...)
	c.Stdout, c.Stderr = &out, io.MultiWriter(&message)
	if err := c.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("%s: not found: want a host on which jobs can be submitted, or --dry-run", command)
		}
		return "", fmt.Errorf("%s: %v: %s", command, err, strings.TrimSpace(message.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
