package serial

import "fmt"

// Scheme computes the check characters at the end of a serial. The zero value is NoCheck.
type Scheme uint8

// All but NoCheck detect every single wrong digit. docs/serials.md compares them.
const (
	NoCheck Scheme = iota // no check characters
	Mod97                 // ISO 7064 MOD 97-10, two digits: detects every swap of two digits
	Mod11                 // ISO 7064 MOD 11-2, a digit or X: every swap, unless 10, 20, … places apart
	Mod1110               // ISO 7064 MOD 11,10, one digit: 97.8% of the swaps of neighbours
	Luhn                  // as on bank cards, one digit: swaps of neighbours, except 09 and 90

	schemes // how many there are
)

// String returns the scheme's name.
func (s Scheme) String() string {
	if s >= schemes {
		return fmt.Sprintf("Scheme(%d)", uint8(s))
	}
	return [...]string{"none", "ISO 7064 MOD 97-10", "ISO 7064 MOD 11-2", "ISO 7064 MOD 11,10", "Luhn"}[s]
}

// width is how many check characters there are.
func (s Scheme) width() int {
	switch s {
	case NoCheck:
		return 0
	case Mod97:
		return 2
	}
	return 1
}

// append appends the check characters of the digits in text. Other characters are ignored.
func (s Scheme) append(dst, text []byte) []byte {
	if s == Luhn {
		return append(dst, luhn(text))
	}
	n := 0
	if s == Mod1110 {
		n = 10
	}
	for _, c := range text {
		if !isDigit(c) {
			continue
		}
		d := int(c - '0')
		switch s {
		case Mod97:
			n = (n*10 + d) % 97
		case Mod11:
			n = (n + d) * 2 % 11
		case Mod1110:
			if n = (n + d) % 10; n == 0 {
				n = 10
			}
			n = n * 2 % 11
		}
	}
	switch s {
	case Mod97:
		n = 98 - n*100%97
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	case Mod11:
		if n = (12 - n) % 11; n == 10 {
			return append(dst, 'X')
		}
		return append(dst, byte('0'+n))
	}
	return append(dst, byte('0'+(11-n)%10))
}

func luhn(text []byte) byte {
	n, double := 0, true // from the right
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
	return byte('0' + (10-n%10)%10)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
