//go:build unix

package bench

import (
	"syscall"
	"time"
)

// processorTime returns the time that the process has spent on all cores.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return time.Since(start)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var start = time.Now()
