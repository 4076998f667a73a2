package ddl

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// storeConfig is that of a store that creates no tables, and the statements for them.
func storeConfig(t *testing.T, s *server) (sqlstore.Config, []string) {
	t.Helper()
	dialect := map[ddl.Dialect]sqlstore.Dialect{ddl.Postgres: sqlstore.Postgres, ddl.MySQL: sqlstore.MySQL, ddl.SQLite: sqlstore.SQLite}[s.dialect]
	config := sqlstore.Config{Dialect: dialect, NoCreate: true, AllowDataLoss: true}
	if dialect == sqlstore.Postgres {
		config.Table = one[string](t, s, "SELECT current_schema()") + ".snow_worker"
	}
	tables, err := config.DDL()
	if err != nil {
		t.Fatal(err)
	}
	return config, tables
}

// A store that may create nothing leases a worker ID in the tables of its DDL.
func TestStoreUsesWorkerTable(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		config, tables := storeConfig(t, s)
		s.run(t, tables...)
		lease, err := worker.Open(t.Context(), mustNew(sqlstore.New(s.DB, config)), worker.Config{Owner: "Käthe's 🖥 host"})
		if err != nil {
			t.Fatal(err)
		}
		if got := one[string](t, s, "SELECT owner FROM snow_worker WHERE token <> ''"); got != "Käthe's 🖥 host" {
			t.Errorf("the owner is %q", got)
		}
		if err := lease.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// The table of leases is created once, distinguishes the workers of each space, and its
// columns accept what a lease writes.
func TestWorkerTable(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		_, tables := storeConfig(t, s)
		for range 2 {
			s.run(t, tables...)
		}
		insert := "INSERT INTO snow_worker (space, worker, token, epoch, until_ts, expires_at, owner) VALUES "
		s.run(t, insert+fmt.Sprintf("('orders', 1, '', 0, 0, 0, ''), ('orders', 2, '%s', 0, 0, 0, ''), ('Orders', 1, '', 0, 0, 0, '')", strings.Repeat("x", 64)))
		if _, err := s.Exec(insert + "('orders', 1, '', 0, 0, 0, '')"); err == nil {
			t.Error("a worker is twice in one space")
		}
		for _, column := range []string{"space", "worker", "token", "epoch", "until_ts", "expires_at", "owner"} {
			if _, err := s.Exec("UPDATE snow_worker SET " + column + " = NULL"); err == nil {
				t.Errorf("%s may be NULL", column)
			}
		}
		result, err := s.Exec(fmt.Sprintf("UPDATE snow_worker SET token = 'Tok', epoch = %d, until_ts = %[1]d, expires_at = %[1]d WHERE space = 'orders' AND worker = 1 AND epoch = 0", int64(math.MaxInt64)))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); n != 1 || err != nil {
			t.Errorf("%d rows granted, %v", n, err)
		}
		if n := one[int](t, s, "SELECT count(*) FROM snow_worker WHERE token = 'tok'"); n != 0 {
			t.Error("a token in another case matches the holder's")
		}
	})
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
