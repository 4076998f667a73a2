package sqltype

import (
	"database/sql/driver"
	"fmt"
	"math"
)

// Value returns the id as an int64. An ID of zero is 0, never NULL, so that a missing key is noticed.
// The error is ErrNegative if the id is negative. For a nil *ID, database/sql writes NULL without
// calling Value.
func (id ID) Value() (driver.Value, error) {
	if id < 0 {
		return nil, valueError("encode", int64(id), ErrNegative)
	}
	return int64(id), nil
}

// Scan reads an int64, a uint64, a decimal string as a string or []byte, and an ID, a NullID, and a
// Key or NullKey of any type, or a pointer to one. On an error the id is unchanged. The error is
// ErrNull for NULL, a nil pointer and a nil []byte, ErrNegative or ErrRange for a number that is
// not an id, Parse's error for a string, and ErrType for any other type. gorm does not call Scan
// for NULL: give a field that may be NULL the type *ID or NullID.
func (id *ID) Scan(src any) error {
	n, err := scan(src)
	return id.set("Scan", n, err)
}

// scan returns a bare ErrNull for NULL.
func scan(src any) (ID, error) {
	switch v := src.(type) {
	case int64:
		return fromInt(v)
	case []byte:
		if v == nil { // some drivers' NULL
			return 0, ErrNull
		}
		return parse("scan", v)
	case string:
		return parse("scan", v)
	case uint64: // MySQL's bigint unsigned
		return fromUint(v)
	case ID: // ent scans the id it has just written
		return fromInt(int64(v))
	case NullID: // jinzhu/copier scans a field into another
		if !v.Valid {
			return 0, ErrNull
		}
		return fromInt(int64(v.ID))
	case *ID:
		if v == nil {
			return 0, ErrNull
		}
		return fromInt(int64(*v))
	case AnyKey:
		if isNil(v) {
			return 0, ErrNull
		}
		return scan(v.anyKey())
	case nil:
		return 0, ErrNull
	default:
		return 0, typeError("scan", src)
	}
}

func fromInt(n int64) (ID, error) {
	if n < 0 {
		return 0, valueError("scan", n, ErrNegative)
	}
	return ID(n), nil
}

func fromUint(n uint64) (ID, error) {
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("sqltype: scan %d: %w", n, ErrRange)
	}
	return ID(n), nil
}

// GormDataType returns gorm's type of the column, bigint in every dialect.
func (ID) GormDataType() string { return "bigint" }
