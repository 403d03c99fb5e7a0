package main

import (
	"testing"
	"time"
)

func TestSpeed(t *testing.T) {
	for _, c := range []struct {
		done, left int64
		took       time.Duration
		want       string
	}{
		{0, 10, time.Second, ""},
		{10, 90, 4 * time.Second, " 2.5/s, 36s left"},
		{5000, 1000, 2 * time.Second, " 2500/s, 0s left"},
		{5000, 500_000, 2 * time.Second, " 2500/s, 3m20s left"},
	} {
		if got := speed(c.done, c.left, c.took); got != c.want {
			t.Errorf("%d of %d in %v: %q, want %q", c.done, c.left, c.took, got, c.want)
		}
	}
}
