package pgxtype_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Values of json and jsonb are read back as they were written, in each format.
func TestJSON(t *testing.T) {
	m := registered()
	for _, oid := range []uint32{pgtype.JSONOID, pgtype.JSONBOID} {
		for format, code := range formats {
			head := ""
			if oid == pgtype.JSONBOID && code == bin {
				head = "\x01"
			}
			with := func(values ...any) []any { return append(values, each(keyed, values)...) }
			for _, v := range with(big, ptr(big), valid(big), ptr(valid(big))) {
				b, err := m.Encode(oid, code, v, []byte("prefix"))
				if err != nil || string(b) != "prefix"+head+`"1996573624012345677"` {
					t.Errorf("%T to %d, %s: %q, %v", v, oid, format, b, err)
				}
			}
			for _, v := range with((*ID)(nil), NullID{}, &NullID{}, (*NullID)(nil)) {
				if b, err := m.Encode(oid, code, v, []byte("prefix")); b != nil || err != nil {
					t.Errorf("NULL %T to %d, %s: %q, %v", v, oid, format, b, err)
				}
			}
			for _, v := range with(ID(-1), ptr(ID(-1)), valid(-1), []ID{-1}) {
				if b, err := m.Encode(oid, code, v, nil); !errors.Is(err, sqltype.ErrNegative) {
					t.Errorf("%T to %d, %s: %q, %v", v, oid, format, b, err)
				}
			}
			for _, src := range []string{`"1996573624012345677"`, `1996573624012345677`, " \t\r\n\"1996573624012345677\"\n "} {
				for _, as := range kinds {
					id, null, pointer := ID(42), NullID{}, ptr(ID(42))
					for _, target := range []any{&id, &null, &pointer} {
						if err := m.Scan(oid, code, []byte(head+src), as(target)); err != nil {
							t.Errorf("%s from %d, %s into %T: %v", src, oid, format, as(target), err)
						}
					}
					if id != big || null != valid(big) || *pointer != big {
						t.Errorf("%s from %d, %s: %v, %v, %v", src, oid, format, id, null, *pointer)
					}
				}
			}
			for src, want := range map[string]error{
				`"007"`: sqltype.ErrSyntax, `7.0`: sqltype.ErrSyntax, `1e3`: sqltype.ErrSyntax, `""`: sqltype.ErrSyntax, `true`: sqltype.ErrSyntax,
				`{"id":7}`: sqltype.ErrSyntax, `[7]`: sqltype.ErrSyntax, `"-7"`: sqltype.ErrNegative, `-7`: sqltype.ErrNegative, `9223372036854775808`: sqltype.ErrRange,
				`"null"`: sqltype.ErrSyntax, ``: sqltype.ErrSyntax,
			} {
				t.Run(src, func(t *testing.T) {
					id, null, pointer := ID(42), valid(42), ptr(ID(42))
					for _, target := range with(&id, &null, &pointer) {
						if err := m.Scan(oid, code, []byte(head+src), target); !errors.Is(err, want) {
							t.Errorf("%s from %d, %s into %T: %v, want %v", src, oid, format, target, err, want)
						}
					}
					if id != 42 || null != valid(42) || *pointer != 42 {
						t.Errorf("%s from %d, %s: %v, %v, %v", src, oid, format, id, null, *pointer)
					}
				})
			}
			for _, src := range [][]byte{nil, []byte(head + "null"), []byte(head + " null ")} {
				for _, as := range kinds {
					id, null, pointer := ID(42), valid(42), ptr(ID(42))
					if err := m.Scan(oid, code, src, as(&id)); !errors.Is(err, sqltype.ErrNull) || id != 42 {
						t.Errorf("%q from %d, %s: %v, %v", src, oid, format, id, err)
					}
					if err := errors.Join(m.Scan(oid, code, src, as(&null)), m.Scan(oid, code, src, as(&pointer))); err != nil || null.Valid || pointer != nil {
						t.Errorf("%q from %d, %s: %v, %v, %v", src, oid, format, null, pointer, err)
					}
				}
			}
		}
	}
	for _, src := range [][]byte{{}, {2, '7'}, []byte("7")} {
		if err := m.Scan(pgtype.JSONBOID, bin, src, new(ID)); err == nil || !strings.Contains(err.Error(), "version") {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// The form that a document has after a struct was marshalled is read field by field.
func TestJSONColumns(t *testing.T) {
	type doc struct {
		ID     ID     `json:"id"`
		Parent NullID `json:"parent"`
		Lines  []ID   `json:"lines"`
	}
	in := doc{big, NullID{}, []ID{7, big}}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			conn := connect(t, mode)
			pgxtype.Register(conn.TypeMap())
			run(t, conn, `create temp table docs (b jsonb, j json)`)
			run(t, conn, `insert into docs values ('{"id": "1996573624012345677", "parent": null, "lines": ["7", 1996573624012345677]}', '{"id": 1996573624012345677, "parent": null, "lines": ["7"]}')`)
			expect(t, conn, in, `select b from docs`)
			for _, column := range []string{"b", "j"} {
				expect(t, conn, big, `select `+column+`->'id' from docs`)
				expect(t, conn, ptr(big), `select `+column+`->'id' from docs`)
				expect(t, conn, valid(big), `select `+column+`->'id' from docs`)
				expect(t, conn, big, `select (`+column+`->>'id') from docs`)
				expect(t, conn, NullID{}, `select `+column+`->'parent' from docs`)
				expect(t, conn, (*ID)(nil), `select `+column+`->'parent' from docs`)
				expect(t, conn, NullID{}, `select `+column+`->'no such' from docs`)
				expect(t, conn, ID(7), `select `+column+`->'lines'->0 from docs`)
				refuse(t, conn, sqltype.ErrNull, new(ID), `select `+column+`->'parent' from docs`)
				refuse(t, conn, sqltype.ErrNull, new(ID), `select `+column+`->'no such' from docs`)
				refuse(t, conn, sqltype.ErrSyntax, new(ID), `select `+column+` from docs`)
			}
			expect(t, conn, []ID{7, big}, `select b->'lines' from docs`)
			expect(t, conn, []ID{7, big}, `select array(select jsonb_array_elements(b->'lines') from docs)`)
			expect(t, conn, []NullID{valid(7), {}}, `select array['7', 'null']::json[]`)
		})
	}
}

// PostgreSQL makes a number of a bigint. The error of a key with a Form says so, in a struct and
// alone, and what it advises works.
func TestJSONOfABigint(t *testing.T) {
	type row[K any] struct {
		ID K `json:"id"`
	}
	const want = `a number, but a sqltype.Key[github.com/seed-299c1d6b/snowkey/pgxtype_test.strict] has a Form, want "row_" and 13 digits of base 32: read the number into a sqltype.ID and convert it`
	conn := connect(t, pgx.QueryExecModeCacheStatement)
	pgxtype.Register(conn.TypeMap())
	run(t, conn, `create temp table orders (id bigint)`)
	run(t, conn, `insert into orders values ($1)`, big)
	for query, target := range map[string]any{
		`select json_agg(o) from orders o`:      new([]row[sqltype.Key[strict]]),
		`select jsonb_agg(o) from orders o`:     new([]row[sqltype.NullKey[strict]]),
		`select to_jsonb(id) from orders`:       new(sqltype.Key[strict]),
		`select jsonb_agg(id) from orders`:      new([]sqltype.Key[strict]),
		`select row_to_json(o) from orders o`:   new(row[*sqltype.Key[strict]]),
		`select to_json(array[id]) from orders`: new([]sqltype.NullKey[strict]),
	} {
		if err := conn.QueryRow(t.Context(), query).Scan(target); !errors.Is(err, sqltype.ErrSyntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", query, err, want)
		}
	}
	expect(t, conn, []row[ID]{{big}}, `select json_agg(o) from orders o`)
	expect(t, conn, []row[sqltype.Key[prefixed]]{{sqltype.Key[prefixed](big)}}, `select json_agg(o) from orders o`)
}

// If pgx does not know that a parameter is json, an ID is a number, and a slice is a
// PostgreSQL array, which json refuses, even if it is empty.
func TestJSONParameters(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			conn := connect(t, mode)
			pgxtype.Register(conn.TypeMap())
			described := mode != pgx.QueryExecModeExec && mode != pgx.QueryExecModeSimpleProtocol
			run(t, conn, `create temp table docs (id int generated always as identity, b jsonb, j json)`)
			values := []any{big, ptr(big), valid(big), []ID{big}, []ID{}, &[]ID{big}, []NullID{valid(big), {}}, []NullID{}, []*ID{ptr(big), nil}, []*ID{}}
			for _, v := range values {
				slice := reflect.Indirect(reflect.ValueOf(v)).Kind() == reflect.Slice
				want := map[string]string{
					"sqltype.ID": `"1996573624012345677"`, "*sqltype.ID": `"1996573624012345677"`, "sqltype.NullID": `"1996573624012345677"`,
					"[1996573624012345677]": `["1996573624012345677"]`, "&[1996573624012345677]": `["1996573624012345677"]`, "[]": `[]`,
					"[1996573624012345677 NULL]": `["1996573624012345677", null]`,
				}
				text, ok := want[fmt.Sprintf("%T", v)]
				if !ok {
					text = want[fmt.Sprint(v)]
				}
				if _, pointers := v.([]*ID); pointers && len(v.([]*ID)) > 0 {
					text = want["[1996573624012345677 NULL]"]
				}
				for _, column := range []string{"b", "j"} {
					for _, as := range kinds {
						_, err := conn.Exec(t.Context(), `insert into docs (`+column+`) values ($1)`, as(v))
						switch {
						case slice && !described:
							if err == nil || !strings.Contains(err.Error(), "type json") {
								t.Errorf("%T %v: %v, want it refused", v, v, err)
							}
						case err != nil:
							t.Errorf("%T %v: %v", v, v, err)
						case described:
							expect(t, conn, strings.ReplaceAll(text, " ", ""), `select replace(coalesce(b::text, j::text), ' ', '') from docs order by id desc limit 1`)
						default:
							expect(t, conn, big.String(), `select coalesce(b::text, j::text) from docs order by id desc limit 1`)
						}
					}
				}
				// A cast works in every mode.
				if !slice {
					expect(t, conn, `"1996573624012345677"`, `select to_jsonb($1::text)::text`, v)
				} else {
					expect(t, conn, text, `select to_jsonb($1::text[])::text`, v)
				}
			}
			if err := copyRows(t, conn, "docs", []string{"b", "j"}, []any{big, ptr(big)}); err != nil {
				t.Error(err)
			}
			expect(t, conn, `"1996573624012345677" "1996573624012345677"`, `select b::text || ' ' || j::text from docs order by id desc limit 1`)
			expect(t, conn, NullID{}, `select to_jsonb($1::text)`, NullID{})
			expect(t, conn, true, `select $1::jsonb is null`, NullID{})
			expect(t, conn, true, `select $1::json is null`, (*ID)(nil))
			expect(t, conn, []ID{}, `select $1::bigint[]`, []ID{})
		})
	}
}
