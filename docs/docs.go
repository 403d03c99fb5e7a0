// Package docs holds the pages that the program prints.
package docs

import _ "embed"

// Glossary is the page with the meaning of each word.
//
//go:embed glossary.md
var Glossary string
