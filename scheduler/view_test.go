package scheduler

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Policies see the cluster through views: only view.go looks behind them, at
// their field record, and only it names the records that the simulator keeps.
func TestPoliciesOnlyRead(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	behind := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var name *ast.Ident
			switch n := n.(type) {
			case *ast.SelectorExpr:
				name = n.Sel
			case *ast.Ident:
				name = n
			}
			if name == nil {
				return true
			}
			switch name.Name {
			case "record", "ClusterStatus", "TaskTrackerStatus", "JobInProgress":
				behind++
				if path != "view.go" {
					t.Errorf("%v: %s: a policy must not look behind its views", files.Position(name.Pos()), name.Name)
				}
			}
			return true
		})
	}
	if behind == 0 {
		t.Error("no field record was found: the test looks for nothing")
	}
}
