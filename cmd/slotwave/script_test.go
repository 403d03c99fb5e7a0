package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"slotwave": func() { os.Exit((&app{stdout: os.Stdout, stderr: os.Stderr}).run(os.Args[1:])) },
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
