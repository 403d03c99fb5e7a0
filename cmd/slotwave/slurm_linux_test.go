package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const slurmConf = `ClusterName=test
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPidFile=%[1]s/ctld.pid
SlurmdPidFile=%[1]s/%%n.pid
SlurmdSpoolDir=%[1]s/spool-%%n
StateSaveLocation=%[1]s/state
SlurmctldLogFile=%[1]s/ctld.log
SlurmdLogFile=%[1]s/%%n.log
SlurmctldPort=16827
SlurmdTimeout=10
SchedulerType=sched/builtin
SelectType=select/cons_tres
NodeName=one NodeHostname=localhost NodeAddr=127.0.0.1 Port=16828 CPUs=1 State=UNKNOWN
NodeName=two NodeHostname=localhost NodeAddr=127.0.0.1 Port=16829 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
`

// slurm starts slurmctld and two slurmd on this host.
type slurm struct {
	t      *testing.T
	folder string
}

func newSlurm(t *testing.T) slurm {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "slurm") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	s := slurm{t, folder}
	t.Cleanup(func() {
		for _, daemon := range []string{"one", "two", "ctld", "munge"} {
			s.kill(s.pid(daemon), syscall.SIGTERM)
		}
		os.RemoveAll(folder)
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "slurm.conf"), fmt.Sprintf(slurmConf, folder))
	t.Setenv("SLURM_CONF", filepath.Join(folder, "slurm.conf"))
	writeFile(t, filepath.Join(folder, "key"), strings.Repeat("a key for one test only ", 50))
	os.Chmod(filepath.Join(folder, "key"), 0o400)
	in := func(name string) string { return filepath.Join(folder, name) }
	s.run("munged", "--force", "--key-file="+in("key"), "--socket="+in("munge.socket"), "--pid-file="+in("munge.pid"), "--log-file="+in("munge.log"), "--seed-file="+in("seed"))
	for _, name := range []string{"state", "spool-one", "spool-two"} {
		os.Mkdir(in(name), 0o755)
	}
	s.run("slurmctld", "-i")
	s.run("slurmd", "-N", "one")
	s.run("slurmd", "-N", "two")
	s.wait("both nodes", func() bool { return strings.Count(s.run("sinfo", "-N", "-h"), "idle") == 2 })
	return s
}

func (s slurm) run(name string, args ...string) string {
	s.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (s slurm) wait(what string, done func() bool) {
	s.t.Helper()
	for range 600 {
		if done() {
			return
		}
		time.Sleep(time.Second / 2)
	}
	s.t.Fatalf("waited too long for %s:\n%s", what, s.run("squeue"))
}

func (s slurm) pid(daemon string) int {
	data, _ := os.ReadFile(filepath.Join(s.folder, daemon+".pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid
}

func (s slurm) kill(pid int, signal syscall.Signal) {
	if pid > 1 {
		syscall.Kill(pid, signal)
	}
}

// killNode kills slurmd of a node, and the task and its parent on it, as a
// machine that loses power does.
func (s slurm) killNode(node string) {
	s.kill(s.pid(node), syscall.SIGKILL)
	tasks, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range tasks {
		data, _ := os.ReadFile(path)
		if !strings.Contains("\x00"+string(data), "\x00SLURMD_NODENAME="+node+"\x00") || !strings.Contains(string(data), "SLURM_CONF="+s.folder) {
			continue
		}
		task, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		_, rest, _ := strings.Cut(string(stat), "PPid:")
		parent, _ := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
		s.kill(parent, syscall.SIGKILL)
		s.kill(task, syscall.SIGKILL)
	}
}

// A job array of Slurm on two nodes, of which one dies in the middle, gives the
// bytes of one machine: Slurm runs the lost task again, and merge refuses to begin
// before it has ended.
func TestSweepSlurm(t *testing.T) {
	if os.Getenv("SLOTWAVE_SLURM") == "" {
		t.Skip("starts slurmctld and slurmd as root: set SLOTWAVE_SLURM=1 to run it")
	}
	program := filepath.Join(t.TempDir(), "slotwave")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	uneven(t, 200, 6)
	s := newSlurm(t)
	s.run(program, "sweep", "mystudy.toml", "--quiet", "--out", "local")
	submit := func() string {
		return s.run(program, "sweep", "submit", "slurm", "mystudy.toml", "--shards", "6", "--out", "shards")
	}
	t.Log(submit())
	rows := func(shard int) int {
		data, _ := os.ReadFile(fmt.Sprintf("shards/shard-%d.rows", shard))
		return strings.Count(string(data), "\n")
	}
	s.wait("half of the second shard", func() bool { return rows(2) > 100 })
	s.killNode("two")
	lost := rows(2)
	s.wait("the lost task to be queued again", func() bool { return strings.Contains(s.run("squeue", "-h", "-t", "PD"), "_2") })
	s.wait("the other tasks", func() bool { return len(strings.Split(strings.TrimSpace(s.run("squeue", "-h")), "\n")) == 1 })
	out, err := exec.Command(program, append([]string{"sweep", "merge", "--out", "merged"}, shardRows(t)...)...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "replication 6: missing") {
		t.Errorf("merge without the lost task: %v, %q: want the missing points by name", err, out)
	}
	s.run("scontrol", "update", "JobId="+strings.Fields(s.run("squeue", "-h", "-o", "%F_%K"))[0], "StartTime=now")
	s.wait("the lost task", func() bool { return strings.TrimSpace(s.run("squeue", "-h")) == "" })
	s.run(program, append([]string{"sweep", "merge", "--quiet", "--out", "merged"}, shardRows(t)...)...)
	sameTree(t, tree(t, "merged"), tree(t, "local"), "Slurm with one node killed")
	t.Logf("the lost task had finished %d of %d simulations, which were not repeated", lost-1, rows(2)-1)
	submit() // finished shards end at once
	s.wait("the repeated tasks", func() bool { return strings.TrimSpace(s.run("squeue", "-h")) == "" })
}

func shardRows(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("shards/*.rows")
	if err != nil {
		t.Fatal(err)
	}
	return names
}
