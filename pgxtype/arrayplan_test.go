package pgxtype_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestArray(t *testing.T) {
	arrays := []struct {
		name   string
		value  any
		target any
		text   string // on the wire, in the text format; "" is NULL
	}{
		{"[]ID", []ID{1, big, 0}, new([]ID), "{1,1996573624012345677,0}"},
		{"[]ID empty", []ID{}, new([]ID), "\f{}"}, // see encodeAny
		{"[]ID NULL", []ID(nil), &[]ID{1}, ""},
		{"[]*ID", []*ID{ptr(big), nil}, new([]*ID), "{1996573624012345677,NULL}"},
		{"[]NullID", []NullID{valid(big), {}}, new([]NullID), "{1996573624012345677,NULL}"},
		{"FlatArray", pgtype.FlatArray[ID]{1, 2}, new(pgtype.FlatArray[ID]), "{1,2}"},
		{"FlatArray of pointers", pgtype.FlatArray[*ID]{ptr(big), nil}, new(pgtype.FlatArray[*ID]), "{1996573624012345677,NULL}"},
		{"Array", pgtype.Array[ID]{Elements: []ID{1, 2}, Dims: []pgtype.ArrayDimension{{Length: 2, LowerBound: 1}}, Valid: true},
			new(pgtype.Array[ID]), "{1,2}"},
		{"[][]ID", [][]ID{{1, 2}, {3, 4}}, new([][]ID), "{{1,2},{3,4}}"},
		{"[2]ID", [2]ID{1, 2}, new([2]ID), "{1,2}"},
	}
	for _, tt := range arrays {
		for format, code := range formats {
			try := func(t *testing.T, as func(any) any) {
				m := registered()
				b, err := m.Encode(pgtype.Int8ArrayOID, code, as(tt.value), nil)
				if err != nil {
					t.Fatal(err)
				}
				if code == pgtype.TextFormatCode && string(b) != tt.text {
					t.Errorf("encoded %q", b)
				}
				// pgx's own types are the judge of the bytes.
				if plain, err := pgtype.NewMap().Encode(pgtype.Int8ArrayOID, code, int64s(tt.value), nil); err != nil || !bytes.Equal(plain, bytes.TrimPrefix(b, []byte("\f"))) {
					t.Errorf("encoded %q, int64 is %q, %v", b, plain, err)
				}
				target := reflect.New(reflect.TypeOf(tt.target).Elem())
				target.Elem().Set(reflect.ValueOf(tt.target).Elem())
				if err := m.Scan(pgtype.Int8ArrayOID, code, b, as(target.Interface())); err != nil {
					t.Fatal(err)
				}
				if got := target.Elem().Interface(); !reflect.DeepEqual(got, tt.value) {
					t.Errorf("scanned %v", got)
				}
			}
			for kind, as := range kinds {
				t.Run(tt.name+" "+format+" "+kind, func(t *testing.T) { try(t, as) })
			}
		}
	}
}

// int64s returns the array with plain numbers.
func int64s(v any) any {
	var out []*int64
	switch v := v.(type) {
	case []ID:
		if v == nil {
			return nil
		}
		for _, id := range v {
			out = append(out, ptr(int64(id)))
		}
	case []*ID:
		for _, id := range v {
			out = append(out, (*int64)(id))
		}
	case pgtype.FlatArray[ID]:
		return int64s([]ID(v))
	case pgtype.FlatArray[*ID]:
		return int64s([]*ID(v))
	case []NullID:
		for _, n := range v {
			if n.Valid {
				out = append(out, ptr(int64(n.ID)))
			} else {
				out = append(out, nil)
			}
		}
	case pgtype.Array[ID]:
		return int64s(v.Elements)
	case [][]ID:
		return [][]int64{{int64(v[0][0]), int64(v[0][1])}, {int64(v[1][0]), int64(v[1][1])}}
	case [2]ID:
		return int64s(v[:])
	}
	if out == nil {
		return []*int64{}
	}
	return out
}

func TestArrayErrorsKeepTheSlice(t *testing.T) {
	m := registered()
	for format, code := range formats {
		for name, ints := range map[string][]*int64{
			"NULL element": {ptr(int64(1)), nil}, "negative element": {ptr(int64(1)), ptr(int64(-1))},
		} {
			b, err := m.Encode(pgtype.Int8ArrayOID, code, ints, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, as := range kinds {
				ids := []ID{7, 8, 9}
				err = m.Scan(pgtype.Int8ArrayOID, code, b, as(&ids))
				if !errors.Is(err, sqltype.ErrNull) && !errors.Is(err, sqltype.ErrNegative) {
					t.Errorf("%s %s: %v", format, name, err)
				}
				if !reflect.DeepEqual(ids, []ID{7, 8, 9}) {
					t.Errorf("%s %s: %v", format, name, ids)
				}
			}
		}
	}
	// Hostile headers: sizes that do not fit what follows, or are negative.
	for _, dims := range [][]int32{{-5}, {math.MaxInt32}, {-2, -3}, {math.MaxInt32, math.MaxInt32, math.MaxInt32, 4}, {0}, {0, 5}} {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(dims)))
		b = binary.BigEndian.AppendUint32(b, 0)
		b = binary.BigEndian.AppendUint32(b, pgtype.Int8OID)
		for _, n := range dims {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
			b = binary.BigEndian.AppendUint32(b, 1)
		}
		for _, as := range kinds {
			ids := []ID{7}
			if err := m.Scan(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, b, as(&ids)); err == nil && len(ids) != 0 {
				t.Errorf("dimensions %v: %v", dims, ids)
			}
		}
	}
}

// As pgx does for []int64, more dimensions than the slice has are laid out flat.
func TestArrayFlattens(t *testing.T) {
	m := registered()
	for format, code := range formats {
		b, err := m.Encode(pgtype.Int8ArrayOID, code, [][]ID{{1, 2}, {3, 4}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, as := range kinds {
			var ids []ID
			var ints []int64
			err1, err2 := m.Scan(pgtype.Int8ArrayOID, code, b, as(&ids)), m.Scan(pgtype.Int8ArrayOID, code, b, &ints)
			if err1 != nil || err2 != nil || !reflect.DeepEqual(ids, []ID{1, 2, 3, 4}) || len(ints) != 4 {
				t.Errorf("%s: %v %v, %v %v", format, ids, err1, ints, err2)
			}
		}
	}
}
