package pgxtype_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	ID     = sqltype.ID
	NullID = sqltype.NullID
)

const big = ID(1996573624012345677)

func valid(id ID) NullID { return NullID{ID: id, Valid: true} }

func registered() *pgtype.Map {
	m := pgtype.NewMap()
	pgxtype.Register(m)
	return m
}

var formats = map[string]int16{"binary": pgtype.BinaryFormatCode, "text": pgtype.TextFormatCode}

// wire is what PostgreSQL sends and takes for a bigint.
func wire(format int16, n int64) []byte {
	if format == pgtype.TextFormatCode {
		return fmt.Append(nil, n)
	}
	return binary.BigEndian.AppendUint64(nil, uint64(n))
}

func TestScalar(t *testing.T) {
	for _, tt := range []struct {
		name   string
		value  any
		target any   // a pointer to a value that is to be overwritten
		want   any   // what it points to then
		n      int64 // on the wire
		null   bool
	}{
		{"ID", big, new(ID(42)), big, int64(big), false},
		{"ID zero", ID(0), new(ID(42)), ID(0), 0, false},
		{"ID largest", ID(math.MaxInt64), new(ID(42)), ID(math.MaxInt64), math.MaxInt64, false},
		{"*ID", new(big), new(new(ID(42))), new(big), int64(big), false},
		{"*ID NULL", (*ID)(nil), new(new(ID(42))), (*ID)(nil), 0, true},
		{"NullID", valid(big), new(valid(42)), valid(big), int64(big), false},
		{"NullID zero", valid(0), new(valid(42)), valid(0), 0, false},
		{"NullID NULL", NullID{}, new(valid(42)), NullID{}, 0, true},
		{"*NullID", new(valid(big)), new(&NullID{}), new(valid(big)), int64(big), false},
		{"*NullID invalid", &NullID{}, new(&NullID{}), (*NullID)(nil), 0, true},
		{"*NullID nil", (*NullID)(nil), new(&NullID{}), (*NullID)(nil), 0, true},
	} {
		for format, code := range formats {
			for mapName, m := range map[string]*pgtype.Map{"registered": registered(), "bare": pgtype.NewMap(), "keys": registered(), "bare keys": pgtype.NewMap()} {
				t.Run(fmt.Sprint(tt.name, " ", format, " ", mapName), func(t *testing.T) {
					as := same
					if strings.HasSuffix(mapName, "keys") {
						as = keyed
					}
					want := wire(code, tt.n)
					if tt.null {
						want = nil
					}
					got, err := m.Encode(pgtype.Int8OID, code, as(tt.value), []byte("prefix"))
					must(t, err)
					if tt.null && got != nil || !tt.null && string(got) != "prefix"+string(want) {
						t.Errorf("encoded %q", got)
					}
					target := reflect.New(reflect.TypeOf(tt.target).Elem())
					target.Elem().Set(reflect.ValueOf(tt.target).Elem())
					must(t, m.Scan(pgtype.Int8OID, code, want, as(target.Interface())))
					if got := target.Elem().Interface(); !reflect.DeepEqual(got, tt.want) {
						t.Errorf("scanned %v, want %v", got, tt.want)
					}
				})
			}
		}
	}
}

// The other types of the map must be served as before.
func TestOthersUnchanged(t *testing.T) {
	m := registered()
	for format, code := range formats {
		var n int64
		var v any
		src := wire(code, -5)
		if err := m.Scan(pgtype.Int8OID, code, src, &n); err != nil || n != -5 {
			t.Errorf("%s int64: %d, %v", format, n, err)
		}
		if err := m.Scan(pgtype.Int8OID, code, src, &v); err != nil || v != int64(-5) {
			t.Errorf("%s any: %T %v, %v", format, v, v, err)
		}
		if b, err := m.Encode(pgtype.Int8OID, code, int64(-5), nil); err != nil || !bytes.Equal(b, src) {
			t.Errorf("%s encode: %q, %v", format, b, err)
		}
		ints := []int64{1, -2}
		b, err := m.Encode(pgtype.Int8ArrayOID, code, ints, nil)
		var back []int64
		if err != nil || m.Scan(pgtype.Int8ArrayOID, code, b, &back) != nil || !reflect.DeepEqual(ints, back) {
			t.Errorf("%s array: %v, %v", format, back, err)
		}
	}
}

func TestScalarErrors(t *testing.T) {
	m := registered()
	for _, v := range []any{ID(-1), new(ID(-1)), valid(-1), new(valid(-1)), []ID{1, -1}, []*ID{new(ID(-1))}} {
		for format, code := range formats {
			for _, oid := range []uint32{pgtype.Int8OID, pgtype.Int8ArrayOID, pgtype.TextOID, pgtype.NumericOID, pgtype.Int4OID, 0} {
				if (reflect.TypeOf(v).Kind() == reflect.Slice) != (oid == pgtype.Int8ArrayOID) {
					continue
				}
				for kind, as := range kinds {
					b, err := m.Encode(oid, code, as(v), nil)
					if !errors.Is(err, sqltype.ErrNegative) || !strings.Contains(err.Error(), "-1") {
						t.Errorf("%s of %T to oid %d, %s: %q, %v", kind, v, oid, format, b, err)
					}
					if ours := oid != pgtype.NumericOID && oid != pgtype.Int4OID && oid != 0; ours && kind == "keys" && !strings.Contains(err.Error(), "Key[") {
						t.Errorf("%v does not name the type", err)
					}
				}
			}
		}
	}
	type scan struct {
		name   string
		format int16
		src    []byte
		want   error
		shows  string
	}
	rows := []scan{
		{"7 bytes", pgtype.BinaryFormatCode, make([]byte, 7), nil, "7 bytes"},
		{"9 bytes", pgtype.BinaryFormatCode, make([]byte, 9), nil, "9 bytes"},
		{"0 bytes", pgtype.BinaryFormatCode, []byte{}, nil, "0 bytes"},
		{"1 MB", pgtype.BinaryFormatCode, make([]byte, 1<<20), nil, "1048576 bytes"},
		{"empty text", pgtype.TextFormatCode, []byte{}, sqltype.ErrSyntax, `""`},
		{"no number", pgtype.TextFormatCode, []byte("7x"), sqltype.ErrSyntax, `"7x"`},
		{"large", pgtype.TextFormatCode, []byte("9223372036854775808"), sqltype.ErrRange, `"9223372036854775808"`},
	}
	for name, code := range formats {
		rows = append(rows, scan{name + " negative", code, wire(code, -7), sqltype.ErrNegative, "-7"},
			scan{name + " least", code, wire(code, math.MinInt64), sqltype.ErrNegative, "-9223372036854775808"})
	}
	for _, tt := range rows {
		for _, target := range []any{new(ID(42)), new(new(ID(42))), new(valid(42))} {
			for kind, as := range kinds {
				err := m.Scan(pgtype.Int8OID, tt.format, tt.src, as(target))
				if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.shows) || len(err.Error()) > 300 {
					t.Errorf("%s into %s of %T: %v", tt.name, kind, target, err)
				}
				if kind == "keys" && !strings.Contains(err.Error(), fmt.Sprintf("%T", as(target))) {
					t.Errorf("%v does not name the type", err)
				}
			}
			if got := reflect.ValueOf(target).Elem().Interface(); !slices.ContainsFunc([]any{ID(42), new(ID(42)), valid(42)}, func(old any) bool { return reflect.DeepEqual(got, old) }) {
				t.Errorf("%s: %T is %v", tt.name, target, got)
			}
		}
	}
	for format, code := range formats {
		for _, as := range kinds {
			id := ID(42)
			err := m.Scan(pgtype.Int8OID, code, nil, as(&id))
			if !errors.Is(err, sqltype.ErrNull) || id != 42 {
				t.Fatalf("%s NULL: %d, %v", format, id, err)
			}
			for _, hint := range []string{"NullID", "NullKey", "pointer", "NULL"} {
				if !strings.Contains(err.Error(), hint) {
					t.Errorf("%q does not name %s", err, hint)
				}
			}
			for _, target := range []any{(*ID)(nil), (**ID)(nil), (*NullID)(nil)} {
				for _, src := range [][]byte{nil, wire(code, 7)} {
					if err := m.Scan(pgtype.Int8OID, code, src, as(target)); !errors.Is(err, sqltype.ErrNil) {
						t.Errorf("%s %q into a nil %T: %v", format, src, as(target), err)
					}
				}
			}
		}
	}
}

// A type that the program registers accepts an ID if its codec accepts an int64.
func TestOwnTypes(t *testing.T) {
	m := registered()
	m.RegisterType(&pgtype.Type{Name: "serial_number", OID: 90_001, Codec: pgtype.Int8Codec{}})
	m.RegisterType(&pgtype.Type{Name: "citext", OID: 90_002, Codec: pgtype.TextCodec{}})
	for format, code := range formats {
		for _, as := range kinds {
			if b, err := m.Encode(90_001, code, as(big), nil); err != nil || !bytes.Equal(b, wire(code, int64(big))) {
				t.Errorf("%s: %q, %v", format, b, err)
			}
			if b, err := m.Encode(90_002, code, as(big), nil); err == nil || !strings.Contains(err.Error(), "citext") {
				t.Errorf("%s: %q, %v", format, b, err)
			}
		}
	}
}

// Where the server has not told the type, or pgx does not know it, the Go type decides.
func TestUnknownOID(t *testing.T) {
	const unknown = 99_999
	for _, tt := range []struct {
		value any
		oid   uint32
		text  string
	}{
		{ID(7), pgtype.Int8OID, "7"}, {new(ID(7)), pgtype.Int8OID, "7"},
		{valid(7), pgtype.Int8OID, "7"}, {new(valid(7)), pgtype.Int8OID, "7"},
		{[]ID{7, 8}, pgtype.Int8ArrayOID, "{7,8}"}, {&[]ID{7}, pgtype.Int8ArrayOID, "{7}"},
		{[]*ID{new(ID(7)), nil}, pgtype.Int8ArrayOID, "{7,NULL}"}, {&[]*ID{nil}, pgtype.Int8ArrayOID, "{NULL}"},
		{[]NullID{valid(7), {}}, pgtype.Int8ArrayOID, "{7,NULL}"},
		{[][]ID{{1, 2}, {3, 4}}, pgtype.Int8ArrayOID, "{{1,2},{3,4}}"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			m := registered() // a map keeps the plan for all slices of one dimension
			if typ, ok := m.TypeForValue(tt.value); !ok || typ.OID != tt.oid {
				t.Errorf("%T: type %v", tt.value, typ)
			}
			for kind, as := range kinds {
				if b, err := m.Encode(0, txt, as(tt.value), nil); err != nil || string(b) != tt.text {
					t.Errorf("%s of %T: %q, %v", kind, tt.value, b, err)
				}
				target := reflect.New(reflect.TypeOf(tt.value))
				if err := m.Scan(unknown, txt, []byte(tt.text), as(target.Interface())); err != nil || !reflect.DeepEqual(target.Elem().Interface(), tt.value) {
					t.Errorf("%s: scanned %v, %v, want %v", kind, target.Elem(), err, tt.value)
				}
			}
		})
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
