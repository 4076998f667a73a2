package ddl

import (
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// The table of leases is described here and where it is used, in the same words
// but for blanks, quotes and case.
func TestWorkerTableIsTheStores(t *testing.T) {
	plain := func(statement string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "\n", "", `"`, "", "`", "").Replace(statement))
	}
	for d, store := range map[ddl.Dialect]sqlstore.Dialect{ddl.Postgres: sqlstore.Postgres, ddl.MySQL: sqlstore.MySQL, ddl.SQLite: sqlstore.SQLite} {
		for schema, table := range map[string]string{"": ddl.DefaultWorkerTable, "shop": "leases"} {
			config := sqlstore.Config{Dialect: store}
			if schema != "" {
				config.Table = schema + "." + table
			}
			want, err := config.DDL()
			if err != nil {
				t.Fatal(err)
			}
			got := text(t)(ddl.WorkerTableNamed(d, schema, table))
			if plain(got) != plain(want[1]) {
				t.Errorf("%s: ddl has\n%s\nand the store\n%s", d, got, want[1])
			}
			if schema == "" && ddl.WorkerTable(d) != got {
				t.Errorf("%s: %s", d, ddl.WorkerTable(d))
			}
		}
	}
}

// A store that may create nothing leases a number in the table made here.
func TestStoreUsesWorkerTable(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		own := map[ddl.Dialect]sqlstore.Dialect{ddl.Postgres: sqlstore.Postgres, ddl.MySQL: sqlstore.MySQL, ddl.SQLite: sqlstore.SQLite}[s.dialect]
		config := sqlstore.Config{Dialect: own, NoCreate: true, AllowDataLoss: true}
		tables, err := config.DDL()
		if err != nil {
			t.Fatal(err)
		}
		s.run(t, tables[0], ddl.WorkerTable(s.dialect))
		lease, err := worker.Acquire(t.Context(), mustNew(sqlstore.New(s.DB, config)), worker.Config{Owner: "Käthe's 🖥 host"})
		if err != nil {
			t.Fatal(err)
		}
		if got := one[string](t, s, "SELECT owner FROM "+ddl.DefaultWorkerTable+" WHERE token <> ''"); got != "Käthe's 🖥 host" {
			t.Errorf("the owner is %q", got)
		}
		if err := lease.Close(); err != nil {
			t.Error(err)
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
