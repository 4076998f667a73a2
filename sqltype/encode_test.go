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

// bases is every short form, with what the tests know of it by another road.
var bases = []struct {
	name   string
	digits string
	width  int
	write  func(ID) string
	add    func(ID, []byte) []byte
	parse  func(string) (ID, error)
}{
	{"base 32", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13, ID.Base32, ID.AppendBase32, ParseBase32},
	{"base 58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11, ID.Base58, ID.AppendBase58, ParseBase58},
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

func TestBaseVectors(t *testing.T) {
	for _, tt := range []struct {
		id                     ID
		base32, base58, base62 string
	}{
		{0, "0000000000000", "11111111111", "00000000000"},
		{1, "0000000000001", "11111111112", "00000000001"},
		{31, "000000000000Z", "1111111111Y", "0000000000V"},
		{57, "000000000001S", "1111111111z", "0000000000v"},
		{61, "000000000001X", "11111111124", "0000000000z"},
		{1234, "000000000016J", "111111111NH", "000000000Ju"},
		{1996573624012345677, "1QDA147XJQ4AD", "5doYnWboBWc", "2NUKMIAa421"},
		{math.MaxInt64, "7ZZZZZZZZZZZZ", "NQm6nKp8qFC", "AzL8n0Y58m7"},
	} {
		t.Run(tt.base32, func(t *testing.T) {
			got := []string{tt.id.Base32(), tt.id.Base58(), tt.id.Base62()}
			if want := []string{tt.base32, tt.base58, tt.base62}; !slices.Equal(got, want) {
				t.Errorf("%d: %q, want %q", tt.id, got, want)
			}
		})
	}
}

// Any id is written as math/big writes it, is read back, and sorts as text.
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
	}
}

// A negative id is written so that no parser takes it for another.
func TestBaseNegative(t *testing.T) {
	for _, base := range bases {
		for _, id := range []ID{-1, -1234, math.MinInt64 + 1, math.MinInt64} {
			text := base.write(id)
			if want := bigText(id, base.digits, base.width); text != want {
				t.Errorf("%s of %d: %q, math/big: %q", base.name, int64(id), text, want)
			}
			for _, other := range bases {
				_, err := other.parse(text)
				if other.name == base.name {
					checkError(t, err, ErrNegative, text)
				} else if err == nil {
					t.Errorf("%s reads %q", other.name, text)
				}
			}
			if got, err := Parse(text); err == nil {
				t.Errorf("Parse reads %q as %d", text, got)
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
			{max + " ", ErrSyntax, "digits"},
			{max + "\n", ErrSyntax, "digits"},
			{"--" + max[1:], ErrSyntax, "byte 2"},
			{"-" + over, ErrNegative, ""},
			{"-" + max[:1] + "*" + max[2:], ErrSyntax, "byte 3"},
			{"+" + max[1:], ErrSyntax, "byte 1 "},
			{" " + max[1:], ErrSyntax, "byte 1 "},
			{max[:3] + "-" + max[4:], ErrSyntax, "byte 4 "},
			{max[:3] + "_" + max[4:], ErrSyntax, "byte 4 "},
			{max[:base.width-1] + "\x00", ErrSyntax, "byte"},
			{max[:base.width-1] + "\xff", ErrSyntax, "byte"},
			{max[:base.width-2] + "é", ErrSyntax, "byte"},
			{strings.Repeat(zero, 1000), ErrSyntax, "digits"},
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
		// Every byte that is no digit is refused, at both ends.
		for c := range 256 {
			for _, in := range []string{string([]byte{byte(c)}) + max[1:], max[:base.width-1] + string([]byte{byte(c)})} {
				_, ok := canonicalBase(in, base.digits, base.name == "base 32")
				if _, err := base.parse(in); (err == nil) != ok {
					t.Errorf("%s: %q: %v", base.name, in, err)
				}
			}
		}
	}
}

// Above the largest id nothing wraps around, into an id or into a negative number.
func TestParseBaseRange(t *testing.T) {
	for _, base := range bases {
		for _, power := range []uint{63, 64} {
			for add := int64(-100); add <= 100; add++ {
				n := new(big.Int).Lsh(big.NewInt(1), power)
				n.Add(n, big.NewInt(add))
				text := bigIntText(n, base.digits, base.width)
				got, err := base.parse(text)
				switch {
				case n.IsInt64():
					if err != nil || got.Int64() != n.Int64() {
						t.Errorf("%s: %s is %d, %v; want %v", base.name, text, got, err, n)
					}
				case got != 0 || !errors.Is(err, ErrRange):
					t.Errorf("%s: %s, which is %v, gives %d, %v", base.name, text, n, got, err)
				}
			}
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

// Crockford's readers forgive, in every place of the text.
func TestParseBase32Forgives(t *testing.T) {
	for in, want := range map[string]string{
		"1qda147xjq4ad": "1QDA147XJQ4AD",
		"IiLl0OoOoIiLl": "1111000001111",
		"OOOOOOOOOOOOO": "0000000000000",
		"lllllllllllll": "1111111111111",
		"7zzzzzzzzzzzz": "7ZZZZZZZZZZZZ",
	} {
		t.Run(in, func(t *testing.T) {
			id, err := ParseBase32(in)
			if err != nil || id.Base32() != want {
				t.Errorf("%s: %s, %v; want %s", in, id.Base32(), err, want)
			}
		})
	}
	for _, in := range []string{"UUUUUUUUUUUUU", "000000000000u", "000000000000*", "1QDA-147X-JQ4AD", "00000000-0000"} {
		if id, err := ParseBase32(in); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %d, %v", in, id, err)
		}
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
