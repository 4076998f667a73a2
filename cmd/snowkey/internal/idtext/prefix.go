package idtext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Forms names what FormatOf accepts, for help and errors.
const Forms = "decimal, hex, base32, base58, base62 or a prefix such as ord_"

// FormatOf returns the format that a text names: one of Formats, in any case, or a prefix
// and its underscore.
func FormatOf(text string) (Format, error) {
	if f, err := flagval.OneOf(Formats()...)(text); err == nil {
		return f, nil
	}
	if Format(text).Prefix() == "" {
		return "", errors.New("must be " + Forms)
	}
	return Format(text), nil
}

// Prefix returns the prefix that the format writes, or an empty string.
func (f Format) Prefix() string {
	prefix, ok := strings.CutSuffix(string(f), "_")
	if !ok || (sqltype.Form{Prefix: prefix}).Check() != nil {
		return ""
	}
	return prefix
}

// appendPrefixed appends the format, which is a prefix, and the digits in lower case.
func (f Format) appendPrefixed(b []byte, id int64) []byte {
	b = append(b, f...)
	begin := len(b)
	b = sqltype.ID(id).AppendBase32(b)
	for i := begin; i < len(b); i++ {
		b[i] |= 0x20 // digits have this bit
	}
	return b
}

// readPrefixed reads a prefix, its underscore and the digits, in any case. With want, the
// prefix must be that one.
func readPrefixed(text string, want Format) (int64, Format, error) {
	end := strings.LastIndexByte(text, '_') + 1
	found := Format(lower(text[:end]))
	if want == Auto {
		if found.Prefix() == "" {
			return 0, "", errors.New("has no valid prefix: want 1 to 63 of a-z and _, first and last a letter, then _ and 13 digits of base32")
		}
		want = found
	}
	id, err := sqltype.ParseBase32(text[end:])
	switch {
	case found != want || err != nil && !errors.Is(err, sqltype.ErrRange):
		return 0, "", fmt.Errorf("is not %q and 13 digits of base32", string(want))
	case err != nil:
		_, err = fit(0, err, false)
		return 0, "", err
	}
	return int64(id), want, nil
}

// lower changes only ASCII, as in sqltype: other letters may become some of a-z.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}
