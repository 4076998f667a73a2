package readme

import (
	"context"
	"database/sql"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// nextPartitions creates the partitions that orders lacks for the next three months.
// Any number of replicas may call it at the same time.
func nextPartitions(ctx context.Context, db *sql.DB, orders ddl.Partitioning, now time.Time) error {
	for failed := ""; ; {
		have, err := orders.Read(ctx, db)
		if err != nil {
			return err
		}
		script, err := orders.Extend(have, now, now.AddDate(0, 3, 0))
		if err != nil {
			return err
		}
		for _, statement := range script {
			if _, err = db.ExecContext(ctx, statement); err != nil {
				break
			}
		}
		if err == nil || script.String() == failed {
			return err
		}
		failed = script.String() // another replica may have been first: read again
	}
}
