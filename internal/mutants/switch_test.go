package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

const (
	module   = "github.com/slotwave/slotwave"
	switches = module + "/internal/mutants/on" // exists in the overlay only
)

// switchSource is the package that says which mutant is on. The number is in a file,
// because programs that tests start do not inherit their environment.
const switchSource = `package mutants_on

import (
	"os"
	"strconv"
	"sync/atomic"
)

const folder = %q

var (
	now     = func() int { text, _ := os.ReadFile(folder + "/now"); n, err := strconv.Atoi(string(text)); if err != nil { return -1 }; return n }()
	record  = func() bool { _, err := os.Stat(folder + "/reached"); return err == nil }()
	reached [%d]atomic.Bool
)

func Is(mutant int) bool {
	if record && !reached[mutant].Swap(true) {
		os.WriteFile(folder+"/reached/"+strconv.Itoa(mutant), nil, 0o666)
	}
	return mutant == now
}

func Pick[T any](mutant int, original, changed T) T {
	if Is(mutant) {
		return changed
	}
	return original
}
`

// room is a package as go list prints it, and its files.
type room struct {
	ImportPath, Dir, Export   string
	GoFiles                   []string
	DepOnly                   bool
	TestGoFiles, XTestGoFiles []string
	Deps                      []string
	sources                   map[string][]byte
}

// program is the source of all packages, some of it with switches.
type program struct {
	files   *token.FileSet
	rooms   map[string]*room // by folder from the root of the module
	imports types.Importer
	changed map[string][]byte // absolute names
}

type withSwitches struct {
	types.Importer
	switches *types.Package
}

func (w withSwitches) Import(path string) (*types.Package, error) {
	if path == switches {
		return w.switches, nil
	}
	return w.Importer.Import(path)
}

func openProgram(folder string, mutants int) (*program, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Deps,TestGoFiles,XTestGoFiles", "./...")
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return nil, err
	}
	p := &program{files: token.NewFileSet(), rooms: map[string]*room{}, changed: map[string][]byte{}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var r room
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[r.ImportPath] = r.Export
		if r.DepOnly {
			continue
		}
		r.sources = map[string][]byte{}
		for _, name := range r.GoFiles {
			if r.sources[name], err = os.ReadFile(filepath.Join(r.Dir, name)); err != nil {
				return nil, err
			}
		}
		dir, err := filepath.Rel(root, r.Dir)
		if err != nil {
			return nil, err
		}
		p.rooms[dir] = &r
	}
	std := importer.ForCompiler(p.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	source := fmt.Sprintf(switchSource, folder, mutants)
	file, err := parser.ParseFile(p.files, "on.go", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	on, err := (&types.Config{Importer: std}).Check(switches, p.files, []*ast.File{file}, nil)
	if err != nil {
		return nil, err
	}
	p.imports = withSwitches{std, on}
	p.changed[filepath.Join(root, "internal", "mutants", "on", "on.go")] = []byte(source)
	return p, nil
}

// check compiles a package of which one file is changed, and fills info.
func (p *program) check(r *room, name string, source []byte, info *types.Info) (*ast.File, error) {
	var parsed []*ast.File
	var changed *ast.File
	for _, file := range r.GoFiles {
		text := r.sources[file]
		if file == name {
			text = source
		}
		f, err := parser.ParseFile(p.files, filepath.Join(r.Dir, file), text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if file == name {
			changed = f
		}
		parsed = append(parsed, f)
	}
	_, err := (&types.Config{Importer: p.imports}).Check(r.ImportPath, p.files, parsed, info)
	return changed, err
}

// edit replaces the bytes from, to of a text.
type edit struct {
	from, to int
	text     string
}

func edited(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue // within one that came before
		}
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// builds says whether a mutant compiles.
func (p *program) builds(m *mutant) bool {
	dir, name := filepath.Split(m.File)
	r := p.rooms[filepath.Clean(dir)]
	if r == nil || r.sources[name] == nil {
		return false // for other systems
	}
	_, err := p.check(r, name, edited(r.sources[name], []edit{{m.from, m.to, m.To}}), nil)
	return err == nil
}

// switched returns the change of a file that makes a mutant one that is switched on
// while the program runs, if there is one.
func (p *program) switched(m *mutant, id int) ([]edit, bool) {
	dir, name := filepath.Split(m.File)
	r := p.rooms[filepath.Clean(dir)]
	source := r.sources[name]
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	file, err := p.check(r, name, source, &info)
	if err != nil {
		return nil, false
	}
	at := func(n token.Pos) int { return p.files.Position(n).Offset }
	var edits []edit
	if f, body := functionAt(file, at, m); body != nil {
		edits = []edit{{at(body.Lbrace) + 1, at(body.Lbrace) + 1, twin(source, at, f, body, m, id)}}
	} else if edits = p.picked(file, source, at, &info, m, id); edits == nil {
		return nil, false
	}
	start := at(file.Name.End())
	with := edited(source, append([]edit{{start, start, "; import \"" + switches + "\""}}, edits...))
	if _, err := p.check(r, name, with, nil); err != nil {
		return nil, false
	}
	return edits, true
}

// functionAt returns the outermost function around a mutant.
func functionAt(file *ast.File, at func(token.Pos) int, m *mutant) (f *ast.FuncType, body *ast.BlockStmt) {
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || body != nil {
			return false
		}
		var t *ast.FuncType
		var b *ast.BlockStmt
		switch x := n.(type) {
		case *ast.FuncDecl:
			t, b = x.Type, x.Body
		case *ast.FuncLit:
			t, b = x.Type, x.Body
		}
		if b != nil && at(b.Lbrace) < m.from && m.to <= at(b.Rbrace) {
			f, body = t, b
		}
		return true
	})
	return f, body
}

// twin is the changed body of a function, to stand before the original.
func twin(source []byte, at func(token.Pos) int, f *ast.FuncType, body *ast.BlockStmt, m *mutant, id int) string {
	first := at(body.Lbrace) + 1
	edits := []edit{{m.from - first, m.to - first, m.To}}
	relabel := func(l *ast.Ident) {
		if l != nil {
			edits = append(edits, edit{at(l.Pos()) - first, at(l.End()) - first, fmt.Sprintf("%s_%d", l.Name, id)})
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.LabeledStmt:
			relabel(x.Label)
		case *ast.BranchStmt:
			relabel(x.Label)
		}
		return true
	})
	end := "\nreturn };"
	if f.Results != nil {
		end = "\n};"
	}
	return fmt.Sprintf("if mutants_on.Is(%d) {", id) + string(edited(source[first:at(body.Rbrace)], edits)) + end
}

// picked chooses between two numbers of a variable's value, or of a constant that can
// as well be a variable.
func (p *program) picked(file *ast.File, source []byte, at func(token.Pos) int, info *types.Info, m *mutant, id int) (edits []edit) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || at(g.Pos()) > m.from || at(g.End()) < m.to {
			continue
		}
		ast.Inspect(g, func(n ast.Node) bool {
			x, ok := n.(ast.Expr)
			if !ok || at(x.Pos()) > m.from || at(x.End()) < m.to {
				return true
			}
			t := info.Types[x].Type
			switch x.(type) {
			case *ast.BasicLit, *ast.BinaryExpr:
			default:
				return true
			}
			if b, ok := t.(*types.Basic); !ok && t == nil || ok && b.Info()&types.IsUntyped != 0 && g.Tok == token.VAR {
				return true
			}
			from, to := at(x.Pos()), at(x.End())
			was := string(source[from:to])
			becomes := string(edited(source[from:to], []edit{{m.from - from, m.to - from, m.To}}))
			name := types.TypeString(types.Default(t), func(o *types.Package) string {
				if module+"/"+filepath.ToSlash(filepath.Dir(m.File)) == o.Path() {
					return ""
				}
				return o.Name()
			})
			edits = []edit{{from, to, fmt.Sprintf("mutants_on.Pick[%s](%d, %s, %s)", name, id, was, becomes)}}
			return false
		})
		if edits != nil && g.Tok == token.CONST {
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if at(v.Pos()) > m.from || at(v.End()) < m.to {
					continue
				}
				if len(g.Specs) == 1 && !g.Lparen.IsValid() {
					edits = append(edits, edit{at(g.Pos()), at(g.Pos()) + len("const"), "var"})
				} else {
					edits = append(edits, edit{at(v.Pos()), at(v.Pos()), ")\nvar "}, edit{at(v.End()), at(v.End()), "\nconst ("})
				}
			}
		}
	}
	return edits
}

// install puts the switches of all mutants into the program.
func (p *program) install(all map[string][]edit) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		dir, base := filepath.Split(name)
		r := p.rooms[filepath.Clean(dir)]
		source := r.sources[base]
		file, _ := parser.ParseFile(p.files, base, source, parser.PackageClauseOnly)
		start := p.files.Position(file.Name.End()).Offset
		p.changed[filepath.Join(r.Dir, base)] = edited(source, append([]edit{{start, start, "; import \"" + switches + "\""}}, all[name]...))
	}
}

// overlay writes the changed files into a folder and returns the file that lists them.
func overlay(folder string, changed map[string][]byte) (string, error) {
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(changed)) {
		file := filepath.Join(folder, fmt.Sprintf("%d-%s", i, filepath.Base(name)))
		if err := os.WriteFile(file, changed[name], 0o666); err != nil {
			return "", err
		}
		replace[name] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(folder, "overlay.json")
	return list, os.WriteFile(list, text, 0o666)
}
