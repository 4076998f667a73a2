package serial

import (
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
