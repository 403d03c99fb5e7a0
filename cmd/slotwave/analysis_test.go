package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/analysis.md runs, in each language whose interpreter is there.
func TestAnalysisPage(t *testing.T) {
	page := read(t, "../../docs/analysis.md")
	blocks := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		blocks[m[1]] += m[2] + "\n"
	}
	dir := t.TempDir()
	verb(t, "run", "two-jobs", "--set", "plots=none", "--out", filepath.Join(dir, "out", "two-jobs"), "--quiet")
	for _, c := range []struct {
		language, interpreter, asks, runs string
		writes, prints                    string
	}{
		{"python", "python3", "import pandas, matplotlib, pyarrow", "", "maps.png", "long"},
		{"r", "Rscript", "q()", "", "", "long"},
		{"sql", "python3", "import duckdb, pandas", "import duckdb, sys; print(duckdb.sql(open(sys.argv[1]).read()).fetchall())", "", "('long', 40, 520.0)"},
	} {
		t.Run(c.language, func(t *testing.T) {
			flag := "-c"
			if c.interpreter == "Rscript" {
				flag = "-e"
			}
			if err := exec.Command(c.interpreter, flag, c.asks).Run(); err != nil {
				t.Skipf("%s with what %q needs is not there: %v", c.interpreter, c.asks, err)
			}
			code := writeFile(t, filepath.Join(dir, "code."+c.language), blocks[c.language])
			args := []string{code}
			if c.runs != "" {
				args = []string{flag, c.runs, code}
			}
			command := exec.Command(c.interpreter, args...)
			command.Dir = dir
			command.Env = append(os.Environ(), "MPLBACKEND=agg")
			out, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.prints) {
				t.Errorf("%v, printed %q: want %q\n%s", err, out, c.prints, blocks[c.language])
			}
			if changed := filepath.Join(dir, "my-changed"); c.language == "python" {
				if got := verb(t, "inspect", changed); !strings.Contains(got, "map      46        46") {
					t.Errorf("the changed tables hold:\n%s", got)
				}
				verb(t, "run", changed, "--set", "plots=none", "--out", filepath.Join(dir, "replayed"), "--quiet")
			}
			if info, err := os.Stat(filepath.Join(dir, c.writes)); c.writes != "" && (err != nil || info.Size() == 0) {
				t.Errorf("%s is not written: %v", c.writes, err)
			}
		})
	}
}
