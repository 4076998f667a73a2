package pgxtype_test

import (
	"context"
	"database/sql"
	"errors"
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
	must(t, err)
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	run(t, conn, `set search_path to pg_temp, pg_catalog`)
	return conn
}

func run(t *testing.T, conn *pgx.Conn, query string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func TestDatabaseSQL(t *testing.T) {
	config, err := pgx.ParseConfig(testserver.Postgres(t).DSN)
	must(t, err)
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
						each(as, []any{big, valid(2), NullID{}, new(ID(4))})...).Scan(each(as, []any{&id, &parent, &null, &pointer})...)
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

// tolerant is strict, but also reads decimals.
type tolerant struct{}

func (*tolerant) KeyForm() sqltype.Form {
	return sqltype.Form{Prefix: "row", Old: make([]sqltype.Form, 1)}
}

// JSON that PostgreSQL makes of rows has numbers. The error of a key with a Form says what to do.
func TestJSONOfRows(t *testing.T) {
	const query = `select json_agg(r) from (select 1996573624012345677::bigint as id) r`
	for _, mode := range modes {
		conn := connect(t, mode)
		for _, register := range []bool{false, true} {
			if register {
				pgxtype.Register(conn.TypeMap())
			}
			var refused []struct{ ID sqltype.Key[strict] }
			err := conn.QueryRow(t.Context(), query).Scan(&refused)
			if !errors.Is(err, sqltype.ErrSyntax) || !strings.Contains(err.Error(), "read the number into a sqltype.Exact[sqltype.ID] and convert it, or list the zero Form in Form.Old") {
				t.Errorf("%s, registered %t: %v", mode, register, err)
			}
			var rounded []struct{ ID ID }
			if err := conn.QueryRow(t.Context(), query).Scan(&rounded); !errors.Is(err, sqltype.ErrRounded) {
				t.Errorf("%s, registered %t: %v", mode, register, err)
			}
			var exact sqltype.Exact[[]struct{ ID sqltype.Key[tolerant] }]
			var exactIDs sqltype.Exact[[]struct{ ID ID }]
			if err := errors.Join(conn.QueryRow(t.Context(), query).Scan(&exact), conn.QueryRow(t.Context(), query).Scan(&exactIDs)); err != nil || len(exact.V) != 1 || ID(exact.V[0].ID) != big || len(exactIDs.V) != 1 || exactIDs.V[0].ID != big {
				t.Errorf("%s, registered %t: %v, %v, %v", mode, register, exact, exactIDs, err)
			}
		}
	}
}
