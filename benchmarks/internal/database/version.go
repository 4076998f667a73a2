package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// Version is what an engine says it is. Its server is started for the question,
// and an error says what is not installed.
func Version(ctx context.Context, engine string) (version string, err error) {
	driver, dsn := "sqlite", ":memory:"
	if engine != SQLite {
		kind := map[string]testserver.Kind{Postgres: testserver.KindPostgres, MariaDB: testserver.KindMariaDB}[engine]
		server, stop, err := testserver.Run(kind)
		if err != nil {
			return "", fmt.Errorf("version of %s: %w", engine, err)
		}
		defer func() { err = errors.Join(err, stop()) }()
		driver, dsn = map[string]string{Postgres: "pgx", MariaDB: "mysql"}[engine], server.DSN
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return "", err
	}
	defer db.Close()
	query := map[string]string{Postgres: "SHOW server_version", MariaDB: "SELECT version()", SQLite: "SELECT sqlite_version()"}[engine]
	if err := db.QueryRowContext(ctx, query).Scan(&version); err != nil {
		return "", fmt.Errorf("version of %s: %w", engine, err)
	}
	return version, nil
}
