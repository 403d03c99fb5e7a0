package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// room is a package as go list prints it, and what its files mean.
type room struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	files                   []*ast.File
	info                    types.Info
	pkg                     *types.Package
}

var (
	positions = token.NewFileSet()
	checked   []room // by the first test that asks
)

// rooms returns those that a prediction passes through.
func rooms(t *testing.T) []room {
	t.Helper()
	if checked != nil {
		return checked
	}
	listed, imports := compiled(t, positions, "../../model/...", "../../results/...", "../../scenarios", "../../scheduler", "../../sim/...", "../../study/...", "../../workload/...")
	for i := range listed {
		p := &listed[i]
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(positions, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, f)
		}
		p.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		var err error
		if p.pkg, err = (&types.Config{Importer: imports}).Check(p.ImportPath, positions, p.files, &p.info); err != nil {
			t.Fatal(err)
		}
	}
	checked = listed
	return checked
}

// compiled lists packages, and imports them and what they import.
func compiled(t *testing.T, files *token.FileSet, packages ...string) (listed []room, imports types.Importer) {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, packages...)...)
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p room
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			listed = append(listed, p)
		}
	}
	return listed, importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// No order of a map reaches a result: in the rooms a prediction passes through, a
// map is ranged over only to count, to delete or to fill another map, and its
// keys are listed only to be sorted.
func TestMapOrderReachesNoResult(t *testing.T) {
	for _, p := range rooms(t) {
		for _, f := range p.files {
			for _, at := range mapOrders(&p.info, f) {
				t.Errorf("%v: the order of a map may reach a result", positions.Position(at))
			}
			for _, at := range iteratedInLiterals(&p.info, f) {
				t.Errorf("%v: a function is ranged over inside a function literal", positions.Position(at))
			}
		}
	}
}

// The rule finds what it should, and nothing else.
func TestMapOrders(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	build.Default.GOROOT = strings.TrimSpace(string(root)) // a test built with -trimpath does not know it
	files := token.NewFileSet()
	_, imports := compiled(t, files, "maps", "slices")
	for body, want := range map[string]int{
		`for range m { n++ }`:                                  0,
		`for k, v := range m { if v > 1 { delete(m, k) } }`:    0,
		`for k, v := range m { o[k] = v }`:                     0,
		`for _, v := range m { n += v }`:                       0,
		`_ = slices.Sorted(maps.Keys(m))`:                      0,
		`for k := range m { s = append(s, k) }`:                1,
		`for _, v := range m { x += float64(v) }`:              1,
		`for k, v := range m { w[v] = k }`:                     1,
		`for k := range m { s = append(s, k); break }`:         1,
		`for k := range maps.Keys(m) { s = append(s, k) }`:     1,
		`s = slices.Collect(maps.Keys(m))`:                     1,
		`for _, k := range s { for range m { println(k) } }`:   1,
		`for k, v := range m { if v > 1 { n = len(k); n++ } }`: 1,
	} {
		source := `package p
import ("maps"; "slices")
func f(m, o map[string]int, w map[int]string, s []string, n int, x float64) { ` + body + `; _, _ = maps.Keys[map[string]int], slices.Max[[]int] }`
		f, err := parser.ParseFile(files, "p.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{Importer: imports}).Check("p", files, []*ast.File{f}, &info); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", body, err))
		}
		if got := mapOrders(&info, f); len(got) != want {
			t.Errorf("%s: %d places, want %d", body, len(got), want)
		}
	}
}

// mapOrders lists the places of a file where the order of a map may matter.
func mapOrders(info *types.Info, f *ast.File) []token.Pos {
	var places []token.Pos
	sorted := map[ast.Expr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if isMap(info, n.X) && !harmless(info, n, n.Body) {
				places = append(places, n.Pos())
			}
		case *ast.CallExpr:
			switch called(info, n) {
			case "slices.Sorted", "slices.SortedFunc":
				sorted[n.Args[0]] = true
			case "maps.Keys", "maps.Values", "maps.All":
				if !sorted[n] {
					places = append(places, n.Pos())
				}
			}
		}
		return true
	})
	return places
}

// iteratedInLiterals lists the loops over a function (iter.Seq) that stand in a
// function literal. Go 1.26.8 compiles some of them wrongly: when the stack
// grows within the loop, its body goes on with the old copy of a struct on the
// stack, and what it writes there is lost.
func iteratedInLiterals(info *types.Info, f *ast.File) []token.Pos {
	var places []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		literal, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(literal.Body, func(n ast.Node) bool {
			if loop, ok := n.(*ast.RangeStmt); ok {
				if _, ok := info.TypeOf(loop.X).Underlying().(*types.Signature); ok {
					places = append(places, loop.Pos())
				}
			}
			return true
		})
		return false
	})
	return places
}

func isMap(info *types.Info, x ast.Expr) bool {
	_, ok := info.TypeOf(x).Underlying().(*types.Map)
	return ok
}

func isInteger(info *types.Info, x ast.Expr) bool {
	basic, ok := info.TypeOf(x).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// called names the function of a package that a call calls.
func called(info *types.Info, call *ast.CallExpr) string {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		if f := info.Uses[s.Sel]; f != nil && f.Pkg() != nil {
			return f.Pkg().Name() + "." + f.Name()
		}
	}
	return ""
}

// harmless reports whether a statement in a loop over a map does the same
// whatever the order: it counts, deletes, or writes under the loop's own key.
func harmless(info *types.Info, loop *ast.RangeStmt, s ast.Stmt) bool {
	switch s := s.(type) {
	case nil:
		return true
	case *ast.BlockStmt:
		for _, inner := range s.List {
			if !harmless(info, loop, inner) {
				return false
			}
		}
		return true
	case *ast.IfStmt:
		return s.Init == nil && harmless(info, loop, s.Body) && harmless(info, loop, s.Else)
	case *ast.IncDecStmt:
		return isInteger(info, s.X)
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		name, ok := call.Fun.(*ast.Ident)
		return ok && name.Name == "delete"
	case *ast.AssignStmt:
		if s.Tok == token.ADD_ASSIGN {
			return isInteger(info, s.Lhs[0])
		}
		entry, ok := s.Lhs[0].(*ast.IndexExpr)
		if !ok || len(s.Lhs) > 1 || !isMap(info, entry.X) {
			return false
		}
		key, ok := entry.Index.(*ast.Ident)
		own, named := loop.Key.(*ast.Ident)
		return ok && named && key.Name == own.Name
	}
	return false
}
