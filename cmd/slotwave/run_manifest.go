package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// isManifest reports whether a file is the manifest of a result. convert names the
// manifest of a single file after that file.
func isManifest(name string) bool {
	base := filepath.Base(name)
	return study.IsFile(name) && (base == resultdir.ManifestName || strings.HasSuffix(base, "-"+resultdir.ManifestName))
}

// repeatRun repeats the run that wrote a manifest. The manifest states the run, so
// that flags only say where the new results go.
func (a *app) repeatRun(c *cobra.Command, manifest string, k *asked) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"out", "force", "quiet"}, f.Name) {
			err = fmt.Errorf("--%s: got a manifest, which states the run: want only --out, --force and --quiet", f.Name)
		}
	})
	if err != nil {
		return err
	}
	return a.rerun(manifest, k.out, k.force)
}

// rerun repeats a run from the same inputs and reports whether its files have the
// same bytes. Inputs are looked for from the directory of the first run, which the
// manifest names, else from the current one.
func (a *app) rerun(path, out string, force bool) error {
	m, err := resultdir.ReadManifest(path)
	if m.Schema == "" {
		return err
	}
	if out != "" {
		if out, err = filepath.Abs(out); err != nil {
			return err
		}
	}
	if len(m.Arguments) == 0 {
		return fmt.Errorf("%s: arguments: got an empty list: want the verb that made the result", path)
	}
	back, err := enterDirectory(path, m)
	if err != nil {
		return err
	}
	defer back()
	if out == "" {
		if out, err = os.MkdirTemp("", "slotwave-rerun-"); err != nil {
			return study.Internal(err)
		}
		defer os.RemoveAll(out)
	}
	args := slices.Clone(m.Arguments)
	if now, ok := strings.CutPrefix(newName(args[0]), "slotwave "); ok { // an older version wrote it
		args = append(strings.Fields(now), args[1:]...)
	}
	args = append(args, "--quiet", "--out="+out)
	if force {
		args = append(args, "--force")
	}
	inner := &app{stdout: io.Discard, stderr: a.stderr, stdin: a.stdin}
	if code := inner.run(args); code != exitDone {
		return coded{code, errors.New("the repeated run failed")}
	}
	again, err := resultdir.ReadManifest(out)
	if err != nil {
		return study.Internal(err)
	}
	if err := sameOutputs(m, again); err != nil {
		return coded{exitInternal, fmt.Errorf("%s: %w", path, err)}
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %s, the same bytes\n", printable(path), workload.Counted(len(again.Outputs), "file", "files"))
	if err != nil {
		return err
	}
	return a.next(&output{}, "validate", path)
}

// enterDirectory changes to the directory in which the inputs of a manifest are
// found unchanged: that of the first run, else the current one.
func enterDirectory(path string, m resultdir.Manifest) (back func(), err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	back = func() { _ = os.Chdir(here) }
	folder := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder = filepath.Dir(path)
	}
	if m.Directory != "" && os.Chdir(filepath.Join(folder, filepath.FromSlash(m.Directory))) == nil {
		if study.InputsUnchanged(m.Inputs) == nil {
			return back, nil
		}
		back()
	}
	return back, study.InputsUnchanged(m.Inputs)
}

func sameOutputs(old, again resultdir.Manifest) error {
	sums := map[string]string{}
	for _, f := range again.Outputs {
		sums[f.Name] = f.SHA256
	}
	var differ []string
	for _, f := range old.Outputs {
		if sums[f.Name] != f.SHA256 {
			differ = append(differ, filepath.ToSlash(f.Name))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	hint := ""
	if old.Build.Version != again.Build.Version || old.Build.Revision != again.Build.Revision {
		hint = fmt.Sprintf(" (made by version %s %.12s, this is %s %.12s)", old.Build.Version, old.Build.Revision, again.Build.Version, again.Build.Revision)
	}
	return fmt.Errorf("%s: bytes differ from those in the manifest%s", strings.Join(differ, ", "), hint)
}
