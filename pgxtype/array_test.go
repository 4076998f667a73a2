package pgxtype_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// nullables returns the array in every form that a slice of ids or keys has here. If all is false,
// those whose elements cannot be NULL are missing.
func nullables(ints []*int64) (forms []any, all bool) {
	all = true
	ids, pointers, nulls := make([]ID, len(ints)), make([]*ID, len(ints)), make([]NullID, len(ints))
	for i, n := range ints {
		if n == nil {
			all = false
			continue
		}
		ids[i], pointers[i], nulls[i] = ID(*n), new(ID(*n)), valid(ID(*n))
	}
	forms = []any{pointers, nulls}
	if all {
		forms = append(forms, ids)
	}
	return append(forms, each(keyed, forms)...), all
}

// pgx's own arrays of int64 are the judge of every byte.
func TestArrayBytes(t *testing.T) {
	m, plain := registered(), pgtype.NewMap()
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 3, 100, 70_000} {
		for _, withNull := range []bool{false, true} {
			ints := make([]*int64, size)
			for i := range ints {
				if !withNull || random.IntN(3) > 0 {
					ints[i] = new(random.Int64() >> random.IntN(64))
				}
			}
			forms, _ := nullables(ints)
			for _, prefix := range [][]byte{nil, []byte("prefix"), make([]byte, 3, 1<<10)} {
				want, err := plain.Encode(pgtype.Int8ArrayOID, bin, ints, bytes.Clone(prefix))
				must(t, err)
				for _, form := range forms {
					got, err := m.Encode(pgtype.Int8ArrayOID, bin, form, prefix)
					if err != nil || !bytes.Equal(got, want) {
						t.Fatalf("%T of %d, NULLs %t: %d bytes, want %d, %v", form, size, withNull, len(got), len(want), err)
					}
					back := reflect.New(reflect.TypeOf(form))
					if err := m.Scan(pgtype.Int8ArrayOID, bin, got[len(prefix):], back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), form) {
						t.Fatalf("%T of %d, NULLs %t: not the same when scanned, %v", form, size, withNull, err)
					}
				}
			}
		}
	}
	empty := []any{[]ID(nil), []*ID(nil), []NullID(nil), (*[]ID)(nil)}
	for _, form := range append(empty, each(keyed, empty)...) {
		if b, err := m.Encode(pgtype.Int8ArrayOID, bin, form, nil); b != nil || err != nil {
			t.Errorf("nil %T: %x, %v", form, b, err)
		}
	}
}

// Types of arrays other than a slice, and the text format.
func TestArray(t *testing.T) {
	dims := []pgtype.ArrayDimension{{Length: 2, LowerBound: 1}}
	for _, tt := range []struct {
		value, ints any
		text        string
	}{
		{[]ID{1, big, 0}, []int64{1, int64(big), 0}, "{1,1996573624012345677,0}"},
		{[]ID{}, []int64{}, "\f{}"}, // see encodeByPgx
		{[]ID(nil), []int64(nil), ""},
		{[]*ID{new(big), nil}, []*int64{new(int64(big)), nil}, "{1996573624012345677,NULL}"},
		{[]NullID{valid(big), {}}, []*int64{new(int64(big)), nil}, "{1996573624012345677,NULL}"},
		{[]*NullID{new(valid(7)), nil}, []*int64{new(int64(7)), nil}, "{7,NULL}"},
		{[][]ID{{7}}, [][]int64{{7}}, "{{7}}"},
		{pgtype.FlatArray[ID]{1, 2}, []int64{1, 2}, "{1,2}"},
		{pgtype.FlatArray[*ID]{new(big), nil}, []*int64{new(int64(big)), nil}, "{1996573624012345677,NULL}"},
		{pgtype.Array[ID]{Elements: []ID{1, 2}, Dims: dims, Valid: true}, []int64{1, 2}, "{1,2}"},
		{[][]ID{{1, 2}, {3, 4}}, [][]int64{{1, 2}, {3, 4}}, "{{1,2},{3,4}}"},
		{[2]ID{1, 2}, []int64{1, 2}, "{1,2}"},
	} {
		for format, code := range formats {
			for kind, as := range kinds {
				t.Run(fmt.Sprintf("%T %s %s", tt.value, format, kind), func(t *testing.T) {
					m := registered() // a map keeps the plan for all slices of one dimension
					b, err := m.Encode(pgtype.Int8ArrayOID, code, as(tt.value), nil)
					want, wantErr := pgtype.NewMap().Encode(pgtype.Int8ArrayOID, code, tt.ints, nil)
					if err != nil || wantErr != nil || code == txt && string(b) != tt.text || !bytes.Equal(bytes.TrimPrefix(b, []byte("\f")), want) {
						t.Fatalf("encoded %q, %v, want %q, %v", b, err, want, wantErr)
					}
					target := reflect.New(reflect.TypeOf(tt.value))
					if target.Elem().Kind() == reflect.Slice {
						target.Elem().Set(reflect.MakeSlice(target.Elem().Type(), 1, 1))
					}
					if err := m.Scan(pgtype.Int8ArrayOID, code, b, as(target.Interface())); err != nil || !reflect.DeepEqual(target.Elem().Interface(), tt.value) {
						t.Errorf("scanned %v, %v", target.Elem(), err)
					}
				})
			}
		}
	}
}

// An error of an element leaves the slice as it was.
func TestArrayErrors(t *testing.T) {
	m, plain := registered(), pgtype.NewMap()
	check := func(code int16, ints []*int64, want error, form any) {
		src, err := plain.Encode(pgtype.Int8ArrayOID, code, ints, nil)
		must(t, err)
		target := reflect.New(reflect.TypeOf(form))
		old := reflect.MakeSlice(reflect.TypeOf(form), 3, 3)
		target.Elem().Set(old)
		if err := m.Scan(pgtype.Int8ArrayOID, code, src, target.Interface()); !errors.Is(err, want) || !reflect.DeepEqual(target.Elem().Interface(), old.Interface()) {
			t.Errorf("%T: %v, %v", form, target.Elem(), err)
		}
	}
	for _, code := range formats {
		for _, as := range kinds {
			check(code, []*int64{new(int64(1)), nil}, sqltype.ErrNull, as([]ID{}))
			if err := m.Scan(pgtype.Int8ArrayOID, code, nil, as((*[]ID)(nil))); !errors.Is(err, sqltype.ErrNil) {
				t.Error(err)
			}
		}
		for _, at := range []int{0, 1, 99} {
			for _, n := range []int64{-1, math.MinInt64} {
				ints := make([]*int64, 100)
				for i := range ints {
					ints[i] = new(int64(i))
				}
				ints[at] = new(n)
				forms, _ := nullables(ints)
				for _, form := range forms {
					check(code, ints, sqltype.ErrNegative, form)
					if b, err := m.Encode(pgtype.Int8ArrayOID, code, form, nil); !errors.Is(err, sqltype.ErrNegative) {
						t.Errorf("%T: %d bytes, %v", form, len(b), err)
					}
				}
			}
		}
	}
}

// FuzzArray compares what is read of an array with what pgx reads of it.
func FuzzArray(f *testing.F) {
	for _, ints := range [][]*int64{{}, {new(int64(1))}, {new(int64(big)), nil, new(int64(0))}, {new(int64(-1))}} {
		b, err := pgtype.NewMap().Encode(pgtype.Int8ArrayOID, bin, ints, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, 0))
		f.Add(b[:len(b)-1])
		for _, at := range []int{3, 7, 11, 15, 12, 19, 23} {
			if at < len(b) {
				bad := bytes.Clone(b)
				bad[at] ^= 0x82
				f.Add(bad)
			}
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, src []byte) {
		m := registered()
		var ints []*int64
		plain := pgtype.NewMap().Scan(pgtype.Int8ArrayOID, bin, src, &ints)
		sound := plain == nil
		for _, n := range ints {
			sound = sound && (n == nil || *n >= 0)
		}
		forms, all := nullables(ints)
		if !all || !sound {
			forms = []any{forms[0], forms[1], []ID{}}
			forms = append(forms, each(keyed, forms)...)
		}
		for i, want := range forms {
			target := reflect.New(reflect.TypeOf(want))
			old := reflect.MakeSlice(reflect.TypeOf(want), 1, 1)
			target.Elem().Set(old)
			err := m.Scan(pgtype.Int8ArrayOID, bin, src, target.Interface())
			if ok := sound && (all || i%3 < 2); ok != (err == nil) {
				t.Fatalf("%x into %T: %v, int64: %v", src, want, err, plain)
			} else if !ok {
				want = old.Interface()
			}
			if got := target.Elem().Interface(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%x into %T: %v, want %v, %v", src, want, got, want, err)
			}
		}
	})
}

// An array whose sizes are negative, or more than what follows, costs no memory.
func TestArrayClaims(t *testing.T) {
	m := registered()
	targets := []any{new([]ID), new([]*ID), new([]NullID)}
	for _, dims := range [][]int32{{-5}, {math.MaxInt32}, {-2, -3}, {math.MaxInt32, math.MaxInt32, math.MaxInt32, 4}, {0}, {0, 5}} {
		src := binary.BigEndian.AppendUint32(nil, uint32(len(dims)))
		src = binary.BigEndian.AppendUint64(src, pgtype.Int8OID)
		for _, n := range dims {
			src = binary.BigEndian.AppendUint32(src, uint32(n))
			src = binary.BigEndian.AppendUint32(src, 1)
		}
		if dims[0] == math.MaxInt32 {
			src = append(src, wire(bin, 8<<32)...) // the begin of an element
		}
		for _, target := range append(targets, each(keyed, targets)...) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := m.Scan(pgtype.Int8ArrayOID, bin, src, target)
			runtime.ReadMemStats(&after)
			if n := reflect.ValueOf(target).Elem().Len(); err == nil && (n != 0 || dims[0] > 0) {
				t.Errorf("dimensions %v into %T: %d elements", dims, target, n)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
				t.Errorf("dimensions %v into %T: %d bytes", dims, target, got)
			}
		}
	}
}
