package sqltype

import (
	"database/sql/driver"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// scans holds the sources that are not text; those are in texts.
var scans = []struct {
	name string
	src  any
	want ID
	err  error
	show string // what the error must show
}{
	{"int64", int64(7), 7, nil, ""},
	{"int64 zero", int64(0), 0, nil, ""},
	{"int64 largest", int64(math.MaxInt64), math.MaxInt64, nil, ""},
	{"int64 negative", int64(-7), 0, ErrNegative, "-7"},
	{"int64 least", int64(math.MinInt64), 0, ErrNegative, "-9223372036854775808"},
	{"uint64", uint64(7), 7, nil, ""},
	{"uint64 largest id", uint64(math.MaxInt64), math.MaxInt64, nil, ""},
	{"uint64 above", uint64(math.MaxInt64 + 1), 0, ErrRange, overText},
	{"uint64 largest", uint64(math.MaxUint64), 0, ErrRange, "18446744073709551615"},
	{"ID", ID(7), 7, nil, ""},
	{"ID negative", ID(-7), 0, ErrNegative, "-7"},
	{"*ID", ptr[ID](7), 7, nil, ""},
	{"*ID negative", ptr[ID](-7), 0, ErrNegative, "-7"},
	{"float64", 7.0, 0, ErrType, `float64 "7"`},
	{"bool", true, 0, ErrType, `bool "true"`},
	{"int", 7, 0, ErrType, `int "7"`},
	{"time", time.Unix(0, 0).UTC(), 0, ErrType, "time.Time"},
	{"NullID", NullID{7, true}, 7, nil, ""},
	{"NullID negative", NullID{-7, true}, 0, ErrNegative, "-7"},
	{"long", []int64{1 << 60, 1 << 60, 1 << 60, 1 << 60, 1 << 60}, 0, ErrType, "more bytes"},
}

var nulls = map[string]any{"nil": nil, "nil *ID": (*ID)(nil), "nil bytes": []byte(nil), "NullID": NullID{}}

func TestScan(t *testing.T) {
	kinds(t, testScan[ID, NullID], testScan[plainKey, plainNull])
}

func testScan[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]](t *testing.T) {
	for _, tt := range scans {
		t.Run(tt.name, func(t *testing.T) {
			id, null := K(42), some[N](42)
			want := K(tt.want)
			if tt.err != nil {
				want = 42
			}
			for name, err := range map[string]error{"id": P(&id).Scan(tt.src), "null": Q(&null).Scan(tt.src)} {
				if !errors.Is(err, tt.err) || err != nil && !strings.Contains(err.Error(), tt.show) {
					t.Errorf("%s: error %v, want %v with %s", name, err, tt.err, tt.show)
				}
			}
			if id != want || null != some[N](ID(want)) {
				t.Errorf("id %d, null %v, want %d", id, null, want)
			}
		})
	}
}

func TestScanNull(t *testing.T) {
	kinds(t, testScanNull[ID, NullID], testScanNull[plainKey, plainNull])
}

func testScanNull[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]](t *testing.T) {
	for name, src := range nulls {
		id, null := K(42), some[N](42)
		err := P(&id).Scan(src)
		if !errors.Is(err, ErrNull) || id != 42 {
			t.Errorf("%s into an id: %d, %v", name, id, err)
		}
		for _, hint := range []string{"sqltype.NullID", "sqltype.NullKey", "NULL", "pointer"} {
			if !strings.Contains(err.Error(), hint) {
				t.Errorf("%s: %q does not name %s", name, err, hint)
			}
		}
		if err := Q(&null).Scan(src); err != nil || null != *new(N) {
			t.Errorf("%s into a null: %v, %v", name, null, err)
		}
	}
}

func TestValue(t *testing.T) {
	kinds(t, testValue[ID, NullID], testValue[plainKey, plainNull])
}

func testValue[K idKind, N nullKind](t *testing.T) {
	for _, tt := range []struct {
		name string
		v    driver.Valuer
		want driver.Value
		err  error
	}{
		{"id", K(7), int64(7), nil},
		{"zero is not NULL", K(0), int64(0), nil},
		{"largest", K(ID(math.MaxInt64)), int64(math.MaxInt64), nil},
		{"pointer", any(ptr[K](7)).(driver.Valuer), int64(7), nil},
		{"negative", K(-7), nil, ErrNegative},
		{"null", some[N](7), int64(7), nil},
		{"null zero", some[N](0), int64(0), nil},
		{"null NULL", nullOf[N](0, false), nil, nil},
		{"null NULL with a rest", nullOf[N](-7, false), nil, nil},
		{"null negative", some[N](-7), nil, ErrNegative},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.v.Value()
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%s: %T %v, %v", tt.name, got, got, err)
			}
			if !driver.IsValue(got) {
				t.Errorf("%s: %T is no driver.Value", tt.name, got)
			}
		})
	}
}

func TestGormDataType(t *testing.T) {
	type dataTyper interface{ GormDataType() string } // what gorm looks for
	for _, v := range []any{ID(0), new(ID), NullID{}, new(NullID), plainKey(0), new(plainKey), plainNull{}, new(plainNull)} {
		if d, ok := v.(dataTyper); !ok || d.GormDataType() != "bigint" {
			t.Errorf("%T has not the data type bigint", v)
		}
	}
}

// An ID is of no type of rows, so it takes the key of any.
func TestScanKeyIntoID(t *testing.T) {
	t.Parallel()
	key := Key[prefixedRow](7)
	for _, src := range []any{key, &key, NullKey[prefixedRow]{key, true}, &NullKey[prefixedRow]{key, true}} {
		var id ID
		var null NullID
		if errs := errors.Join(id.Scan(src), null.Scan(src)); errs != nil || id != 7 || null != some[NullID](7) {
			t.Errorf("%T: %d, %v, %v", src, id, null, errs)
		}
	}
	for _, src := range []any{(*Key[prefixedRow])(nil), NullKey[prefixedRow]{}, (*NullKey[prefixedRow])(nil)} {
		id, null := ID(7), some[NullID](7)
		if err := id.Scan(src); !errors.Is(err, ErrNull) || id != 7 {
			t.Errorf("%T: %d, %v", src, id, err)
		}
		if err := null.Scan(src); err != nil || null.Valid {
			t.Errorf("%T: %v, %v", src, null, err)
		}
	}
}
