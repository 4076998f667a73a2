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
	public string // the letters of the URL, which is no secret
}

func newRedactor(token string) redactor {
	quoted := strconv.Quote(token)
	forms := []string{token, quoted[1 : len(quoted)-1], html.EscapeString(token)}
	for _, escaped := range []string{url.QueryEscape(token), url.PathEscape(token)} {
		forms = append(forms, escaped, strings.ToLower(escaped))
	}
	const group = 3 // bytes that base64 writes as four characters
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range group { // bytes before the token in its group
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
	return redactor{forms: forms, hidden: strings.NewReplacer(pairs...)}
}

// withheld replaces a text that has a part of the token.
const withheld = "its text is not shown, because it has a part of the token"

// hide replaces the token in a text, and all of the text if it has a part of the token, such as one
// that was cut off or that a line break divides.
func (s redactor) hide(text string) string {
	text = s.hidden.Replace(text)
	all := letters(text)
	for _, form := range s.forms {
		form = letters(form)
		n := max(minPart, len(form)/4)
		for from := 0; from+n <= len(form); from++ {
			if part := form[from : from+n]; strings.Contains(all, part) && !strings.Contains(s.public, part) {
				return withheld
			}
		}
	}
	return text
}

// quote quotes the beginning of an answer that is not from a lease store.
func (s redactor) quote(text string) string {
	if text = s.hide(text); text == withheld {
		return text
	}
	return strconv.Quote(text[:min(len(text), maxQuote)])
}

const (
	minPart     = 6       // fewer characters of a token are in many texts
	maxSearched = 4 << 10 // bytes of an answer that are searched for the token
	maxQuote    = 200     // bytes
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
