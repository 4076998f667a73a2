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
	text3 = "c4a90b7e6d5f3812907fce3d1b2a48560918f7e6d5c4b3a29180706f5e4d3c2b"
	text4 = "5b7d9f1e3c0a28466482a0ce1f3d5b79e8c6a42013579bdf0f1e2d3c4b5a6978"
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

// oneKey is a ring with the first secret, and the second for short tokens.
func oneKey(t testing.TB, a Alphabet) *Ring {
	return mustRing(t, Config{
		Keys:      []Secret{secret(t, text1)},
		ShortKeys: []ShortKey{{Number: 11, Secret: secret(t, text2)}},
		Alphabet:  a,
	})
}

func long(t testing.TB, r *Ring, typeName string) *Sealer {
	t.Helper()
	s, err := r.Sealer(typeName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func short(t testing.TB, r *Ring, typeName string) *ShortSealer {
	t.Helper()
	s, err := r.ShortSealer(typeName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// both are the sealers of a type, by name.
func both(t testing.TB, r *Ring, typeName string) map[string]sqltype.Sealer {
	return map[string]sqltype.Sealer{"long": long(t, r, typeName), "short": short(t, r, typeName)}
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
	kind     string
	alphabet Alphabet
	typeName string
	id       sqltype.ID
	token    string
}{
	{"long", Base62, "order", 0, "9XLT9nolSm81DvCiYDmRLW"},
	{"long", Base62, "order", 1996573624012345677, "6SAPX568jFlC91Nu9cArMb"},
	{"long", Base62, "order", math.MaxInt64, "IDoErDMvk820Y294pRKnpe"},
	{"long", Base62, "order_line", 1996573624012345677, "3L76Sq1ROAA4olA6eHptWB"},
	{"long", Base58, "order", 1996573624012345677, "DaKJvm8GgFNQfQH4LAEw9W"},
	{"short", Base62, "order", 0, "BLNFJAHp301P"},
	{"short", Base62, "order", 1996573624012345677, "BuOEmjUXjQ7Y"},
	{"short", Base62, "order", math.MaxInt64, "BdttJKy5hjPG"},
	{"short", Base62, "order_line", 1996573624012345677, "B6BFsV6CZFqj"},
	{"short", Base58, "order", 1996573624012345677, "Cj7mvLr4iM48"},
}

func TestGolden(t *testing.T) {
	for _, tt := range golden {
		t.Run(fmt.Sprintf("%s/%s/%s/%d", tt.kind, tt.alphabet, tt.typeName, tt.id), func(t *testing.T) {
			s := both(t, oneKey(t, tt.alphabet), tt.typeName)[tt.kind]
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
	s := long(t, oneKey(t, Base62), "order")
	block, err := s.SealBlock(1996573624012345677)
	if got, want := hex.EncodeToString(block[:]), "4b2d6ef82e6098c58d77663d91bbf5bd"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, a := range []Alphabet{Base62, Base58} {
		for kind, s := range both(t, oneKey(t, a), "order") {
			t.Run(fmt.Sprintf("%s/%s", kind, a), func(t *testing.T) {
				width := map[string]int{"long": 22, "short": 12}[kind]
				digits := newDigits(a)
				for _, id := range someIDs(2000) {
					b, err := s.AppendSeal([]byte("ord_"), id)
					text, ok := strings.CutPrefix(string(b), "ord_")
					if err != nil || !ok || len(text) != width {
						t.Fatalf("%d: %q, %v", id, b, err)
					}
					if i := strings.IndexFunc(text, func(r rune) bool { return digits.ones[r] == noDigit }); i >= 0 {
						t.Fatalf("%d: %q has another character at %d", id, text, i)
					}
					if got, err := s.Unseal(text); err != nil || got != id {
						t.Fatalf("%d is sealed as %q, which opens as %d, %v", id, text, got, err)
					}
				}
			})
		}
	}
}

func TestBlocks(t *testing.T) {
	s := long(t, oneKey(t, Base62), "order")
	for _, id := range someIDs(1000) {
		block, err := s.SealBlock(id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.OpenBlock(block); err != nil || got != id {
			t.Fatalf("%d is sealed as %x, which opens as %d, %v", id, block, got, err)
		}
		// The text is the same block.
		first, _ := s.in.digits.word(seal(t, s, id)[:wordDigits])
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

// 11 digits hold more than 64 bits. A half that is 2^64 too large is no other spelling of a token.
func TestOneSpelling(t *testing.T) {
	for _, a := range []Alphabet{Base62, Base58} {
		t.Run(a.String(), func(t *testing.T) {
			s := long(t, oneKey(t, a), "order")
			d, tried := s.in.digits, 0
			largest := new(big.Int).Exp(new(big.Int).SetUint64(d.base), big.NewInt(wordDigits), nil)
			for _, id := range someIDs(100) {
				token := seal(t, s, id)
				for _, half := range []int{0, wordDigits} {
					n, _ := d.word(token[half:])
					over := new(big.Int).Add(new(big.Int).SetUint64(n), new(big.Int).Lsh(big.NewInt(1), 64))
					if over.Cmp(largest) >= 0 {
						continue
					}
					tried++
					other := token[:half] + digitsOf(d, over) + token[half+wordDigits:]
					if got, err := s.Unseal(other); !errors.Is(err, sqltype.ErrSyntax) || got != 0 {
						t.Errorf("%q opens as %d, %v, and so does %q", token, id, err, other)
					}
				}
			}
			if tried < 50 {
				t.Errorf("only %d were tried", tried)
			}
		})
	}
}

// A character that is no digit counts noDigit while it is read. With a smaller digit before it, it
// would be another spelling.
func TestOtherCharacters(t *testing.T) {
	for _, a := range []Alphabet{Base62, Base58} {
		t.Run(a.String(), func(t *testing.T) {
			s := long(t, oneKey(t, a), "order")
			d := s.in.digits
			tried := map[int]bool{}
			for _, id := range someIDs(2000) {
				token := seal(t, s, id)
				for _, at := range []int{7, 9, wordDigits + 7, wordDigits + 9} { // of a pair after a pair
					before := d.tens[token[at-2]] + d.ones[token[at-1]]
					tens := d.tens[token[at]] + d.ones[token[at+1]] + uint32(d.square) - noDigit
					if before == 0 || int32(tens) < 0 || tens%uint32(d.base) != 0 || tens >= uint32(d.square) {
						continue
					}
					tried[at] = true
					pair := d.pairs[before-1]
					other := token[:at-2] + string([]byte{byte(pair), byte(pair >> 8), d.units[tens/uint32(d.base)], '-'}) + token[at+2:]
					if got, err := s.Unseal(other); !errors.Is(err, sqltype.ErrSyntax) || got != 0 {
						t.Errorf("%q opens as %d, %v, and so does %q", token, id, err, other)
					}
				}
			}
			if len(tried) != 4 {
				t.Errorf("only %v were tried", tried)
			}
		})
	}
}

// AppendSeal writes to b's array up to its own length, and not further.
func TestAppendSealInPlace(t *testing.T) {
	for kind, s := range both(t, oneKey(t, Base62), "order") {
		t.Run(kind, func(t *testing.T) {
			array := []byte(strings.Repeat("-", 64))
			b, err := s.AppendSeal(array[:4], 42)
			if err != nil || &b[0] != &array[0] || strings.Trim(string(array[len(b):]), "-") != "" || string(b[:4]) != "----" {
				t.Errorf("%q, %v; the array is %q", b, err, array)
			}
		})
	}
}

func TestNegative(t *testing.T) {
	for _, id := range []sqltype.ID{-1, math.MinInt64} {
		for kind, s := range both(t, oneKey(t, Base62), "order") {
			t.Run(fmt.Sprintf("%s/%d", kind, id), func(t *testing.T) {
				b, err := s.AppendSeal([]byte("ord_"), id)
				if !errors.Is(err, sqltype.ErrNegative) || string(b) != "ord_" || !strings.Contains(err.Error(), fmt.Sprint(int64(id))) {
					t.Errorf("%q, %v", b, err)
				}
			})
		}
		if block, err := long(t, oneKey(t, Base62), "order").SealBlock(id); !errors.Is(err, sqltype.ErrNegative) || block != [16]byte{} {
			t.Errorf("%x, %v", block, err)
		}
	}
	// Only a holder of the key can make such a token.
	s := long(t, oneKey(t, Base62), "order")
	var b block
	s.in.seal(&b, -1)
	if id, err := s.OpenBlock(b); !errors.Is(err, sqltype.ErrSyntax) || id != 0 {
		t.Errorf("%d, %v", id, err)
	}
}

// A token of one type never opens as another's id: a long one is refused, and a short one is
// another id, or none.
func TestOtherType(t *testing.T) {
	r := oneKey(t, Base62)
	names := []string{"order", "orders", "customer", "a", "order_line", strings.Repeat("z", 63)}
	for _, name := range names {
		for _, other := range names {
			if name == other {
				continue
			}
			for kind, s := range both(t, r, name) {
				t.Run(fmt.Sprintf("%s/%.8s as %.8s", kind, name, other), func(t *testing.T) {
					opens := 0
					for _, id := range someIDs(100) {
						got, err := both(t, r, other)[kind].Unseal(seal(t, s, id))
						if err == nil {
							opens++
						}
						if err == nil && (kind == "long" || got == id) || err != nil && !errors.Is(err, sqltype.ErrSyntax) {
							t.Fatalf("%d opens as %d, %v", id, got, err)
						}
					}
					if opens > 50 {
						t.Errorf("%d of 111 open", opens)
					}
				})
			}
		}
	}
}

func TestRotation(t *testing.T) {
	s1, s2, s3, s4 := secret(t, text1), secret(t, text2), secret(t, text3), secret(t, text4)
	older := mustRing(t, Config{Keys: []Secret{s1}, ShortKeys: []ShortKey{{0, s3}}})
	newer := mustRing(t, Config{Keys: []Secret{s2, s1}, ShortKeys: []ShortKey{{57, s4}, {0, s3}}})
	last := mustRing(t, Config{Keys: []Secret{s2}, ShortKeys: []ShortKey{{57, s4}}})
	for _, kind := range []string{"long", "short"} {
		t.Run(kind, func(t *testing.T) {
			was, is, rest := both(t, older, "order")[kind], both(t, newer, "order")[kind], both(t, last, "order")[kind]
			for _, id := range someIDs(100) {
				old, fresh := seal(t, was, id), seal(t, is, id)
				if old == fresh {
					t.Fatalf("%d: the old key seals", id)
				}
				if kind == "short" && (old[0] != '0' || fresh[0] != 'v') {
					t.Fatalf("%q and %q do not begin with the keys' numbers", old, fresh)
				}
				for _, token := range []string{old, fresh} {
					if got, err := is.Unseal(token); err != nil || got != id {
						t.Fatalf("%d is sealed as %q, which opens as %d, %v", id, token, got, err)
					}
				}
				if got, err := rest.Unseal(fresh); err != nil || got != id {
					t.Fatalf("%d is sealed as %q, which opens as %d, %v", id, fresh, got, err)
				}
				if got, err := rest.Unseal(old); !errors.Is(err, sqltype.ErrSyntax) || got != 0 {
					t.Fatalf("without its key, %q opens as %d, %v", old, got, err)
				}
			}
		})
	}
}

// Neighbouring ids differ in half of the 128 bits, and tokens in nearly all digits.
func TestAvalanche(t *testing.T) {
	s := long(t, oneKey(t, Base62), "order")
	const pairs = 10_000
	different := 0
	for i := range sqltype.ID(pairs) {
		a, _ := s.SealBlock(1996573624012345677 + 2*i)
		b, _ := s.SealBlock(1996573624012345677 + 2*i + 1)
		for j := range a {
			different += bits.OnesCount8(a[j] ^ b[j])
		}
	}
	if mean := float64(different) / pairs; math.Abs(mean-64) > 1 {
		t.Errorf("%v bits of 128 differ", mean)
	}
	for kind, s := range both(t, oneKey(t, Base62), "order") {
		t.Run(kind, func(t *testing.T) {
			equal, all := 0, 0
			for i := range sqltype.ID(1000) {
				a, b := seal(t, s, 2*i), seal(t, s, 2*i+1)
				for j := range a {
					if kind == "short" && j == 0 || kind == "long" && j%wordDigits == 0 {
						continue // the key's number, and a digit that is not evenly distributed
					}
					all++
					if a[j] == b[j] {
						equal++
					}
				}
			}
			if share := float64(equal) / float64(all); share > 1.25/62 {
				t.Errorf("%v of the digits are equal", share)
			}
		})
	}
}

// Another character at any place: a long token is refused, and a short one never opens to the
// same id.
func TestTampering(t *testing.T) {
	for _, a := range []Alphabet{Base62, Base58} {
		for kind, s := range both(t, oneKey(t, a), "order") {
			t.Run(fmt.Sprintf("%s/%s", kind, a), func(t *testing.T) {
				const id = 1996573624012345677
				token := seal(t, s, id)
				for at := range len(token) {
					for c := range 256 {
						forged := []byte(token)
						if forged[at] = byte(c); string(forged) == token {
							continue
						}
						got, err := s.Unseal(string(forged))
						if err == nil && (kind == "long" || got == id) || err != nil && (got != 0 || !errors.Is(err, sqltype.ErrSyntax)) {
							t.Fatalf("%q, of %q, opens as %d, %v", forged, token, got, err)
						}
					}
				}
			})
		}
	}
}

// What the documents say about made-up tokens.
func TestMadeUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		alphabet Alphabet
		kind     string
		share    float64
	}{{Base62, "long", 0}, {Base58, "long", 0}, {Base62, "short", 0.177}, {Base58, "short", 0.369}} {
		t.Run(fmt.Sprintf("%s/%s", tt.kind, tt.alphabet), func(t *testing.T) {
			s := both(t, oneKey(t, tt.alphabet), "order")[tt.kind]
			d := newDigits(tt.alphabet)
			token := []byte(seal(t, s, 1))
			const tries = 5000
			opens := 0
			for range tries {
				for i := range token {
					if tt.kind == "long" || i > 0 {
						token[i] = d.units[rnd.Uint64N(d.base)]
					}
				}
				if id, err := s.Unseal(string(token)); err == nil {
					if opens++; id < 0 || seal(t, s, id) != string(token) {
						t.Fatalf("%q opens as %d, which is sealed otherwise", token, id)
					}
				}
			}
			if share := float64(opens) / tries; math.Abs(share-tt.share) > 0.02 || tt.share == 0 && opens > 0 {
				t.Errorf("%v of them open, want %v", share, tt.share)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	r := oneKey(t, Base62)
	for _, tt := range []struct {
		kind, name, token, want string
	}{
		{"long", "empty", "", `unseal "": not a token of type "order": its length is 0, not 22`},
		{"long", "decimal", "1996573624012345677", "its length is 19, not 22"},
		{"long", "zeros", strings.Repeat("0", 22), "no key of the ring opens it"},
		{"long", "above 2^64", strings.Repeat("z", 22), "not a token"},
		{"long", "first half above 2^64", "z" + strings.Repeat("0", 21), "not a token"},
		{"long", "last half above 2^64", strings.Repeat("0", 11) + "z" + strings.Repeat("0", 10), "not a token"},
		{"long", "hyphen", strings.Repeat("0", 21) + "-", "not a token"},
		{"long", "two bytes", strings.Repeat("é", 11), "not a token"},
		{"long", "huge", strings.Repeat("x", 1e6), "and 999936 more bytes"},
		{"short", "empty", "", `unseal "": not a token of type "order": its length is 0, not 12`},
		{"short", "long", strings.Repeat("0", 22), "its length is 22, not 12"},
		{"short", "hyphen", "B0000000000-", "other characters than digits of base 62"},
		{"short", "zero byte", "\x00BCDEFGHIJKL", "other characters than digits of base 62"},
		{"short", "another key", "C00000000000", "no short key with the number 12"},
		{"short", "no key", "z00000000000", "no short key with the number 61"},
		{"short", "huge", strings.Repeat("x", 1e6), "and 999936 more bytes"},
	} {
		t.Run(tt.kind+"/"+tt.name, func(t *testing.T) {
			id, err := both(t, r, "order")[tt.kind].Unseal(tt.token)
			if id != 0 || !errors.Is(err, sqltype.ErrSyntax) || !strings.HasPrefix(err.Error(), "token: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d, %.300v, want %s", id, err, tt.want)
			}
		})
	}
}

func TestConcurrent(t *testing.T) {
	for kind, s := range both(t, oneKey(t, Base62), "order") {
		t.Run(kind, func(t *testing.T) {
			ids := someIDs(200)
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
		})
	}
}
