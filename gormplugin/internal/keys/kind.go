package keys

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Kind is how a Go field holds an id.
type Kind uint8

const (
	_        Kind = iota // a field that is never set
	signed               // sqltype.ID and Key, int64 and types declared over it
	unsigned             // uint64 and types declared over it
	decimal              // string and types declared over it
	base62               // a string of eleven characters
	nullable             // sqltype.NullID and NullKey
)

const base62Digits = 11 // of sqltype.ID.Base62

// kindOf returns how the field holds an id in a database of the dialect, or why it cannot.
func kindOf(f *schema.Field, o options, dialect string) (Kind, error) {
	t := f.FieldType
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var k Kind
	switch {
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Int && t.Bits() == 64:
		k = signed
	case t.Kind() == reflect.Uint64, t.Kind() == reflect.Uint && t.Bits() == 64:
		k = unsigned
	case t.Kind() == reflect.String:
		k = decimal
	case rows.IsNull(t):
		k = nullable
	case t == reflect.TypeFor[sql.NullInt64]():
		return 0, errors.New("a key of type sql.NullInt64 cannot be filled: use sqltype.NullID")
	default:
		return 0, fmt.Errorf("the type %s cannot hold a key of 63 bits: use sqltype.ID, int64, uint64 or string", TypeName(f.FieldType))
	}
	if o.base62 {
		if k != decimal {
			return 0, fmt.Errorf("base62 needs a string, and its type is %s", TypeName(f.FieldType))
		}
		k = base62
	}
	tag, column := f.Tag.Get("gorm"), strings.ToLower(string(f.DataType))
	switch {
	case f.AutoIncrement && !o.configured && f.TagSettings["AUTOINCREMENT"] == "":
		return 0, fmt.Errorf("the key of type %v is auto-increment to gorm: add autoIncrement:false to its gorm tag %q", f.FieldType, tag)
	case f.AutoIncrement && !o.configured, databaseMakes.MatchString(column):
		return 0, fmt.Errorf("by the gorm tag %q, the database makes the key: say autoIncrement:false, and bigint if it names a type", tag)
	case isTooSmall(f, k, dialect):
		fits := "bigint"
		if n := k.digits(); n > 0 {
			fits = fmt.Sprintf("char(%d)", n)
		}
		return 0, fmt.Errorf("the gorm tag %q makes its column too small for a key of 63 bits: say %s", tag, fits)
	case k == base62 && dialect == "mysql" && !strings.Contains(column, "bin"):
		return 0, fmt.Errorf("a column of MySQL ignores case by default, and base 62 does not: add type:char(11) CHARACTER SET ascii COLLATE ascii_bin to its gorm tag %q", tag)
	case f.Serializer != nil:
		return 0, errors.New("a serializer would write the key in another form: remove it from the gorm tag")
	case !f.Creatable:
		return 0, fmt.Errorf("the gorm tag %q keeps it out of creates; if the database sets it, say snowflake:-", tag)
	}
	return k, nil
}

var (
	databaseMakes = regexp.MustCompile(`serial|auto_increment|identity`)
	smallInteger  = regexp.MustCompile(`^(tinyint|smallint|mediumint|int|integer|int[1-4]|year)\b`)
	inexact       = regexp.MustCompile(`^(float|double|real)`)
	shortText     = regexp.MustCompile(`^(?:var|n|nvar)?char(?:acter)?(?: varying)?\s*\((\d+)\)`)
)

// isTooSmall reports whether the tag of a field gives it a column that cannot hold every key of the kind.
func isTooSmall(f *schema.Field, k Kind, dialect string) bool {
	column, digits := strings.ToLower(f.TagSettings["TYPE"]), k.digits()
	switch m := shortText.FindStringSubmatch(column); {
	case m != nil:
		n, err := strconv.Atoi(m[1])
		return err == nil && n < max(digits, base62Digits)
	case inexact.MatchString(column), smallInteger.MatchString(column) && dialect != "sqlite": // there, every integer has 64 bits
		return true
	case digits == 0:
		return f.Size < 64 && (f.DataType == schema.Int || f.DataType == schema.Uint)
	}
	return 0 < f.Size && f.Size < digits
}

// digits returns the length of the longest key as a string, or 0 for a number.
func (k Kind) digits() int {
	switch k {
	case decimal:
		return 19
	case base62:
		return base62Digits
	}
	return 0
}

// isZero reports whether v holds no id. v may be the zero Value, or a pointer.
func isZero(v reflect.Value) bool {
	v = rows.Indirect(v)
	return !v.IsValid() || v.IsZero() || rows.IsNull(v.Type()) && (v.Field(0).IsZero() || !v.Field(1).Bool())
}

// isZeroInMap reports whether a map's value holds no id: 0 of any number type, or a string of zeros.
func isZeroInMap(v reflect.Value) bool {
	if isZero(v) {
		return true
	}
	v = rows.Indirect(v)
	return v.Kind() == reflect.String && strings.Trim(v.String(), "0") == ""
}

// set sets v to the id. It replaces a pointer instead of writing through it: two rows may share
// what it points to.
func (k Kind) set(v reflect.Value, id int64) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch k {
	case signed:
		v.SetInt(id)
	case unsigned:
		v.SetUint(uint64(id))
	case nullable:
		v.Field(0).SetInt(id)
		v.Field(1).SetBool(true)
	default:
		v.SetString(k.text(id))
	}
}

func (k Kind) text(id int64) string {
	if k == base62 {
		return sqltype.ID(id).Base62()
	}
	return strconv.FormatInt(id, 10)
}
