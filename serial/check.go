package serial

import "fmt"

// A Scheme is how the check characters at the end of a serial are reckoned.
type Scheme uint8

// The schemes. All of them catch any single wrong digit.
const (
	// Mod97 is ISO 7064 MOD 97-10: two digits. It catches any two digits that were
	// swapped, wherever they stand. It is the default.
	Mod97 Scheme = iota
	// Mod11 is ISO 7064 MOD 11-2: one character, a digit or X. It catches any two
	// neighbours that were swapped, and all other swaps but those over a distance of
	// 10, 20, … places.
	Mod11
	// Mod1110 is ISO 7064 MOD 11,10: one digit. Of a hundred swaps of neighbours that
	// differ, two pass.
	Mod1110
	// Luhn is that of bank cards: one digit. It takes 09 for 90, and all swaps over
	// an even distance pass.
	Luhn

	schemes // how many there are
)

// String is the scheme's name.
func (s Scheme) String() string {
	switch s {
	case Mod97:
		return "ISO 7064 MOD 97-10"
	case Mod11:
		return "ISO 7064 MOD 11-2"
	case Mod1110:
		return "ISO 7064 MOD 11,10"
	case Luhn:
		return "Luhn"
	}
	return fmt.Sprintf("Scheme(%d)", uint8(s))
}

// Width is how many check characters there are.
func (s Scheme) Width() int {
	if s == Mod97 {
		return 2
	}
	return 1
}

// append adds the check characters of the digits in text to dst. What is no digit
// does not count.
func (s Scheme) append(dst, text []byte) []byte {
	switch s {
	case Mod97:
		n := 0
		for _, c := range text {
			if isDigit(c) {
				n = (n*10 + int(c-'0')) % 97
			}
		}
		n = 98 - n*100%97
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	case Mod11:
		n := 0
		for _, c := range text {
			if isDigit(c) {
				n = (n + int(c-'0')) * 2 % 11
			}
		}
		if n = (12 - n) % 11; n == 10 {
			return append(dst, 'X')
		}
		return append(dst, byte('0'+n))
	case Mod1110:
		n := 10
		for _, c := range text {
			if isDigit(c) {
				if n = (n + int(c-'0')) % 10; n == 0 {
					n = 10
				}
				n = n * 2 % 11
			}
		}
		return append(dst, byte('0'+(11-n)%10))
	}
	n, double := 0, true // Luhn, from the right
	for i := len(text) - 1; i >= 0; i-- {
		if !isDigit(text[i]) {
			continue
		}
		d := int(text[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		n, double = n+d, !double
	}
	return append(dst, byte('0'+(10-n%10)%10))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
