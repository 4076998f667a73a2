package sqltype

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bases lists the short forms, each with its digits and its parser, for the tests.
var bases = []struct {
	name   string
	digits string
	width  int
	write  func(ID) string
	add    func(ID, []byte) []byte
	parse  func(string) (ID, error)
}{
	{"base 32", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13, ID.Base32, ID.AppendBase32, ParseBase32},
	{"base 58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11, ID.Bitcoin58, ID.AppendBitcoin58, ParseBitcoin58},
	{"base 62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11, ID.Base62, ID.AppendBase62, ParseBase62},
}

// bigText writes an id in the digits given, to the width given, by math/big.
func bigText(id ID, digits string, width int) string {
	if id < 0 {
		n := big.NewInt(int64(id))
		return "-" + bigIntText(n.Neg(n), digits, width)
	}
	return bigIntText(big.NewInt(int64(id)), digits, width)
}

func bigIntText(n *big.Int, digits string, width int) string {
	const bigDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	text := []byte(n.Text(len(digits)))
	for i, d := range text {
		text[i] = digits[strings.IndexByte(bigDigits, d)]
	}
	return strings.Repeat(digits[:1], width-len(text)) + string(text)
}

// Any id is written as math/big writes it, is read back, and sorts by its text.
func TestBaseRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ids := []ID{0, 1, 1<<53 - 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	for power := ID(1); power < math.MaxInt64/62; power *= 62 {
		ids = append(ids, power-1, power, power+1)
	}
	for power := ID(1); power < math.MaxInt64/58; power *= 58 {
		ids = append(ids, power-1, power, power+1)
	}
	for range 2000 {
		ids = append(ids, ID(rng.Uint64()>>(1+rng.IntN(63))))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, base := range bases {
		last := ""
		for _, id := range ids {
			text := base.write(id)
			if want := bigText(id, base.digits, base.width); text != want {
				t.Fatalf("%s of %d: %q, math/big: %q", base.name, id, text, want)
			}
			if got := string(base.add(id, []byte("x"))); got != "x"+text {
				t.Fatalf("%s of %d appended: %q", base.name, id, got)
			}
			if got, err := base.parse(text); err != nil || got != id {
				t.Fatalf("%s: %q is %d, %v; want %d", base.name, text, got, err, id)
			}
			if text <= last {
				t.Fatalf("%s: %q does not sort after %q", base.name, text, last)
			}
			last = text
		}
		// No parser takes a negative id for another.
		for _, id := range []ID{-1, -1234, math.MinInt64 + 1, math.MinInt64} {
			text := base.write(id)
			if want := bigText(id, base.digits, base.width); text != want {
				t.Errorf("%s of %d: %q, math/big: %q", base.name, int64(id), text, want)
			}
			if _, err := base.parse(text); !errors.Is(err, ErrNegative) {
				t.Errorf("%s: %q: %v", base.name, text, err)
			}
		}
	}
}

func TestParseBaseErrors(t *testing.T) {
	for _, base := range bases {
		zero, top := base.digits[:1], base.digits[len(base.digits)-1:]
		max := base.write(math.MaxInt64)
		over := bigPlusOne(max, base.digits)
		for _, tt := range []struct {
			in   string
			want error
			show string
		}{
			{over, ErrRange, ""},
			{strings.Repeat(top, base.width), ErrRange, ""},
			{"", ErrSyntax, "digits"},
			{"-", ErrSyntax, "digits"},
			{max[1:], ErrSyntax, "digits"},
			{zero + max, ErrSyntax, "digits"},
			{"--" + max[1:], ErrSyntax, "byte 2"},
			{"-" + over, ErrNegative, ""},
			{"-" + max[:1] + "*" + max[2:], ErrSyntax, "byte 3"},
			{"+" + max[1:], ErrSyntax, "byte 1 "},
			{max[:3] + "-" + max[4:], ErrSyntax, "byte 4 "},
			{max[:base.width-2] + "é", ErrSyntax, "byte"},
		} {
			t.Run(tt.in, func(t *testing.T) {
				got, err := base.parse(tt.in)
				checkError(t, err, tt.want, tt.in)
				if got != 0 {
					t.Errorf("%s: %.40q gives %d with its error", base.name, tt.in, got)
				}
				if !strings.Contains(err.Error(), base.name) || !strings.Contains(err.Error(), tt.show) {
					t.Errorf("%s: %v does not show %q", base.name, err, tt.show)
				}
				for _, other := range []error{ErrSyntax, ErrRange, ErrNegative} {
					if other != tt.want && errors.Is(err, other) {
						t.Errorf("%s: %v is %v as well", base.name, err, other)
					}
				}
			})
		}
	}
}

// bigPlusOne adds one to a text.
func bigPlusOne(text, digits string) string {
	b := []byte(text)
	for i := len(b) - 1; ; i-- {
		if at := strings.IndexByte(digits, b[i]); at < len(digits)-1 {
			b[i] = digits[at+1]
			return string(b)
		}
		b[i] = digits[0]
	}
}

// canonicalBase is the grammar by another road: math/big's value of the digits,
// which must be an id.
func canonicalBase(s, digits string, crockford bool) (int64, bool) {
	width := len(big.NewInt(math.MaxInt64).Text(len(digits)))
	if len(s) != width {
		return 0, false
	}
	if crockford {
		s = strings.ToUpper(s)
		if len(s) != width { // a letter outside ASCII
			return 0, false
		}
		s = strings.NewReplacer("I", "1", "L", "1", "O", "0").Replace(s)
	}
	n, base := new(big.Int), big.NewInt(int64(len(digits)))
	for i := range len(s) {
		at := strings.IndexByte(digits, s[i])
		if at < 0 {
			return 0, false
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(at)))
	}
	return n.Int64(), n.IsInt64()
}

// bwmarrin's base 58 is read with no digit in front that is zero, and never as ours.
func TestParseBwmarrin58(t *testing.T) {
	const digits = "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
	rng := rand.New(rand.NewPCG(5, 8))
	ids := []ID{0, 1, 57, 58, math.MaxInt64}
	for range 1000 {
		ids = append(ids, ID(rng.Uint64()>>(1+rng.IntN(63))))
	}
	for _, id := range ids {
		text := strings.TrimLeft(bigText(id, digits, width58), digits[:1])
		if id == 0 {
			text = digits[:1]
		}
		if got, err := ParseBwmarrin58(text); err != nil || got != id {
			t.Fatalf("%q is %d, %v, want %d", text, got, err, id)
		}
		if got, err := ParseBwmarrin58(digits[:1] + text); err == nil {
			t.Errorf("%q is %d", digits[:1]+text, got)
		}
	}
	for text, want := range map[string]error{
		"": ErrSyntax, "11": ErrSyntax, "0": ErrSyntax, "l": ErrSyntax, "-2": ErrSyntax, "222222222222": ErrSyntax,
		"ZZZZZZZZZZZ": ErrRange,
	} {
		id, err := ParseBwmarrin58(text)
		checkError(t, err, want, text)
		if id != 0 {
			t.Errorf("%q is %d", text, id)
		}
	}
}
