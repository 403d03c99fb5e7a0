package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
)

// The branches of a fork are the run as it is, and the run of a scenario in which
// the setting changes at that time, on random workloads.
func TestForkAt(t *testing.T) {
	workloads := 4
	if layers.Whole {
		workloads = 50
	}
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(15, 7))
	parted := 0
	for i := range workloads {
		text := strings.Replace(randomWorkload(r), "[cluster]", "plots = \"none\"\n[cluster]", 1)
		next := []string{"fifo", "fair1", "fair2", "capacity", "maxedf"}[r.IntN(5)]
		at := strconv.Itoa(5+r.IntN(50)) + "s"
		writeFile(t, "my.toml", text)
		writeFile(t, "changed.toml", text+fmt.Sprintf("[[change]]\nat = %q\nscheduler.name = %q\n", at, next))
		fork := "fork" + strconv.Itoa(i)
		seed := strconv.Itoa(i)
		verb(t, "run", "my.toml", "--set", "plots=none", "--quiet", "--seed", seed, "--fork-at", at, "--set", "scheduler.name="+next, "--out", fork)
		branch := filepath.Join(fork, "scheduler-name-"+next+"-from-"+at)
		for folder, args := range map[string][]string{filepath.Join(fork, "unchanged"): {"my.toml"}, branch: {"changed.toml"}} {
			out := t.TempDir()
			verb(t, append([]string{"run", "--quiet", "--seed", seed, "--out", out}, args...)...)
			for _, name := range []string{"attempts.csv", results.JobsName} {
				if read(t, filepath.Join(out, name)) != read(t, filepath.Join(folder, name)) {
					t.Errorf("workload %d, %s from %s: %s of %s differs from that of %s", i, next, at, name, folder, args[0])
				}
			}
		}
		if read(t, filepath.Join(branch, "attempts.csv")) != read(t, filepath.Join(fork, "unchanged", "attempts.csv")) {
			parted++
		}
		if i == 0 {
			verb(t, "run", "my.toml", "--set", "plots=none", "--quiet", "--fork-at", at, "--set", "scheduler.name="+next, "--set", "attempts=none", "--out", "none")
			for folder := range map[string]bool{"unchanged": true, filepath.Base(branch): true} {
				if files := tree(t, filepath.Join("none", folder)); files["attempts.csv"] != "" || files[results.JobsName] == "" {
					t.Errorf("%s: attempts = none: got attempts.csv or no jobs.csv", folder)
				}
			}
			verb(t, "run", filepath.Join(fork, "manifest.json"), "--out", "again")
		}
	}
	t.Logf("%d of %d branches parted", parted, workloads)
	if parted < workloads/4 {
		t.Errorf("%d of %d branches parted: want a quarter or more", parted, workloads)
	}
}

// Changes can vary in a sweep, and mistakes in them name the key.
func TestChangeKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	scenario, _, _ := strings.Cut(sweptScenario, "[vary]")
	writeFile(t, "my.toml", scenario)
	writeFile(t, "changed.toml", scenario+"[[change]]\nat = \"0s\"\nscheduler.name = \"fair2\"\n")
	verb(t, "sweep", "changed.toml", "--quiet", "--over", "change.0.at=0s,2m,10h", "--out", "changed")
	verb(t, "sweep", "my.toml", "--quiet", "--over", "scheduler.name=fair2,fifo", "--out", "plain")
	figures := func(folder string, point int) string {
		cells := strings.SplitN(strings.Split(read(t, filepath.Join(folder, points.Name)), "\n")[1+point], ",", 4)
		return cells[3]
	}
	if figures("changed", 0) != figures("plain", 0) || figures("changed", 2) != figures("plain", 1) || figures("changed", 1) == figures("plain", 1) {
		t.Error("a change at the start is not the run of the next scheduler, or one after the end is not the run without it")
	}
	for _, c := range []struct{ text, flag, want string }{
		{"[[change]]\nscheduler.name = \"fair2\"\n", "", "my.toml:12: change[0]: at: missing"},
		{"[[change]]\nat = \"1m\"\n[[change]]\nat = \"30s\"\n", "", "change[1].at: got 30s after a later one"},
		{"[[change]]\nat = \"1m\"\ncluster.nodes = 4\n", "", "unknown key change[0].cluster"},
		{"[[change]]\nat = \"1m\"\n", "--fork-at=2m", "change: the scenario has changes of its own"},
	} {
		writeFile(t, "my.toml", scenario+c.text)
		args := []string{"run", "my.toml", "--out", "refused"}
		if c.flag != "" {
			args = append(args, c.flag, "--set", "scheduler.name=fair2")
		}
		if code, _, stderr := call("", args...); code != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d, %q: want %q", c.text, code, stderr, c.want)
		}
	}
}

// A run of several that was killed, at whichever moment, is begun anew by the same
// command and gives the files of one that was never killed.
func TestKilledRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("kills many runs")
	}
	t.Chdir(t.TempDir())
	text := "[cluster]\nnodes = 5\n[[job]]\nname = \"a\"\nmaps = 40\nduration = { dist = \"exponential\", mean = \"20s\" }\n"
	writeFile(t, "varied.toml", text+"[vary]\n\"scheduler.name\" = [\"fifo\", \"fair2\"]\n")
	writeFile(t, "my.toml", text)
	for name, args := range map[string][]string{
		"vary": {"run", "varied.toml", "--quiet"}, "fork": {"run", "my.toml", "--quiet", "--fork-at", "1m", "--set", "scheduler.name=fair2"},
	} {
		verb(t, append(args[:len(args):len(args)], "--out", name+"-whole")...)
		files := func(folder string) map[string]string {
			all := map[string]string{}
			for path, text := range content(t, folder) {
				if filepath.Base(path) != resultdir.LogName {
					all[strings.TrimPrefix(path, folder)] = text
				}
			}
			return all
		}
		want := files(name + "-whole")
		out := name + "-killed"
		for most := 1; most <= 16; most *= 4 { // that are there when it is killed
			c := exec.Command("slotwave", append(args[:len(args):len(args)], "--out", out)...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			killed := false
			for !killed {
				n := 0
				filepath.WalkDir(out, func(_ string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() {
						n++
					}
					return nil
				})
				select {
				case <-ended:
					killed = true
				default:
					if n >= most {
						c.Process.Kill()
						<-ended
						killed = true
					}
					time.Sleep(time.Millisecond) // leave the core to the run
				}
			}
			verb(t, append(args[:len(args):len(args)], "--out", out)...)
			sameTree(t, files(out), want, fmt.Sprintf("%s killed with %d files", name, most))
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
	}
}
