package sqltype

import (
	"encoding/binary"
	"math"
	"strconv"
)

// maxDigits is the number of digits of the largest id.
const maxDigits = 19

// decimal implements the grammar. It returns a bare sentinel; the caller adds the operation.
func decimal[T string | []byte](s T) (ID, error) {
	first := 0 // the first digit
	if len(s) > 0 && s[0] == '-' {
		first = 1 // not an id, but the error can say why
	}
	digits := len(s) - first
	if digits == 0 || s[first] == '0' && len(s) > 1 {
		return 0, ErrSyntax
	}
	var n uint64
	for i := first; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, ErrSyntax
		}
		if i < maxDigits { // 19 digits cannot overflow a uint64
			n = n*10 + uint64(d)
		}
	}
	if first > 0 {
		return 0, ErrNegative
	}
	if digits > maxDigits || n > math.MaxInt64 {
		return 0, ErrRange
	}
	return ID(n), nil
}

// AppendText appends the decimal string to b. If the id is negative, it returns b unchanged and
// ErrNegative.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id < 0 {
		return b, valueError("encode", int64(id), ErrNegative)
	}
	if id < 1e16 {
		return strconv.AppendInt(b, int64(id), 10), nil
	}
	// For ids from a few months after their epoch on, this takes less than half of strconv's time.
	high, low := uint64(id)/1e8, uint64(id)%1e8
	switch top := high / 1e8; { // at most 922
	case top >= 100:
		b = append(b, '0'+byte(top/100), '0'+byte(top/10%10), '0'+byte(top%10))
	case top >= 10:
		b = append(b, '0'+byte(top/10), '0'+byte(top%10))
	default:
		b = append(b, '0'+byte(top))
	}
	b = binary.LittleEndian.AppendUint64(b, eightDigits(high%1e8))
	return binary.LittleEndian.AppendUint64(b, eightDigits(low)), nil
}

// eightDigits returns the eight decimal digits of n, below 1e8, as ASCII with the first digit in
// the lowest byte. It divides all parts of n at once: two of four digits, four of two, eight of
// one. A product and a shift divide exactly, because the parts are small. The quotient q goes
// below its remainder: q + (n-d*q)<<k is n<<k - q*(d<<k-1).
func eightDigits(n uint64) uint64 {
	fours := n<<32 - n/1e4*(1e4<<32-1)
	q := fours * 10486 >> 20 & 0x0000007f_0000007f // fours / 100
	twos := fours<<16 - q*(100<<16-1)
	q = twos * 103 >> 10 & 0x000f_000f_000f_000f // twos / 10
	return twos<<8 - q*(10<<8-1) + 0x30303030_30303030
}
