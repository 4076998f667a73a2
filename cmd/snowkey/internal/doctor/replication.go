package doctor

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// replication warns of logical replication of a PostgreSQL that has the tables of the leases.
func (e *checkup) replication(ctx context.Context, t *dsn.Target, name string) {
	var any bool
	err := t.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_publication) OR EXISTS (SELECT 1 FROM pg_subscription_rel)").Scan(&any)
	if err != nil {
		e.skip(name, "not visible: %v", err)
		return
	}
	if !any {
		return
	}
	found, err := texts(ctx, t, `SELECT format('publication %I has %I.%I', pubname, schemaname, tablename) FROM pg_publication_tables WHERE tablename `+leaseTables+`
		UNION ALL SELECT format('subscription %I fills %s', s.subname, CAST(r.srrelid AS regclass))
		FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid JOIN pg_class c ON c.oid = r.srrelid WHERE c.relname `+leaseTables)
	if err != nil {
		e.skip(name, "not visible: %v", err)
		return
	}
	if len(found) == 0 {
		e.ok(name, "does not have the tables of the leases")
		return
	}
	e.report(Warn, name, list(found), "leave these tables out: another writable node would lease the same worker IDs, or none")
}

const leaseTables = "IN ('snow_worker', 'snow_worker_space', 'snow_worker_counter')"

// texts returns the rows of a query of one column.
func texts(ctx context.Context, t *dsn.Target, query string) (found []string, err error) {
	rows, err := t.DB.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, dsn.Printable(text))
	}
	return found, rows.Err()
}
