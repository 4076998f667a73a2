package pgxtype_test

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// What a server sends may be anything. pgx's own int64 is the judge: an ID that
// is accepted is the same number, and is never negative.
func FuzzScan(f *testing.F) {
	ids := []ID{1, big}
	for _, format := range formats {
		for _, n := range []int64{0, 7, int64(big), -1} {
			f.Add(wire(format, n), format == txt)
		}
		b, err := registered().Encode(pgtype.Int8ArrayOID, format, ids, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, format == txt)
	}
	for _, format := range formats { // as pgx does for []int64, more dimensions than the slice has are laid out flat
		b, err := registered().Encode(pgtype.Int8ArrayOID, format, [][]ID{{1, 2}, {3, 4}}, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, format == txt)
	}
	f.Add([]byte("{{1,2},{3,NULL}}"), true)
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1}, false)
	f.Fuzz(func(t *testing.T, src []byte, text bool) {
		format := int16(bin)
		if text {
			format = txt
		}
		m := registered()
		before := bytes.Clone(src)
		id, key, n := ID(42), Key(42), int64(0)
		keyErr := m.Scan(pgtype.Int8OID, format, src, &key)
		if err := m.Scan(pgtype.Int8OID, format, src, &id); (err == nil) != (keyErr == nil) || key.ID() != id && err == nil {
			t.Fatalf("%q: id is %d, %v; key is %d, %v", src, id, err, key, keyErr)
		} else if err != nil {
			if id != 42 || key != 42 {
				t.Fatalf("%q: id is %d after %v", src, id, err)
			}
		} else if err := m.Scan(pgtype.Int8OID, format, src, &n); err != nil || n != int64(id) || n < 0 {
			t.Fatalf("%q: %d, int64 is %d, %v", src, id, n, err)
		}
		ids, ints := []ID{42}, []int64(nil)
		if err := m.Scan(pgtype.Int8ArrayOID, format, src, &ids); err != nil {
			if len(ids) != 1 || ids[0] != 42 {
				t.Fatalf("%q: %v after %v", src, ids, err)
			}
		} else if err := m.Scan(pgtype.Int8ArrayOID, format, src, &ints); err != nil || len(ids) != len(ints) {
			t.Fatalf("%q: %v, int64 is %v, %v", src, ids, ints, err)
		} else {
			for i := range ids {
				if int64(ids[i]) != ints[i] || ints[i] < 0 {
					t.Fatalf("%q: %v, int64 is %v", src, ids, ints)
				}
			}
		}
		if !bytes.Equal(before, src) {
			t.Fatal("the source was changed")
		}
	})
}
