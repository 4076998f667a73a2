package token

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestDigits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	numbers := []uint64{0, 1, 61, 62, 3843, 3844, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64}
	for range 20_000 {
		numbers = append(numbers, rnd.Uint64()>>rnd.UintN(64))
	}
	var text [wordDigits]byte
	for _, n := range numbers {
		putWord(&text, n)
		if got, ok := word(string(text[:])); !ok || got != n {
			t.Fatalf("%d is written %q, and read as %d, %v", n, text, got, ok)
		}
		if id := sqltype.ID(n); id >= 0 && string(text[:]) != id.Base62() {
			t.Fatalf("%d is written %q, and not as package sqltype does", n, text)
		}
	}
}

// Numbers of 2^64 and above have no token, although they have 11 digits.
func TestDigitsRefused(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 64)
	for i := range int64(100) {
		text := digitsOf(new(big.Int).Add(limit, big.NewInt(i)))
		if n, ok := word(text); ok {
			t.Fatalf("%q is read as %d", text, n)
		}
	}
	for _, text := range []string{strings.Repeat("z", wordDigits), "z" + strings.Repeat("1", wordDigits-1)} {
		if n, ok := word(text); ok {
			t.Errorf("%q is read as %d", text, n)
		}
	}
	for c := range 256 {
		for at := range wordDigits {
			text := []byte("11111111111")
			text[at] = byte(c)
			value := strings.IndexByte(alphabet, byte(c))
			if n, ok := word(string(text)); ok != (value >= 0 && (at > 0 || value <= 21)) { // 22 * 62^10 is above 2^64
				t.Fatalf("%q is read as %d, %v", text, n, ok)
			}
		}
	}
}

// digitsOf returns n as 11 digits, with package big.
func digitsOf(n *big.Int) string {
	text := make([]byte, wordDigits)
	rest, base, digit := new(big.Int).Set(n), big.NewInt(62), new(big.Int)
	for i := range text {
		rest.DivMod(rest, base, digit)
		text[len(text)-1-i] = alphabet[digit.Uint64()]
	}
	return string(text)
}
