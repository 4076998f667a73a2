package web

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/notation"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The forms of an id in text: auto, and the notations by their names. The page's
// idtext.js knows the same.
const (
	formAuto    = "auto"
	formDecimal = string(notation.Decimal)
	formHex     = string(notation.Hex)
	form32      = string(notation.Base32)
	form58      = string(notation.Base58)
	form62      = string(notation.Base62)
)

// exponent is what a spreadsheet makes of an id, and hex as well.
var exponent = regexp.MustCompile(`^\d+[eE]\d{1,3}$`)

// readID reads an id in one of the forms, or finds out which it is. Quotes around it
// do no harm. A text that means one id in one form and another in another is refused:
// who guesses is sometimes wrong.
func readID(text, form string, unsigned bool) (int64, error) {
	bare := unquoted(text)
	if form == formAuto {
		form = ""
		switch {
		case bare == "":
			return 0, errors.New("there is no id in it")
		case len(bare) > 1 && bare[0] == '0' && (bare[1] == 'x' || bare[1] == 'X'):
			form = formHex
		case plainDigits(strings.TrimPrefix(bare, "-")):
			form = formDecimal
		}
	}
	if form != "" {
		return notation.Notation(form).Read(bare, unsigned)
	}
	if exponent.MatchString(bare) {
		return 0, errors.New("it may be hex, or a number with an exponent: say which form it has")
	}
	var first int64
	var meanings, forms []string
	for _, f := range []string{formHex, form32, form58, form62} {
		if id, err := notation.Notation(f).Read(bare, unsigned); err == nil {
			first = id
			forms = append(forms, f)
			meanings = append(meanings, fmt.Sprintf("%s for %d", f, id))
		}
	}
	switch len(forms) {
	case 0:
		return 0, errors.New("it is no id in decimal, in hex, in 13 digits of base 32 or 11 of base 58 or 62")
	case 1:
		return first, nil
	}
	return 0, errors.New("it may be " + strings.Join(meanings, " or ") + ": say which form it has")
}

// unquoted takes away white space, and one pair of quotes with a comma behind it.
func unquoted(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimSuffix(text, ","))
	if n := len(text); n >= 2 && text[0] == text[n-1] && strings.ContainsRune("\"'`", rune(text[0])) {
		text = text[1 : n-1]
	}
	return text
}

// writeID writes an id in a form. Those of sqltype have no negative ids.
func writeID(id int64, form string) string {
	switch form {
	case formHex:
		return fmt.Sprintf("%016x", uint64(id))
	case form32:
		return sqltype.ID(id).Base32()
	case form58:
		return sqltype.ID(id).Base58()
	case form62:
		return sqltype.ID(id).Base62()
	}
	return strconv.FormatInt(id, 10)
}
