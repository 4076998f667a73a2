package token

import "math/bits"

// alphabet is the digits of tokens, those of sqltype.ID.Base62.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// wordDigits is how many digits a number of 64 bits has.
const wordDigits = 11

// values is the value of each digit; noDigit for all other bytes.
var values = func() (all [256]uint8) { //nolint:gochecknoglobals // constant
	for i := range all {
		all[i] = noDigit
	}
	for i := range len(alphabet) {
		all[alphabet[i]] = uint8(i)
	}
	return all
}()

const noDigit = uint8(len(alphabet))

// putWord writes n as 11 digits.
func putWord(text *[wordDigits]byte, n uint64) {
	for i := wordDigits - 1; i >= 0; i-- {
		text[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
}

// word returns the number that 11 digits mean. It reports whether all of them are digits and the
// number is below 2^64: larger ones would be another spelling of a token.
func word(text string) (n uint64, ok bool) {
	for i := range wordDigits {
		digit := values[text[i]]
		over, product := bits.Mul64(n, uint64(len(alphabet)))
		sum, carry := bits.Add64(product, uint64(digit), 0)
		if digit == noDigit || over|carry != 0 {
			return 0, false
		}
		n = sum
	}
	return n, true
}
