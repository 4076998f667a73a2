package sqltype

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"testing"
)

// An ID and a Key whose Form is decimal do the same, and so do a NullID and a NullKey. So the tests
// of what they do run over both.

type idKind interface {
	~int64
	fmt.Stringer
	fmt.Formatter
	driver.Valuer
	encoding.TextAppender
	encoding.TextMarshaler
	IsZero() bool
	Int64() int64
	GormDataType() string
}

type idPointer[K any] interface {
	*K
	decoder
}

type nullKind interface {
	comparable
	fmt.Stringer
	fmt.Formatter
	driver.Valuer
	encoding.TextAppender
	encoding.TextMarshaler
	json.Marshaler
	IsZero() bool
	GormDataType() string
}

type nullPointer[N any] interface {
	*N
	decoder
}

// decoder is what pointers to all four types are.
type decoder interface {
	sql.Scanner
	encoding.TextUnmarshaler
	json.Unmarshaler
	xml.MarshalerAttr
	UnmarshalParam(s string) error
}

// plainKey is a Key whose Form is decimal.
type (
	plainKey  = Key[plainRow]
	plainNull = NullKey[plainRow]
)

// kinds runs a test for an ID and for a Key.
func kinds(t *testing.T, id, key func(t *testing.T)) {
	t.Run("ID", id)
	t.Run("Key", key)
}

// nullOf returns an N with an id, or NULL with a rest.
func nullOf[N nullKind](id ID, valid bool) N {
	var n N
	switch p := any(&n).(type) {
	case *NullID:
		*p = NullID{id, valid}
	case *plainNull:
		*p = plainNull{plainKey(id), valid}
	}
	return n
}

func some[N nullKind](id ID) N { return nullOf[N](id, true) }

func ptr[K any](id K) *K { return &id }
