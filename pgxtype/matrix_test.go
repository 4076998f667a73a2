package pgxtype_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// A use is a line of testdata/modes.txt. It reports whether it works on a connection that may have
// had Register called.
type use struct {
	name string
	try  func(t *testing.T, conn *pgx.Conn) error
}

// back runs a query of one value, which must be want.
func back[T any](want T, query string, args ...any) func(*testing.T, *pgx.Conn) error {
	return func(t *testing.T, conn *pgx.Conn) error {
		return alike(func(as func(any) any) error {
			var got T
			if err := conn.QueryRow(t.Context(), query, each(as, args)...).Scan(as(&got)); err != nil {
				return err
			}
			if !reflect.DeepEqual(got, want) {
				return wrong(fmt.Sprintf("%s: got %v, want %v", query, got, want))
			}
			return nil
		})
	}
}

// alike tries ids and keys. One must work if the other does.
func alike(try func(as func(any) any) error) error {
	ids, keys := try(same), try(keyed)
	var bad wrong
	switch {
	case errors.As(ids, &bad):
		return bad
	case errors.As(keys, &bad):
		return "keys: " + bad
	case (ids == nil) != (keys == nil):
		return wrong(fmt.Sprintf("ids: %v; keys: %v", ids, keys))
	}
	return ids
}

// wrong is worse than an error: a value that is not the one that was sent.
type wrong string

func (w wrong) Error() string { return string(w) }

func all(tries ...func(*testing.T, *pgx.Conn) error) func(*testing.T, *pgx.Conn) error {
	return func(t *testing.T, conn *pgx.Conn) error {
		for _, try := range tries {
			if err := try(t, conn); err != nil {
				return err
			}
		}
		return nil
	}
}

// loaded asks pgx to learn a type of the database's own first.
func loaded(name string, try func(*testing.T, *pgx.Conn) error) func(*testing.T, *pgx.Conn) error {
	return func(t *testing.T, conn *pgx.Conn) error {
		for _, name := range strings.Fields(name) {
			typ, err := conn.LoadType(t.Context(), name)
			must(t, err)
			conn.TypeMap().RegisterType(typ)
		}
		return try(t, conn)
	}
}

// copied copies one value into a column and compares its text.
func copied(column, want string, v any) func(*testing.T, *pgx.Conn) error {
	return func(t *testing.T, conn *pgx.Conn) error {
		table := pgx.Identifier{"copied " + column} // pgx keeps what it knows of a table by its name
		run(t, conn, `create temp table `+table.Sanitize()+` (c `+column+`)`)
		return alike(func(as func(any) any) error {
			run(t, conn, `truncate `+table.Sanitize())
			if _, err := conn.CopyFrom(t.Context(), table, []string{"c"}, pgx.CopyFromRows([][]any{{as(v)}})); err != nil {
				return err
			}
			return back(want, `select c::text from `+table.Sanitize())(t, conn)
		})
	}
}

// jsonType wants a parameter to be a JSON value of that type.
func jsonType(want string, v any) func(*testing.T, *pgx.Conn) error {
	return func(t *testing.T, conn *pgx.Conn) error {
		return alike(func(as func(any) any) error {
			for _, query := range []string{`select jsonb_typeof($1::jsonb)`, `select json_typeof($1::json)`} {
				var got string
				if err := conn.QueryRow(t.Context(), query, as(v)).Scan(&got); err != nil || got != want {
					return fmt.Errorf("a %s, want a %s, %w", got, want, err)
				}
			}
			return nil
		})
	}
}

type (
	pair struct {
		A ID
		B NullID
	}
)

var (
	uses = []use{
		{"bigint: ID, *ID, NullID as parameters and scanned", all(
			back(big, `select $1::bigint`, big), back(new(big), `select $1::bigint`, new(big)), back((*ID)(nil), `select $1::bigint`, (*ID)(nil)),
			back(valid(big), `select $1::bigint`, valid(big)), back(NullID{}, `select $1::bigint`, NullID{}))},
		{"int2, int4, numeric, oid, domain: the same", all(
			back(ID(7), `select $1::int2`, ID(7)), back(ID(7), `select $1::int4`, new(ID(7))), back(big, `select $1::numeric`, big),
			back(ID(7), `select $1::oid`, ID(7)), back(valid(big), `select $1::key`, valid(big)))},
		{"text, varchar: ID scanned", all(back(big, `select '1996573624012345677'::text`), back(big, `select '1996573624012345677'::varchar(30)`))},
		{"text, varchar: ID, *ID, NullID as parameters", all(
			back(big.String(), `select $1::text`, big), back(big.String(), `select $1::varchar(30)`, new(big)), back(big.String(), `select $1::text`, valid(big)))},
		{"json, jsonb: ID as a parameter, a number", all(jsonType("number", big), jsonType("number", new(big)), jsonType("number", valid(big)))},
		{"json, jsonb: []ID as a parameter, an array of strings", all(
			back(`["1996573624012345677"]`, `select ($1::jsonb)::text`, []ID{big}), back(`["1996573624012345677"]`, `select ($1::json)::text`, []ID{big}))},
		{"to_jsonb($1::text): ID, a string", back(`"1996573624012345677"`, `select to_jsonb($1::text)::text`, big)},
		{"to_jsonb($1::text[]): []ID, an array of strings", back(`["1996573624012345677"]`, `select to_jsonb($1::text[])::text`, []ID{big})},
		{"json, jsonb: ID, *ID, NullID scanned from a number", all(
			back(big, `select '{"id": 1996573624012345677}'::jsonb->'id'`), back(new(big), `select '1996573624012345677'::json`), back(valid(big), `select '1996573624012345677'::jsonb`))},
		{"bigint[]: []ID, []*ID, []NullID scanned", all(
			back([]ID{1, big}, `select array[1, 1996573624012345677]`), back([]*ID{new(big), nil}, `select array[1996573624012345677, null]`),
			back([]NullID{valid(big), {}}, `select array[1996573624012345677, null]`))},
		{"bigint[]: the same as parameters, = any($1)", all(
			back(true, `select 7::bigint = any($1)`, []ID{5, 7}), back([]ID{1, big}, `select $1::bigint[]`, []ID{1, big}), back([]ID(nil), `select $1::bigint[]`, []ID(nil)),
			back([]*ID{new(big), nil}, `select $1::bigint[]`, []*ID{new(big), nil}), back([]NullID{valid(big), {}}, `select $1::bigint[]`, []NullID{valid(big), {}}))},
		{"bigint[][]: [][]ID scanned", back([][]ID{{1, 2}, {3, 4}}, `select '{{1,2},{3,4}}'::bigint[]`)},
		{"bigint[][]: [][]ID as a parameter", back([][]ID{{1, 2}, {3, 4}}, `select $1::bigint[]`, [][]ID{{1, 2}, {3, 4}})},
		{"text[], numeric[]: []ID as a parameter", all(back("{1,2}", `select ($1::text[])::text`, []ID{1, 2}), back("{1,2}", `select ($1::numeric[])::text`, []ID{1, 2}))},
		{"domain[], not loaded: []ID scanned", back([]ID{1, 2}, `select '{1,2}'::key[]`)},
		{"domain[], not loaded: []ID as a parameter", back("{1,2}", `select ($1::key[])::text`, []ID{1, 2})},
		{"domain[], loaded: []ID scanned", loaded("key _key", back([]ID{1, 2}, `select '{1,2}'::key[]`))},
		{"domain[], loaded: []ID as a parameter", loaded("key _key", back("{1,2}", `select ($1::key[])::text`, []ID{1, 2}))},
		{"composite, loaded: a struct scanned", loaded("pair", back(pair{big, NullID{}}, `select row(1996573624012345677, null)::pair`))},
		{"composite, loaded: a struct as a parameter", loaded("pair", back(pair{big, NullID{}}, `select $1::pair`, pair{big, NullID{}}))},
		{"the same, after RegisterDefaultPgType", loaded("pair", func(t *testing.T, conn *pgx.Conn) error {
			typ, _ := conn.TypeMap().TypeForName("pair")
			conn.TypeMap().RegisterDefaultPgType(pair{}, typ.Name)
			conn.TypeMap().RegisterDefaultPgType(keyed(pair{}), typ.Name)
			return back(pair{big, NullID{}}, `select $1::pair`, pair{big, NullID{}})(t, conn)
		})},
		{"CopyFrom: ID, *ID, NullID into bigint, numeric, domain", all(
			copied("bigint", big.String(), big), copied("numeric", big.String(), new(big)), copied("key", big.String(), valid(big)))},
		{"jsonb: doc->'id' = $1, a number", func(t *testing.T, conn *pgx.Conn) error {
			run(t, conn, `create temp table if not exists docs as select '{"id": 1996573624012345677}'::jsonb as doc`)
			return back(int64(1), `select count(*) from docs where doc->'id' = $1`, big)(t, conn)
		}},
		{"CopyFrom: ID into text", copied("text", big.String(), big)},
		{"CopyFrom: []ID into bigint[]", copied("bigint[]", "{1,2}", []ID{1, 2})},
		{"CopyFrom: []ID into domain[], not loaded", copied("key[]", "{1,2}", []ID{1, 2})},
		{"CopyFrom: []ID into domain[], loaded", loaded("key _key", copied("key[]", "{1,2}", []ID{1, 2}))},
		{"NamedArgs, Batch, RowToStructByName, CollectRows", func(t *testing.T, conn *pgx.Conn) error {
			batch := &pgx.Batch{}
			batch.Queue(`select @id::bigint as a, null::bigint as b`, pgx.NamedArgs{"id": big})
			results := conn.SendBatch(t.Context(), batch)
			rows, err := results.Query()
			if err != nil {
				return errors.Join(err, results.Close())
			}
			got, err := pgx.CollectRows(rows, pgx.RowToStructByName[pair])
			if err == nil && !reflect.DeepEqual(got, []pair{{big, NullID{}}}) {
				err = wrong(fmt.Sprint(got))
			}
			return errors.Join(err, results.Close())
		}},
	}
)

// testdata/modes.txt, which docs/pgx.md links to, is what a server says. To write it again, copy what
// the test prints.
func TestDocumentedTable(t *testing.T) {
	var measured strings.Builder
	fmt.Fprintf(&measured, "%-56s  registered     bare\n", "")
	for _, u := range uses {
		fmt.Fprintf(&measured, "%-56s", u.name)
		with, bare := tried(t, u, true), tried(t, u, false)
		for i := range with {
			if bare[i] && !with[i] {
				t.Errorf("%s, %v: works only without registration", u.name, modes[i])
			}
		}
		fmt.Fprintf(&measured, "  %-13s  %-13s", outcome(with), outcome(bare))
		measured.WriteString("\n")
	}
	text := regexp.MustCompile(`(?m) +$`).ReplaceAllString(measured.String(), "")
	want, err := os.ReadFile("testdata/modes.txt")
	must(t, err)
	if text != string(want) {
		t.Errorf("testdata/modes.txt has another table than\n%s", text)
	}
}

// tried reports whether a use works, for each mode.
func tried(t *testing.T, u use, register bool) (works []bool) {
	t.Helper()
	for _, mode := range modes {
		conn := connect(t, mode)
		run(t, conn, `create domain pg_temp.key as bigint check (value > 0)`)
		run(t, conn, `create type pg_temp.pair as (a bigint, b bigint)`)
		if register {
			pgxtype.Register(conn.TypeMap())
		}
		err := u.try(t, conn)
		var bad wrong
		if errors.As(err, &bad) {
			t.Errorf("%s, %v, registered=%v: %v", u.name, mode, register, bad)
		}
		works = append(works, err == nil)
		_ = conn.Close(t.Context())
	}
	return works
}

// outcome tells in which modes a use works.
func outcome(works []bool) string {
	switch fmt.Sprint(works) { // CacheStatement, CacheDescribe, DescribeExec, Exec, Simple
	case "[true true true true true]":
		return "all modes"
	case "[false false false false false]":
		return "no"
	case "[true true true false false]":
		return "described"
	case "[false false false true true]":
		return "Exec, Simple"
	}
	return fmt.Sprint(works)
}
