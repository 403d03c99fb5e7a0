package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/workload/trace"
)

// samples writes the records that HiTune's sampling agents would have collected in
// a run.
func (a *app) samples(c *cobra.Command, args []string, k *conversion) error {
	if len(args) != 1 {
		return fmt.Errorf("--to samples: got %d paths: want one result or history", len(args))
	}
	every, err := samplingOf(k.every)
	if err != nil {
		return err
	}
	if k.out == "" {
		k.out = "samples.csv"
	}
	var warnings []string
	write := func(w io.Writer) (err error) {
		warnings, err = diagnosis.Sample(w, args[0], every)
		return err
	}
	if err := a.deliver(c, args, &k.output, []trace.File{{Name: "samples.csv", Write: write}}, resultdir.Manifest{Scenario: "samples", Seed: 1}); err != nil {
		return err
	}
	if !k.quiet {
		a.warn(warnings)
	}
	return a.next(&k.output, "diagnose", k.out)
}

// samplingOf reads the time between samples of a thread and, after a comma, of a
// device.
func samplingOf(text string) (every diagnose.Sampling, err error) {
	threads, devices, both := strings.Cut(text, ",")
	every.Tasks, err = time.ParseDuration(threads)
	if both && err == nil {
		every.System, err = time.ParseDuration(devices)
	}
	if err != nil || every.Tasks < 0 || every.System < 0 || every == (diagnose.Sampling{}) {
		return every, fmt.Errorf("--every: got %q: want one or two times such as 20ms,5s, at least one above 0", text)
	}
	return every, nil
}
