// Package idtext decides what a text is: which ID it stands for, in which format. The
// command and the HTTP API read IDs with it, and the page's idtext.js is held to it by
// ../testdata/vectors.json.
//
//	id, format, err := idtext.Parse("0x1bb54121fb2b914d", idtext.Auto, false)
//	text := idtext.Base58.Text(id, false)
//
// A text with two readings is an *AmbiguousError; Parse never picks one.
package idtext

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A Format is a way to write an ID.
type Format string

// The formats. Hex is written as 0x and 16 lowercase digits.
const (
	Auto    Format = "auto" // Parse detects the format
	Decimal Format = "decimal"
	Hex     Format = "hex"
	Base32  Format = "base32"
	Base58  Format = "base58"
	Base62  Format = "base62"
)

// Formats lists the formats in which an ID can be written.
func Formats() []Format { return []Format{Decimal, Hex, Base32, Base58, Base62} }

// Append appends an ID to b. With unsigned, Decimal reads the sign bit as a digit. The
// base formats have no negative IDs: see Signed.
func (f Format) Append(b []byte, id int64, unsigned bool) []byte {
	switch f {
	case Hex:
		return fmt.Appendf(b, "0x%016x", uint64(id))
	case Base32:
		return sqltype.ID(id).AppendBase32(b)
	case Base58:
		return sqltype.ID(id).AppendBase58(b)
	case Base62:
		return sqltype.ID(id).AppendBase62(b)
	}
	if unsigned {
		return strconv.AppendUint(b, uint64(id), 10)
	}
	return strconv.AppendInt(b, id, 10)
}

// Text returns an ID as text; see Append.
func (f Format) Text(id int64, unsigned bool) string { return string(f.Append(nil, id, unsigned)) }

// Signed reports whether the format ends at the largest int64.
func (f Format) Signed() bool { return f != Decimal && f != Hex }

// An AmbiguousError is returned for a text that can be read in several ways.
type AmbiguousError struct {
	Readings []string // such as "hex for 1"
}

func (e *AmbiguousError) Error() string { return "may be " + strings.Join(e.Readings, " or ") }

var (
	decimalForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	hexForm     = regexp.MustCompile(`^(?:0[xX])?([0-9a-fA-F]+)$`)
	// A spreadsheet turns an ID into such a number; it may be hex as well.
	exponentForm = regexp.MustCompile(`^[0-9]+[eE][0-9]{1,3}$`)
)

const numberReading = "a number with an exponent, whose last digits are lost"

// Without 0x, hex needs as many digits; "bad" or "abc1" is rather not an ID.
const minBareHex, maxBareHex = 8, 16

// Parse reads an ID, with or without quotes, white space and a comma around it. With
// Auto, digits alone are decimal and 0x starts hex; otherwise 13 characters may be
// base32, 11 characters base58 or base62, and 8 to 16 hexadecimal digits hex. If more
// than one of these fits, Parse returns an *AmbiguousError that names them all. With
// unsigned, IDs of 64 bits and negative ones are accepted; they are returned as the
// int64 of the same bits.
func Parse(text string, format Format, unsigned bool) (id int64, found Format, err error) {
	text = Unquote(text)
	switch {
	case text == "":
		return 0, "", errors.New("is empty")
	case format != Auto:
	case len(text) > 1 && strings.EqualFold(text[:2], "0x"):
		format = Hex
	case decimalForm.MatchString(text):
		format = Decimal
	default:
		return detect(text, unsigned)
	}
	id, err = read(text, format, unsigned)
	return id, format, err
}

// detect returns the only reading of a text that is neither decimal nor marked by 0x.
func detect(text string, unsigned bool) (id int64, found Format, err error) {
	var candidates []Format
	if len(text) >= minBareHex && len(text) <= maxBareHex {
		candidates = append(candidates, Hex)
	}
	var readings []string
	for _, f := range append(candidates, Base32, Base58, Base62) {
		n, err := read(text, f, unsigned)
		if err != nil {
			continue
		}
		id, found = n, f
		readings = append(readings, fmt.Sprintf("%s for %s", f, Decimal.Text(n, unsigned)))
	}
	exponent := exponentForm.MatchString(text)
	switch {
	case exponent && len(readings) == 0:
		return 0, "", errors.New("is " + numberReading)
	case exponent:
		readings = append(readings, numberReading)
	case len(readings) == 1:
		return id, found, nil
	case len(readings) == 0:
		return 0, "", errors.New("is not an ID in decimal, hex (0x…), base32, base58 or base62")
	}
	return 0, "", &AmbiguousError{readings}
}

func read(text string, format Format, unsigned bool) (int64, error) {
	switch format {
	case Decimal:
		return readDecimal(text, unsigned)
	case Hex:
		digits := hexForm.FindStringSubmatch(text)
		if digits == nil {
			return 0, errors.New("is not hexadecimal")
		}
		n, err := strconv.ParseUint(digits[1], 16, 64)
		return fit(n, err, unsigned)
	}
	parse, digits := sqltype.ParseBase62, 11
	switch format {
	case Base32:
		parse, digits = sqltype.ParseBase32, 13
	case Base58:
		parse = sqltype.ParseBase58
	}
	id, err := parse(text)
	switch {
	case errors.Is(err, sqltype.ErrRange):
		return fit(0, err, false)
	case err != nil:
		return 0, fmt.Errorf("is not %s, which has %d digits", format, digits)
	}
	return int64(id), nil
}

func readDecimal(text string, unsigned bool) (int64, error) {
	switch {
	case !decimalForm.MatchString(text) || text == "-0":
		return 0, errors.New("is not a decimal ID")
	case text[0] != '-':
		n, err := strconv.ParseUint(text, 10, 64)
		return fit(n, err, unsigned)
	case !unsigned:
		return 0, errors.New("must not be negative")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("is below the smallest ID, %d", math.MinInt64)
	}
	return n, nil
}

func fit(n uint64, err error, unsigned bool) (int64, error) {
	largest := uint64(math.MaxInt64)
	if unsigned {
		largest = math.MaxUint64
	}
	if err != nil || n > largest {
		return 0, fmt.Errorf("is above the largest ID, %d", largest)
	}
	return int64(n), nil
}

// Split returns the texts in a list that may be IDs: the items of JSON, SQL, CSV or a
// table, or on each line an object of JSON, whose "id" counts. Quotes are kept off.
func Split(text string) []string {
	ids := []string{}
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n\ufeff")
		if strings.HasPrefix(line, "{") && strings.Contains(line, ":") {
			ids = append(ids, ofObject(line))
			continue
		}
		for _, item := range strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || r == '\ufeff' || strings.ContainsRune(",;()[]{}|", r)
		}) {
			if item = Unquote(item); item != "" {
				ids = append(ids, item)
			}
		}
	}
	return ids
}

// ofObject returns the "id" of an object as it is written; other lines are returned
// whole, for an error to show.
func ofObject(line string) string {
	var object struct {
		ID json.RawMessage `json:"id"` // a number may have more than 53 bits
	}
	if json.Unmarshal([]byte(line), &object) != nil || len(object.ID) == 0 {
		return line
	}
	return Unquote(string(object.ID))
}

// Unquote removes white space, one comma at the end, and one pair of quotes.
func Unquote(text string) string {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), ","))
	if n := len(text); n > 1 && text[0] == text[n-1] && strings.IndexByte("\"'`", text[0]) >= 0 {
		return strings.TrimSpace(text[1 : n-1])
	}
	return text
}
