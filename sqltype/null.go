package sqltype

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
)

// A NullID is an ID or NULL. The zero value is NULL. ID has no meaning while
// Valid is false, and is set to zero wherever NULL is read.
type NullID struct {
	ID    ID
	Valid bool // whether there is an ID
}

var (
	_ fmt.Stringer             = NullID{}
	_ fmt.Formatter            = NullID{}
	_ driver.Valuer            = NullID{}
	_ sql.Scanner              = (*NullID)(nil)
	_ encoding.TextAppender    = NullID{}
	_ encoding.TextMarshaler   = NullID{}
	_ encoding.TextUnmarshaler = (*NullID)(nil)
	_ json.Marshaler           = NullID{}
	_ json.Unmarshaler         = (*NullID)(nil)

	_ interface{ IsZero() bool }                = NullID{}
	_ interface{ UnmarshalParam(string) error } = (*NullID)(nil)
	_ interface{ GormDataType() string }        = NullID{}
)

// IsZero reports whether n is NULL, so that omitzero leaves it out of JSON.
func (n NullID) IsZero() bool { return !n.Valid }

// Value returns nil for NULL and otherwise what [ID.Value] returns.
func (n NullID) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	return n.ID.Value()
}

// Scan reads NULL and all that [ID.Scan] reads, with the same errors. On an
// error n keeps its value.
func (n *NullID) Scan(src any) error {
	if n == nil {
		return nilReceiver("Scan")
	}
	switch v := src.(type) {
	case nil:
		*n = NullID{}
		return nil
	case []byte:
		if v == nil {
			*n = NullID{}
			return nil
		}
	case *ID:
		if v == nil {
			*n = NullID{}
			return nil
		}
	}
	id, err := scan(src)
	if err != nil {
		return err
	}
	*n = NullID{ID: id, Valid: true}
	return nil
}

// AppendText appends the id's text to b, and nothing for NULL. It returns b
// unchanged and ErrNegative if the id is negative.
func (n NullID) AppendText(b []byte) ([]byte, error) {
	if !n.Valid {
		return b, nil
	}
	return n.ID.AppendText(b)
}

// MarshalText returns the id's text, or an empty text for NULL. It returns
// ErrNegative if the id is negative.
func (n NullID) MarshalText() ([]byte, error) {
	if !n.Valid {
		return []byte{}, nil
	}
	return n.ID.MarshalText()
}

// UnmarshalText reads an empty text as NULL and otherwise what Parse reads,
// with the same errors. On an error n keeps its value.
func (n *NullID) UnmarshalText(text []byte) error {
	if n == nil {
		return nilReceiver("UnmarshalText")
	}
	if len(text) == 0 {
		*n = NullID{}
		return nil
	}
	var id ID
	if err := id.UnmarshalText(text); err != nil {
		return err
	}
	*n = NullID{ID: id, Valid: true}
	return nil
}

// MarshalJSON returns null for NULL and otherwise the id as a JSON string, or
// ErrNegative. It is there because a text method cannot write null.
func (n NullID) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	b := append(make([]byte, 0, maxDigits+2), '"')
	b, err := n.ID.AppendText(b)
	if err != nil {
		return nil, err
	}
	return append(b, '"'), nil
}

// UnmarshalJSON reads null as NULL and otherwise what [ID.UnmarshalJSON] reads,
// with the same errors; an empty string is not null. On an error n keeps its
// value.
func (n *NullID) UnmarshalJSON(data []byte) error {
	if n == nil {
		return nilReceiver("UnmarshalJSON")
	}
	if string(data) == "null" {
		*n = NullID{}
		return nil
	}
	var id ID
	if err := id.UnmarshalJSON(data); err != nil {
		return err
	}
	*n = NullID{ID: id, Valid: true}
	return nil
}

// UnmarshalParam reads a path or query parameter as UnmarshalText does: an
// empty one is NULL.
func (n *NullID) UnmarshalParam(param string) error {
	if n == nil {
		return nilReceiver("UnmarshalParam")
	}
	return n.UnmarshalText([]byte(param))
}

// String returns the id in decimal, or "NULL".
func (n NullID) String() string {
	if !n.Valid {
		return "NULL"
	}
	return n.ID.String()
}

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

// GormDataType tells gorm the column's type, which is bigint in every dialect.
func (NullID) GormDataType() string { return "bigint" }
