package pgxtype_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// What is written to json and jsonb, and read from it, in each format.
func TestJSON(t *testing.T) {
	m := registered()
	for _, c := range []struct {
		oid    uint32
		format int16
		head   string
	}{{pgtype.JSONOID, txt, ""}, {pgtype.JSONOID, bin, ""}, {pgtype.JSONBOID, txt, ""}, {pgtype.JSONBOID, bin, "\x01"}} {
		for kind, as := range kinds {
			t.Run(fmt.Sprintf("%d %d %s", c.oid, c.format, kind), func(t *testing.T) {
				for _, v := range []any{big, ptr(big), valid(big), ptr(valid(big)), ptr(ptr(big))} {
					if b, err := m.Encode(c.oid, c.format, as(v), []byte("prefix")); err != nil || string(b) != "prefix"+c.head+`"1996573624012345677"` {
						t.Errorf("%T: %q, %v", v, b, err)
					}
				}
				for _, v := range []any{(*ID)(nil), NullID{}, &NullID{}, (*NullID)(nil), ptr((*ID)(nil))} {
					if b, err := m.Encode(c.oid, c.format, as(v), []byte("prefix")); b != nil || err != nil {
						t.Errorf("NULL %T: %q, %v", v, b, err)
					}
				}
				for _, v := range []any{ID(-1), ptr(ID(-1)), valid(-1), []ID{-1}} {
					if b, err := m.Encode(c.oid, c.format, as(v), nil); !errors.Is(err, sqltype.ErrNegative) {
						t.Errorf("%T: %q, %v", v, b, err)
					}
				}
				for src, want := range map[string]error{
					`"1996573624012345677"`: nil, `1996573624012345677`: nil, " \t\r\n\"1996573624012345677\"\n ": nil,
					"NULL": sqltype.ErrNull, "null": sqltype.ErrNull, " null ": sqltype.ErrNull,
					`"007"`: sqltype.ErrSyntax, `7.0`: sqltype.ErrSyntax, `1e3`: sqltype.ErrSyntax, `""`: sqltype.ErrSyntax, `true`: sqltype.ErrSyntax,
					`{"id":7}`: sqltype.ErrSyntax, `[7]`: sqltype.ErrSyntax, `"-7"`: sqltype.ErrNegative, `-7`: sqltype.ErrNegative, `9223372036854775808`: sqltype.ErrRange,
					`"null"`: sqltype.ErrSyntax, ``: sqltype.ErrSyntax,
				} {
					data := []byte(c.head + src)
					if src == "NULL" {
						data = nil
					}
					id, null, pointer := ID(42), valid(42), ptr(ID(42))
					wantID, wantNull, wantPointer, wantErr := id, null, pointer, want
					switch want {
					case nil:
						wantID, wantNull, wantPointer = big, valid(big), ptr(big)
					case sqltype.ErrNull: // only an ID refuses it
						wantNull, wantPointer, wantErr = NullID{}, nil, nil
					}
					if err := m.Scan(c.oid, c.format, data, as(&id)); !errors.Is(err, want) || id != wantID {
						t.Errorf("%q: %d, %v, want %v", data, id, err, want)
					}
					if err := m.Scan(c.oid, c.format, data, as(&null)); !errors.Is(err, wantErr) || null != wantNull {
						t.Errorf("%q: %v, %v, want %v", data, null, err, wantErr)
					}
					if err := m.Scan(c.oid, c.format, data, as(&pointer)); !errors.Is(err, wantErr) || !reflect.DeepEqual(pointer, wantPointer) {
						t.Errorf("%q: %v, %v, want %v", data, pointer, err, wantErr)
					}
				}
			})
		}
	}
	for _, src := range [][]byte{{}, {2, '7'}, []byte("7")} {
		if err := m.Scan(pgtype.JSONBOID, bin, src, new(ID)); err == nil || !strings.Contains(err.Error(), "version") {
			t.Errorf("%q: %v", src, err)
		}
	}
}
