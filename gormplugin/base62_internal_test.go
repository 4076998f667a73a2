package gormplugin

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestFormatBase62(t *testing.T) {
	for id, want := range map[int64]string{
		1: "00000000001", 9: "00000000009", 10: "0000000000A", 35: "0000000000Z", 36: "0000000000a", 61: "0000000000z", 62: "00000000010",
		math.MaxInt64: "AzL8n0Y58m7",
	} {
		if got := formatBase62(id); got != want {
			t.Errorf("%d is %s, want %s", id, got, want)
		}
	}
	ids := make([]int64, 1000)
	for i := range ids {
		ids[i] = rand.Int64() >> rand.IntN(63)
	}
	slices.Sort(ids)
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = formatBase62(id)
		// math/big has the small letters before the capitals.
		swapped := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a':
				return r - 'a' + 'A'
			case r >= 'A':
				return r - 'A' + 'a'
			}
			return r
		}, texts[i])
		if back, ok := new(big.Int).SetString(swapped, 62); !ok || back.Int64() != id || len(texts[i]) != base62Digits {
			t.Errorf("%d is %s, which is %v", id, texts[i], back)
		}
	}
	if !slices.IsSorted(texts) {
		t.Error("the texts do not sort as the ids do")
	}
}
