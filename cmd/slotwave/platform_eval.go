package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
)

// evaluators are all models that answer one JSON object, sorted by name.
var evaluators = slices.SortedFunc(slices.Values(slices.Concat(analytic.Evaluators, diagnose.Evaluators, sim.Evaluators)),
	func(a, b model.Evaluator) int { return cmp.Compare(a.Name, b.Name) })

func evaluatorNames() []string {
	names := make([]string, len(evaluators))
	for i, e := range evaluators {
		names[i] = e.Name
	}
	return names
}

// maxQuestion is larger than any question to one model.
const maxQuestion = 256 << 20

func evalCommand(a *app) *cobra.Command {
	list := false
	c := &cobra.Command{
		Use:   "eval MODEL",
		Short: "Evaluate one analytic model on a JSON object",
		Long: `Read one JSON object from standard input, evaluate the model on it and print the
answer as JSON. An error names the field that is missing or invalid. The help of
a model lists its fields with their units, and gives an example.`,
		Example:           "  slotwave platform eval merge --help\n  slotwave platform eval --list\n  echo '{\"N\": 28, \"F\": 10}' | slotwave platform eval merge",
		Args:              cobra.RangeArgs(0, 1),
		ValidArgsFunction: cobra.FixedCompletions(evaluatorNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case list:
				_, err := fmt.Fprintln(a.stdout, strings.Join(evaluatorNames(), "\n"))
				return study.Internal(err)
			case len(args) == 0:
				return fmt.Errorf("eval: got no model: want the name of one (slotwave platform eval --list prints them)")
			}
			return a.eval(args[0])
		},
	}
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		for _, name := range args {
			if i := slices.IndexFunc(evaluators, func(e model.Evaluator) bool { return e.Name == name }); i >= 0 {
				writeEvaluator(a.stdout, &evaluators[i])
				return
			}
		}
		c.Root().HelpFunc()(c, args)
	})
	c.Flags().BoolVar(&list, "list", false, "print the names of the models")
	return c
}

func (a *app) eval(name string) error {
	i := slices.IndexFunc(evaluators, func(e model.Evaluator) bool { return e.Name == name })
	if old := "platform eval " + name; newName(old) != "" {
		return renamed(old, newName(old))
	}
	if i < 0 {
		return fmt.Errorf("unknown model %q%s", name, input.Suggest(name, evaluatorNames()))
	}
	if f, ok := a.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return noQuestion(name)
	}
	question, err := io.ReadAll(io.LimitReader(a.stdin, maxQuestion+1))
	if err != nil {
		return err
	}
	if len(question) > maxQuestion {
		return fmt.Errorf("%s: standard input: got more than %d MiB", name, maxQuestion>>20)
	}
	if text := strings.Join(strings.Fields(string(question[:min(len(question), 1024)])), ""); text == "" || text == "{}" {
		return noQuestion(name)
	}
	answer, err := evaluators[i].Eval(question)
	if err != nil {
		return err
	}
	out := json.NewEncoder(a.data())
	out.SetIndent("", "  ")
	return study.Internal(out.Encode(answer))
}

// noQuestion is the error of an empty input, which is never a job of defaults.
func noQuestion(name string) error {
	return fmt.Errorf("%s: got no fields: want a JSON object on standard input (slotwave platform eval %s --help lists its fields)", name, name)
}
