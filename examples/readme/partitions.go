package readme

import (
	"context"
	"database/sql"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// nextPartitions makes the partitions that orders lacks for the next three months.
func nextPartitions(ctx context.Context, db *sql.DB, now time.Time) error {
	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	have, err := orders.Read(ctx, db)
	if err != nil {
		return err
	}
	missing, err := orders.Missing(have, now, now.AddDate(0, 3, 0))
	if err != nil || len(missing) == 0 {
		return err
	}
	script, err := orders.Create(missing)
	if err != nil {
		return err
	}
	for _, statement := range script {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
