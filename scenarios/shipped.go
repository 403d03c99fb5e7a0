package scenarios

import (
	"embed"
	"io/fs"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// shipped holds the scenarios, platforms and job profiles of the program, and
// the traces they read.
//
//go:embed *.toml data platforms profiles
var shipped embed.FS

// ShippedPrefix marks the names of embedded files.
const ShippedPrefix = "slotwave:"

// List names the shipped scenarios.
func List() []string { return namesIn(".") }

func namesIn(folder string) []string {
	entries, err := shipped.ReadDir(folder)
	if err != nil {
		panic(err) // embedded with the program
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".toml"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Text returns the text of a shipped scenario, platform or job profile.
func Text(name string) (string, bool) {
	for _, folder := range []string{"", "platforms/", "profiles/"} {
		if data, err := shipped.ReadFile(folder + name + ".toml"); err == nil {
			return string(data), true
		}
	}
	return "", false
}

// Title returns the title of a shipped text.
func Title(name string) string {
	var head struct{ Title string }
	text, _ := Text(name)
	toml.Decode(text, &head) // a test covers every one
	return head.Title
}

// OnYARN reports whether a shipped scenario names a release of YARN.
func OnYARN(name string) bool {
	var values map[string]any
	text, _ := Text(name)
	toml.Decode(text, &values) // a test covers every one
	return (&table{values: values}).releaseOnYARN() != nil
}

// Data returns a file embedded in the program.
func Data(name string) ([]byte, bool) {
	data, err := shipped.ReadFile(name)
	return data, err == nil
}

// isShipped reports whether a name, with or without the prefix, is that of an
// embedded file.
func isShipped(name string) bool {
	info, err := fs.Stat(shipped, strings.TrimPrefix(name, ShippedPrefix))
	return err == nil && info.Mode().IsRegular()
}
