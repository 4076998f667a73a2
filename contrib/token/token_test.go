package token

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"
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
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRing(t testing.TB, cfg Config) *Ring {
	t.Helper()
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// oneKey is a ring with the first secret.
func oneKey(t testing.TB) *Ring {
	return mustRing(t, Config{Keys: []Secret{secret(t, text1)}})
}

func sealerOf(t testing.TB, r *Ring, typeName string) *Sealer {
	t.Helper()
	s, err := r.Sealer(typeName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func seal(t testing.TB, s sqltype.Sealer, id sqltype.ID) string {
	t.Helper()
	text, err := s.AppendSeal(nil, id)
	if err != nil {
		t.Fatal(err)
	}
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
		})
	}
}

func TestGoldenBlock(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	block, err := s.SealBlock(1996573624012345677)
	if got, want := hex.EncodeToString(block[:]), "4b2d6ef82e6098c58d77663d91bbf5bd"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestRoundTrip(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	for _, id := range someIDs(4000) {
		b, err := s.AppendSeal([]byte("ord_"), id)
		text, ok := strings.CutPrefix(string(b), "ord_")
		if err != nil || !ok || len(text) != 22 {
			t.Fatalf("%d: %q, %v", id, b, err)
		}
		if rest := strings.Trim(text, alphabet); rest != "" {
			t.Fatalf("%d: %q has another character: %q", id, text, rest)
		}
		if got, err := s.Unseal(text); err != nil || got != id {
			t.Fatalf("%d is sealed as %q, which opens as %d, %v", id, text, got, err)
		}
	}
}

func TestBlocks(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	for _, id := range someIDs(1000) {
		block, err := s.SealBlock(id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.OpenBlock(block); err != nil || got != id {
			t.Fatalf("%d is sealed as %x, which opens as %d, %v", id, block, got, err)
		}
		// The text is the same block.
		first, _ := word(seal(t, s, id)[:wordDigits])
		if got := fmt.Sprintf("%016x", first); got != hex.EncodeToString(block[:8]) {
			t.Fatalf("%d: %x and %s", id, block, got)
		}
	}
	token, _ := s.SealBlock(42)
	for bit := range 128 {
		forged := token
		forged[bit/8] ^= 1 << (bit % 8)
		if id, err := s.OpenBlock(forged); !errors.Is(err, sqltype.ErrSyntax) || id != 0 {
			t.Errorf("bit %d: %d, %v", bit, id, err)
		}
	}
	// Each bit of the tag counts.
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
	if id, err := s.OpenBlock([16]byte{}); !errors.Is(err, sqltype.ErrSyntax) || id != 0 || !strings.Contains(err.Error(), strings.Repeat("0", 32)) {
		t.Errorf("%d, %v", id, err)
	}
}

// The halves of a token are below 2^64, but 11 digits reach further. A half and 2^64, or twice that,
// is not another text of the same token. Nor is any text around 2^128.
func TestOneSpelling(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	end := new(big.Int).Exp(big.NewInt(62), big.NewInt(wordDigits), nil)
	power := new(big.Int).Lsh(big.NewInt(1), 64)
	aliases := 0
	for _, id := range someIDs(1000) {
		block, err := s.SealBlock(id)
		if err != nil {
			t.Fatal(err)
		}
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
	for i := int64(-2000); i < 2000; i++ {
		half := new(big.Int).Add(power, big.NewInt(i))
		text := digitsOf(half)
		n, ok := word(text)
		if ok != (i < 0) || ok && n != half.Uint64() {
			t.Fatalf("%s, 2^64 and %d, is read as %d, %v", text, i, n, ok)
		}
		for _, text := range []string{text + text, text + digitsOf(big.NewInt(0)), digitsOf(big.NewInt(0)) + text} {
			if got, err := s.Unseal(text); !errors.Is(err, sqltype.ErrSyntax) || got != 0 {
				t.Fatalf("%s opens as %d, %v", text, got, err)
			}
		}
	}
}

// AppendSeal writes to b's array up to its own length, and not further.
func TestAppendSealInPlace(t *testing.T) {
	array := []byte(strings.Repeat("-", 64))
	b, err := sealerOf(t, oneKey(t), "order").AppendSeal(array[:4], 42)
	if err != nil || &b[0] != &array[0] || strings.Trim(string(array[len(b):]), "-") != "" || string(b[:4]) != "----" {
		t.Errorf("%q, %v; the array is %q", b, err, array)
	}
}

func TestNegative(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	for _, id := range []sqltype.ID{-1, math.MinInt64} {
		t.Run(fmt.Sprint(int64(id)), func(t *testing.T) {
			b, err := s.AppendSeal([]byte("ord_"), id)
			if !errors.Is(err, sqltype.ErrNegative) || string(b) != "ord_" || !strings.Contains(err.Error(), fmt.Sprint(int64(id))) {
				t.Errorf("%q, %v", b, err)
			}
			if block, err := s.SealBlock(id); !errors.Is(err, sqltype.ErrNegative) || block != [16]byte{} {
				t.Errorf("%x, %v", block, err)
			}
		})
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
	names := []string{"order", "orders", "customer", "a", "order_line", strings.Repeat("z", 63)}
	for _, name := range names {
		for _, other := range names {
			if name == other {
				continue
			}
			t.Run(fmt.Sprintf("%.8s as %.8s", name, other), func(t *testing.T) {
				mine, theirs := sealerOf(t, r, name), sealerOf(t, r, other)
				for _, id := range someIDs(100) {
					if got, err := theirs.Unseal(seal(t, mine, id)); got != 0 || !errors.Is(err, sqltype.ErrSyntax) {
						t.Fatalf("%d opens as %d, %v", id, got, err)
					}
				}
			})
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

// A ring does not change with the slice of the Config that it was made from.
func TestConfigIsCopied(t *testing.T) {
	cfg := Config{Keys: []Secret{secret(t, text1)}}
	r := mustRing(t, cfg)
	cfg.Keys[0] = secret(t, text2)
	if got, want := seal(t, sealerOf(t, r, "order"), 42), seal(t, sealerOf(t, oneKey(t), "order"), 42); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Neighbouring ids differ in half of the 128 bits, and tokens in nearly all digits.
func TestAvalanche(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	const pairs = 10_000
	different, equal, digits := 0, 0, 0
	for i := range sqltype.ID(pairs) {
		id := 1996573624012345677 + 2*i
		a, _ := s.SealBlock(id)
		b, _ := s.SealBlock(id + 1)
		for j := range a {
			different += bits.OnesCount8(a[j] ^ b[j])
		}
		text, other := seal(t, s, id), seal(t, s, id+1)
		for j := range text {
			if j%wordDigits == 0 { // this one is not evenly distributed
				continue
			}
			digits++
			if text[j] == other[j] {
				equal++
			}
		}
	}
	if mean := float64(different) / pairs; math.Abs(mean-64) > 1 {
		t.Errorf("%v bits of 128 differ", mean)
	}
	if share := float64(equal) / float64(digits); share > 1.25/62 {
		t.Errorf("%v of the digits are equal", share)
	}
}

// A token with another character at any place is refused, and so are made-up ones.
func TestForged(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	token := seal(t, s, 1996573624012345677)
	refused := func(t *testing.T, forged []byte) {
		t.Helper()
		if got, err := s.Unseal(string(forged)); got != 0 || !errors.Is(err, sqltype.ErrSyntax) {
			t.Fatalf("%q opens as %d, %v", forged, got, err)
		}
	}
	t.Run("one character", func(t *testing.T) {
		for at := range len(token) {
			for c := range 256 {
				forged := []byte(token)
				if forged[at] = byte(c); string(forged) != token {
					refused(t, forged)
				}
			}
		}
	})
	t.Run("made up", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(5, 6))
		forged := []byte(token)
		for range 5000 {
			for i := range forged {
				forged[i] = alphabet[rnd.IntN(len(alphabet))]
			}
			refused(t, forged)
		}
	})
}

func TestRefused(t *testing.T) {
	s := sealerOf(t, oneKey(t), "order")
	for _, tt := range []struct{ name, token, want string }{
		{"empty", "", `unseal "": not a token of type "order": its length is 0, not 22`},
		{"decimal", "1996573624012345677", "its length is 19, not 22"},
		{"zeros", strings.Repeat("0", 22), "no key of the ring opens it"},
		{"above 2^64", strings.Repeat("z", 22), "not a token"},
		{"first half above 2^64", "z" + strings.Repeat("0", 21), "not a token"},
		{"last half above 2^64", strings.Repeat("0", 11) + "z" + strings.Repeat("0", 10), "not a token"},
		{"hyphen", strings.Repeat("0", 21) + "-", "not a token"},
		{"two bytes", strings.Repeat("é", 11), "not a token"},
		{"huge", strings.Repeat("x", 1e6), "and 999936 more bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := s.Unseal(tt.token)
			if id != 0 || !errors.Is(err, sqltype.ErrSyntax) || !strings.HasPrefix(err.Error(), "token: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d, %.300v, want %s", id, err, tt.want)
			}
		})
	}
}

func TestConcurrent(t *testing.T) {
	s, ids := sealerOf(t, oneKey(t), "order"), someIDs(200)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, id := range ids {
				text, err := s.AppendSeal(nil, id)
				if err != nil {
					t.Errorf("%d: %v", id, err)
				}
				if got, err := s.Unseal(string(text)); err != nil || got != id {
					t.Errorf("%d is sealed as %q, which opens as %d, %v", id, text, got, err)
				}
			}
		})
	}
	group.Wait()
}
