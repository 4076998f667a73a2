package serial

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// sound reports whether the check characters at the end are right.
func sound(s Scheme, text []byte) bool {
	body := text[:len(text)-s.width()]
	return string(s.append(nil, body)) == string(text[len(body):])
}

// As others reckon them: ISO 7064's own examples, and those of libraries.
func TestKnownChecks(t *testing.T) {
	for _, c := range []struct {
		scheme     Scheme
		body, want string
	}{
		{Mod97, "794", "44"}, {Mod97, "99991234567890121414", "90"},
		{Mod11, "0794", "0"}, {Mod11, "079", "X"}, {Mod11, "000000021825009", "7"}, // the last is an ORCID
		{Mod1110, "0794", "5"}, {Mod1110, "00200667308", "5"},
		{Luhn, "7992739871", "3"}, {Luhn, "411111111111111", "1"},
	} {
		t.Run(c.body, func(t *testing.T) {
			got := string(c.scheme.append(nil, []byte(c.body)))
			if got != c.want {
				t.Errorf("%v of %s: %s, want %s", c.scheme, c.body, got, c.want)
			}
		})
	}
}

// What a scheme promises, over all places of texts of every length that a serial
// can have, and all digits there: a wrong digit, and a swap of two.
func TestChecksCatch(t *testing.T) {
	for scheme := Mod97; scheme < schemes; scheme++ {
		t.Run(scheme.String(), func(t *testing.T) {
			var single, near, far int
			distances := map[int]int{}
			for length := 1; length <= 60; length++ {
				for range 6 {
					body := make([]byte, length)
					for i := range body {
						body[i] = byte('0' + rand.IntN(10))
					}
					text := scheme.append(body, body)
					for i := range text {
						was := text[i]
						for d := byte('0'); d <= '9'+1; d++ {
							if text[i] = d; d > '9' { // the eleventh, where there is one
								text[i] = 'X'
							}
							if (d <= '9' || scheme == Mod11 && i == length) && text[i] != was && sound(scheme, text) {
								single++
								t.Logf("%s at %d", text, i)
							}
						}
						text[i] = was
						for j := range i {
							if text[i] == text[j] || text[i] == 'X' {
								continue
							}
							text[i], text[j] = text[j], text[i]
							if sound(scheme, text) {
								if distances[i-j]++; i-j == 1 {
									near++
								} else {
									far++
								}
							}
							text[i], text[j] = text[j], text[i]
						}
					}
				}
			}
			if single > 0 {
				t.Errorf("%d wrong digits pass", single)
			}
			if scheme == Mod97 && far > 0 || (scheme == Mod97 || scheme == Mod11) && near > 0 {
				t.Errorf("%d swaps of neighbours and %d others pass", near, far)
			}
			for distance := range distances {
				if scheme == Mod11 && distance%10 != 0 {
					t.Errorf("a swap over %d places passes", distance)
				}
			}
			if scheme == Mod11 && distances[10] == 0 || scheme == Luhn && distances[2] == 0 {
				t.Error("what is said to pass does not: the test shows nothing")
			}
		})
	}
}

// MOD 97-10, for all texts and not only for those drawn: the value of a digit at a
// place is its multiple of a power of ten, so an error changes the rest by a product
// that must never be 0. A serial has at most 90 digits.
func TestMod97Exhaustively(t *testing.T) {
	weight := [90]int{1}
	for i := 1; i < len(weight); i++ {
		weight[i] = weight[i-1] * 10 % 97
	}
	for i, w := range weight {
		for d := 1; d <= 9; d++ {
			if d*w%97 == 0 {
				t.Errorf("an error of %d passes at place %d", d, i)
			}
			for j, v := range weight[:i] {
				if d*(w-v)%97 == 0 {
					t.Errorf("a swap of digits that differ by %d passes at %d and %d", d, i, j)
				}
			}
		}
	}
}

// The swaps of neighbours that pass, all of them: what the package comment says.
func TestSwapsThatPass(t *testing.T) {
	passing := func(scheme Scheme) (pairs map[string]int, tried int) {
		pairs = map[string]int{}
		for lead := range 100 { // brings the scheme into each of its states
			for a := byte('0'); a <= '9'; a++ {
				for b := byte('0'); b <= '9'; b++ {
					for odd := range 2 {
						body := fmt.Appendf(nil, "%02d%c%c%s", lead, a, b, "7"[:odd])
						swapped := fmt.Appendf(nil, "%02d%c%c%s", lead, b, a, "7"[:odd])
						if a == b {
							continue
						}
						tried++
						if string(scheme.append(nil, body)) == string(scheme.append(nil, swapped)) {
							pairs[string([]byte{min(a, b), max(a, b)})]++
						}
					}
				}
			}
		}
		return pairs, tried
	}
	if pairs, tried := passing(Luhn); len(pairs) != 1 || pairs["09"] != 2*2*100 {
		t.Errorf("Luhn: %v of %d", pairs, tried)
	}
	pairs, tried := passing(Mod1110)
	sum := 0
	for pair, n := range pairs {
		sum += n
		if d := pair[1] - pair[0]; d != 1 && d != 9 {
			t.Errorf("MOD 11,10: %s", pair)
		}
	}
	if share := float64(sum) / float64(tried); len(pairs) == 0 || share < 0.015 || share > 0.03 {
		t.Errorf("MOD 11,10: %d of %d, %v", sum, tried, pairs)
	}
	for _, scheme := range []Scheme{Mod97, Mod11} {
		if pairs, _ := passing(scheme); len(pairs) != 0 {
			t.Errorf("%v: %v", scheme, pairs)
		}
	}
}

func TestSchemeNames(t *testing.T) {
	for s, want := range map[Scheme]string{NoCheck: "none", Mod97: "ISO 7064 MOD 97-10", Mod11: "ISO 7064 MOD 11-2", Mod1110: "ISO 7064 MOD 11,10", Luhn: "Luhn", 9: "Scheme(9)"} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			if s.String() != want {
				t.Errorf("%s, want %s", s, want)
			}
		})
	}
}
