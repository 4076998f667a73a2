// Package idtext decides what a text is: which ID it stands for, in which format. The
// command and the HTTP API read IDs with it, and the page's idtext.js is held to it by
// ../testdata/vectors.json.
//
//	id, format, err := idtext.Parse("0x1bb54121fb2b914d", idtext.Auto, false)
//	text := idtext.Base58.Text(id, false)
//
// A text with two readings is an *AmbiguousError; Parse never picks one.
package idtext

import (
	"fmt"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A Format is a way to write an ID.
type Format string

// The formats. Hex is written as 0x and 16 lowercase digits.
const (
	Auto    Format = "auto" // Parse detects the format
	Decimal Format = "decimal"
	Hex     Format = "hex"
	Base32  Format = "base32"
	Base58  Format = "base58"
	Base62  Format = "base62"
)

// Formats lists the formats in which an ID can be written.
func Formats() []Format { return []Format{Decimal, Hex, Base32, Base58, Base62} }

// Append appends an ID to b. With unsigned, Decimal reads the sign bit as a digit. The
// base formats have no negative IDs: see Signed.
func (f Format) Append(b []byte, id int64, unsigned bool) []byte {
	switch f {
	case Hex:
		return fmt.Appendf(b, "0x%016x", uint64(id))
	case Base32:
		return sqltype.ID(id).AppendBase32(b)
	case Base58:
		return sqltype.ID(id).AppendBase58(b)
	case Base62:
		return sqltype.ID(id).AppendBase62(b)
	}
	if unsigned {
		return strconv.AppendUint(b, uint64(id), 10)
	}
	return strconv.AppendInt(b, id, 10)
}

// Text returns an ID as text; see Append.
func (f Format) Text(id int64, unsigned bool) string { return string(f.Append(nil, id, unsigned)) }

// Signed reports whether the format ends at the largest int64.
func (f Format) Signed() bool { return f != Decimal && f != Hex }
