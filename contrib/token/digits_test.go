package token

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestDigits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	numbers := []uint64{0, 1, 57, 58, 61, 62, 3363, 3364, 3843, 3844, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64}
	for range 100_000 {
		numbers = append(numbers, rnd.Uint64()>>rnd.UintN(64))
	}
	for _, a := range []Alphabet{Base62, Base58} {
		t.Run(a.String(), func(t *testing.T) {
			d := newDigits(a)
			for _, power := range []uint64{d.square, pow(d.base, 10)} { // where a quotient changes
				for range 10_000 {
					n := power * (rnd.Uint64() / power)
					numbers = append(numbers, n, n-1)
				}
			}
			var text [wordDigits]byte
			for _, n := range numbers {
				high, low := d.split(n)
				d.put(&text, high, low)
				if got, ok := d.word(string(text[:])); !ok || got != n {
					t.Fatalf("%d is written %q, and read as %d, %v", n, text, got, ok)
				}
				if id := sqltype.ID(n); id >= 0 && string(text[:]) != map[Alphabet]string{Base62: id.Base62(), Base58: id.Base58()}[a] {
					t.Fatalf("%d is written %q, and not as package sqltype does", n, text)
				}
			}
		})
	}
}

// Numbers of 2^64 and above have no token, although they have 11 digits.
func TestDigitsRefused(t *testing.T) {
	for _, a := range []Alphabet{Base62, Base58} {
		t.Run(a.String(), func(t *testing.T) {
			d := newDigits(a)
			limit := new(big.Int).Lsh(big.NewInt(1), 64)
			for i := range int64(100) {
				text := digitsOf(d, new(big.Int).Add(limit, big.NewInt(i)))
				if n, ok := d.word(text); ok {
					t.Fatalf("%q is read as %d", text, n)
				}
			}
			highest := string(d.units[d.base-1])
			for _, text := range []string{strings.Repeat(highest, wordDigits), highest + strings.Repeat("1", wordDigits-1)} {
				if n, ok := d.word(text); ok {
					t.Errorf("%q is read as %d", text, n)
				}
			}
			for c := range 256 {
				for at := range wordDigits {
					text := []byte("11111111111")
					text[at] = byte(c)
					isDigit := bytes.IndexByte(d.units[:d.base], byte(c)) >= 0
					if n, ok := d.word(string(text)); ok != (isDigit && (at > 0 || uint64(d.ones[c]) <= math.MaxUint64/pow(d.base, 10))) {
						t.Fatalf("%q is read as %d, %v", text, n, ok)
					}
				}
			}
		})
	}
}

// digitsOf returns n as 11 digits, slowly.
func digitsOf(d *digits, n *big.Int) string {
	text := make([]byte, wordDigits)
	rest, base, digit := new(big.Int).Set(n), new(big.Int).SetUint64(d.base), new(big.Int)
	for i := range text {
		rest.DivMod(rest, base, digit)
		text[len(text)-1-i] = d.units[digit.Uint64()]
	}
	return string(text)
}

// word returns the number that 11 digits mean. It reports whether there is one, below 2^64.
func (d *digits) word(text string) (uint64, bool) {
	high, low, seen := d.get(text)
	n, over := d.join(high, low)
	return n, seen < noDigit && over == 0
}
