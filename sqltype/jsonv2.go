//go:build goexperiment.jsonv2

package sqltype

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// encoding/json/v2 calls ID.AppendText, which writes into its buffer, and UnmarshalJSON of both
// types, which reads from it: nothing is allocated. MarshalJSONTo and UnmarshalJSONFrom would only
// be slower there. A NullID needs the first, because v2 prefers MarshalJSON to AppendText.
var _ json.MarshalerTo = NullID{}

// MarshalJSONTo writes what MarshalJSON returns, without an allocation. It exists where the
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
