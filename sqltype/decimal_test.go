package sqltype

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// Both halves of eight digits take every value, and the digits before them every length.
func TestAppendText(t *testing.T) {
	check := func(n uint64) {
		t.Helper()
		want := strconv.FormatUint(n, 10)
		for name, buf := range map[string][]byte{"no": {}, "just enough": make([]byte, 0, len(want)), "more": make([]byte, 0, 64)} {
			if got, err := ID(n).AppendText(buf); err != nil || string(got) != want {
				t.Fatalf("%d is written %q, %v, into a buffer with %s room", n, got, err, name)
			}
		}
		if got := ID(n).String(); got != want {
			t.Fatalf("String of %d: %q", n, got)
		}
	}
	for part := range uint64(1e4) {
		for _, top := range []uint64{0, 1, 9, 10, 99, 100, 921} {
			check(top*1e16 + part*1e8 + 9999 - part)
			check(top*1e16 + part*1e12 + part*1e4)
		}
	}
	for power := uint64(1); power <= 1e18; power *= 10 {
		check(power - 1)
		check(power)
		check(power + 1)
	}
	check(math.MaxInt64)
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		check(uint64(random.Int64()) >> random.IntN(63))
	}
}
