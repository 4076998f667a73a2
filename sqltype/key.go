package sqltype

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// Key is the primary key of a T, usually a row's struct: a Key[Order] cannot be used in place of
// a Key[Customer]. The zero value is the id 0, which means "not set".
//
// In a database and in binary encodings a Key is the same as an [ID]. Its string, also in JSON, in
// paths and in XML, has the [Form] that T declares, and is decimal if T declares none. Convert with
// ID(key) and Key[Order](id).
type Key[T any] int64

// AnyKey is implemented by every Key and NullKey, for packages that must recognize them.
type AnyKey interface{ anyKey() NullID }

func (k Key[T]) anyKey() NullID { return NullID{ID: ID(k), Valid: true} }

// NextKey returns the next id of src as a key of T. It returns the errors of [NextID].
func NextKey[T any](ctx context.Context, src Source) (Key[T], error) {
	id, err := NextID(ctx, src)
	return Key[T](id), err
}

// ParseKey parses the string of a key of T. If T declares no Form, it returns the errors of [Parse].
// Otherwise the error is ErrPrefix for a string with another prefix or none, ErrSyntax or ErrRange
// for wrong digits, the Sealer's error for a token that it refuses, or ErrForm if T's Form is
// wrong.
func ParseKey[T any](s string) (Key[T], error) {
	id, err := parseKey[T]("parse", s)
	return Key[T](id), err
}

func parseKey[T any, S string | []byte](op string, s S) (ID, error) {
	declared := formerOf[T]()
	if declared == nil {
		return parse(op, s)
	}
	f := formOf[T](declared)
	id, err := readForm(&f, s)
	if err != nil {
		return 0, readError[T](op, string(s), err)
	}
	return id, nil
}

// readError adds the input to an error of reading, or T if its Form is wrong.
func readError[T any](op, input string, err error) error {
	if errors.Is(err, ErrForm) {
		return fmt.Errorf("sqltype: %s %T: %w", op, Key[T](0), err)
	}
	return inputError(op, input, err)
}

// ID returns the key as an ID.
func (k Key[T]) ID() ID { return ID(k) }

// Int64 returns the key as an int64.
func (k Key[T]) Int64() int64 { return int64(k) }

// IsZero reports whether the key is not set.
func (k Key[T]) IsZero() bool { return k == 0 }

// Compare returns -1, 0 or +1 as k is less than, equal to or greater than other.
func (k Key[T]) Compare(other Key[T]) int { return cmp.Compare(k, other) }

// String returns the key's string. A negative key is in decimal. If T's Form is wrong or its Sealer fails,
// String returns %!(sqltype.Key[main.Order]), which does not show the id. ParseKey refuses both.
func (k Key[T]) String() string {
	declared := formerOf[T]()
	if declared == nil || k < 0 {
		return ID(k).String()
	}
	f := formOf[T](declared)
	text, err := f.string(ID(k))
	if err != nil {
		return fmt.Sprintf("%%!(%T)", k)
	}
	return text
}

// Format prints the string for %v, %s and %q, and the number for other verbs. Flags, width and
// precision work as for a string and an int64.
func (k Key[T]) Format(f fmt.State, verb rune) {
	if verb == 's' || verb == 'q' || verb == 'v' && !f.Flag('#') {
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), k.String())
		return
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), int64(k))
}

// AppendText appends the string to b. The error is ErrNegative, ErrForm or the Sealer's; b is
// then returned unchanged.
func (k Key[T]) AppendText(b []byte) ([]byte, error) {
	declared := formerOf[T]()
	if declared == nil {
		return ID(k).AppendText(b)
	}
	f := formOf[T](declared)
	b, err := f.append(b, ID(k))
	if err != nil {
		err = k.writeError(err)
	}
	return b, err
}

// writeError adds the type to an error of its Form or Sealer. It does not show the id.
func (k Key[T]) writeError(err error) error {
	if errors.Is(err, ErrNegative) {
		return err
	}
	return fmt.Errorf("sqltype: encode %T: %w", k, err)
}

// MarshalText returns the string, or the errors of AppendText.
func (k Key[T]) MarshalText() ([]byte, error) {
	if formerOf[T]() == nil {
		return ID(k).MarshalText()
	}
	return k.marshal("")
}

// marshal returns the string between two quotes.
func (k Key[T]) marshal(quote string) ([]byte, error) {
	var f Form
	if declared := formerOf[T](); declared != nil {
		f = formOf[T](declared)
	}
	b := append(make([]byte, 0, f.size()+2*len(quote)), quote...)
	b, err := f.append(b, ID(k))
	if err != nil {
		return nil, k.writeError(err)
	}
	return append(b, quote...), nil
}

// UnmarshalText reads what ParseKey reads, with the same errors. On an error the key is unchanged.
func (k *Key[T]) UnmarshalText(text []byte) error {
	id, err := parseKey[T]("parse", text)
	return (*ID)(k).set("UnmarshalText", id, err)
}

// UnmarshalParam reads a path or query parameter, as ParseKey does. gin and echo call it. On an
// error the key is unchanged.
func (k *Key[T]) UnmarshalParam(param string) error {
	id, err := parseKey[T]("parse", param)
	return (*ID)(k).set("UnmarshalParam", id, err)
}

// Bind reads a parameter as UnmarshalParam does. The code that oapi-codegen generates calls it.
func (k *Key[T]) Bind(param string) error { return k.UnmarshalParam(param) }

// UnmarshalJSON reads the string of a key as a JSON string, and also a JSON number if T's Form reads
// decimal strings. null leaves the key unchanged. It returns the errors of ParseKey; the key is then
// unchanged.
func (k *Key[T]) UnmarshalJSON(data []byte) error {
	if k != nil && string(data) == "null" {
		return nil
	}
	id, err := keyFromJSON[T](data)
	return (*ID)(k).set("UnmarshalJSON", id, err)
}

func keyFromJSON[T any](data []byte) (id ID, err error) {
	declared := formerOf[T]()
	if declared == nil {
		return fromJSON(data)
	}
	f := formOf[T](declared)
	text, quoted := unquote(data)
	if quoted {
		id, err = readForm(&f, text)
	} else {
		id, err = f.readBare(text, Key[T](0))
	}
	if err != nil {
		return 0, readError[T]("parse JSON", string(data), err)
	}
	return id, nil
}

// Value returns what [ID.Value] returns.
func (k Key[T]) Value() (driver.Value, error) { return ID(k).Value() }

// Scan reads what [ID.Scan] reads, but no key of another type, with the same errors. Text is
// decimal, whatever the Form.
func (k *Key[T]) Scan(src any) error {
	if n, ok := src.(int64); ok && n >= 0 && k != nil { // the usual case, as fast as for an ID
		*k = Key[T](n)
		return nil
	}
	id, err := scanKey[T](src)
	return (*ID)(k).set("Scan", id, err)
}

func scanKey[T any](src any) (ID, error) {
	switch src.(type) {
	case Key[T], *Key[T], NullKey[T], *NullKey[T]:
	case AnyKey:
		return 0, typeError("scan", src)
	}
	return scan(src)
}

// GormDataType returns gorm's type of the column, bigint in every dialect.
func (Key[T]) GormDataType() string { return "bigint" }
