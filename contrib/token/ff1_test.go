package token

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// The samples of NIST for FF1:
// https://csrc.nist.gov/CSRC/media/Projects/Cryptographic-Standards-and-Guidelines/documents/examples/FF1samples.pdf
// There are none for the radixes 58 and 62.
var nist = []struct {
	name, key, tweak string
	radix            int
	plain, sealed    string
}{
	{"1 AES-128", nistKey[:32], "", 10, "0123456789", "2433477484"},
	{"2 AES-128", nistKey[:32], "39383736353433323130", 10, "0123456789", "6124200773"},
	{"3 AES-128", nistKey[:32], "3737373770717273373737", 36, "0123456789abcdefghi", "a9tv40mll9kdu509eum"},
	{"4 AES-192", nistKey[:48], "", 10, "0123456789", "2830668132"},
	{"5 AES-192", nistKey[:48], "39383736353433323130", 10, "0123456789", "2496655549"},
	{"6 AES-192", nistKey[:48], "3737373770717273373737", 36, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"},
	{"7 AES-256", nistKey, "", 10, "0123456789", "6657667009"},
	{"8 AES-256", nistKey, "39383736353433323130", 10, "0123456789", "1001623463"},
	{"9 AES-256", nistKey, "3737373770717273373737", 36, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"},
}

const nistKey = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94"

func TestFF1OfNIST(t *testing.T) {
	for _, tt := range nist {
		t.Run(tt.name, func(t *testing.T) {
			f := newFF1(testBlock(t, tt.key), uint64(tt.radix), len(tt.plain), string(unhex(t, tt.tweak)))
			if got := apply(t, f.encrypt, tt.radix, tt.plain); got != tt.sealed {
				t.Errorf("encrypt: %s, want %s", got, tt.sealed)
			}
			if got := apply(t, f.decrypt, tt.radix, tt.sealed); got != tt.plain {
				t.Errorf("decrypt: %s, want %s", got, tt.plain)
			}
			if got := textbook(t, tt.key, unhex(t, tt.tweak), tt.radix, tt.plain); got != tt.sealed {
				t.Errorf("the textbook of the other tests: %s, want %s", got, tt.sealed)
			}
		})
	}
}

// The same as the specification's steps on big integers, for radixes, lengths and tweaks
// without samples. Radix 62 has the digits of math/big here: 0-9, a-z, A-Z.
func TestFF1AsSpecified(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for radix := 2; radix <= 62; radix++ {
		longest := 2 * int(math.Floor(60/math.Log2(float64(radix))))
		for range 4 {
			length := 2 + rnd.IntN(longest-1)
			if radix == 58 || radix == 62 {
				length = wordDigits
			}
			tweak := strings.Repeat("order_line_", 6)[:rnd.IntN(64)]
			t.Run(fmt.Sprintf("radix %d/%d digits/tweak of %d", radix, length, len(tweak)), func(t *testing.T) {
				f := newFF1(testBlock(t, nistKey), uint64(radix), length, tweak)
				for range 4 {
					plain := make([]byte, length)
					for i := range plain {
						plain[i] = big.NewInt(int64(rnd.IntN(radix))).Text(62)[0]
					}
					want := textbook(t, nistKey, []byte(tweak), radix, string(plain))
					if got := apply(t, f.encrypt, radix, string(plain)); got != want {
						t.Errorf("encrypt %s: %s, want %s", plain, got, want)
					}
					if got := apply(t, f.decrypt, radix, want); got != string(plain) {
						t.Errorf("decrypt %s: %s, want %s", want, got, plain)
					}
				}
			})
		}
	}
}

// On a small domain: every number is the image of exactly one.
func TestFF1IsBijective(t *testing.T) {
	for _, tt := range []struct {
		radix  uint64
		length int
	}{{10, 5}, {2, 16}, {4, 8}, {58, 3}, {62, 3}} {
		t.Run(fmt.Sprintf("radix %d/%d digits", tt.radix, tt.length), func(t *testing.T) {
			f := newFF1(testBlock(t, nistKey), tt.radix, tt.length, "order")
			size := f.mods[0].m * f.mods[1].m
			seen, fixed := make([]bool, size), 0
			for n := range size {
				a, b := f.encrypt(n/f.mods[1].m, n%f.mods[1].m, new(block))
				if a >= f.mods[0].m || b >= f.mods[1].m {
					t.Fatalf("%d: the halves %d and %d", n, a, b)
				}
				image := a*f.mods[1].m + b
				if seen[image] {
					t.Fatalf("%d: %d is the image of another as well", n, image)
				}
				seen[image] = true
				if image == n {
					fixed++
				}
				if a, b = f.decrypt(a, b, new(block)); a*f.mods[1].m+b != n {
					t.Fatalf("%d: %d opens as %d", n, image, a*f.mods[1].m+b)
				}
			}
			if fixed > 10 { // one on average
				t.Errorf("%d of %d are their own images", fixed, size)
			}
		})
	}
}

// Neighbours differ in half of their bits, of 30 and 36.
func TestFF1Avalanche(t *testing.T) {
	f := newFF1(testBlock(t, nistKey), 62, wordDigits, "order")
	const pairs = 10_000
	different := 0
	for i := range uint64(pairs) {
		a, b := f.encrypt(123, 2*i, new(block))
		c, d := f.encrypt(123, 2*i+1, new(block))
		different += bits.OnesCount64(a^c) + bits.OnesCount64(b^d)
	}
	if mean := float64(different) / pairs; math.Abs(mean-33) > 1 {
		t.Errorf("%v bits of 66 differ", mean)
	}
}

// apply applies one direction of FF1 to a text.
func apply(t *testing.T, direction func(a, b uint64, scratch *block) (uint64, uint64), radix int, text string) string {
	t.Helper()
	half := func(text string) uint64 {
		n, ok := new(big.Int).SetString(text, radix)
		if !ok || !n.IsUint64() {
			t.Fatalf("%q in radix %d", text, radix)
		}
		return n.Uint64()
	}
	u := len(text) / 2
	a, b := direction(half(text[:u]), half(text[u:]), new(block))
	return padded(new(big.Int).SetUint64(a), radix, u) + padded(new(big.Int).SetUint64(b), radix, len(text)-u)
}

// textbook is Algorithm 7 of NIST SP 800-38G, step by step.
func textbook(t *testing.T, key string, tweak []byte, radix int, text string) string {
	t.Helper()
	block := testBlock(t, key)
	n, u := len(text), len(text)/2
	v := n - u
	a, b := text[:u], text[u:]
	bytes := int(math.Ceil(math.Ceil(float64(v)*math.Log2(float64(radix))-1e-9) / 8))
	d := 4*int(math.Ceil(float64(bytes)/4)) + 4
	p := []byte{1, 2, 1, 0, 0, byte(radix), 10, byte(u)}
	p = binary.BigEndian.AppendUint32(p, uint32(n))
	p = binary.BigEndian.AppendUint32(p, uint32(len(tweak)))
	for i := range 10 {
		q := append([]byte(nil), tweak...)
		for (len(q)+1+bytes)%16 != 0 {
			q = append(q, 0)
		}
		num, ok := new(big.Int).SetString(b, radix)
		if !ok {
			t.Fatalf("%q in radix %d", b, radix)
		}
		q = append(append(q, byte(i)), num.FillBytes(make([]byte, bytes))...)

		all := append(append([]byte(nil), p...), q...)
		mac := make([]byte, len(all))
		cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(mac, all)
		y := new(big.Int).SetBytes(mac[len(mac)-16:][:d])

		m := u
		if i%2 == 1 {
			m = v
		}
		c, _ := new(big.Int).SetString(a, radix)
		c.Add(c, y).Mod(c, new(big.Int).Exp(big.NewInt(int64(radix)), big.NewInt(int64(m)), nil))
		a, b = b, padded(c, radix, m)
	}
	return a + b
}

func padded(n *big.Int, radix, width int) string {
	text := n.Text(radix)
	return strings.Repeat("0", max(0, width-len(text))) + text
}

func testBlock(t testing.TB, key string) cipher.Block {
	t.Helper()
	block, err := aes.NewCipher(unhex(t, key))
	if err != nil {
		t.Fatal(err)
	}
	return block
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(strconv.Quote(text), err)
	}
	return b
}
