//go:build !unix

package bench

import "time"

// processorTime returns the time since the program began, because this system
// does not tell what the process has spent.
func processorTime() time.Duration { return time.Since(start) }

var start = time.Now()
