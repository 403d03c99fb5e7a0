package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Mistakes on the command line are answered in words of slotwave, with what was
// expected, and with nothing of the libraries below.
func TestUsageErrors(t *testing.T) {
	for command, want := range map[string]string{
		"rn two-jobs":                      `unknown verb "rn"; did you mean "run"?`,
		"--quiet":                          `unknown flag "--quiet"`,
		"run":                              "run: got no argument: want slotwave run SCENARIO",
		"run a b":                          "run: got 2 arguments: want slotwave run SCENARIO",
		"list all":                         `list: got argument "all": want slotwave list`,
		"run two-jobs --sed 3":             `unknown flag "--sed"; did you mean "--seed"?`,
		"run two-jobs -x":                  `unknown flag "-x"; want one of --`,
		"run two-jobs --seed":              "--seed: want a value",
		"run two-jobs --seed -1":           `--seed: got "-1": want a whole number, 0 or more`,
		"run two-jobs --workers many":      `--workers: got "many": want a whole number`,
		"run two-jobs --json=7":            `--json: got "7": want true or false`,
		"predict two-jobs --deadline 5":    `--deadline: got "5": want a time such as`,
		"platform fit nowhere.csv":         "slotwave: nowhere.csv: no such file or directory",
		"convert nowhere --to csv --out x": "slotwave: nowhere: no such file or directory",
		"fit nowhere.csv":                  "slotwave: fit is now: slotwave platform fit",
		"rerun out":                        "slotwave: rerun is now: slotwave run RESULT/manifest.json",
		"show fb2008":                      `did you mean "fb2009"?`,
	} {
		code, _, stderr := call("", strings.Fields(command)...)
		if code != exitInput || !strings.Contains(stderr, want) || strings.ContainsAny(strings.TrimSpace(stderr), "\n\\") {
			t.Errorf("%s: exit code %d, %q; want %q", command, code, stderr, want)
		}
	}
}

// Help fits on a terminal of 80 columns.
func TestHelpWidth(t *testing.T) {
	pages := 0
	verbs := (&app{}).root().Commands()
	for _, c := range verbs {
		verbs = append(verbs, c.Commands()...)
	}
	for _, c := range verbs {
		name := strings.TrimPrefix(c.CommandPath(), "slotwave ")
		page := verb(t, append([]string{"help"}, strings.Fields(name)...)...)
		pages++
		for _, line := range strings.Split(page, "\n") {
			if len(line) > 80 {
				t.Errorf("help %s: %d columns: %s", name, len(line), line)
			}
		}
	}
	if pages < 20 {
		t.Errorf("%d pages, want those of all verbs and topics", pages)
	}
}

// -h fits a screen, begins with a sentence and has an example if the verb has flags.
func TestShortHelpFits(t *testing.T) {
	t.Parallel()
	for _, c := range append((&app{}).root().Commands(), platformCommand(&app{}).Commands()...) {
		if !c.Runnable() || c.Hidden {
			continue
		}
		args := append(strings.Fields(strings.TrimPrefix(c.CommandPath(), "slotwave ")), "-h")
		if c.Parent() != nil && c.Parent().Name() == "platform" {
			args = append([]string{"platform"}, c.Name(), "-h")
		}
		page := verb(t, args...)
		lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
		if len(lines) > screenHeight {
			t.Errorf("%v: %d lines", args, len(lines))
		}
		for _, line := range lines {
			if width(line) > screenWidth {
				t.Errorf("%v: %d columns: %s", args, width(line), line)
			}
		}
		if !strings.HasSuffix(lines[0], ".") || c.Example == "" && strings.Contains(page, "      --") {
			t.Errorf("%v: begins with %q: want a sentence and an example", args, lines[0])
		}
	}
}

// What run prints fits a screen and ends with a command that goes on; -v prints all.
func TestRunFitsScreen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"two-jobs", "hitune-sort", "zhang-waves", "capacity-queues"} {
		out := filepath.Join(t.TempDir(), "out")
		text := verb(t, "run", name, "--out", out, "--set", "plots=none")
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > screenHeight || !strings.HasPrefix(lines[len(lines)-1], "next: slotwave diagnose "+out) || strings.Contains(text, "\nAssumed\n") {
			t.Errorf("%s: %d lines: %s", name, len(lines), text)
		}
		for _, line := range lines[:len(lines)-2] {
			if width(line) > screenWidth {
				t.Errorf("%s: %d columns: %s", name, width(line), line)
			}
		}
		all := verb(t, "run", name, "-v", "--out", out, "--set", "plots=none")
		if !strings.Contains(all, "\nAssumed\n") || !strings.Contains(all, "\nresults in ") {
			t.Errorf("%s -v: %s", name, all)
		}
	}
	if code, _, stderr := call("", "sweep", "two-jobs", "--out", filepath.Join(t.TempDir(), "out")); code != exitDone || !strings.Contains(stderr, "nothing varies") {
		t.Errorf("sweep without a factor: exit %d, %s", code, stderr)
	}
}
