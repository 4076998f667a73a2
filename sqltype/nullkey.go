package sqltype

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
)

// NullKey is a Key or NULL. The zero value is NULL. Key has no meaning while Valid is false;
// reading NULL sets it to zero. It encodes and reads what [NullID] does, with the text of a
// [Key].
type NullKey[T any] struct {
	Key   Key[T]
	Valid bool // whether it is not NULL
}

func (NullKey[T]) anyKey() {}

var (
	_ AnyKey                   = NullKey[int]{}
	_ fmt.Stringer             = NullKey[int]{}
	_ fmt.Formatter            = NullKey[int]{}
	_ driver.Valuer            = NullKey[int]{}
	_ sql.Scanner              = (*NullKey[int])(nil)
	_ encoding.TextAppender    = NullKey[int]{}
	_ encoding.TextMarshaler   = NullKey[int]{}
	_ encoding.TextUnmarshaler = (*NullKey[int])(nil)
	_ json.Marshaler           = NullKey[int]{}
	_ json.Unmarshaler         = (*NullKey[int])(nil)
	_ xml.MarshalerAttr        = (*NullKey[int])(nil)

	_ interface{ IsZero() bool }                = NullKey[int]{}
	_ interface{ UnmarshalParam(string) error } = (*NullKey[int])(nil)
	_ interface{ GormDataType() string }        = NullKey[int]{}
)

func (n NullKey[T]) null() NullID { return NullID{ID: ID(n.Key), Valid: n.Valid} }

// set stores the result of a decoding method, or returns its error. ErrNull is NULL.
func (n *NullKey[T]) set(op string, id ID, err error) error {
	var read NullID
	return n.store(op, &read, read.set(op, id, err))
}

// store stores what a method of NullID has read, or returns its error.
func (n *NullKey[T]) store(op string, read *NullID, err error) error {
	switch {
	case n == nil:
		return nilReceiver(op)
	case err == nil:
		*n = NullKey[T]{Key: Key[T](read.ID), Valid: read.Valid}
	}
	return err
}

// IsZero reports whether n is NULL, so omitzero omits it from JSON.
func (n NullKey[T]) IsZero() bool { return !n.Valid }

// Value returns what [NullID.Value] returns.
func (n NullKey[T]) Value() (driver.Value, error) { return n.null().Value() }

// Scan reads NULL and what [Key.Scan] reads, with the same errors. On an error n is unchanged.
func (n *NullKey[T]) Scan(src any) error {
	var key Key[T]
	err := key.Scan(src)
	return n.set("Scan", ID(key), err)
}

// AppendText appends the key's text to b, and nothing for NULL. The errors are those of
// [Key.AppendText].
func (n NullKey[T]) AppendText(b []byte) ([]byte, error) {
	if !n.Valid {
		return b, nil
	}
	return n.Key.AppendText(b)
}

// MarshalText returns the key's text, an empty text for NULL, or the errors of [Key.AppendText].
func (n NullKey[T]) MarshalText() ([]byte, error) {
	if !n.Valid {
		return []byte{}, nil
	}
	return n.Key.MarshalText()
}

// UnmarshalText reads an empty text as NULL, and otherwise what ParseKey reads, with the same
// errors. On an error n is unchanged.
func (n *NullKey[T]) UnmarshalText(text []byte) error { return n.UnmarshalParam(string(text)) }

// UnmarshalParam reads a path or query parameter as UnmarshalText does: an empty one is NULL.
func (n *NullKey[T]) UnmarshalParam(param string) error {
	if param == "" {
		return n.set("UnmarshalText", 0, ErrNull)
	}
	key, err := ParseKey[T](param)
	return n.set("UnmarshalText", ID(key), err)
}

// MarshalJSON returns null for NULL, otherwise the text as a JSON string, or the errors of
// [Key.AppendText].
func (n NullKey[T]) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	b, err := n.Key.AppendText(append(make([]byte, 0, maxToken+2), '"'))
	if err != nil {
		return nil, err
	}
	return append(b, '"'), nil
}

// UnmarshalJSON reads null as NULL, and otherwise what [Key.UnmarshalJSON] reads, with the same
// errors. An empty string is an error. On an error n is unchanged.
func (n *NullKey[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return n.set("UnmarshalJSON", 0, ErrNull)
	}
	id, err := keyFromJSON[T](data)
	return n.set("UnmarshalJSON", id, err)
}

// String returns the key's text, or "NULL".
func (n NullKey[T]) String() string {
	if !n.Valid {
		return "NULL"
	}
	return n.Key.String()
}

// Format prints what [Key.Format] prints, and NULL for NULL with every verb. %#v prints Go syntax.
func (n NullKey[T]) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('#'):
		_, _ = fmt.Fprintf(f, "%T{Key:%d, Valid:%t}", n, int64(n.Key), n.Valid)
	case n.Valid:
		n.Key.Format(f, verb)
	default:
		NullID{}.Format(f, verb)
	}
}

// GormDataType returns gorm's type of the column, bigint in every dialect.
func (NullKey[T]) GormDataType() string { return "bigint" }

// MarshalXMLAttr writes the key's text, an empty text for NULL, and no attribute for a nil pointer.
func (n *NullKey[T]) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	if n == nil {
		return xml.Attr{}, nil
	}
	text, err := n.MarshalText()
	return xml.Attr{Name: name, Value: string(text)}, err
}

// EncodeValues adds the text to a query, as [NullID.EncodeValues] does.
func (n NullKey[T]) EncodeValues(key string, values *url.Values) error {
	text, err := n.MarshalText()
	if err == nil {
		values.Add(key, string(text))
	}
	return err
}

// MarshalBSONValue writes what [NullID.MarshalBSONValue] writes.
func (n NullKey[T]) MarshalBSONValue() (typ byte, data []byte, err error) {
	return n.null().MarshalBSONValue()
}

// UnmarshalBSONValue reads what [NullID.UnmarshalBSONValue] reads.
func (n *NullKey[T]) UnmarshalBSONValue(typ byte, data []byte) error {
	var read NullID
	return n.store("UnmarshalBSONValue", &read, read.UnmarshalBSONValue(typ, data))
}

// MarshalCBOR writes what [NullID.MarshalCBOR] writes.
func (n NullKey[T]) MarshalCBOR() ([]byte, error) { return n.null().MarshalCBOR() }

// UnmarshalCBOR reads what [NullID.UnmarshalCBOR] reads.
func (n *NullKey[T]) UnmarshalCBOR(data []byte) error {
	var read NullID
	return n.store("UnmarshalCBOR", &read, read.UnmarshalCBOR(data))
}

// MarshalMsgpack writes what [NullID.MarshalMsgpack] writes.
func (n NullKey[T]) MarshalMsgpack() ([]byte, error) { return n.null().MarshalMsgpack() }

// UnmarshalMsgpack reads what [NullID.UnmarshalMsgpack] reads.
func (n *NullKey[T]) UnmarshalMsgpack(data []byte) error {
	var read NullID
	return n.store("UnmarshalMsgpack", &read, read.UnmarshalMsgpack(data))
}

// UnmarshalMapstructure reads nil, a nil pointer and a NullKey that is NULL as NULL, and otherwise
// what [Key.UnmarshalMapstructure] reads, with the same errors.
func (n *NullKey[T]) UnmarshalMapstructure(v any) error {
	if other, ok := v.(NullKey[T]); ok {
		v = other.null()
	}
	id, err := keyFromAny[T](v)
	return n.set("UnmarshalMapstructure", id, err)
}
