// Package docs holds the pages that the program prints.
package docs

import _ "embed"

// Glossary is glossary.md. Each row of its tables is a word, its meaning, and the
// Hadoop identifier or the publication that the word comes from.
//
//go:embed glossary.md
var Glossary string
