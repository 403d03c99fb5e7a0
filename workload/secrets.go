package workload

import (
	"regexp"
	"slices"
	"strings"
)

// Redacted stands for the value of a property that holds a secret, as Hadoop's
// ConfigRedactor prints it.
const Redacted = "<redacted>"

// secretWords mark the properties whose values are secret, whatever else their names
// say (hadoop.security.sensitive-config-keys, and the keys of object stores).
var secretWords = []string{"password", "passwd", "secret", "token", "credential", "keystore.pass", "access.key", "accesskey", "account.key", "private.key", "api.key", "apikey"}

// notSecret are words that hold one of them and mark something else.
var notSecret = []string{"tokens"}

// secret reports whether a text holds a word that marks secrets.
func secret(text string) bool {
	text = strings.ToLower(text)
	for _, word := range secretWords {
		if i := strings.Index(text, word); i >= 0 {
			return !slices.ContainsFunc(notSecret, func(other string) bool { return strings.HasPrefix(text[i:], other) })
		}
	}
	return false
}

var secretOption = regexp.MustCompile(`(?i)([\w.-]*(?:password|passwd|secret|token|credential|access\.?key|api\.?key)[\w.-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)`)

var (
	secretLogin = regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`)
)

// withoutSecrets returns the value of a property without passwords: none of the value
// if the property is a secret, else without those in Java options and addresses.
func withoutSecrets(key, value string) string {
	if secret(key) {
		return Redacted
	}
	return WithoutSecrets(value)
}

// WithoutSecrets returns a text without the values of options and settings that hold a
// secret, and without the passwords of addresses.
func WithoutSecrets(value string) string {
	if strings.ContainsAny(value, "=:") && secret(value) {
		value = secretOption.ReplaceAllString(value, "${1}"+Redacted)
	}
	if strings.Contains(value, "://") && strings.Contains(value, "@") {
		value = secretLogin.ReplaceAllString(value, "${1}"+Redacted+"@")
	}
	return value
}
