package play

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/slotwave/slotwave/results/resultdir"
)

// engine is the simulator for a browser: Go's support file for WebAssembly, a line with
// engineMark, and the program, packed with gzip, in base64.
type engine string

const engineMark = "// slotwave engine\n"

// parts returns the support file and the packed program.
func (e engine) parts() (support, program string) {
	support, program, _ = strings.Cut(string(e), engineMark)
	return support, program
}

// findEngine returns the engine of this program: the one that a release embeds, or one
// that was built from the sources of the program, now or before.
func findEngine(note func(string)) (engine, error) {
	if embedded != "" {
		return engine(embedded), nil
	}
	kept, err := keptName()
	if err == nil {
		if text, err := os.ReadFile(kept); err == nil {
			return engine(text), nil
		}
	}
	note("building the simulator for the browser; it is kept for the next time")
	built, err := buildEngine()
	if err != nil {
		return "", fmt.Errorf("the simulator for the browser: %w; a release of slotwave has it built in", err)
	}
	if kept != "" && os.MkdirAll(filepath.Dir(kept), 0o777) == nil {
		older, _ := filepath.Glob(filepath.Join(filepath.Dir(kept), "engine-*.js"))
		for _, name := range older {
			os.Remove(name)
		}
		_ = resultdir.WriteFile(kept, 0o666, resultdir.Text(string(built))) // without it the next page takes as long
	}
	return built, nil
}

// keptName is the name of the engine of this program in the user's cache folder. The
// checksum of the program, which has all of the engine but a few lines of package wasm,
// names it, so that another version builds its own.
func keptName() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	sum, err := resultdir.SumFile(program)
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "slotwave", "engine-"+sum.SHA256[:16]+".js"), nil
}

// buildEngine compiles package wasm from the sources of this program.
func buildEngine() (engine, error) {
	_, file, _, _ := runtime.Caller(0)
	source, err := sources(file)
	if err != nil {
		return "", err
	}
	command, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("the go command is not on the PATH: want Go (https://go.dev/dl)")
	}
	folder, err := os.MkdirTemp("", "slotwave-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "engine.wasm")
	build := exec.Command(command, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program, "./study/play/wasm")
	build.Dir = source
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build in %s: %w: %s", source, err, bytes.TrimSpace(said))
	}
	root, err := exec.Command(command, "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return "", err
	}
	return engine(string(support) + engineMark + base64.StdEncoding.EncodeToString(packed.Bytes())), nil
}

// sources returns the folder with the sources of this program: those with this file when
// it was built, unless -trimpath hides where, or the clone around the current folder.
func sources(file string) (string, error) {
	folders := []string{filepath.Dir(filepath.Dir(filepath.Dir(file)))}
	here, err := os.Getwd()
	for ; err == nil && folders[len(folders)-1] != here; here = filepath.Dir(here) {
		folders = append(folders, here)
	}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module github.com/slotwave/slotwave\n")) {
			return folder, nil
		}
	}
	return "", errors.New("the sources of this program are not found: want a clone as the current folder, and go run ./cmd/slotwave play")
}

// Hash returns the source of a policy that allows a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
