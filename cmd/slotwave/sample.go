package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/study"
)

func sampleCommand(a *app) *cobra.Command {
	every, out, force := diagnose.Sampling{}, "", false
	c := &cobra.Command{
		Use:   "sample RESULT",
		Short: "Write the sampling records of a simulated run",
		Long: `Write the records that HiTune's sampling agents would have collected in a run:
the Java stack of each thread of an attempt at fixed intervals, and the use of
each device. slotwave diagnose reads them, also together with records of a real
cluster.

RESULT is the folder of a result, or a history with the phases of its attempts.
A result of run --trace at fidelity device has the steps and waits of each
thread. Another result has the phases of an attempt: where reading, the map
function and collecting alternate, samples are spread evenly over them. 20 ms,
as HiTune uses, makes about 50 records for each second of a thread; a FILE that
ends in .gz is compressed.`,
		Example: "  slotwave run hitune-sort --trace\n  slotwave sample out/hitune-sort\n  slotwave run two-jobs\n  slotwave sample out/two-jobs --every 100ms --out samples.csv.gz\n  slotwave diagnose samples.csv.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case every.Tasks < 0 || every.System < 0:
				return errors.New("--every, --system: got a time below 0: want 0 or more")
			case every.Tasks == 0 && every.System == 0:
				return errors.New("--every 0 --system 0: want at least one above 0")
			}
			if _, err := os.Stat(out); err == nil && !force {
				return fmt.Errorf("--out %s: the file exists: name another, or replace it with --force", out)
			}
			temporary := out + ".part"
			f, err := os.Create(temporary)
			if err != nil {
				return err
			}
			defer os.Remove(temporary)
			warnings, err := sampleInto(f, strings.HasSuffix(out, ".gz"), args[0], every)
			if err != nil {
				return err
			}
			a.warn(warnings)
			return os.Rename(temporary, out)
		},
	}
	f := c.Flags()
	f.DurationVar(&every.Tasks, "every", 20*time.Millisecond, "`TIME` between two samples of a thread; 0: none")
	f.DurationVar(&every.System, "system", 5*time.Second, "`TIME` between two samples of a device; 0: none")
	f.StringVar(&out, "out", "samples.csv", "`FILE` to write")
	f.BoolVar(&force, "force", false, "replace the file if it exists")
	return c
}

// sampleInto writes the records into a file and closes it.
func sampleInto(f *os.File, packed bool, result string, every diagnose.Sampling) ([]string, error) {
	buffered := bufio.NewWriterSize(f, 1<<18)
	var w io.Writer = buffered
	var z *gzip.Writer
	if packed {
		z = gzip.NewWriter(buffered)
		w = z
	}
	warnings, err := study.Sample(w, result, every)
	if z != nil {
		err = errors.Join(err, z.Close())
	}
	return warnings, errors.Join(err, buffered.Flush(), f.Close())
}
