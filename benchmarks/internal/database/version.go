package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// Version returns the version that an engine reports. It starts a server to ask it; the error
// names what is not installed.
func Version(ctx context.Context, engine string) (version string, err error) {
	e := map[string]struct {
		kind               testserver.Kind
		driver, dsn, query string
	}{
		Postgres: {testserver.KindPostgres, "pgx", "", "SHOW server_version"},
		MariaDB:  {testserver.KindMariaDB, "mysql", "", "SELECT version()"},
		SQLite:   {"", "sqlite", ":memory:", "SELECT sqlite_version()"},
	}[engine]
	if e.kind != "" {
		server, stop, runErr := testserver.Run(e.kind)
		if runErr != nil {
			return "", fmt.Errorf("version of %s: %w", engine, runErr)
		}
		defer func() { err = errors.Join(err, stop()) }()
		e.dsn = server.DSN
	}
	db, err := sql.Open(e.driver, e.dsn)
	if err != nil {
		return "", err
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, e.query).Scan(&version); err != nil {
		return "", fmt.Errorf("version of %s: %w", engine, err)
	}
	return version, nil
}
