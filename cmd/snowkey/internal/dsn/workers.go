package dsn

import (
	"context"
	"errors"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// HasWorkers reports whether a database has the table of leased worker IDs. Without it, none
// was ever leased. Other kinds of stores have no tables and always may have leases.
func (t *Target) HasWorkers(ctx context.Context) (bool, error) {
	if !t.Kind.SQL() {
		return true, nil
	}
	_, err := t.DB.ExecContext(ctx, "SELECT 1 FROM snow_worker WHERE 1 = 0")
	if err != nil && missing(err) {
		return false, nil
	}
	return err == nil, err
}

// Layouts returns the namespaces of a database, each with the fingerprint of its layout, as
// package worker made it. There are none if none was ever leased.
func (t *Target) Layouts(ctx context.Context) (map[string]string, error) {
	layouts := map[string]string{}
	rows, err := t.DB.QueryContext(ctx, "SELECT space, layout FROM snow_worker_space")
	if err != nil {
		if missing(err) {
			return layouts, nil
		}
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var namespace, layout string
		if err := rows.Scan(&namespace, &layout); err != nil {
			return nil, err
		}
		layouts[namespace] = layout
	}
	return layouts, rows.Err()
}

// missing reports whether an error means that a table does not exist.
func missing(err error) bool {
	var pg *pgconn.PgError
	var my *mysql.MySQLError
	switch {
	case errors.As(err, &pg):
		return pg.Code == "42P01"
	case errors.As(err, &my):
		return my.Number == 1146
	}
	return strings.Contains(err.Error(), "no such table") // SQLite has no code for it
}
