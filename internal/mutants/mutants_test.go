// Package mutants changes one condition, constant or operator of the program at a time
// and asks whether a test notices:
//
//	SLOTWAVE_LARGE=1 go test ./internal/mutants -v -timeout 9h -seed 7 -mutants 120 -out /tmp/mutants.jsonl
//
// Mutants are drawn with equal chances from all places of all packages. Each is first
// tried on the tests of its package, then on the short ones of the command. The files stay
// as they are: Go builds with an overlay. Finished mutants are in the file of -out, one
// line each, and are not tried again.
package mutants

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// mutant replaces some bytes of a file.
type mutant struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	From     string `json:"from"`
	To       string `json:"to"`
	By       string `json:"killed_by"` // package, command, build; empty: survived
	from, to int    // bytes
}

var (
	seed = flag.Uint64("seed", 1, "of the draw")
	n    = flag.Int("mutants", 120, "mutants that build")
	out  = flag.String("out", "", "`FILE` for the outcomes; empty: none")
)

func TestMutants(t *testing.T) {
	layers.OnlyWhole(t, "builds the program for each mutant, hours")
	t.Chdir("../..")
	all, err := places()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *out == "" {
		*out = filepath.Join(t.TempDir(), "mutants.jsonl")
	}
	done, err := finished(*out)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(*out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	killed, survived := 0, []mutant(nil)
	for _, m := range all { // those that do not build are not counted
		if killed+len(survived) == *n {
			break
		}
		k := m.key()
		if was, ok := done[k]; ok {
			m.By = was
		} else {
			if m.By, err = try(&m); err != nil {
				t.Fatal(err)
			}
			line, _ := json.Marshal(m)
			if _, err := log.Write(append(line, '\n')); err != nil {
				t.Fatal(err)
			}
		}
		switch m.By {
		case "build":
		case "":
			survived = append(survived, m)
		default:
			killed++
		}
	}
	for _, m := range survived {
		t.Logf("survived: %s:%d: %s became %s", m.File, m.Line, m.From, m.To)
	}
	low, high := wilson(killed, killed+len(survived))
	t.Logf("%d of %d killed: %.1f %%, 95 %% interval %.1f to %.1f", killed, killed+len(survived), 100*float64(killed)/float64(killed+len(survived)), 100*low, 100*high)
}

func (m *mutant) key() string { return fmt.Sprintf("%s:%d:%s:%s", m.File, m.Line, m.From, m.To) }

// finished reads the outcomes of an earlier run.
func finished(name string) (map[string]string, error) {
	done := map[string]string{}
	data, err := os.ReadFile(name)
	if err != nil {
		if os.IsNotExist(err) {
			err = nil
		}
		return done, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var m mutant
		if json.Unmarshal(lines.Bytes(), &m) == nil { // the last line may be cut
			done[m.key()] = m.By
		}
	}
	return done, lines.Err()
}

// places lists a mutant for each place of the program, by file and line.
func places() (all []mutant, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "internal" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		found, err := placesOf(name)
		all = append(all, found...)
		return err
	})
	return all, err
}

func placesOf(name string) (all []mutant, err error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return files.Position(p).Offset }
	add := func(from, to token.Pos, text string) {
		m := mutant{File: name, Line: files.Position(from).Line, To: text, from: at(from), to: at(to)}
		m.From = string(src[m.from:m.to])
		all = append(all, m)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.GenDecl:
			return x.Tok != token.IMPORT
		case *ast.Field:
			return x.Tag == nil
		case *ast.BinaryExpr:
			if to, ok := otherOperator[x.Op]; ok {
				add(x.OpPos, x.OpPos+token.Pos(len(x.Op.String())), to.String())
			}
		case *ast.IfStmt:
			add(x.Cond.Pos(), x.Cond.End(), "!("+string(src[at(x.Cond.Pos()):at(x.Cond.End())])+")")
		case *ast.BasicLit:
			if to := otherNumber(x); to != "" {
				add(x.Pos(), x.End(), to)
			}
		case *ast.IncDecStmt:
			to := token.DEC
			if x.Tok == token.DEC {
				to = token.INC
			}
			add(x.TokPos, x.TokPos+2, to.String())
		case *ast.BranchStmt:
			if x.Label == nil && x.Tok == token.CONTINUE {
				add(x.Pos(), x.End(), "break")
			}
		}
		return true
	})
	return all, nil
}

var otherOperator = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// otherNumber is a number beside a literal.
func otherNumber(x *ast.BasicLit) string {
	switch x.Kind {
	case token.INT:
		if v, err := strconv.ParseInt(x.Value, 0, 64); err == nil && v < math.MaxInt32 {
			return strconv.FormatInt(v+1, 10)
		}
	case token.FLOAT:
		if v, err := strconv.ParseFloat(x.Value, 64); err == nil {
			return strconv.FormatFloat(v*1.1, 'g', -1, 64)
		}
	}
	return ""
}

// try runs tests on a mutant and returns which of them notice it.
func try(m *mutant) (by string, err error) {
	src, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "mutant-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	changed := filepath.Join(folder, "mutant.go")
	if err := os.WriteFile(changed, append(append(src[:m.from:m.from], m.To...), src[m.to:]...), 0o666); err != nil {
		return "", err
	}
	real, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	text, _ := json.Marshal(map[string]any{"Replace": map[string]string{real: changed}})
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return "", err
	}
	pkg := "./" + filepath.Dir(m.File)
	if goTool("build", "-overlay", overlay, pkg) != nil {
		return "build", nil
	}
	if goTool("test", "-vet=off", "-timeout=3m", "-overlay", overlay, pkg) != nil {
		return "package", nil
	}
	if goTool("test", "-vet=off", "-short", "-timeout=5m", "-overlay", overlay, "./cmd/slotwave") != nil {
		return "command", nil
	}
	return "", nil
}

func goTool(arguments ...string) error {
	c := exec.Command("go", arguments...)
	for _, v := range os.Environ() { // without measurements that lie beside the project
		if !strings.HasPrefix(v, "SLOTWAVE_") {
			c.Env = append(c.Env, v)
		}
	}
	return c.Run()
}

// wilson is the 95 % interval of a share.
func wilson(k, n int) (low, high float64) {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	mid, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return (mid - half) / (1 + z*z/m), (mid + half) / (1 + z*z/m)
}
