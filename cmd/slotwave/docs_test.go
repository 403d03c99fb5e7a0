package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/results"
)

const root = "../.."

// documents lists every page that readers of the project see.
func documents(t *testing.T) []string {
	t.Helper()
	pages := []string{root + "/README.md", root + "/CONTRIBUTING.md"}
	err := filepath.WalkDir(root+"/docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// declared collects the names that the Go source of the project declares: tests
// and benchmarks, and apart from these functions, types, values, fields and
// methods, the last two also with their type.
func declared(t *testing.T) (tests, names map[string]bool) {
	t.Helper()
	tests, names = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		to := names
		if strings.HasSuffix(path, "_test.go") {
			to = tests
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				to[d.Name.Name] = true
				if d.Recv != nil {
					to[receiver(d.Recv.List[0].Type)+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					declareSpec(s, to)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests, names
}

func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func declareSpec(s ast.Spec, to map[string]bool) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			to[n.Name] = true
		}
	case *ast.TypeSpec:
		to[s.Name.Name] = true
		var fields *ast.FieldList
		switch body := s.Type.(type) {
		case *ast.StructType:
			fields = body.Fields
		case *ast.InterfaceType:
			fields = body.Methods
		default:
			return
		}
		for _, field := range fields.List {
			for _, n := range field.Names {
				to[s.Name.Name+"."+n.Name] = true
			}
			if embedded := receiver(field.Type); len(field.Names) == 0 && embedded != "" {
				to[s.Name.Name+"."+embedded] = true
			}
		}
	}
}

var (
	inCode    = regexp.MustCompile("`([^`\n]+)`")
	goName    = regexp.MustCompile(`^(?:[a-z]+\.)?([A-Z]\w*[a-z]\w*(?:\.\w+)?)$`)
	testName  = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz|Example)[A-Z]\w*`)
	fileName  = regexp.MustCompile(`^[\w./-]+/[\w.-]+\.(?:go|md|json|toml|txtar|gz)$`)
	verbName  = regexp.MustCompile("(?m)(?:^    |`)slotwave ([a-z][a-z-]*)")
	linkName  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	evaluator = regexp.MustCompile("`([a-z]+(?:\\.[a-z]+)?)`")
)

// Every test, function, file, link, verb and evaluator that a page names exists.
func TestDocumentedNames(t *testing.T) {
	tests, names := declared(t)
	var verbs []string
	for _, c := range (&app{}).root().Commands() {
		verbs = append(verbs, c.Name())
	}
	found := map[string]int{}
	for _, page := range documents(t) {
		text := read(t, page)
		for _, name := range testName.FindAllString(text, -1) {
			found["tests"]++
			if !tests[name] {
				t.Errorf("%s: no test %s", page, name)
			}
		}
		for _, m := range verbName.FindAllStringSubmatch(text, -1) {
			found["verbs"]++
			if !slices.Contains(verbs, m[1]) {
				t.Errorf("%s: slotwave has no verb %s", page, m[1])
			}
		}
		for _, m := range linkName.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "://") {
				found["links"]++
				followLink(t, page, m[1])
			}
		}
		goPages := []string{"architecture.md", "equations.md", "CONTRIBUTING.md"}
		for _, m := range inCode.FindAllStringSubmatch(text, -1) {
			if name := goName.FindStringSubmatch(m[1]); name != nil && slices.Contains(goPages, filepath.Base(page)) && !testName.MatchString(m[1]) {
				found["Go names"]++
				if !names[name[1]] {
					t.Errorf("%s: the source declares no %s", page, m[1])
				}
			}
			if fileName.MatchString(m[1]) && !strings.HasPrefix(m[1], "out/") && !ofRecipe(m[1]) {
				found["files"]++
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					t.Errorf("%s: no file %s", page, m[1])
				}
			}
		}
	}
	for _, row := range strings.Split(read(t, root+"/docs/equations.md"), "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 4 || strings.Contains(row, "---") {
			continue
		}
		for _, m := range inCode.FindAllStringSubmatch(cells[2], -1) {
			if name := m[1][strings.LastIndexAny(m[1], ". ")+1:]; !names[name] && !names[m[1]] {
				t.Errorf("equations.md: the source declares no %s", m[1])
			}
		}
		if len(cells) != 5 {
			continue
		}
		for _, m := range evaluator.FindAllStringSubmatch(cells[3], -1) {
			found["evaluators"]++
			if !slices.Contains(evaluatorNames(), m[1]) {
				t.Errorf("equations.md: eval has no %s", m[1])
			}
		}
	}
	for kind, least := range map[string]int{"tests": 100, "verbs": 20, "links": 40, "Go names": 60, "files": 3, "evaluators": 30} {
		if found[kind] < least {
			t.Errorf("%d %s found, want %d or more: is the pattern still right?", found[kind], kind, least)
		}
	}
}

// followLink checks that a link leads to a file and, if it names one, to a
// heading of it.
func followLink(t *testing.T, page, link string) {
	t.Helper()
	file, heading, _ := strings.Cut(link, "#")
	path := page
	if file != "" {
		path = filepath.Join(filepath.Dir(page), file)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s: no file %s", page, link)
		return
	}
	if heading == "" {
		return
	}
	strip := regexp.MustCompile(`[^\w -]`)
	for _, line := range strings.Split(read(t, path), "\n") {
		title := strings.TrimLeft(line, "#")
		if title != line && strings.ReplaceAll(strings.ToLower(strip.ReplaceAllString(strings.TrimSpace(title), "")), " ", "-") == heading {
			return
		}
	}
	t.Errorf("%s: no heading for %s", page, link)
}

// The README claims what the page on validation and the committed results show.
func TestReadmeClaims(t *testing.T) {
	readme, page := read(t, root+"/README.md"), read(t, root+"/docs/validation.md")
	text := strings.ReplaceAll(strings.Join(strings.Fields(readme), " "), ",", "")
	claims := func(about, phrase string) {
		if !strings.Contains(text, phrase) {
			t.Errorf("README.md does not say %q, %s", phrase, about)
		}
	}
	found := func(pattern string) []string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("validation.md has no %s", pattern)
		}
		return m
	}
	exact := found(`(\d+) of (\d+) runs are exact in every attempt; (\d+) of (\d+) attempts are`)
	claims("the runs that are recorded", exact[2]+" runs of a real JobTracker")
	claims("their attempts", "have "+exact[4]+" attempts")
	claims("attempts that are exact", "For "+exact[3]+" of them")

	causes := evidence.Read(t, "diagnosed-papers").All()
	disks := causes[slices.IndexFunc(causes, func(row []string) bool { return row[0] == "hitune-slow-disk" })]
	gain, err := strconv.ParseFloat(strings.Fields(disks[len(disks)-1])[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	claims("as TestPapersCauses measures", fmt.Sprintf("saves %.0f %% of the job's time", math.Round(gain)))

	var day results.Summary
	if err := json.Unmarshal([]byte(read(t, root+"/results/shipped/fb2009/summary.json")), &day); err != nil {
		t.Fatal(err)
	}
	tasks := int64(0)
	for i := range day.Kinds {
		if k := &day.Kinds[i]; k.Kind == "map" || k.Kind == "reduce" {
			tasks += k.Attempts
		}
	}
	claims("the day of fb2009", fmt.Sprintf("%d jobs with %.0f000 tasks", day.Jobs.Jobs, float64(tasks)/1000))
	claims("its nodes", fmt.Sprintf("on %d nodes at Facebook", day.Nodes))

	chapters, err := filepath.Glob(root + "/docs/tutorial/[1-9]*.md")
	if err != nil || len(chapters) != 7 {
		t.Errorf("%d chapters, %v: the README says seven", len(chapters), err)
	}
}
