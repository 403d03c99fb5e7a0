package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// home is the file that creates the files of users.
const home = "results/resultdir/place.go"

// Files are created in one place, which never follows a link, writes under a temporary
// name, and cleans up. Temporary files in the system's folder are created by
// os.CreateTemp("", ...). Helpers of tests write golden files.
func TestOneWriter(t *testing.T) {
	found := false
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == "vendor" {
			return fs.SkipDir // what others wrote, as go mod vendor copies it
		}
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		system := "os"
		for _, i := range f.Imports {
			if i.Path.Value == `"testing"` {
				return nil
			}
			if i.Path.Value == `"os"` && i.Name != nil {
				system = i.Name.Name
			}
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		creating := creates(f, system)
		if name == home {
			found = len(creating) > 0
			return nil
		}
		for _, at := range creating {
			t.Errorf("%s:%d: creates a file: want resultdir.WriteFile, or a file of a result", name, files.Position(at).Line)
		}
		return nil
	})
	if err != nil || !found {
		t.Errorf("%v; %s creates files: %v", err, home, found)
	}
}

// creates lists the places in a file that create one, by the name of the package os.
func creates(f *ast.File, system string) (at []token.Pos) {
	temporary := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
			folder, literal := call.Args[0].(*ast.BasicLit)
			temporary[call.Fun] = literal && folder.Value == `""`
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			of, _ := s.X.(*ast.Ident)
			creating := slices.Contains([]string{"Create", "OpenFile", "WriteFile"}, s.Sel.Name) || s.Sel.Name == "CreateTemp" && !temporary[n]
			if of != nil && of.Name == system && creating {
				at = append(at, s.Pos())
			}
		}
		return true
	})
	return at
}

// The rule finds each way to create a file.
func TestCreates(t *testing.T) {
	const text = `package p
func f() {
	os.Create("a")
	os.OpenFile("a", 0, 0)
	os.WriteFile("a", nil, 0)
	os.CreateTemp(folder, "a")
	os.CreateTemp("", "a")
	make := os.Create
	os.Open("a")
}`
	f, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(creates(f, "os")); got != 5 {
		t.Errorf("got %d places: want 5", got)
	}
}
