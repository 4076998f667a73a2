package pgxtype_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// strict is one that does not read decimals.
type strict struct{}

func (*strict) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "row"} }

const bigText = "row_1qda147xjq4ad"

// A list in a json column has the Form of a key, because it is written by encoding/json. Every other column has
// the number.
func TestKeysWithAForm(t *testing.T) {
	type (
		key  = sqltype.Key[strict]
		null = sqltype.NullKey[strict]
	)
	k, n := key(big), null{Key: key(big), Valid: true}
	m := registered()
	quoted := `"` + bigText + `"`
	for _, tt := range []struct {
		name   string
		oid    uint32
		values []any
		want   string
		target func() any
		back   string // of the target, as Go prints it
	}{
		{"bigint", pgtype.Int8OID, []any{k, &k, n, &n}, big.String(), func() any { return new(key) }, bigText},
		{"unknown", 0, []any{k, &k, n, &n}, big.String(), func() any { return new(null) }, bigText},
		{"text", pgtype.TextOID, []any{k, &k, n, &n}, big.String(), func() any { return new(key) }, bigText},
		{"json list", pgtype.JSONOID, []any{[]key{k}, []*key{&k}, []null{n}, &[]key{k}}, "[" + quoted + "]", func() any { return new([]key) }, "[" + bigText + "]"},
		{"bigint[]", pgtype.Int8ArrayOID, []any{[]key{k}, []*key{&k}, []null{n}, &[]key{k}}, "{" + big.String() + "}", func() any { return new([]null) }, "[" + bigText + "]"},
		{"text[]", pgtype.TextArrayOID, []any{[]key{k}, []*key{&k}, []null{n}, &[]key{k}}, "{" + big.String() + "}", func() any { return new([]key) }, "[" + bigText + "]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range tt.values {
				b, err := m.Encode(tt.oid, txt, v, nil)
				if err != nil || string(b) != tt.want {
					t.Errorf("%T: %q, %v, want %q", v, b, err, tt.want)
				}
			}
			for format, code := range formats {
				if tt.oid == 0 && code == bin {
					continue // pgx asks for text if it does not know a type
				}
				b, err := m.Encode(tt.oid, code, tt.values[0], nil)
				target := tt.target()
				if err == nil {
					err = m.Scan(tt.oid, code, b, target)
				}
				if got := fmt.Sprint(reflect.ValueOf(target).Elem()); err != nil || got != tt.back {
					t.Errorf("%s: scanned %s, %v, want %s", format, got, err, tt.back)
				}
			}
		})
	}
}

// changing is an array whose elements are not of the type that it announces.
type changing struct{ elements []any }

func (c changing) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(c.elements)), LowerBound: 1}}
}
func (c changing) Index(i int) any                             { return c.elements[i] }
func (c changing) IndexType() any                              { return c.elements[0] }
func (c changing) SetDimensions([]pgtype.ArrayDimension) error { return nil }
func (c changing) ScanIndex(i int) any                         { return c.elements[i] }
func (c changing) ScanIndexType() any                          { return c.elements[0] }

// A plan for one type of keys writes to no other type.
func TestElementsOfAnotherType(t *testing.T) {
	m := registered()
	key, name, other := Key(7), "name", sqltype.Key[strict](7)
	for format, code := range formats {
		for _, oid := range []uint32{pgtype.Int8ArrayOID, pgtype.TextArrayOID} {
			src := []byte(`{8,9}`)
			if code == bin {
				var err error
				if src, err = m.Encode(oid, code, []ID{8, 9}, nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, second := range []any{&name, &other, nil} {
				err := m.Scan(oid, code, src, changing{[]any{&key, second}})
				if !errors.Is(err, sqltype.ErrType) || name != "name" || other != 7 {
					t.Errorf("%s into %T: %q, %d, %v", format, second, name, other, err)
				}
			}
		}
	}
}

func TestRegisterKey(t *testing.T) {
	m := pgtype.NewMap()
	pgxtype.RegisterKey[order](m)
	pgxtype.RegisterKey[order](m)
	pgxtype.RegisterKey[order](nil)
	works(t, m)
	for _, v := range []any{Key(7), []Key{7}, []*Key{}, [][]Key{}, []NullKey{}, &[]Key{}} {
		if _, ok := m.TypeForValue(v); !ok {
			t.Errorf("%T has no type", v)
		}
	}
	var keys []Key
	if err := m.SQLScanner(&keys).Scan("{1,2}"); err != nil || !slices.Equal(keys, []Key{1, 2}) {
		t.Errorf("%v, %v", keys, err)
	}
}
