package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// topics returns the help pages that do not belong to a verb.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "formats", Short: "File formats that slotwave reads and writes", Long: formatsTopic()},
		{Use: "units", Short: "How to write sizes, times and rates", Long: unitsTopic},
		{Use: "exit-codes", Short: "What each exit code means", Long: exitTopic},
		{Use: "properties", Short: "Hadoop properties that slotwave reads", Long: propertiesTopic()},
	}
}

const unitsTopic = `Sizes are bytes: 67108864, "64m", "30 GB". The suffixes k, m, g and t are powers
of 1024, as in Hadoop.

Times are "90s", "15m", "2h", "300ms", or a sum such as "1h30m". Keys that end
in _ms take milliseconds without a unit. Result tables hold nanoseconds, in
columns that end in _ns.

Rates are sizes per second: shuffle_rate = "10m" is 10 MiB/s. Keys that end in
_mb take MB/s, where 1 MB is 1,000,000 bytes.`

const exitTopic = `0    success
1    internal error: a bug in slotwave. Also: a repeated run wrote other bytes
2    bad input: the message names the file, the line, the key and what was
     expected. Also: a file could not be read or written
3    a limit was reached: the message names it
4    --fail-above: a difference or a gain is above the limit
130  stopped by SIGINT (Ctrl-C)
143  stopped by SIGTERM`

func formatsTopic() string {
	var b strings.Builder
	b.WriteString("slotwave detects the format of a trace from its content. A trace may be\ncompressed with gzip. To state the format, set workload.format to a name:\n\n")
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
	b.WriteString("\nScenarios are TOML (slotwave show two-jobs prints one). Job profiles are TOML\n(slotwave convert --to profile writes them). A recorded case of a JobTracker is\na case.json.")
	return b.String()
}

func propertiesTopic() string {
	var b strings.Builder
	b.WriteString("Hadoop properties that slotwave reads, in [conf], [scheduler] and [job.conf].\nThe names of MRv2 are accepted too. Defaults are in parentheses.\n")
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		fmt.Fprintf(&b, "\n%s", propertyText(p))
	}
	return b.String()
}

// propertyText is the entry of a property: its name and default, and what it does.
func propertyText(p workload.Property) string {
	def := cmp.Or(p.Default, p.Otherwise)
	if def != "" {
		def = " (" + def + ")"
	}
	return fmt.Sprintf("%s%s\n    %s: %s", p.Key, def, p.Reader, p.About)
}
