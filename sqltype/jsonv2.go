//go:build goexperiment.jsonv2

package sqltype

import (
	"encoding"
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// encoding/json/v2 calls AppendText of an ID and of a Key, which writes into its buffer, and
// UnmarshalJSON of all types, which reads from it: nothing is allocated. MarshalJSONTo and
// UnmarshalJSONFrom would only be slower there. A NullID and a NullKey need the first, because v2
// prefers MarshalJSON to AppendText.
var (
	_ json.MarshalerTo = NullID{}
	_ json.MarshalerTo = NullKey[int]{}
)

// MarshalJSONTo writes what MarshalJSON returns, without an allocation. It exists where the
// toolchain has encoding/json/v2.
func (n NullID) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !n.Valid {
		return enc.WriteToken(jsontext.Null)
	}
	return writeText(enc, n.ID)
}

// MarshalJSONTo writes what MarshalJSON returns, without an allocation of its own. It exists where
// the toolchain has encoding/json/v2.
func (n NullKey[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !n.Valid {
		return enc.WriteToken(jsontext.Null)
	}
	return writeText(enc, n.Key)
}

// writeText writes a text in which nothing needs to be escaped.
func writeText[T encoding.TextAppender](enc *jsontext.Encoder, id T) error {
	b, err := id.AppendText(append(enc.AvailableBuffer(), '"'))
	if err != nil {
		return err
	}
	return enc.WriteValue(append(b, '"'))
}
