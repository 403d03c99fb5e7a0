package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slotwave/slotwave/study"
)

func TestSpeed(t *testing.T) {
	for _, c := range []struct {
		done, left int
		took       time.Duration
		want       string
	}{
		{0, 10, time.Second, ""},
		{10, 90, 4 * time.Second, " 2.5/s, 36s left"},
		{5000, 1000, 2 * time.Second, " 2500/s, 0s left"},
		{40, 0, 4 * time.Second, " 10/s, 0s left"},
		{40, -1, 4 * time.Second, " 10/s"},
		{5000, 500_000, 2 * time.Second, " 2500/s, 3m20s left"},
	} {
		if got := speed(c.done, c.left, c.took); got != c.want {
			t.Errorf("%d of %d in %v: %q, want %q", c.done, c.left, c.took, got, c.want)
		}
	}
}

// Without a terminal a line says now and then how far the work is, without control
// characters, and nothing does if it is quiet.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		a := &app{stderr: &stderr}
		tasks := a.progress("tasks", 600, false)
		report := tasks.report()
		report(40)
		time.Sleep(lineInterval - time.Second)
		if stderr.Len() > 0 {
			t.Errorf("%q before the first interval ends", &stderr)
		}
		report(20)
		time.Sleep(2 * time.Second)
		tasks.end()
		search := a.progress("simulations", 0, false)
		search.reportOf()(study.SweepStatus{Done: 6, Total: 20, Ended: 60, Step: "8 nodes\x1b"})
		time.Sleep(lineInterval + time.Second)
		search.reportOf()(study.SweepStatus{Done: 90, Ended: 90, Slowest: "cluster.nodes=8", Took: time.Second})
		time.Sleep(lineInterval)
		search.end()
		time.Sleep(10 * lineInterval)
		want := "60/600 tasks 2/s, 4m30s left\n" +
			"8 nodes\\x1b: 6/20 simulations 2/s, 7s left of this step\n" +
			"90 simulations 1.5/s, slowest cluster.nodes=8 (1 s)\n"
		if got := stderr.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if quiet := a.progress("tasks", 1, true); quiet.report() != nil || quiet.reportOf() != nil {
			t.Error("quiet progress is counted")
		}
	})
}
