package describe

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A Format is a way to write an id: one of the constants, or a prefix with its underscore, such as ord_,
// which means that prefix and 13 digits of base32 in lower case.
type Format string

// The formats without a prefix. Hex is written as 0x and 16 lowercase digits.
const (
	Auto    Format = "auto" // Parse detects the format
	Decimal Format = "decimal"
	Hex     Format = "hex"
	Base32  Format = "base32"
	Base58  Format = "base58"
	Base62  Format = "base62"
	// Bwmarrin32 and Bwmarrin58 are Base32 and Base58 of bwmarrin/snowflake: other alphabets, no leading zeros.
	Bwmarrin32 Format = "bwmarrin32"
	Bwmarrin58 Format = "bwmarrin58"
)

// Formats lists the formats without a prefix, except bwmarrin's.
func Formats() []Format { return []Format{Decimal, Hex, Base32, Base58, Base62} }

// FormatNames lists all formats without a prefix.
func FormatNames() []Format { return append(Formats(), Bwmarrin32, Bwmarrin58) }

// alphabets has bwmarrin's digits.
var alphabets = map[Format]string{
	Bwmarrin32: "ybndrfg8ejkmcpqxot1uwisza345h769",
	Bwmarrin58: "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
}

// Append appends an id to b. With unsigned, Decimal treats the sign bit as a value bit. The base formats
// cannot write negative ids: see Signed.
func (f Format) Append(b []byte, id int64, unsigned bool) []byte {
	switch f {
	case Hex:
		return fmt.Appendf(b, "0x%016x", uint64(id))
	case Base32:
		return sqltype.ID(id).AppendBase32(b)
	case Base58:
		return sqltype.ID(id).AppendBitcoin58(b)
	case Base62:
		return sqltype.ID(id).AppendBase62(b)
	case Decimal:
		if unsigned {
			return strconv.AppendUint(b, uint64(id), 10)
		}
		return strconv.AppendInt(b, id, 10)
	case Bwmarrin32, Bwmarrin58:
		alphabet := alphabets[f]
		if base := int64(len(alphabet)); id >= base {
			b, id = f.Append(b, id/base, unsigned), id%base
		}
		return append(b, alphabet[id])
	}
	return f.appendPrefixed(b, id)
}

// Text returns an id as text; see Append.
func (f Format) Text(id int64, unsigned bool) string {
	return string(f.Append(make([]byte, 0, 24), id, unsigned))
}

// Signed reports whether the largest id of the format is the largest int64.
func (f Format) Signed() bool { return f != Decimal && f != Hex }

// An AmbiguousError is returned for a text that can be read in several ways.
type AmbiguousError struct {
	Readings []string // such as "hex for 1"
}

func (e *AmbiguousError) Error() string { return "may be " + strings.Join(e.Readings, " or ") }

// A spreadsheet turns an id into such a number; it may be hex as well.
var exponentForm = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{1,3}$`)

// numberReading describes such a number, and which id it was near.
func numberReading(text string) string {
	reading := "a number with an exponent, whose last digits are lost"
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 1<<53 && n < 1<<63 {
		reading += ": it was near " + strconv.FormatFloat(n, 'f', -1, 64)
	}
	return reading
}

// Parse reads an id, with or without quotes, white space and a comma around it, and with or without
// separators between groups of three digits. With Auto, digits alone are decimal, 0x starts hex, and an
// underscore ends a prefix; otherwise 13 characters may be base32, 11 to 13 bwmarrin's base32, 11
// base62 or a base58, and 8 to 16 hexadecimal digits hex. If several of these fit, or the text may also be
// base36 or a word, Parse returns an *AmbiguousError that names them all. With unsigned, it also accepts
// ids of 64 bits and negative ones, and returns them as the int64 of the same bits.
func Parse(text string, format Format, unsigned bool) (id int64, found Format, err error) {
	text = ungroup(Unquote(text))
	switch {
	case text == "":
		return 0, "", errors.New("is empty")
	case format != Auto:
	case strings.HasPrefix(text, "0x"), strings.HasPrefix(text, "0X"):
		format = Hex
	case isDecimal(text):
		format = Decimal
	case strings.Contains(text, "_"):
		return readPrefixed(text, Auto)
	default:
		return detect(text, unsigned)
	}
	if strings.HasSuffix(string(format), "_") {
		return readPrefixed(text, format)
	}
	id, err = parseAs(text, format, unsigned)
	return id, format, err
}

// isDecimal reports whether a text is a decimal number without leading zeros.
func isDecimal(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits == "0" || digits != "" && digits[0] != '0' && strings.Trim(digits, "0123456789") == ""
}

// detect returns the only reading of a text that is neither decimal nor marked by 0x.
func detect(text string, unsigned bool) (id int64, found Format, err error) {
	var readings []string
	for _, f := range FormatNames()[1:] {
		if low, high := f.digits(); len(text) < low || len(text) > high {
			continue
		}
		if n, err := parseAs(text, f, unsigned); err == nil {
			id, found = n, f
			readings = append(readings, fmt.Sprintf("%s for %s", f, Decimal.Text(n, unsigned)))
		}
	}
	if len(readings) > 0 {
		readings = append(readings, otherReadings(text)...)
	}
	only := "" // the only reading, if it is not an id
	if exponentForm.MatchString(text) {
		only = "is " + numberReading(text)
		readings = append(readings, numberReading(text))
	}
	if other := foreign(text); other != "" {
		only = "is not a Snowflake id, but " + other
		readings = append(readings, other)
	}
	switch {
	case len(readings) == 0:
		return 0, "", errors.New("is not an id in decimal, hex (0x…), base32, base58, base62 or with a prefix (ord_…)")
	case len(readings) > 1:
		return 0, "", &AmbiguousError{readings}
	case only != "":
		return 0, "", errors.New(only)
	}
	return id, found, nil
}

var (
	base36Form = regexp.MustCompile(`^[1-9a-z][0-9a-z]{10,11}$`) // bwmarrin/snowflake writes it too
	wordForm   = regexp.MustCompile(`^[A-Za-z]{1,13}$`)          // today's ids in formats of sqltype begin with a digit
)

// otherReadings describes what a text that fits an id's format may be instead.
func otherReadings(text string) (readings []string) {
	if base36Form.MatchString(text) {
		n, _ := strconv.ParseUint(text, 36, 64) // 12 digits cannot overflow
		readings = append(readings, fmt.Sprintf("base36 for %d", n))
	}
	if wordForm.MatchString(text) {
		readings = append(readings, "a word")
	}
	return readings
}

// digits returns the least and the greatest number of digits of an id in a format without a mark. Hex
// without 0x needs a minimum, because "bad" or "abc1" is probably not an id.
func (f Format) digits() (low, high int) {
	switch f {
	case Hex:
		return 8, 16
	case Base32:
		return 13, 13
	case Bwmarrin32: // as many as the number has: 11 for those of the first hundred days
		return 11, 13
	}
	return 11, 11
}

var parsers = map[Format]func(string) (sqltype.ID, error){Base32: sqltype.ParseBase32, Base58: sqltype.ParseBitcoin58, Base62: sqltype.ParseBase62}

func parseAs(text string, format Format, unsigned bool) (int64, error) {
	switch format {
	case Decimal:
		switch {
		case !isDecimal(text) || text == "-0":
			return 0, errors.New("is not a decimal id")
		case text[0] != '-':
			n, err := strconv.ParseUint(text, 10, 64)
			return checkRange(n, err, unsigned)
		case !unsigned:
			return 0, errors.New("must not be negative")
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("is below the smallest id, %d", math.MinInt64)
		}
		return n, nil
	case Hex:
		if len(text) > 1 && text[0] == '0' && text[1]|' ' == 'x' {
			text = text[2:]
		}
		if text == "" || strings.Trim(text, "0123456789abcdefABCDEF") != "" {
			return 0, errors.New("is not hexadecimal")
		}
		n, err := strconv.ParseUint(text, 16, 64)
		return checkRange(n, err, unsigned)
	case Bwmarrin32, Bwmarrin58:
		return parseBwmarrin(text, format)
	}
	id, err := parsers[format](text)
	switch {
	case errors.Is(err, sqltype.ErrRange):
		return checkRange(0, err, false)
	case err != nil:
		digits, _ := format.digits()
		return 0, fmt.Errorf("is not %s, which has %d digits", format, digits)
	}
	return int64(id), nil
}

func parseBwmarrin(text string, format Format) (int64, error) {
	alphabet, n, over := alphabets[format], uint64(0), error(nil)
	for i := range len(text) {
		digit := strings.IndexByte(alphabet, text[i])
		if digit < 0 || digit == 0 && i == 0 && len(text) > 1 {
			return 0, fmt.Errorf("is not %s of bwmarrin/snowflake", strings.Replace(string(format), "bwmarrin", "base", 1))
		}
		if n > (math.MaxInt64-uint64(digit))/uint64(len(alphabet)) {
			over = errors.New("is too large") // the range is reported if all are digits
			continue
		}
		n = n*uint64(len(alphabet)) + uint64(digit)
	}
	return checkRange(n, over, false)
}

func checkRange(n uint64, err error, unsigned bool) (int64, error) {
	largest := uint64(math.MaxInt64)
	if unsigned {
		largest = math.MaxUint64
	}
	if err != nil || n > largest {
		return 0, fmt.Errorf("is above the largest id, %d", largest)
	}
	return int64(n), nil
}

// Forms names what FormatOf accepts, for help and errors.
const Forms = "decimal, hex, base32, base58, base62, bwmarrin32, bwmarrin58 or a prefix such as ord_"

// FormatOf returns the format with the given name: a name in any case, or a prefix with its underscore.
func FormatOf(text string) (Format, error) {
	if f, err := flagval.OneOf(FormatNames()...)(text); err == nil {
		return f, nil
	}
	switch {
	case Format(text).Prefix() != "":
		return Format(text), nil
	case text != string(Auto) && Format(text+"_").Prefix() != "":
		return "", fmt.Errorf("must be %s: write %s_ for the prefix %s", Forms, text, text)
	}
	return "", errors.New("must be " + Forms)
}

// Prefix returns the prefix that the format writes, or an empty string.
func (f Format) Prefix() string {
	prefix, ok := strings.CutSuffix(string(f), "_")
	if !ok || (sqltype.Form{Prefix: prefix}).Check() != nil {
		return ""
	}
	return prefix
}

// appendPrefixed appends the prefix, which is the format itself, and the digits in lower case.
func (f Format) appendPrefixed(b []byte, id int64) []byte {
	b = append(b, f...)
	begin := len(b)
	b = sqltype.ID(id).AppendBase32(b)
	for i := begin; i < len(b); i++ {
		b[i] |= 0x20 // digits have this bit
	}
	return b
}

// readPrefixed reads a prefix, its underscore and the digits, in any case. If want is set, the prefix must
// be want.
func readPrefixed(text string, want Format) (int64, Format, error) {
	end := strings.LastIndexByte(text, '_') + 1
	found := Format(asciiLower(text[:end]))
	isWord := want == Auto && wordForm.MatchString(text[end:]) // is_international
	if want == Auto {
		if found.Prefix() == "" {
			return 0, "", errors.New("has no valid prefix: want 1 to 63 of a-z and _, first and last a letter, then _ and 13 digits of base32")
		}
		want = found
	}
	id, err := sqltype.ParseBase32(text[end:])
	switch other := foreign(text[end:]); {
	case err != nil && other != "": // a TypeID
		return 0, "", errors.New("is not a Snowflake id, but has the prefix of " + other)
	case found != want || err == nil && isWord || err != nil && !errors.Is(err, sqltype.ErrRange):
		return 0, "", fmt.Errorf("is not %q and 13 digits of base32", string(want))
	case err != nil:
		_, err = checkRange(0, err, false)
		return 0, "", err
	}
	return int64(id), want, nil
}

// asciiLower lowers only ASCII letters, as sqltype does: other letters might become letters from a to z.
func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}
