package scheduler

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Policies only read what the JobTracker knows: outside view.go nothing assigns to a
// field of Cluster, TaskTracker or Job that others see.
func TestPoliciesOnlyRead(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fields := fieldsOf(t, "view.go", "Cluster", "TaskTracker", "Job")
	if len(fields) < 30 {
		t.Fatalf("got %d fields: want those of Cluster, TaskTracker and Job", len(fields))
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || path == "view.go" {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var written []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				written = n.Lhs
			case *ast.IncDecStmt:
				written = []ast.Expr{n.X}
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					written = []ast.Expr{n.X}
				}
			}
			for _, e := range written {
				if index, ok := e.(*ast.IndexExpr); ok {
					e = index.X
				}
				if s, ok := e.(*ast.SelectorExpr); ok && fields[s.Sel.Name] {
					t.Errorf("%v: %s: a policy must not change what the JobTracker knows", files.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
}

// fieldsOf returns the exported fields of some structs of a file.
func fieldsOf(t *testing.T, path string, structs ...string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for _, name := range structs {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.TypeSpec)
			if !ok || s.Name.Name != name {
				return true
			}
			for _, field := range s.Type.(*ast.StructType).Fields.List {
				for _, id := range field.Names {
					if id.IsExported() {
						fields[id.Name] = true
					}
				}
			}
			return false
		})
	}
	return fields
}
