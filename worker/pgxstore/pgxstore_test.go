package pgxstore

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// Faults of the configuration are found before the first connection.
func TestFaults(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), "postgres://nowhere.invalid/x?pool_max_conns=3")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var config *core.ConfigError
	if _, err := Open(t.Context(), pool, worker.Config{Namespace: "a b"}); !errors.As(err, &config) || config.Fields[0].Field != "Namespace" {
		t.Error(err)
	}
}
