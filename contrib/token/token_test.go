package token

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Secrets of the tests. Nobody else may use them.
const (
	text1 = "8f2a5c1d9e3b7046a1c8f5029d6e4b370c1f8a25e94d7b603152c9f8e07ad4b6"
	text2 = "03d1e5f72b9c48a6f01e7d3c5b8a2946e7f0c1d3a5b79284061f3e5d7c9ba820"
)

func secret(t testing.TB, text string) Secret {
	t.Helper()
	s, err := ParseSecret(text)
	must(t, err)
	return s
}

func mustRing(t testing.TB, cfg Config) *Ring {
	t.Helper()
	r, err := New(cfg)
	must(t, err)
	return r
}

// oneKey is a ring with the first secret.
func oneKey(t testing.TB) *Ring {
	return mustRing(t, Config{Keys: []Secret{secret(t, text1)}})
}

func sealerOf(t testing.TB, r *Ring, typeName string) *Sealer {
	t.Helper()
	s, err := r.Sealer(typeName)
	must(t, err)
	return s
}

func seal(t testing.TB, s sqltype.Sealer, id sqltype.ID) string {
	t.Helper()
	text, err := s.AppendSeal(nil, id)
	must(t, err)
	return string(text)
}

// someIDs are the borders and random ones of every size.
func someIDs(random int) []sqltype.ID {
	ids := []sqltype.ID{0, 1, 57, 58, 61, 62, 1 << 32, 1996573624012345677, 1<<62 - 1, math.MaxInt64 - 1, math.MaxInt64}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range random {
		ids = append(ids, sqltype.ID(rnd.Int64()>>rnd.UintN(63)))
	}
	return ids
}

// Tokens that were made once, and again by a program in another language. If this test fails, stored
// links no longer open.
var golden = []struct {
	typeName string
	id       sqltype.ID
	token    string
}{
	{"order", 0, "9XLT9nolSm81DvCiYDmRLW"},
	{"order", 1996573624012345677, "6SAPX568jFlC91Nu9cArMb"},
	{"order", math.MaxInt64, "IDoErDMvk820Y294pRKnpe"},
	{"order_line", 1996573624012345677, "3L76Sq1ROAA4olA6eHptWB"},
}

func TestGolden(t *testing.T) {
	for _, tt := range golden {
		t.Run(fmt.Sprintf("%s/%d", tt.typeName, tt.id), func(t *testing.T) {
			s := sealerOf(t, oneKey(t), tt.typeName)
			if got := seal(t, s, tt.id); got != tt.token {
				t.Errorf("sealed as %q, want %q", got, tt.token)
			}
			if id, err := s.Unseal(tt.token); err != nil || id != tt.id {
				t.Errorf("opened as %d, %v", id, err)
			}
			// The block is the number whose digits the token has.
			block, err := s.SealBlock(tt.id)
			first, _ := word(tt.token[:wordDigits])
			if err != nil || binary.BigEndian.Uint64(block[:8]) != first {
				t.Errorf("%x, %v", block, err)
			}
		})
	}
}

func TestRoundTrip(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	for _, id := range someIDs(4000) {
		b, err := s.AppendSeal([]byte("ord_"), id)
		text, ok := strings.CutPrefix(string(b), "ord_")
		if err != nil || !ok || len(text) != 22 || strings.Trim(text, alphabet) != "" {
			t.Fatalf("%d: %q, %v", id, b, err)
		}
		if got, err := s.Unseal(text); err != nil || got != id {
			t.Fatalf("%d is sealed as %q, which opens as %d, %v", id, text, got, err)
		}
		block, err := s.SealBlock(id)
		must(t, err)
		if got, err := s.OpenBlock(block); err != nil || got != id {
			t.Fatalf("%d is sealed as %x, which opens as %d, %v", id, block, got, err)
		}
	}
}

func TestBitsOfTheTag(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	key := s.in.keys[0]
	for bit := range 64 {
		var forged block
		binary.BigEndian.PutUint64(forged[:], 42)
		binary.BigEndian.PutUint64(forged[8:], key.tag^1<<bit)
		key.cipher.Encrypt(forged[:], forged[:])
		if id, err := s.OpenBlock(forged); !errors.Is(err, sqltype.ErrSyntax) || id != 0 {
			t.Errorf("bit %d of the tag: %d, %v", bit, id, err)
		}
	}
}

// The halves of a token are below 2^64, but 11 digits reach further. A half and 2^64, or twice that,
// is not another text of the same token.
func TestOneSpelling(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	end := new(big.Int).Exp(big.NewInt(62), big.NewInt(wordDigits), nil)
	power := new(big.Int).Lsh(big.NewInt(1), 64)
	aliases := 0
	for _, id := range someIDs(1000) {
		block, err := s.SealBlock(id)
		must(t, err)
		token := seal(t, s, id)
		first, last := new(big.Int).SetBytes(block[:8]), new(big.Int).SetBytes(block[8:])
		if got := digitsOf(first) + digitsOf(last); got != token {
			t.Fatalf("%d is sealed as %s and as %s", id, token, got)
		}
		for i := range int64(4) {
			for j := range int64(4) {
				high := new(big.Int).Add(first, new(big.Int).Mul(power, big.NewInt(i)))
				low := new(big.Int).Add(last, new(big.Int).Mul(power, big.NewInt(j)))
				if i+j == 0 || high.Cmp(end) >= 0 || low.Cmp(end) >= 0 {
					continue
				}
				aliases++
				text := digitsOf(high) + digitsOf(low)
				if got, err := s.Unseal(text); !errors.Is(err, sqltype.ErrSyntax) || got != 0 {
					t.Fatalf("%s is %s plus multiples of 2^64, and opens as %d, %v", text, token, got, err)
				}
			}
		}
	}
	if aliases < 300 {
		t.Errorf("only %d texts", aliases)
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

func TestNegative(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	for _, id := range []sqltype.ID{-1, math.MinInt64} {
		b, err := s.AppendSeal([]byte("ord_"), id)
		if !errors.Is(err, sqltype.ErrNegative) || string(b) != "ord_" || !strings.Contains(err.Error(), fmt.Sprint(int64(id))) {
			t.Errorf("%q, %v", b, err)
		}
		if block, err := s.SealBlock(id); !errors.Is(err, sqltype.ErrNegative) || block != [16]byte{} {
			t.Errorf("%x, %v", block, err)
		}
	}
	// Only a holder of the key can make such a token.
	var b block
	s.in.seal(&b, -1)
	if id, err := s.OpenBlock(b); !errors.Is(err, sqltype.ErrSyntax) || id != 0 {
		t.Errorf("%d, %v", id, err)
	}
}

// A token of one type does not open as another's.
func TestOtherType(t *testing.T) {
	r := oneKey(t)
	for _, names := range [][2]string{{"order", "orders"}, {"orders", "order"}, {"order", "a"}} {
		mine, theirs := sealerOf(t, r, names[0]), sealerOf(t, r, names[1])
		for _, id := range someIDs(100) {
			if got, err := theirs.Unseal(seal(t, mine, id)); got != 0 || !errors.Is(err, sqltype.ErrSyntax) {
				t.Fatalf("%s, %d: %d, %v", names, id, got, err)
			}
		}
	}
}

func TestRotation(t *testing.T) {
	s1, s2 := secret(t, text1), secret(t, text2)
	older := sealerOf(t, mustRing(t, Config{Keys: []Secret{s1}}), "order")
	both := sealerOf(t, mustRing(t, Config{Keys: []Secret{s2, s1}}), "order")
	newer := sealerOf(t, mustRing(t, Config{Keys: []Secret{s2}}), "order")
	for _, id := range someIDs(100) {
		old, fresh := seal(t, older, id), seal(t, both, id)
		if old == fresh {
			t.Fatalf("%d: the old key seals", id)
		}
		for _, token := range []string{old, fresh} {
			if got, err := both.Unseal(token); err != nil || got != id {
				t.Fatalf("%d is sealed as %q, which opens as %d, %v", id, token, got, err)
			}
		}
		if got, err := newer.Unseal(fresh); err != nil || got != id {
			t.Fatalf("%d is sealed as %q, which opens as %d, %v", id, fresh, got, err)
		}
		if got, err := newer.Unseal(old); !errors.Is(err, sqltype.ErrSyntax) || got != 0 {
			t.Fatalf("without its key, %q opens as %d, %v", old, got, err)
		}
	}
}

// A token with another character at any place is refused.
func TestForged(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	token := seal(t, s, 1996573624012345677)
	for at := range len(token) {
		for c := range 256 {
			forged := []byte(token)
			if forged[at] = byte(c); string(forged) == token {
				continue
			}
			if got, err := s.Unseal(string(forged)); got != 0 || !errors.Is(err, sqltype.ErrSyntax) {
				t.Fatalf("%q opens as %d, %v", forged, got, err)
			}
		}
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
