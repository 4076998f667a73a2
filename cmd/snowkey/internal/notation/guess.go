package notation

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// bareHex is how many digits hexadecimal has at least when no 0x says what it is.
const bareHex = 8

// exponent is what a spreadsheet makes of an id, and hexadecimal as well.
var exponent = regexp.MustCompile(`^[0-9]+[eE][0-9]{1,3}$`)

// Guess tells the notation of an id by its looks: digits alone are decimal and 0x
// begins a hexadecimal number. Else 11 characters are base 58 or 62, 13 are base 32,
// and 8 to 16 hexadecimal digits are hexadecimal; a text that is an id in two of
// these is an error that names both, for who guesses is sometimes wrong. The web
// page has the same rule.
func Guess(text string, unsigned bool) (int64, Notation, error) {
	switch digits := strings.TrimPrefix(text, "-"); {
	case text == "":
		return 0, "", errors.New("is empty")
	case strings.HasPrefix(text, "0x"), strings.HasPrefix(text, "0X"):
		id, err := Hex.Read(text, unsigned)
		return id, Hex, err
	case strings.Trim(digits, "0123456789") == "":
		// Zeros stand before a short form only.
		id, err := Decimal.Read(text, unsigned)
		if err == nil || digits == "" || digits[0] != '0' {
			return id, Decimal, err
		}
	case exponent.MatchString(text):
		return 0, "", errors.New("may be a number with an exponent, which is no id any more")
	}
	var candidates []Notation
	switch len(text) {
	case 11:
		candidates = []Notation{Base58, Base62}
	case 13:
		candidates = []Notation{Base32}
	}
	if len(text) >= bareHex && len(text) <= 16 {
		candidates = append([]Notation{Hex}, candidates...)
	}
	return first(text, unsigned, candidates)
}

// first is the only reading of a text among those notations.
func first(text string, unsigned bool, candidates []Notation) (found int64, as Notation, err error) {
	var meanings []string
	for _, n := range candidates {
		id, err := n.Read(text, unsigned)
		if err != nil {
			continue
		}
		if as == "" {
			found, as = id, n
		}
		meanings = append(meanings, fmt.Sprintf("%s for %s", n, Decimal.Text(id, unsigned)))
	}
	switch len(meanings) {
	case 0:
		return 0, "", errors.New("is no id in decimal, hex, base58, base62 or base32")
	case 1:
		return found, as, nil
	}
	return 0, "", fmt.Errorf("may be %s: say which with --from", strings.Join(meanings, " or "))
}

// Split takes the ids out of a line of text: those of a list, of JSON or of a CSV
// file, with what stands around them.
func Split(line string) []string {
	fields := strings.FieldsFunc(line, func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\r' || r == '\n' || r == ',' || r == ';' || r == '[' || r == ']' || r == '\ufeff'
	})
	ids := fields[:0]
	for _, field := range fields {
		if field = Unquote(field); field != "" {
			ids = append(ids, field)
		}
	}
	return ids
}

// Unquote takes away blanks and one pair of quotes around a text.
func Unquote(text string) string {
	text = strings.TrimSpace(text)
	for _, quote := range []string{`"`, `'`, "`"} {
		if len(text) >= 2 && strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) {
			return strings.TrimSpace(text[1 : len(text)-1])
		}
	}
	return text
}
