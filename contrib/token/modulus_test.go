package token

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// As math/big does it, for the numbers at which a rounding would show.
func TestModulus(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	moduli := []uint64{2, 3, 10, 1 << 16, 1<<32 - 1, 1 << 32, 1<<32 + 1, pow(58, 5), pow(58, 6), pow(62, 5), pow(62, 6), 1<<60 - 1, 1 << 60}
	for range 20 {
		moduli = append(moduli, 2+rnd.Uint64()>>(4+rnd.UintN(58)))
	}
	for _, m := range moduli {
		for _, bytes := range []int{8, 12} {
			t.Run(fmt.Sprintf("%d/%d bytes", m, bytes), func(t *testing.T) {
				d, modulo := newModulus(m, bytes), new(big.Int).SetUint64(m)
				check := func(a, high uint64, low uint32) {
					var b block
					binary.BigEndian.PutUint64(b[:], high)
					binary.BigEndian.PutUint32(b[8:], low)
					n, start := new(big.Int).SetBytes(b[:bytes]), new(big.Int).SetUint64(a)
					sum := new(big.Int).Add(start, n)
					if got, want := d.add(d.start(a), &b), sum.Mod(sum, modulo).Uint64(); got != want {
						t.Fatalf("%d + %d is %d, want %d", a, n, got, want)
					}
					difference := new(big.Int).Sub(start, n)
					if got, want := d.subtract(d.start(a), &b), difference.Mod(difference, modulo).Uint64(); got != want {
						t.Fatalf("%d - %d is %d, want %d", a, n, got, want)
					}
				}
				for _, a := range []uint64{0, 1, m / 2, m - 1} {
					for _, high := range []uint64{0, 1, m - 1, m, m + 1, math.MaxUint64 / m * m, math.MaxUint64/m*m - 1, math.MaxUint64} {
						for _, low := range []uint32{0, 1, uint32(m) - 1, uint32(m), math.MaxUint32} {
							check(a, high, low)
							check(a, high, -low)
						}
					}
				}
				for range 1000 {
					a, high, low := rnd.Uint64N(m), rnd.Uint64()>>rnd.UintN(64), rnd.Uint32()
					check(a, high, low)
					// Where the sum, and the difference, are multiples of m.
					n := new(big.Int).Lsh(new(big.Int).SetUint64(rnd.Uint64()), uint(8*bytes-64))
					rest := new(big.Int).Mod(n, modulo).Uint64()
					text := n.FillBytes(make([]byte, 12)[:bytes])
					text = append(text, 0, 0, 0, 0)[:12]
					high, low = binary.BigEndian.Uint64(text), binary.BigEndian.Uint32(text[8:])
					check(rest, high, low)
					check((m-rest)%m, high, low)
				}
			})
		}
	}
}
