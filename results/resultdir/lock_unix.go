//go:build unix

package resultdir

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock keeps other processes from locking the same file or folder until f is
// closed, or the process ends in any way. A file system without locks locks
// nothing.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: another slotwave is writing here: wait until it ends, or choose another --out", f.Name())
	}
	return nil
}
