//go:build !unix

package bench

import "time"

// processorTime returns the time since the program began, because this system
// does not report the time that the process has used.
func processorTime() time.Duration { return time.Since(start) }

var start = time.Now()
