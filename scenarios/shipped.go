package scenarios

import (
	"embed"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// shipped are the scenarios that come with the program, and what they read.
//
//go:embed *.toml data
var shipped embed.FS

// ShippedPrefix marks the names of embedded files.
const ShippedPrefix = "slotwave:"

// List names the shipped scenarios.
func List() []string {
	entries, err := shipped.ReadDir(".")
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

// Text is a shipped scenario as it is written.
func Text(name string) (string, bool) {
	data, err := shipped.ReadFile(name + ".toml")
	return string(data), err == nil
}

// Title is the title of a shipped scenario.
func Title(name string) string {
	var head struct{ Title string }
	text, _ := Text(name)
	toml.Decode(text, &head) // tested for every one
	return head.Title
}

// Data is a file that comes with the program.
func Data(name string) ([]byte, bool) {
	data, err := shipped.ReadFile(name)
	return data, err == nil
}
