package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// topics are the help pages that belong to no verb.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "formats", Short: "Files that slotwave reads and writes", Long: formatsTopic()},
		{Use: "units", Short: "How sizes and times are written", Long: unitsTopic},
		{Use: "exit-codes", Short: "What the exit code tells", Long: exitTopic},
		{Use: "properties", Short: "Hadoop properties that mean something", Long: propertiesTopic()},
	}
}

const unitsTopic = `Sizes are bytes: 67108864, "64m", "30 GB". The suffixes k, m, g and t are powers
of 1024, as Hadoop means them.

Times are "90s", "15m", "2h", "300ms", or sums of these: "1h30m". Keys that end in
_ms take plain milliseconds. Tables that are written hold nanoseconds (_ns).

Rates are sizes per second: shuffle_rate = "10m".`

const exitTopic = `0    done
1    internal error: the fault of slotwave
2    bad input; the message names file, line and what was expected. Also a file
     that cannot be read, or an output that cannot be written
3    a limit was hit
4    compare --fail-above: a difference is above it
130  interrupted
143  terminated`

func formatsTopic() string {
	var b strings.Builder
	b.WriteString("The format of a trace is known from its content; it may be compressed (gzip,\nzstd). The name in front is what workload.format takes.\n\n")
	for _, f := range trace.Formats() {
		if f.Reads() {
			fmt.Fprintf(&b, "%-11s %s\n", f.Name, f.About)
		}
	}
	b.WriteString("\nslotwave convert writes:\n\n")
	for _, f := range trace.Formats() {
		if f.Writes() {
			fmt.Fprintf(&b, "%-11s %s\n", f.Name, f.Files)
		}
	}
	b.WriteString("\nScenarios are TOML; slotwave show two-jobs prints one. Job profiles are TOML;\nslotwave profile writes them. Recorded cases of a real JobTracker are case.json.")
	return b.String()
}

func propertiesTopic() string {
	var b strings.Builder
	b.WriteString("Hadoop properties that slotwave reads, in [conf], [scheduler] and [job.conf]. Names\nof MRv2 are accepted.\n")
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		def := cmp.Or(p.Default, p.Otherwise)
		if def != "" {
			def = " (" + def + ")"
		}
		fmt.Fprintf(&b, "\n%s%s\n    %s: %s", key, def, p.Reader, p.About)
	}
	return b.String()
}
