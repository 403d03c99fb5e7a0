package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// What a reader can hold in mind: beyond these a package, type or function is
// split.
const (
	maxExported   = 100 // names of a package that others see
	maxMembers    = 60  // fields and methods of a type
	maxLines      = 100 // of a function
	maxParameters = 5   // of a function
)

func TestShape(t *testing.T) {
	const root = "../.."
	exported, members := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				where := fmt.Sprintf("%s: %s", files.Position(d.Pos()), d.Name.Name)
				if n := files.Position(d.End()).Line - files.Position(d.Pos()).Line + 1; n > maxLines {
					t.Errorf("%s: got %d lines: want at most %d", where, n, maxLines)
				}
				if n := d.Type.Params.NumFields(); n > maxParameters {
					t.Errorf("%s: got %d parameters: want at most %d", where, n, maxParameters)
				}
				if d.Recv != nil {
					members[room+"."+receiver(d.Recv.List[0].Type)]++
				} else if d.Name.IsExported() {
					exported[room]++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					count(s, room, exported, members)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room, n := range exported {
		if n > maxExported {
			t.Errorf("%s: got %d exported names: want at most %d", room, n, maxExported)
		}
	}
	for name, n := range members {
		if n > maxMembers {
			t.Errorf("%s: got %d fields and methods: want at most %d", name, n, maxMembers)
		}
	}
	if len(exported) < 12 {
		t.Errorf("%d packages seen: want all", len(exported))
	}
}

// count adds a declaration to the names of its room and the fields of its type.
func count(s ast.Spec, room string, exported, members map[string]int) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			exported[room]++
		}
		if fields, ok := s.Type.(*ast.StructType); ok {
			members[room+"."+s.Name.Name] += fields.Fields.NumFields()
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				exported[room]++
			}
		}
	}
}

// receiver names the type of a method.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
