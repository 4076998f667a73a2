package sqltype

import (
	"database/sql/driver"
	"fmt"
)

// NullID is an ID or NULL. The zero value is NULL. ID has no meaning while Valid is false; reading
// NULL sets it to zero.
type NullID struct {
	ID    ID
	Valid bool // whether it is not NULL
}

// key returns a key with the same strings.
func (n NullID) key() NullKey[struct{}] { return NullKey[struct{}]{Key[struct{}](n.ID), n.Valid} }

// IsZero reports whether n is NULL, so omitzero omits it from JSON.
func (n NullID) IsZero() bool { return !n.Valid }

// Value returns nil for NULL and otherwise what [ID.Value] returns.
func (n NullID) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	return n.ID.Value()
}

// Scan reads NULL and what [ID.Scan] reads, with the same errors. On an error n is unchanged.
func (n *NullID) Scan(src any) error {
	id, err := scan(src)
	return n.set("Scan", id, err)
}

// set stores the result of a decoding method, or returns its error. ErrNull is NULL.
func (n *NullID) set(op string, id ID, err error) error {
	switch {
	case n == nil:
		return nilReceiver(op)
	case err == nil:
		*n = NullID{ID: id, Valid: true}
	case err == ErrNull: //nolint:errorlint // a Sealer that fails may wrap it, and is no NULL
		*n = NullID{}
		return nil
	}
	return err
}

// AppendText appends the id's string to b, and nothing for NULL. If the id is negative, it returns
// b unchanged and ErrNegative.
func (n NullID) AppendText(b []byte) ([]byte, error) { return n.key().AppendText(b) }

// MarshalText returns the id's string, an empty string for NULL, or ErrNegative for a negative id.
func (n NullID) MarshalText() ([]byte, error) { return n.key().MarshalText() }

// UnmarshalText reads an empty string as NULL, and otherwise what Parse reads, with the same
// errors. On an error n is unchanged.
func (n *NullID) UnmarshalText(text []byte) error {
	id, err := parseNullKey[struct{}](text)
	return n.set("UnmarshalText", id, err)
}

// UnmarshalParam reads a path or query parameter as UnmarshalText does: an empty one is NULL.
func (n *NullID) UnmarshalParam(param string) error {
	id, err := parseNullKey[struct{}](param)
	return n.set("UnmarshalParam", id, err)
}

// Bind reads a parameter as UnmarshalParam does. The code that oapi-codegen generates calls it.
func (n *NullID) Bind(param string) error { return n.UnmarshalParam(param) }

// MarshalJSON returns null for NULL, otherwise the id as a JSON string, or ErrNegative.
func (n NullID) MarshalJSON() ([]byte, error) { return n.key().MarshalJSON() }

// UnmarshalJSON reads null as NULL, and otherwise what [ID.UnmarshalJSON] reads, with the same
// errors. An empty string is an error. On an error n is unchanged.
func (n *NullID) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return n.set("UnmarshalJSON", 0, ErrNull)
	}
	id, err := fromJSON(data)
	return n.set("UnmarshalJSON", id, err)
}

// String returns the id in decimal, or "NULL".
func (n NullID) String() string { return n.key().String() }

// Format prints what [ID.Format] prints, and NULL for NULL with every verb. %#v
// prints Go syntax.
func (n NullID) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('#'):
		_, _ = fmt.Fprintf(f, "sqltype.NullID{ID:%d, Valid:%t}", int64(n.ID), n.Valid)
	case n.Valid:
		n.ID.Format(f, verb)
	case verb == 'q':
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), n.String())
	default:
		width, _ := f.Width()
		if f.Flag('-') {
			width = -width
		}
		_, _ = fmt.Fprintf(f, "%*s", width, n.String())
	}
}

// GormDataType returns gorm's type of the column, bigint in every dialect.
func (NullID) GormDataType() string { return "bigint" }
