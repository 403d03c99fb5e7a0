package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// leaveStatus names a variable of the environment: the file into which the program copies what
// Linux knows of its process at its end.
const leaveStatus = "SLOTWAVE_LEAVE_STATUS"

// Verbs that tests call or start collect garbage as the tests do (package layers).
func TestMain(m *testing.M) {
	os.Setenv("GOGC", "400")
	testscript.Main(m, map[string]func(){
		"slotwave": func() {
			file := os.Getenv(leaveStatus)
			if file != "" { // the test measures the memory of the program
				os.Unsetenv("GOGC")
				debug.SetGCPercent(garbagePercent)
			}
			code := (&app{stdout: os.Stdout, stderr: os.Stderr}).run(os.Args[1:])
			if file != "" {
				status, _ := os.ReadFile("/proc/self/status")
				os.WriteFile(file, status, 0o666)
			}
			os.Exit(code)
		},
	})
}

// TestScripts runs the program as its users do.
func TestScripts(t *testing.T) {
	samples, err := filepath.Abs("../../workload/trace/testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SAMPLES", samples)
			return nil
		},
	})
}
