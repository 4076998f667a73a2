package serial

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// DecodeTyped returns the ID of a serial that a person typed or pasted: in any case, with or
// without the separators, with spaces and dashes of any kind anywhere, in full-width
// characters, with O for 0 and I or L for 1. Encode the ID to get the serial as it is written.
// Anything else is a [*ParseError], as for Decode.
func (c *Codec) DecodeTyped(s string) (int64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	var groups [maxParts + 2]int
	widths := groups[:1]
	if groups[0] = c.timeDigits(); c.cfg.Fold {
		groups[0]++
	}
	for _, p := range c.parts {
		widths = append(widths, p.digits)
	}
	if c.cfg.Check != NoCheck {
		widths = append(widths, c.cfg.Check.width())
	}
	text, err := untype(s, c.cfg.Prefix, c.cfg.Separator, widths)
	if err != nil {
		return 0, err
	}
	id, err := c.Decode(text)
	return id, asTyped(err, s)
}

// ParseTyped is [Numbers.Parse] for a number that a person typed or pasted, by the rules of
// [Codec.DecodeTyped]. Format the results to get the number as it is written.
func (n *Numbers) ParseTyped(s string) (period time.Time, value int64, err error) {
	if err := n.check(); err != nil {
		return time.Time{}, 0, err
	}
	widths := []int{n.cfg.Digits}
	if n.cfg.Period != Forever {
		widths = []int{len(n.cfg.Period.layout()), n.cfg.Digits}
	}
	text, err := untype(s, n.cfg.Prefix, n.cfg.Separator, widths)
	if err != nil {
		return time.Time{}, 0, err
	}
	period, value, err = n.Parse(text)
	return period, value, asTyped(err, s)
}

// asTyped quotes what was typed in an error about what was made of it.
func asTyped(err error, typed string) error {
	var parse *ParseError
	if errors.As(err, &parse) {
		parse.Text = typed
	}
	return err
}

// untype returns what was typed as it is written: the prefix, and groups of these widths.
// The groups may still have wrong characters.
func untype(s, prefix, separator string, widths []int) (string, error) {
	total := 0
	for _, n := range widths {
		total += n
	}
	typed, want := normalize(s, separator), normalize(prefix, separator)
	if i := strings.IndexFunc(typed, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
		r, size := utf8.DecodeRuneInString(typed[i:])
		return "", &ParseError{s, "character", typed[i : i+size], fmt.Sprintf("%U is not a letter, a digit, a space or a dash", r)}
	}
	rest, ok := strings.CutPrefix(typed, want)
	if !ok {
		return "", &ParseError{s, "prefix", typed[:min(len(want), len(typed))], "must be " + fields.Quote(prefix)}
	}
	if len(rest) != total {
		return "", &ParseError{s, "length", fmt.Sprint(len(typed)), fmt.Sprintf("must be %d without spaces, dashes and separators", len(want)+total)}
	}
	b := append(make([]byte, 0, maxWidth), prefix...)
	for i, n := range widths {
		if i > 0 || prefix != "" {
			b = append(b, separator...)
		}
		b = append(b, rest[:n]...)
		rest = rest[n:]
	}
	return string(b), nil
}

// normalize drops spaces, dashes, separators and invisible characters, and unifies characters
// that people take for each other.
func normalize(s, separator string) string {
	return strings.Map(func(r rune) rune {
		if r >= '！' && r <= '～' { // full-width
			r -= '！' - '!'
		}
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Pd, unicode.Cf), r == '−', strings.ContainsRune(separator, r):
			return -1
		case r >= 'a' && r <= 'z':
			r -= 'a' - 'A'
		}
		switch r {
		case 'O':
			return '0'
		case 'I', 'L':
			return '1'
		}
		return r
	}, s)
}
