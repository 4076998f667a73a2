package httpstore

import (
	"encoding/base64"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A redactor keeps a token out of errors, even if a gateway repeats the request's headers in its
// answer.
type redactor struct {
	forms  []string // the token as it is, quoted, escaped, and in base64
	hidden *strings.Replacer
}

func newRedactor(token string) redactor {
	quoted := strconv.Quote(token)
	forms := []string{token, quoted[1 : len(quoted)-1], html.EscapeString(token)}
	for _, escaped := range []string{url.QueryEscape(token), url.PathEscape(token)} {
		forms = append(forms, escaped, strings.ToLower(escaped))
	}
	const group = 3 // bytes that base64 writes as four characters
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range group { // what stands before the token in its group
			text := enc.EncodeToString([]byte(strings.Repeat(" ", before) + token))
			first := []int{0, 2, 3}[before] // the first character that is the token's alone
			forms = append(forms, text[first:(before+len(token))*4/group])
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // the whole, not what is in it
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, "[token]")
	}
	return redactor{forms, strings.NewReplacer(pairs...)}
}

// hide replaces the token in a text.
func (s redactor) hide(text string) string { return s.hidden.Replace(text) }

// quote quotes the beginning of what something else than a lease store has answered, and
// nothing of it if it has a part of the token, such as one that a line break divides.
func (s redactor) quote(text string) string {
	text = s.hide(text)
	all := letters(text)
	for _, form := range s.forms {
		part := letters(form)
		if part = part[:len(part)/2]; len(part) >= minPart && strings.Contains(all, part) {
			return "its text is not shown, because it has a part of the token"
		}
	}
	return strconv.Quote(text[:min(len(text), maxQuote)])
}

const (
	minPart  = 6   // fewer characters of a token are in many texts
	maxQuote = 200 // bytes
)

// letters drops all but letters and digits.
func letters(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, text)
}
