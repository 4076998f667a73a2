package token

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// reference is FF1 of SP 800-38G as its algorithms 7 and 8 say, on slices of digits and
// math/big, and with a PRF of single blocks. It shares nothing with the code, and no floats.
type reference struct {
	t     *testing.T
	key   string
	radix int64
	tweak string
}

// number is NUM of radix.
func (r reference) number(digits []int64) *big.Int {
	n := new(big.Int)
	for _, d := range digits {
		n.Mul(n, big.NewInt(r.radix)).Add(n, big.NewInt(d))
	}
	return n
}

// digits is STR of radix.
func (r reference) digits(n *big.Int, length int) []int64 {
	digits, rest, digit := make([]int64, length), new(big.Int).Set(n), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		rest.DivMod(rest, big.NewInt(r.radix), digit)
		digits[i] = digit.Int64()
	}
	if rest.Sign() != 0 {
		r.t.Fatalf("%v has more than %d digits", n, length)
	}
	return digits
}

// round returns y of round i, for one half of a number of n digits.
func (r reference) round(i, n int, half []int64) *big.Int {
	u := n / 2
	// The least number of bytes that hold v digits.
	largest := new(big.Int).Exp(big.NewInt(r.radix), big.NewInt(int64(n-u)), nil)
	b := (new(big.Int).Sub(largest, big.NewInt(1)).BitLen() + 7) / 8
	d := (b+3)/4*4 + 4

	in := []byte{1, 2, 1, byte(r.radix >> 16), byte(r.radix >> 8), byte(r.radix), 10, byte(u % 256)}
	for _, length := range []int{n, len(r.tweak)} {
		in = append(in, byte(length>>24), byte(length>>16), byte(length>>8), byte(length))
	}
	in = append(in, r.tweak...)
	for (len(in)+1+b)%16 != 0 {
		in = append(in, 0)
	}
	in = append(in, byte(i))
	in = append(in, r.number(half).FillBytes(make([]byte, b))...)

	block, y := testBlock(r.t, r.key), make([]byte, 16)
	for ; len(in) > 0; in = in[16:] {
		for j := range y {
			y[j] ^= in[j]
		}
		block.Encrypt(y, y)
	}
	return new(big.Int).SetBytes(y[:d]) // d is at most 16 here
}

func (r reference) encrypt(digits []int64) []int64 {
	n := len(digits)
	a, b := digits[:n/2], digits[n/2:]
	for i := range 10 {
		c := new(big.Int).Add(r.number(a), r.round(i, n, b))
		c.Mod(c, new(big.Int).Exp(big.NewInt(r.radix), big.NewInt(int64(len(a))), nil))
		a, b = b, r.digits(c, len(a))
	}
	return append(append([]int64(nil), a...), b...)
}

func (r reference) decrypt(digits []int64) []int64 {
	n := len(digits)
	a, b := digits[:n/2], digits[n/2:]
	for i := 9; i >= 0; i-- {
		c := new(big.Int).Sub(r.number(b), r.round(i, n, a))
		c.Mod(c, new(big.Int).Exp(big.NewInt(r.radix), big.NewInt(int64(len(b))), nil))
		a, b = r.digits(c, len(b)), a
	}
	return append(append([]int64(nil), a...), b...)
}

// The code does what the reference does, in both directions, for every radix with random lengths
// and tweaks, and at the borders of the domain.
func TestFF1AsTheReference(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	var scratch block
	for range 600 {
		radix := 2 + rnd.Int64N(61)
		longest := 2
		for pow(uint64(radix), longest/2+1) < 1<<60/uint64(radix) { // of the longer part, plus one
			longest += 2
		}
		length := 2 + rnd.IntN(longest-1)
		tweak := make([]byte, rnd.IntN(70))
		for i := range tweak {
			tweak[i] = byte(rnd.Uint32())
		}
		r := reference{t, nistKey[:[]int{32, 48, 64}[rnd.IntN(3)]], radix, string(tweak)}
		f := newFF1(testBlock(t, r.key), uint64(radix), length, r.tweak)
		lowest, highest, random := make([]int64, length), make([]int64, length), make([]int64, length)
		for i := range random {
			highest[i], random[i] = radix-1, rnd.Int64N(radix)
		}
		for _, plain := range [][]int64{lowest, highest, random} {
			halves := func(digits []int64) [2]uint64 {
				return [2]uint64{r.number(digits[:length/2]).Uint64(), r.number(digits[length/2:]).Uint64()}
			}
			sealed, opened := halves(r.encrypt(plain)), halves(r.decrypt(plain))
			in := halves(plain)
			if a, b := f.encrypt(in[0], in[1], &scratch); [2]uint64{a, b} != sealed {
				t.Fatalf("radix %d, tweak %x: %v is encrypted as %d and %d, want %d", radix, tweak, plain, a, b, sealed)
			}
			if a, b := f.decrypt(in[0], in[1], &scratch); [2]uint64{a, b} != opened {
				t.Fatalf("radix %d, tweak %x: %v is decrypted as %d and %d, want %d", radix, tweak, plain, a, b, opened)
			}
		}
	}
}

// A short token is FF1 of the reference, with the type name as tweak, and the key that is derived
// from the secret. Its domain is above the minimum of revision 1 of SP 800-38G, a million.
func TestShortTokensAsSpecified(t *testing.T) {
	key, err := secret(t, text2).derive("short key", keySize)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []Alphabet{Base62, Base58} {
		for _, name := range []string{"a", "order", "order_line_of_old", strings.Repeat("z", 63)} {
			t.Run(a.String()+"/"+name, func(t *testing.T) {
				d, s := newDigits(a), short(t, oneKey(t, a), name)
				ff1 := reference{t, string(hexOf(key)), int64(d.base), name}
				if domain := new(big.Int).Exp(big.NewInt(ff1.radix), big.NewInt(wordDigits), nil); domain.Cmp(big.NewInt(1e6)) < 0 {
					t.Errorf("the domain has %v numbers", domain)
				}
				for _, id := range someIDs(100) {
					plain := ff1.digits(big.NewInt(int64(id)), wordDigits)
					sealed := ff1.encrypt(plain)
					want := string(d.units[11])
					for _, digit := range sealed {
						want += string(d.units[digit])
					}
					if got := seal(t, s, id); got != want {
						t.Fatalf("%d is sealed as %s, want %s", id, got, want)
					}
					if got := ff1.number(ff1.decrypt(sealed)); got.Cmp(big.NewInt(int64(id))) != 0 {
						t.Fatalf("the reference opens %s as %v", want, got)
					}
				}
			})
		}
	}
}

func hexOf(b []byte) []byte {
	const digits = "0123456789abcdef"
	var text []byte
	for _, c := range b {
		text = append(text, digits[c>>4], digits[c&15])
	}
	return text
}

// The halves of a long token are below 2^64, but 11 digits reach further. A half and 2^64, or twice
// that, is not another text of the same token. Nor is any text around 2^128.
func TestLongTokensHaveOneText(t *testing.T) {
	for _, a := range []Alphabet{Base62, Base58} {
		t.Run(a.String(), func(t *testing.T) {
			d, s := newDigits(a), long(t, oneKey(t, a), "order")
			end := new(big.Int).Exp(new(big.Int).SetUint64(d.base), big.NewInt(wordDigits), nil)
			word := new(big.Int).Lsh(big.NewInt(1), 64)
			aliases := 0
			for _, id := range someIDs(1000) {
				block, err := s.SealBlock(id)
				if err != nil {
					t.Fatal(err)
				}
				token := seal(t, s, id)
				first, last := new(big.Int).SetBytes(block[:8]), new(big.Int).SetBytes(block[8:])
				if got := digitsOf(d, first) + digitsOf(d, last); got != token {
					t.Fatalf("%d is sealed as %s and as %s", id, token, got)
				}
				for i := range int64(4) {
					for j := range int64(4) {
						high := new(big.Int).Add(first, new(big.Int).Mul(word, big.NewInt(i)))
						low := new(big.Int).Add(last, new(big.Int).Mul(word, big.NewInt(j)))
						if i+j == 0 || high.Cmp(end) >= 0 || low.Cmp(end) >= 0 {
							continue
						}
						aliases++
						text := digitsOf(d, high) + digitsOf(d, low)
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
				half := new(big.Int).Add(word, big.NewInt(i))
				text := digitsOf(d, half)
				n, ok := d.word(text)
				if ok != (i < 0) || ok && n != half.Uint64() {
					t.Fatalf("%s, 2^64 and %d, is read as %d, %v", text, i, n, ok)
				}
				for _, text := range []string{text + text, text + digitsOf(d, big.NewInt(0)), digitsOf(d, big.NewInt(0)) + text} {
					if got, err := s.Unseal(text); !errors.Is(err, sqltype.ErrSyntax) || got != 0 {
						t.Fatalf("%s opens as %d, %v", text, got, err)
					}
				}
			}
		})
	}
}

// A ring does not change with the slices of the Config that it was made from.
func TestConfigIsCopied(t *testing.T) {
	cfg := Config{
		Keys:      []Secret{secret(t, text1), secret(t, text3)},
		ShortKeys: []ShortKey{{11, secret(t, text2)}, {12, secret(t, text4)}},
	}
	r := mustRing(t, cfg)
	cfg.Keys[0], cfg.ShortKeys[0] = cfg.Keys[1], cfg.ShortKeys[1]
	for kind, s := range both(t, r, "order") {
		if got, want := seal(t, s, 42), seal(t, both(t, oneKey(t, Base62), "order")[kind], 42); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

// shortRow has the Form that a test gives it.
type shortRow struct{}

var shortForm sqltype.Form

func (*shortRow) KeyForm() sqltype.Form { return shortForm }

// A short token opens under another key of the same number, too, often. As an old form it is read
// right only if the new form has another prefix, or its key another number: docs/keys.md says so.
func TestShortTokensAsOldForms(t *testing.T) {
	old := sqltype.Form{Prefix: "ord", Sealer: short(t, oneKey(t, Base62), "order")}
	number := func(n int) sqltype.Sealer {
		return short(t, mustRing(t, Config{ShortKeys: []ShortKey{{n, secret(t, text3)}}}), "order")
	}
	for name, tt := range map[string]struct {
		form  sqltype.Form
		wrong float64
	}{
		"same number and prefix": {sqltype.Form{Prefix: "ord", Sealer: number(11)}, 0.177},
		"another type name":      {sqltype.Form{Prefix: "ord", Sealer: short(t, oneKey(t, Base62), "invoice")}, 0.177},
		"another number":         {sqltype.Form{Prefix: "ord", Sealer: number(12)}, 0},
		"another prefix":         {sqltype.Form{Prefix: "inv", Sealer: number(11)}, 0},
		"a long token":           {sqltype.Form{Prefix: "ord", Sealer: long(t, oneKey(t, Base62), "order")}, 0},
		"digits":                 {sqltype.Form{Prefix: "ord"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { shortForm = sqltype.Form{} })
			wrong, ids := 0, someIDs(1000)
			for _, id := range ids {
				shortForm = old
				text := sqltype.Key[shortRow](id).String()
				shortForm = tt.form
				shortForm.Old = []sqltype.Form{old}
				key, err := sqltype.ParseKey[shortRow](text)
				if err != nil {
					t.Fatal(err)
				}
				if key.ID() != id {
					wrong++
				}
			}
			if share := float64(wrong) / float64(len(ids)); tt.wrong == 0 && wrong > 0 || share > tt.wrong+0.04 || share < tt.wrong-0.04 {
				t.Errorf("a share of %v is read as other ids, want %v", share, tt.wrong)
			}
		})
	}
}
