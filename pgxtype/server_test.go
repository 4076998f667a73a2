package pgxtype_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement,
	pgx.QueryExecModeCacheDescribe,
	pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec,
	pgx.QueryExecModeSimpleProtocol,
}

// connect opens a connection whose temporary tables, types and domains are its own.
func connect(t *testing.T, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(testserver.Postgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	run(t, conn, `set search_path to pg_temp, pg_catalog`)
	return conn
}

// run executes a statement. If it has ids, it does so with keys first, and undoes that.
func run(t *testing.T, conn *pgx.Conn, query string, args ...any) {
	t.Helper()
	if hasIDs(args) {
		run(t, conn, `begin`)
		run(t, conn, query, each(keyed, args)...)
		run(t, conn, `rollback`)
	}
	if _, err := conn.Exec(t.Context(), query, args...); err != nil {
		t.Fatalf("%s with %T: %v", query, args, err)
	}
}

// expect runs a query of one value, scans it into a fresh T and compares.
func expect[T any](t *testing.T, conn *pgx.Conn, want T, query string, args ...any) {
	t.Helper()
	for kind, as := range kinds {
		var got T
		if err := conn.QueryRow(t.Context(), query, each(as, args)...).Scan(as(&got)); err != nil {
			t.Errorf("%s, %s: %v", query, kind, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s: got %v, want %v", query, kind, got, want)
		}
	}
}

// refuse runs a query of one value and wants an error at the latest from Scan.
func refuse(t *testing.T, conn *pgx.Conn, want error, target any, query string, args ...any) {
	t.Helper()
	for kind, as := range kinds {
		err := conn.QueryRow(t.Context(), query, each(as, args)...).Scan(as(target))
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s, %s: error %v, want %v", query, kind, err, want)
		}
	}
}

type check struct {
	name string
	bare bool // holds without Register as well
	run  func(t *testing.T, conn *pgx.Conn)
}

var checks = []check{
	// What docs/pgx.md lists is in matrix_test.go.
	{"table", true, func(t *testing.T, conn *pgx.Conn) {
		run(t, conn, `create temp table orders (id bigint primary key, parent bigint references orders, name text not null)`)
		run(t, conn, `insert into orders values ($1, $2, 'a'), ($3, $4, 'b')`, big, NullID{}, big+1, ptr(big))
		type row struct {
			ID     ID
			Parent NullID
			Name   string
		}
		rows, err := conn.Query(t.Context(), `select id, parent, name from orders where id >= $1 order by id`, big)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
		if want := []row{{big, NullID{}, "a"}, {big + 1, valid(big), "b"}}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, %v", got, err)
		}
		expect(t, conn, 1, `select count(*)::int from orders where parent = $1`, valid(big))
		batch := &pgx.Batch{}
		for _, as := range kinds {
			batch.Queue(`insert into orders values ($1, $2, 'c')`, as(big+2), as(big))
			batch.Queue(`delete from orders where id = $1`, as(ptr(big+2)))
		}
		if err := conn.SendBatch(t.Context(), batch).Close(); err != nil {
			t.Error(err)
		}
		expect(t, conn, 2, `select count(*)::int from orders`)
	}},
	{"errors", true, func(t *testing.T, conn *pgx.Conn) {
		var n int64
		id, null := ID(42), valid(42)
		refuse(t, conn, sqltype.ErrNull, &id, `select null::bigint`)
		refuse(t, conn, sqltype.ErrNull, &id, `select null`)
		refuse(t, conn, sqltype.ErrNegative, &id, `select (-1)::bigint`)
		refuse(t, conn, sqltype.ErrNegative, &null, `select (-1)::bigint`)
		refuse(t, conn, sqltype.ErrNegative, &n, `select $1::bigint`, ID(-1))
		refuse(t, conn, sqltype.ErrNegative, &n, `select $1::bigint`, valid(-1))
		refuse(t, conn, nil, &n, `select $1::int4`, big)
		refuse(t, conn, nil, &n, `select $1::int2`, ID(40_000))
		if id != 42 || null != valid(42) {
			t.Errorf("after the errors: %d, %v", id, null)
		}
		expect(t, conn, ID(7), `select $1::bigint`, ID(7)) // the connection is usable
	}},
	{"array", false, func(t *testing.T, conn *pgx.Conn) {
		run(t, conn, `create temp table keys (id bigint primary key)`)
		run(t, conn, `insert into keys select unnest($1::bigint[])`, []ID{big, big + 1, big + 2})
		expect(t, conn, []ID{big, big + 2}, `select array_agg(id order by id) from keys where id = any($1)`, []ID{big + 2, 5, big})
		expect(t, conn, []ID{}, `select coalesce(array_agg(id), '{}') from keys where id = any($1)`, []ID{})
		ids := []ID{7}
		refuse(t, conn, sqltype.ErrNull, &ids, `select '{1,null}'::bigint[]`)
		refuse(t, conn, sqltype.ErrNegative, &ids, `select '{1,-1}'::bigint[]`)
		refuse(t, conn, sqltype.ErrNegative, &ids, `select $1::bigint[]`, []ID{-1})
		if !reflect.DeepEqual(ids, []ID{7}) {
			t.Errorf("after the errors: %v", ids)
		}
	}},
}

func TestModes(t *testing.T) {
	for _, mode := range modes {
		for _, c := range checks {
			t.Run(fmt.Sprintf("%s/%s/registered", mode, c.name), func(t *testing.T) {
				conn := connect(t, mode)
				if err := pgxtype.AfterConnect(t.Context(), conn); err != nil {
					t.Fatal(err)
				}
				c.run(t, conn)
			})
			if c.bare {
				t.Run(fmt.Sprintf("%s/%s/bare", mode, c.name), func(t *testing.T) {
					c.run(t, connect(t, mode))
				})
			}
		}
	}
}

func TestDatabaseSQL(t *testing.T) {
	config, err := pgx.ParseConfig(testserver.Postgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			config := config.Copy()
			config.DefaultQueryExecMode = mode
			m := registered()
			pgxtype.RegisterKey[order](m)
			for name, db := range map[string]*sql.DB{
				"registered": stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxtype.AfterConnect)),
				"bare":       stdlib.OpenDB(*config),
			} {
				t.Cleanup(func() { _ = db.Close() })
				for kind, as := range kinds {
					var id ID
					var parent, null NullID
					var pointer *ID
					err := db.QueryRowContext(t.Context(), `select $1::bigint, $2::bigint, $3::bigint, $4::bigint`,
						each(as, []any{big, valid(2), NullID{}, ptr(ID(4))})...).Scan(each(as, []any{&id, &parent, &null, &pointer})...)
					if err != nil || id != big || parent != valid(2) || null.Valid || pointer == nil || *pointer != 4 {
						t.Errorf("%s %s: %d %v %v %v, %v", name, kind, id, parent, null, pointer, err)
					}
					if err := db.QueryRowContext(t.Context(), `select null::bigint`).Scan(as(&id)); !errors.Is(err, sqltype.ErrNull) || id != big {
						t.Errorf("%s %s NULL: %d, %v", name, kind, id, err)
					}
					if _, err := db.ExecContext(t.Context(), `select $1::bigint`, as(ID(-1))); err == nil || !strings.Contains(err.Error(), "-1") {
						t.Errorf("%s %s negative: %v", name, kind, err)
					}
					if name == "bare" {
						continue
					}
					var ids []ID
					err = db.QueryRowContext(t.Context(), `select array_agg(n) from generate_series(1::bigint, 3) n where n = any($1)`,
						as([]ID{1, 3})).Scan(m.SQLScanner(as(&ids)))
					if err != nil || !reflect.DeepEqual(ids, []ID{1, 3}) {
						t.Errorf("%s array: %v, %v", kind, ids, err)
					}
				}
			}
		})
	}
}
