package text

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// Escape makes a name fit for one cell of any table ([workload.Escape]).
func Escape(name string) string { return workload.Escape(name) }

// Printable makes a text safe to show on a terminal ([workload.Printable]).
func Printable(text string) string { return workload.Printable(text) }

// Message returns the text of an error on one line.
func Message(err error) string {
	return Printable(strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " "))
}

// AppendField appends a name as one CSV field ([workload.AppendField]).
func AppendField(dst []byte, name string) []byte { return workload.AppendField(dst, name) }

// maxSlug limits a slug with any suffix to the name length of every file
// system.
const maxSlug = 64

// Slug converts a name to a file name: lower-case letters, digits, dots,
// hyphens and underscores, starting with a letter, digit or underscore, at most
// 64 long, and no device name of Windows. A valid slug stays unchanged. Any
// other name gets a hash as a suffix, so that two names never share a file.
func Slug(name string) string {
	if IsSlug(name) {
		return name
	}
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if !slugRune(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:4])
	s := strings.Trim(b.String(), ".-")
	s = strings.TrimRight(s[:min(len(s), maxSlug-len(suffix)-1)], ".-")
	if s == "" || deviceName(s) {
		s = "_" + s
	}
	return s + suffix
}

func IsSlug(s string) bool {
	if s == "" || len(s) > maxSlug || strings.ContainsAny(s[:1], ".-") || strings.HasSuffix(s, ".") || deviceName(s) {
		return false
	}
	for _, r := range s {
		if !slugRune(r) {
			return false
		}
	}
	return true
}

func slugRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '-' || r == '_'
}

// deviceName reports whether a name is a device in Windows.
func deviceName(s string) bool {
	stem, _, _ := strings.Cut(s, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && '0' <= stem[3] && stem[3] <= '9'
}
