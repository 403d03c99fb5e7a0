// Package validation holds slotwave against measurements: real clusters, the
// real JobTracker, the papers. It runs the program as its users do, and calls
// the functions behind the verbs where a test needs what no file has.
package validation

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slotwave/slotwave/internal/shareddata"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/study/calibrate"
	"github.com/slotwave/slotwave/workload"
)

var update = flag.Bool("update", false, "write committed results, tables and pictures anew")

var folder string // of the program

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "slotwave-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// program builds slotwave once and returns its path.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "slotwave")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "../../cmd/slotwave").CombinedOutput()
	if err != nil {
		err = errors.New(string(out))
	}
	return path, err
})

// call runs the program.
func call(stdin string, args ...string) (code int, stdout, stderr string) {
	path, err := program()
	if err != nil {
		return -1, "", err.Error()
	}
	var out, errs bytes.Buffer
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errs
	if os.Getenv("GOGC") == "" {
		c.Env = append(os.Environ(), "GOGC=400", "GOMEMLIMIT=1GiB") // as package layers has tests do
	}
	if err = c.Run(); err != nil && c.ProcessState == nil {
		return -1, "", err.Error()
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// verb runs the program, which has to succeed.
func verb(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := call("", args...)
	if code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, errs)
	}
	return out
}

// shared is the path of a file of the references and measured data.
func shared(t testing.TB, name string) string {
	t.Helper()
	return shareddata.Path(t, name)
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// testbed is the papers' test cluster.
type testbed struct{ *calibrate.Testbed }

// with is the testbed on other machines.
func (b testbed) with(m model.Machine) testbed {
	other := *b.Testbed
	other.Cluster.Machines = []model.Machine{m}
	return testbed{&other}
}

// observer records what tasks show of the phases.
type observer struct{ platform.Profile }

func (o *observer) Attempt(a *workload.Attempt) { o.Observe(a) }

// calibrated shows a calibration as the verb does.
func calibrated(t *testing.T, c *platform.Calibration) string {
	t.Helper()
	var text bytes.Buffer
	if err := calibrate.WriteCalibration(&text, c); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
