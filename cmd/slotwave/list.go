package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/scheduler"
)

func listCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List scenarios, schedulers, releases, models, platforms, profiles",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				want := "want slotwave list, which prints everything"
				if what, next := shippedWord(args[0]); what != "" {
					want = what + ": " + next
				}
				return fmt.Errorf("list: got %s: %s", args[0], want)
			}
			if err := list(a.stdout); err != nil {
				return err
			}
			return a.next(&output{}, "show", "two-jobs")
		},
	}
}

// list prints everything that is shipped with the program.
func list(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Scenarios (slotwave run NAME, slotwave show NAME)")
	for _, name := range scenarios.List() {
		fmt.Fprintf(w, "  %s\t%s\n", name, scenarios.Title(name))
	}
	fmt.Fprintln(w, "\nSchedulers (scheduler.name)")
	for _, name := range scheduler.Names() {
		fmt.Fprintf(w, "  %s\t%s\n", name, scheduler.About(name))
	}
	for _, name := range slices.Sorted(maps.Keys(scenarios.YARNSchedulers)) {
		fmt.Fprintf(w, "  %s\t%s\n", name, scenarios.YARNSchedulers[name])
	}
	fmt.Fprintln(w, "\nReleases (cluster.hadoop)")
	for i := range model.Releases {
		r := &model.Releases[i]
		about := fmt.Sprintf("heartbeat interval of %v or more", r.HeartbeatMin)
		switch {
		case r.Ideal:
			about = "no heartbeats, no fixed costs, no locality"
		case r.YARN != nil && r.YARN.Recorded:
			about = "YARN; decisions of a real one are reproduced"
		case r.YARN != nil:
			about = "YARN as its source reads"
		}
		fmt.Fprintf(w, "  %s\t%s\n", r.Name, about)
	}
	fmt.Fprintln(w, "\nModels (slotwave predict; for single equations: slotwave platform eval --list)")
	for _, m := range analytic.Models {
		fmt.Fprintf(w, "  %s\t%s\n", m.Name, m.About)
	}
	for _, part := range []struct {
		head  string
		names []string
	}{
		{"Platforms (cluster.platform)", scenarios.Platforms()},
		{"Job profiles (job.profile)", scenarios.Profiles()},
	} {
		fmt.Fprintf(w, "\n%s\n", part.head)
		for _, name := range part.names {
			fmt.Fprintf(w, "  %s\t%s\n", name, scenarios.Title(name))
		}
	}
	return w.Flush()
}

// shippedWord says what a name that comes with the program is, and what takes it.
func shippedWord(name string) (what, next string) {
	switch {
	case slices.Contains(scenarios.List(), name):
		return "a scenario", "slotwave show " + name + " prints it"
	case slices.Contains(scenarios.Platforms(), name):
		return "a platform", fmt.Sprintf("slotwave show %s prints it, --set cluster.platform=%[1]s takes it", name)
	case slices.Contains(scenarios.Profiles(), name):
		return "a job profile", fmt.Sprintf("slotwave show %s prints it, --set job.0.profile=%[1]s takes it", name)
	case slices.Contains(scheduler.Names(), name), scenarios.YARNSchedulers[name] != "":
		return "a scheduler", fmt.Sprintf("slotwave help %s explains it, --set scheduler.name=%[1]s takes it", name)
	case slices.Contains(paperNames(), name):
		return "a paper", "slotwave reproduce " + name + " tests its claims"
	case slices.ContainsFunc(analytic.Models, func(m analytic.Model) bool { return m.Name == name }):
		return "a model", "slotwave predict SCENARIO asks it"
	}
	if r, err := model.FindRelease(name); err == nil {
		return "a release", "--set cluster.hadoop=" + r.Name + " takes it"
	}
	return "", ""
}

// notHere says what a word is that stands where a file or a scenario is wanted, and what
// to do with it.
func notHere(name string) (what, next string) {
	switch {
	case name == "-":
		return "standard input, which is not read", "want a file"
	case strings.Contains(name, "://"):
		return "an address", "copy the files first, such as with hdfs dfs -get or curl -O"
	case strings.ContainsAny(name, "*?["):
		return "a pattern that no shell replaced", "want it without quotes, or the folder"
	case strings.HasPrefix(name, "~"):
		return "a path that no shell replaced", "want ~ without quotes"
	case strings.Contains(name, ",") && !strings.Contains(name, "="):
		return "a list", "want blanks between its parts"
	}
	return shippedWord(name)
}

// otherThan replaces the error about a name that is no scenario by what it is.
func otherThan(err error) error {
	missing := (*scenarios.MissingError)(nil)
	if errors.As(err, &missing) {
		if what, next := notHere(missing.Name); what != "" {
			return fmt.Errorf("%s: got %s: want a scenario or a history; %s", missing.Name, what, next)
		}
	}
	return err
}

func showCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print a shipped scenario, platform or job profile", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text, ok := scenarios.Text(args[0])
			if !ok {
				all := shippedNames()
				hint := input.DidYouMean(args[0], all)
				what, next := shippedWord(args[0])
				if _, err := os.Stat(args[0]); err == nil {
					what, next = "a path", "slotwave validate "+args[0]+" says what is in it"
				}
				if what != "" {
					hint = fmt.Sprintf(": got %s: %s", what, next)
				}
				return fmt.Errorf("show %s: no such scenario, platform or profile%s; slotwave list prints them", args[0], hint)
			}
			_, err := io.WriteString(a.data(), text)
			return err
		},
	}
}
