package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/results/resultdir"
)

// cutter traces a program and kills it within a write: it lets the system write only
// the first bytes that the program asked for, and sends SIGKILL before the program runs
// on.
type cutter struct {
	folder string // of the result
	rows   bool   // cut a write to its journal; else one to another file
	left   int    // such writes until the cut
	part   float64
	within map[int]bool // threads that are in a system call
	cut    int          // bytes that the cut write is to have; 0: not reached
	thread int          // that does it
	name   string       // of the cut file
}

// run runs a program until its end, and reports whether it was killed within a write.
func (k *cutter) run(c *exec.Cmd) (bool, error) {
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	k.within = map[int]bool{}
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		return false, err
	}
	pid := c.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return false, err
	}
	const sysGood, exitKill = 1, 1 << 20
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE|sysGood|exitKill); err != nil {
		return false, err
	}
	for thread, signal := pid, 0; ; {
		// A thread that another one has ended meanwhile is gone, here and below.
		if err := syscall.PtraceSyscall(thread, signal); err != nil && err != syscall.ESRCH {
			return false, err
		}
		var err error
		if thread, err = syscall.Wait4(-1, &status, syscall.WALL, nil); err != nil {
			return false, err
		}
		signal = 0
		switch stopped := status.StopSignal(); {
		case status.Exited() || status.Signaled():
			if thread == pid {
				return k.cut > 0, nil
			}
		case stopped == syscall.SIGTRAP|0x80:
			if err := k.systemCall(pid, thread); err != nil && err != syscall.ESRCH {
				return false, err
			}
		case stopped != syscall.SIGTRAP && stopped != syscall.SIGSTOP:
			signal = int(stopped)
		}
	}
}

// systemCall is called when a thread enters a system call, and when it leaves it.
func (k *cutter) systemCall(pid, thread int) error {
	k.within[thread] = !k.within[thread]
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
		return err
	}
	if !k.within[thread] {
		if k.cut == 0 || thread != k.thread {
			return nil
		}
		if int(regs.Rax) != k.cut {
			return fmt.Errorf("%s: the system wrote %d bytes: want %d", k.name, int(regs.Rax), k.cut)
		}
		return syscall.Kill(pid, syscall.SIGKILL)
	}
	if regs.Orig_rax != syscall.SYS_WRITE || regs.Rdx < 2 || k.cut > 0 {
		return nil
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, regs.Rdi))
	if err != nil || filepath.Dir(name) != k.folder || k.rows != (filepath.Base(name) == resultdir.JournalName) {
		return nil
	}
	if k.left--; k.left >= 0 {
		return nil
	}
	cut := 1 + int(k.part*float64(regs.Rdx-1))
	regs.Rdx = uint64(cut)
	if err := syscall.PtraceSetRegs(thread, &regs); err != nil {
		return err
	}
	k.cut, k.thread, k.name = cut, thread, filepath.Base(name)
	return nil
}

// A sweep that is killed within a write, of its journal or of a file of the result, goes
// on with the same command, and the result is the same.
func TestSweepCut(t *testing.T) {
	if testing.Short() {
		t.Skip("kills many sweeps")
	}
	sweepFolder(t)
	wanted := 4
	if layers.Whole {
		wanted = 24
	}
	if out, err := sweepProgram("whole").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := tree(t, "whole")
	folder, err := filepath.Abs("killed")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	rows, files, finished := 0, 0, 0
	for trial := 0; rows+files < wanted; trial++ {
		k := &cutter{folder: folder, rows: trial%2 == 0, left: random.IntN(30), part: random.Float64()}
		killed, err := k.run(sweepProgram("killed"))
		if errors.Is(err, syscall.EPERM) {
			t.Skipf("cannot trace a program: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !killed {
			sameTree(t, tree(t, "killed"), want, "finished before the cut")
			os.RemoveAll("killed")
			finished = 0
			continue
		}
		if !k.rows {
			files++
			continue
		}
		rows++
		journal := read(t, filepath.Join("killed", resultdir.JournalName))
		if strings.HasSuffix(journal, "\n") {
			t.Errorf("the journal ends with a whole row after %d bytes of one", k.cut)
		}
		if n := strings.Count(journal, "\n"); n < finished {
			t.Errorf("the journal shrank from %d to %d lines", finished, n)
		} else {
			finished = n
		}
	}
	t.Logf("%d kills within a row of the journal, %d within a file of the result", rows, files)
	if rows == 0 || files == 0 {
		t.Errorf("%d kills within a row and %d within a file: want both", rows, files)
	}
	if out, err := sweepProgram("killed").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sameTree(t, tree(t, "killed"), want, "after kills")
}
