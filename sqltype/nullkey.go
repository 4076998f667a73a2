package sqltype

import (
	"database/sql/driver"
	"fmt"
)

// NullKey is a Key or NULL. The zero value is NULL. Key has no meaning while Valid is false;
// reading NULL sets it to zero. A NullKey is encoded and read like a [NullID], but its string has the
// Form of its [Key].
type NullKey[T any] struct {
	Key   Key[T]
	Valid bool // whether it is not NULL
}

func (n NullKey[T]) anyKey() NullID { return NullID{ID: ID(n.Key), Valid: n.Valid} }

// set stores the result of a decoding method, or returns its error. ErrNull is NULL.
func (n *NullKey[T]) set(op string, id ID, err error) error {
	if n == nil {
		return nilReceiver(op)
	}
	null := n.anyKey()
	err = null.set(op, id, err)
	*n = NullKey[T]{Key: Key[T](null.ID), Valid: null.Valid}
	return err
}

// IsZero reports whether n is NULL, so omitzero omits it from JSON.
func (n NullKey[T]) IsZero() bool { return !n.Valid }

// Value returns what [NullID.Value] returns.
func (n NullKey[T]) Value() (driver.Value, error) { return n.anyKey().Value() }

// Scan reads NULL and what [Key.Scan] reads, with the same errors. On an error n is unchanged.
func (n *NullKey[T]) Scan(src any) error {
	id, err := scanKey[T](src)
	return n.set("Scan", id, err)
}

// AppendText appends the key's string to b, and nothing for NULL. It returns the errors
// of [Key.AppendText].
func (n NullKey[T]) AppendText(b []byte) ([]byte, error) {
	if !n.Valid {
		return b, nil
	}
	return n.Key.AppendText(b)
}

// MarshalText returns the key's string, an empty string for NULL, or the errors of [Key.AppendText].
func (n NullKey[T]) MarshalText() ([]byte, error) {
	if !n.Valid {
		return []byte{}, nil
	}
	return n.Key.MarshalText()
}

// UnmarshalText reads an empty string as NULL, and otherwise what ParseKey reads, with the same
// errors. On an error n is unchanged.
func (n *NullKey[T]) UnmarshalText(text []byte) error {
	id, err := parseNullKey[T](text)
	return n.set("UnmarshalText", id, err)
}

// UnmarshalParam reads a path or query parameter as UnmarshalText does: an empty one is NULL.
func (n *NullKey[T]) UnmarshalParam(param string) error {
	id, err := parseNullKey[T](param)
	return n.set("UnmarshalParam", id, err)
}

// Bind reads a parameter as UnmarshalParam does. The code that oapi-codegen generates calls it.
func (n *NullKey[T]) Bind(param string) error { return n.UnmarshalParam(param) }

func parseNullKey[T any, S string | []byte](s S) (ID, error) {
	if len(s) == 0 {
		return 0, ErrNull
	}
	return parseKey[T]("parse", s)
}

// MarshalJSON returns null for NULL, otherwise the string as a JSON string, or the errors of
// [Key.AppendText].
func (n NullKey[T]) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return n.Key.marshal(`"`)
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

// String returns the key's string, or "NULL".
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
