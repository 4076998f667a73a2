package sqltype

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
)

// Key is the primary key of a T, usually a row's struct: a Key[Order] cannot be used in place of
// a Key[Customer]. The zero value is the id 0, which means "not set".
//
// In a database and in binary encodings a Key is what an [ID] is. Its text, also in JSON, in paths
// and in XML, has the [Form] that T declares, and is decimal if T declares none. Convert with
// ID(key) and Key[Order](id).
type Key[T any] int64

// AnyKey is every Key and every NullKey, for packages that treat them as ids.
type AnyKey interface{ anyKey() }

func (Key[T]) anyKey() {}

var (
	_ AnyKey                   = Key[int](0)
	_ fmt.Stringer             = Key[int](0)
	_ fmt.Formatter            = Key[int](0)
	_ driver.Valuer            = Key[int](0)
	_ sql.Scanner              = (*Key[int])(nil)
	_ encoding.TextAppender    = Key[int](0)
	_ encoding.TextMarshaler   = Key[int](0)
	_ encoding.TextUnmarshaler = (*Key[int])(nil)
	_ json.Unmarshaler         = (*Key[int])(nil)
	_ xml.MarshalerAttr        = (*Key[int])(nil)

	_ interface{ IsZero() bool }                = Key[int](0)
	_ interface{ Compare(Key[int]) int }        = Key[int](0)
	_ interface{ UnmarshalParam(string) error } = (*Key[int])(nil)
	_ interface{ GormDataType() string }        = Key[int](0)
)

// NewKey returns the next id of src as a key of T. The errors are those of [New].
func NewKey[T any](ctx context.Context, src Source) (Key[T], error) {
	id, err := New(ctx, src)
	return Key[T](id), err
}

// ParseKey parses the text of a key of T. The error is ErrPrefix if the text is of another type,
// ErrForm if T's Form is wrong, what a Sealer returns for a token, and otherwise what
// [Parse] returns.
func ParseKey[T any](s string) (Key[T], error) { return parseKey[T]("parse", s) }

func parseKey[T any](op, s string) (Key[T], error) {
	f, declared := formOf[T]()
	if !declared {
		id, err := parse(op, s)
		return Key[T](id), err
	}
	id, err := f.parse(s)
	if err == nil {
		return Key[T](id), nil
	}
	return 0, keyError(op, s, err)
}

func keyError(op, s string, err error) error {
	if errors.Is(err, ErrForm) {
		return err
	}
	return inputError(op, s, err)
}

// ID returns the key as an ID.
func (k Key[T]) ID() ID { return ID(k) }

// Int64 returns the key as an int64.
func (k Key[T]) Int64() int64 { return int64(k) }

// IsZero reports whether the key is not set.
func (k Key[T]) IsZero() bool { return k == 0 }

// Compare returns -1, 0 or +1 as k is less than, equal to or greater than other.
func (k Key[T]) Compare(other Key[T]) int { return cmp.Compare(k, other) }

// String returns the text. A key that has none, because it is negative or T's Form is wrong, is
// in decimal and cannot be parsed.
func (k Key[T]) String() string {
	if text, err := k.AppendText(nil); err == nil {
		return string(text)
	}
	return ID(k).String()
}

// Format prints the text for %v, %s and %q, and the number for other verbs. Flags, width and
// precision are those of a string and an int64.
func (k Key[T]) Format(f fmt.State, verb rune) { formatKey(f, verb, int64(k), k) }

func formatKey(f fmt.State, verb rune, n int64, text fmt.Stringer) {
	switch {
	case verb == 's', verb == 'q', verb == 'v' && !f.Flag('#'):
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), text.String())
	default:
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), n)
	}
}

// AppendText appends the text to b. On an error it returns b unchanged: ErrNegative, ErrForm, or
// what a Sealer returns.
func (k Key[T]) AppendText(b []byte) ([]byte, error) {
	f, declared := formOf[T]()
	if !declared {
		return ID(k).AppendText(b)
	}
	return f.append(b, ID(k))
}

// MarshalText returns the text, or the errors of AppendText.
func (k Key[T]) MarshalText() ([]byte, error) {
	f, declared := formOf[T]()
	if !declared {
		return ID(k).MarshalText()
	}
	text, err := f.append(make([]byte, 0, len(f.Prefix)+1+maxToken), ID(k))
	if err != nil {
		return nil, err
	}
	return text, nil
}

// maxToken is how many characters most tokens have at most.
const maxToken = 22

// UnmarshalText reads what ParseKey reads, with the same errors. On an error the key is unchanged.
func (k *Key[T]) UnmarshalText(text []byte) error { return k.UnmarshalParam(string(text)) }

// UnmarshalParam reads a path or query parameter, as ParseKey does. gin and echo call it. On an
// error the key is unchanged.
func (k *Key[T]) UnmarshalParam(param string) error {
	n, err := ParseKey[T](param)
	return (*ID)(k).set("UnmarshalText", ID(n), err)
}

// UnmarshalJSON reads a JSON string with the text of a key, and also a JSON number where decimal
// texts are read. null leaves the key unchanged. The errors are those of ParseKey; the key is
// then unchanged.
func (k *Key[T]) UnmarshalJSON(data []byte) error {
	if k != nil && string(data) == "null" {
		return nil
	}
	n, err := keyFromJSON[T](data)
	return (*ID)(k).set("UnmarshalJSON", n, err)
}

func keyFromJSON[T any](data []byte) (ID, error) {
	f, declared := formOf[T]()
	if !declared {
		return fromJSON(data)
	}
	text, quoted := unquote(data)
	var id ID
	err := f.want(ErrSyntax)
	if quoted || f.decimal() || f.Accept&AcceptDecimal != 0 {
		id, err = f.parse(string(text))
	}
	if err == nil && !quoted && !isNumber(text) { // the text of a token is no JSON
		err = f.want(ErrSyntax)
	}
	if err != nil {
		return 0, keyError("parse JSON", string(data), err)
	}
	return id, nil
}

// isNumber reports whether text, which has been parsed, is a number.
func isNumber(text []byte) bool {
	_, err := decimal(text)
	return err == nil
}

// Value returns what [ID.Value] returns.
func (k Key[T]) Value() (driver.Value, error) { return ID(k).Value() }

// Scan reads what [ID.Scan] reads, and a Key[T], with the same errors.
func (k *Key[T]) Scan(src any) error {
	switch v := src.(type) {
	case Key[T]:
		src = ID(v)
	case *Key[T]:
		src = (*ID)(v)
	}
	return (*ID)(k).Scan(src)
}

// GormDataType returns gorm's type of the column, bigint in every dialect.
func (Key[T]) GormDataType() string { return "bigint" }
