package pgxstore

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Faults of the configuration are found before the first connection.
func TestFaults(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), "postgres://nowhere.invalid/x?pool_max_conns=3")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for field, cfg := range map[string]sqlstore.Config{
		"Dialect": {Dialect: ddl.MySQL}, "Table": {Table: "a b"}, "Namespace": {Lease: worker.Config{Namespace: "a b"}},
	} {
		var config *core.ConfigError
		if _, err := Open(t.Context(), pool, cfg); !errors.As(err, &config) || config.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
