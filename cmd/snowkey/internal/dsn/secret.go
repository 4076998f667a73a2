package dsn

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Secrets are the parts of a DSN that must not be seen, whether it can be parsed
// or not: whatever might be a password of it.
func Secrets(text string) []string {
	var found []string
	add := func(secret string) {
		if secret == "" {
			return
		}
		found = append(found, secret)
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			found = append(found, plain)
		}
		if plain, err := url.QueryUnescape(secret); err == nil && plain != secret {
			found = append(found, plain)
		}
		if quoted := strconv.Quote(secret); quoted[1:len(quoted)-1] != secret { // as messages have it
			found = append(found, quoted[1:len(quoted)-1])
		}
		if escaped := url.UserPassword("", secret).String()[1:]; escaped != secret {
			found = append(found, escaped)
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
		add(match[1])
	}
	return found
}

var parameter = regexp.MustCompile(`(?i)(?:password|passwd|pwd|token|secret)=([^&\s]*)`)

// Hide puts dots in the place of each secret in a text.
func Hide(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}
