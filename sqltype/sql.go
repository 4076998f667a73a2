package sqltype

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
)

var (
	_ driver.Valuer = ID(0)
	_ sql.Scanner   = (*ID)(nil)
)

// Value returns the id as an int64: zero is written as 0, never as NULL, so
// that a forgotten key is seen. It returns ErrNegative if the id is negative.
// A nil *ID is NULL to database/sql, which does not call Value for it.
func (id ID) Value() (driver.Value, error) {
	if id < 0 {
		return nil, valueError("encode", int64(id), ErrNegative)
	}
	return int64(id), nil
}

// Scan reads an int64, a uint64, an ID, a *ID, or decimal text as a string or
// []byte. On an error the id keeps its value: ErrNull is returned for NULL (nil,
// or a nil *ID or []byte), ErrNegative and ErrRange for a number that is not an
// id, what Parse returns for a text that is none, and ErrType for any other type.
// gorm does not call Scan for NULL, and leaves 0: give a field that may be NULL the type *ID or NullID.
func (id *ID) Scan(src any) error {
	if id == nil {
		return nilReceiver("Scan")
	}
	n, err := scan(src)
	if err != nil {
		return err
	}
	*id = n
	return nil
}

func scan(src any) (ID, error) {
	switch v := src.(type) {
	case int64:
		return scanInt(v)
	case []byte:
		if v == nil { // some drivers give NULL so
			return 0, scanNull()
		}
		n, err := decimal(v)
		if err != nil {
			return 0, inputError("scan", string(v), err)
		}
		return n, nil
	case string:
		n, err := decimal(v)
		if err != nil {
			return 0, inputError("scan", v, err)
		}
		return n, nil
	case uint64: // MySQL's bigint unsigned
		if v > math.MaxInt64 {
			return 0, fmt.Errorf("sqltype: scan %d: %w", v, ErrRange)
		}
		return ID(v), nil
	case ID: // ent scans the id it has just written
		return scanInt(int64(v))
	case *ID:
		if v == nil {
			return 0, scanNull()
		}
		return scanInt(int64(*v))
	case nil:
		return 0, scanNull()
	default:
		return 0, fmt.Errorf("sqltype: scan %T %s: %w", src, quote(fmt.Sprint(src)), ErrType)
	}
}

func scanInt(n int64) (ID, error) {
	if n < 0 {
		return 0, valueError("scan", n, ErrNegative)
	}
	return ID(n), nil
}

func scanNull() error { return fmt.Errorf("sqltype: scan: %w", ErrNull) }

// GormDataType tells gorm the column's type, which is bigint in every dialect.
func (ID) GormDataType() string { return "bigint" }
