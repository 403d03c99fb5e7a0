package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/results/resultdir"
)

// fileCall is a system call of a traced program on a file of its folder.
type fileCall struct {
	what string // open, create, read, write, sync, rename, remove, mkdir
	name string // relative to the folder
	to   string // of a rename
}

// tracer follows the system calls of a program on files in a folder. at is called when
// the program enters one, and may have it fail with an input or output error.
type tracer struct {
	folder string
	at     func(fileCall) (fails bool)

	within map[int]bool // threads that are in a system call
	failed map[int]bool // threads whose call fails
}

// run runs a program until its end.
func (k *tracer) run(c *exec.Cmd) error {
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	k.within, k.failed = map[int]bool{}, map[int]bool{}
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		return err
	}
	pid := c.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return err
	}
	const sysGood, exitKill = 1, 1 << 20
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE|sysGood|exitKill); err != nil {
		return err
	}
	for thread, signal := pid, 0; ; {
		// A thread that another one has ended meanwhile cannot be continued.
		if err := syscall.PtraceSyscall(thread, signal); err != nil && err != syscall.ESRCH {
			return err
		}
		var err error
		if thread, err = syscall.Wait4(-1, &status, syscall.WALL, nil); err != nil {
			return err
		}
		signal = 0
		switch stopped := status.StopSignal(); {
		case status.Exited() || status.Signaled():
			if thread == pid {
				c.Process.Release()
				if status.ExitStatus() != exitDone {
					return fmt.Errorf("exit %d", status.ExitStatus())
				}
				return nil
			}
		case stopped == syscall.SIGTRAP|0x80:
			if err := k.systemCall(pid, thread); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		case stopped != syscall.SIGTRAP && stopped != syscall.SIGSTOP:
			signal = int(stopped)
		}
	}
}

// systemCall is called when a thread enters a system call, and when it leaves it.
func (k *tracer) systemCall(pid, thread int) error {
	k.within[thread] = !k.within[thread]
	if !k.within[thread] && !k.failed[thread] {
		return nil
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
		return err
	}
	if !k.within[thread] {
		delete(k.failed, thread)
		regs.Rax = ^uint64(syscall.EIO) + 1
		return syscall.PtraceSetRegs(thread, &regs)
	}
	call, ok := k.fileCall(pid, thread, &regs)
	if !ok || !k.at(call) {
		return nil
	}
	k.failed[thread] = true
	regs.Orig_rax = ^uint64(0) // no call
	return syscall.PtraceSetRegs(thread, &regs)
}

// fileCall describes a call on a file of the folder.
func (k *tracer) fileCall(pid, thread int, regs *syscall.PtraceRegs) (c fileCall, ok bool) {
	inside := func(name string) (string, bool) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(k.folder, name)
		}
		rel, err := filepath.Rel(k.folder, name)
		return rel, err == nil && !strings.HasPrefix(rel, "..")
	}
	path := func(at uint64) (string, bool) {
		text := make([]byte, 4096)
		n, err := syscall.PtracePeekData(thread, uintptr(at), text)
		if err != nil && n == 0 {
			return "", false
		}
		name, _, _ := bytes.Cut(text[:n], []byte{0})
		return inside(string(name))
	}
	const renameat2 = 316
	switch regs.Orig_rax {
	case syscall.SYS_OPENAT:
		c.what = "open"
		if regs.Rdx&syscall.O_CREAT != 0 {
			c.what = "create"
		}
		c.name, ok = path(regs.Rsi)
	case syscall.SYS_MKDIRAT:
		c.what = "mkdir"
		c.name, ok = path(regs.Rsi)
	case syscall.SYS_RENAMEAT, renameat2:
		c.what = "rename"
		c.name, ok = path(regs.Rsi)
		c.to, _ = path(regs.R10)
	case syscall.SYS_UNLINKAT:
		c.what = "remove"
		c.name, ok = path(regs.Rsi)
	case syscall.SYS_READ, syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		c.what = map[uint64]string{syscall.SYS_READ: "read", syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "write", syscall.SYS_FSYNC: "sync", syscall.SYS_FDATASYNC: "sync"}[regs.Orig_rax]
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, regs.Rdi))
		if err != nil || !filepath.IsAbs(name) {
			return c, false
		}
		c.name, ok = inside(name)
	}
	return c, ok
}

// faultyVerbs write results of every kind from the same inputs.
var faultyVerbs = [][]string{
	{"run", "my.toml", "--set", "plots=none", "--out", "out"},
	{"run", "varied.toml", "--set", "plots=none", "--out", "out"},
	{"sweep", "my.toml", "--over", "cluster.nodes=2,3", "--workers", "1", "--out", "out"},
	{"convert", "record", "--to", "csv", "--out", "out"},
	{"convert", "record", "--to", "rumen", "--out", "out.json"},
	{"diagnose", "record", "--verify", "off", "--out", "out"},
	{"inspect", "record", "--out", "out"},
	{"report", "record", "--out", "out.html"},
	{"sweep", "work", "plan", "--workers", "1", "--out", "out.rows"},
}

func faultyFolder(t *testing.T) (folder string) {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	const text = "[cluster]\nnodes = 3\n[[job]]\nname = \"a\"\nmaps = 8\nduration = { dist = \"exponential\", mean = \"20s\" }\n"
	writeFile(t, "my.toml", text)
	writeFile(t, "varied.toml", text+"[vary]\n\"scheduler.name\" = [\"fifo\", \"fair2\"]\n")
	verb(t, "run", "my.toml", "--quiet", "--set", "plots=none", "--out", "record")
	writeFile(t, "plan", verb(t, "sweep", "plan", "my.toml", "--over", "cluster.nodes=2,3"))
	return folder
}

// outputs are the files of a verb, without the log, and what is left of unfinished ones.
func outputs(t *testing.T) (files map[string]string, left []string) {
	t.Helper()
	files = map[string]string{}
	for name, text := range content(t, ".") {
		switch {
		case !strings.HasPrefix(name, "out") && !strings.HasPrefix(name, ".out") || filepath.Base(name) == resultdir.LogName:
		case strings.Contains(filepath.Base(name), ".partial"):
			left = append(left, name)
		default:
			files[name] = text
		}
	}
	return files, left
}

// Each call of each verb on a file fails once, in turn: what has its final name is whole
// or not there, an error names the file and is not an internal one, and the same command
// without the fault ends with the same bytes.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs many times")
	}
	folder := faultyFolder(t)
	random := rand.New(rand.NewPCG(27, 7))
	tried := 0
	for _, w := range faultyVerbs {
		program := func() *exec.Cmd { return exec.Command("slotwave", w...) }
		var calls []fileCall
		all := tracer{folder: folder, at: func(c fileCall) bool { calls = append(calls, c); return false }}
		if err := all.run(program()); errors.Is(err, syscall.EPERM) {
			t.Skipf("cannot trace a program: %v", err)
		} else if err != nil {
			t.Fatalf("%q: %v", w, err)
		}
		want, _ := outputs(t)
		clear := func() {
			for _, name := range []string{"out", "out.json", "out.html", "out.rows"} {
				os.RemoveAll(name)
			}
			left, _ := filepath.Glob(".out*")
			for _, name := range left {
				os.RemoveAll(name)
			}
		}
		turns := random.Perm(len(calls))
		if !layers.Whole {
			turns = turns[:min(4, len(turns))]
		}
		for _, turn := range turns {
			clear()
			n, failed := 0, fileCall{}
			k := tracer{folder: folder, at: func(c fileCall) bool {
				n++
				if n-1 == turn {
					failed = c
				}
				return n-1 == turn
			}}
			c := program()
			var errs bytes.Buffer
			c.Stderr = &errs
			err := k.run(c)
			tried++
			what := fmt.Sprintf("%q: call %d, %s %s, fails", w, turn, failed.what, failed.name)
			if strings.Contains(errs.String(), "internal error") || strings.Contains(errs.String(), "goroutine") {
				t.Errorf("%s: %s", what, errs.String())
			}
			got, left := outputs(t)
			if w[1] != "work" { // its rows are a journal, which a verb continues
				for name, text := range got {
					if text != want[name] && filepath.Base(name) != resultdir.JournalName {
						t.Errorf("%s: %s is not whole", what, name)
					}
				}
			}
			if err == nil && len(got) < len(want) {
				t.Errorf("%s: exit 0, and %d of %d files", what, len(got), len(want))
			}
			// A result whose renames have begun is ended by the next command.
			if err != nil && len(left) > 0 && failed.what != "remove" && failed.what != "rename" && !strings.HasPrefix(filepath.Base(left[0]), ".points.journal") {
				t.Errorf("%s: %v: %q are left", what, err, left)
			}
			if err == nil {
				continue // the call could fail without harm
			}
			if err := program().Run(); err != nil {
				again, _ := program().CombinedOutput()
				t.Errorf("%s: the same command afterwards: %v %s (first: %s)", what, err, again, errs.String())
			}
			if got, left := outputs(t); !sameFiles(got, want) || len(left) > 0 {
				t.Errorf("%s: the same command afterwards gives other files; left: %q", what, left)
			}
		}
		clear()
	}
	t.Logf("%d faults", tried)
}

func sameFiles(got, want map[string]string) bool {
	if len(got) != len(want) {
		return false
	}
	for name := range want {
		if got[name] != want[name] {
			return false
		}
	}
	return true
}

// When power is lost, what was not synced is lost. So a file is synced between its last
// write and the rename that gives it its final name; and before the manifest gets its
// name, which says that the result is whole, the folders of the other renames are synced.
func TestPowerLoss(t *testing.T) {
	folder := faultyFolder(t)
	for _, w := range faultyVerbs {
		dirty := map[string]bool{}   // files with writes that are not synced
		renamed := map[string]bool{} // folders with renames that are not synced
		k := tracer{folder: folder, at: func(c fileCall) bool {
			switch {
			case c.what == "write":
				dirty[c.name] = true
			case c.what == "sync":
				delete(dirty, c.name)
				delete(renamed, c.name)
			case c.what == "rename":
				if dirty[c.name] {
					t.Errorf("%q: %s gets its name %s before it is synced", w, c.name, c.to)
				}
				if filepath.Base(c.to) == resultdir.ManifestName && len(renamed) > 0 {
					t.Errorf("%q: %s gets its name before the renames in %v are synced", w, c.to, renamed)
				}
				renamed[filepath.Dir(c.to)] = true
			}
			return false
		}}
		if err := k.run(exec.Command("slotwave", w...)); errors.Is(err, syscall.EPERM) {
			t.Skipf("cannot trace a program: %v", err)
		} else if err != nil {
			t.Fatalf("%q: %v", w, err)
		}
		for name := range dirty {
			if base := filepath.Base(name); base != resultdir.LogName && !slices.Contains([]string{resultdir.JournalName, "out.rows"}, base) {
				t.Errorf("%q: %s is never synced", w, name)
			}
		}
		for _, name := range []string{"out", "out.json", "out.html", "out.rows"} {
			os.RemoveAll(name)
		}
	}
}
