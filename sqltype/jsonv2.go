//go:build go1.27 && goexperiment.jsonv2

package sqltype

import (
	"encoding"
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// Only NullID and NullKey need MarshalJSONTo, a method of encoding/json/v2: their MarshalJSON
// allocates, and v2 prefers it to AppendText. For an ID and a Key, v2 calls AppendText, which writes
// into v2's buffer. v2 reads all four with UnmarshalJSON, from its buffer. Neither allocates, and v2's
// own methods would only be slower.
var (
	_ json.MarshalerTo = NullID{}
	_ json.MarshalerTo = NullKey[int]{}
)

// MarshalJSONTo writes what MarshalJSON returns, without an allocation. It exists only if
// the toolchain has encoding/json/v2.
func (n NullID) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !n.Valid {
		return enc.WriteToken(jsontext.Null)
	}
	return writeText(enc, n.ID)
}

// MarshalJSONTo writes what MarshalJSON returns, without an additional allocation. It exists only
// if the toolchain has encoding/json/v2.
func (n NullKey[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !n.Valid {
		return enc.WriteToken(jsontext.Null)
	}
	return writeText(enc, n.Key)
}

// writeText writes a string in which nothing needs to be escaped.
func writeText[T encoding.TextAppender](enc *jsontext.Encoder, id T) error {
	b, err := id.AppendText(append(enc.AvailableBuffer(), '"'))
	if err != nil {
		return err
	}
	return enc.WriteValue(append(b, '"'))
}
