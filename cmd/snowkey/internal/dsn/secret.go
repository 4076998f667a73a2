package dsn

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Secrets returns the parts of a DSN that may be passwords, whether it can be parsed or
// not.
func Secrets(text string) []string {
	var found []string
	add := func(secret string) {
		path, _ := url.PathUnescape(secret)
		query, _ := url.QueryUnescape(secret)
		quoted := strconv.Quote(secret) // as in messages
		for _, form := range []string{secret, path, query, quoted[1 : len(quoted)-1], url.UserPassword("", secret).String()[1:]} {
			if form != "" && !slices.Contains(found, form) {
				found = append(found, form)
			}
		}
	}
	authority := text
	if _, after, ok := strings.Cut(text, "://"); ok {
		authority = after
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if _, password, ok := strings.Cut(authority[:at], ":"); ok {
			add(password)
		}
	}
	for _, match := range parameter.FindAllStringSubmatch(text, -1) {
		if match[1] == "" {
			add(match[2])
		}
	}
	return found
}

var parameter = regexp.MustCompile(`(?i)(fencing-)?(?:password|passwd|pwd|token|secret)=([^&\s]*)`)

// Hide replaces each secret in a text by dots.
func Hide(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}

// Printable replaces control characters, which a terminal would obey, in a text that
// comes from a store.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, text)
}
