package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// circular are the rooms whose files cannot be read one after the other.
var circular = []string{"sim/execute", "sim/jobtracker", "sim/mrapp"}

// No files of a room use each other in a circle: what a file uses stands in a file that
// does not use it in turn. Methods do not count; they are found by their type.
func TestFilesInOrder(t *testing.T) {
	for _, p := range rooms(t) {
		if slices.Contains(circular, strings.TrimPrefix(p.ImportPath, module)) {
			continue
		}
		uses := map[string]map[string][]string{} // names by file and file that declares them
		for id, o := range p.info.Uses {
			from, to := positions.Position(id.Pos()).Filename, positions.Position(o.Pos()).Filename
			if o.Pkg() == p.pkg && o.Parent() == p.pkg.Scope() && from != to {
				if uses[from] == nil {
					uses[from] = map[string][]string{}
				}
				uses[from][to] = append(uses[from][to], o.Name())
			}
		}
		for _, f := range slices.Sorted(maps.Keys(uses)) {
			if way := wayBack(uses, f, f, map[string]bool{}); way != nil {
				t.Errorf("%s: files use each other in a circle:", strings.TrimPrefix(p.ImportPath, module))
				for i := range way[1:] {
					names := slices.Compact(slices.Sorted(slices.Values(uses[way[i]][way[i+1]])))
					t.Errorf("  %s uses %s of %s", filepath.Base(way[i]), strings.Join(names, ", "), filepath.Base(way[i+1]))
				}
				break
			}
		}
	}
}

// wayBack finds a way from a file to another over what they use.
func wayBack(uses map[string]map[string][]string, from, to string, seen map[string]bool) []string {
	for _, next := range slices.Sorted(maps.Keys(uses[from])) {
		if next == to {
			return []string{from, to}
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if way := wayBack(uses, next, to, seen); way != nil {
			return append([]string{from}, way...)
		}
	}
	return nil
}

// A function or variable of results and study is exported only if another package, or
// an example, names it.
func TestExportedForSomebody(t *testing.T) {
	const root = "../.."
	named := map[string]bool{}         // path.Name
	exported := map[string]token.Pos{} // the same
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imported := map[string]string{} // path of a package by its name in the file
		for _, i := range f.Imports {
			of, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module)
			if name := filepath.Base(of); ours && i.Name == nil {
				imported[name] = of
			} else if ours {
				imported[i.Name.Name] = of
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && imported[x.Name] != "" {
					named[imported[x.Name]+"."+s.Sel.Name] = true
				}
			}
			return true
		})
		room, _ := filepath.Rel(root, filepath.Dir(path))
		top, _, _ := strings.Cut(room, "/")
		if top != "results" && top != "study" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		for _, d := range f.Decls {
			for _, id := range declared(d) {
				if id.IsExported() {
					exported[room+"."+id.Name] = id.Pos()
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(exported)) {
		if !named[name] {
			t.Errorf("%v: %s is exported and no other package names it", files.Position(exported[name]), name)
		}
	}
}

// declared are the functions, variables and constants of a declaration.
func declared(d ast.Decl) (ids []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			ids = append(ids, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				ids = append(ids, v.Names...)
			}
		}
	}
	return ids
}
