package token

import (
	"math"
	"math/big"
	"math/rand/v2"
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
