package mutants

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mutant replaces some bytes of a file.
type mutant struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	From     string `json:"from"`
	To       string `json:"to"`
	At       int    `json:"at"` // byte in the file
	from, to int    // bytes
}

// places lists a mutant for each place of the program, by file and place.
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
		m := mutant{File: name, Line: files.Position(from).Line, To: text, At: at(from), from: at(from), to: at(to)}
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
