package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// A disk that is full at any time of a sweep leaves nothing half-written: the
// command fails with exit code 2, and goes on with the same bytes once there is
// space.
func TestSweepFullDisk(t *testing.T) {
	sizes := []int{16, 100}
	switch {
	case testing.Short():
		sizes = sizes[:1]
	case layers.Whole:
		sizes = nil
		for i := range 20 {
			sizes = append(sizes, 8+12*i)
		}
	}
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", strings.Replace(sweptScenario, "jobs = 30", "jobs = 3", 1)) // a point takes as much of the disk
	writeFile(t, "mystudy.toml", "scenario = \"my.toml\"\nreplications = 4\n[[factor]]\nkey = \"cluster.slowdown\"\nfrom = 0.5\nto = 2.0\ncount = 40\n")
	verb(t, "sweep", "mystudy.toml", "--quiet", "--out", "on/whole")
	want := tree(t, "on/whole")
	disk := "disk" // beside, for a manifest tells where its inputs are
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	full := 0
	for _, size := range sizes {
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%dk", size)); err != nil {
			t.Skipf("cannot mount a small disk: %v", err)
		}
		func() {
			defer syscall.Unmount(disk, 0)
			out := filepath.Join(disk, "out")
			code, _, stderr := call("", "sweep", "mystudy.toml", "--quiet", "--out", out)
			if code == exitDone {
				sameTree(t, tree(t, out), want, "a disk that was large enough")
				return
			}
			full++
			if code != exitInput || !strings.Contains(stderr, "no space left") {
				t.Errorf("%d KiB: exit code %d, %q: want no space left", size, code, stderr)
			}
			entries, err := os.ReadDir(out)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() != ".points.journal.partial" {
					t.Errorf("%d KiB: %s is left", size, e.Name())
				}
			}
			if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=4m"); err != nil {
				t.Fatal(err)
			}
			verb(t, "sweep", "mystudy.toml", "--quiet", "--out", out)
			sameTree(t, tree(t, out), want, fmt.Sprintf("%d KiB, then more", size))
		}()
	}
	t.Logf("%d of %d disks were full", full, len(sizes))
	if full < len(sizes)/2 {
		t.Errorf("%d of %d disks were full: want at least half", full, len(sizes))
	}
}
