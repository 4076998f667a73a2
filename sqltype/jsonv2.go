//go:build goexperiment.jsonv2

package sqltype

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// Of the optional methods of encoding/json/v2, only NullID.MarshalJSONTo is worth having. v2 calls
// ID.AppendText, which writes into its buffer, and UnmarshalJSON of both types, which reads from
// its buffer. Neither allocates, and the methods of v2 would only be slower. But a NullID has a
// method MarshalJSON, which v2 prefers to AppendText, and which allocates.
var _ json.MarshalerTo = NullID{}

// MarshalJSONTo writes what MarshalJSON returns, without an allocation. It exists only if the
// toolchain has encoding/json/v2.
func (n NullID) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !n.Valid {
		return enc.WriteToken(jsontext.Null)
	}
	b, err := n.ID.AppendText(append(enc.AvailableBuffer(), '"'))
	if err != nil {
		return err
	}
	return enc.WriteValue(append(b, '"'))
}
