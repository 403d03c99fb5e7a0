package house

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each module in the program has its licence in docs/dependencies.md, and no
// other is listed there.
func TestLicences(t *testing.T) {
	text, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "../../cmd/slotwave").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(text))
	slices.Sort(modules)
	modules = slices.Compact(modules)
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+/\S+) \| \S.* \|$`).FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}
	if !slices.Equal(modules, listed) {
		t.Errorf("docs/dependencies.md lists\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(modules, "\n"))
	}
}
