package readme

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// bwmarrin is the layout of github.com/bwmarrin/snowflake with its defaults.
func bwmarrin() core.Layout {
	epoch := time.UnixMilli(1288834974657)
	return core.Layout{Epoch: epoch, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
}

// sonyflakeV1 is the layout of github.com/sony/sonyflake with the given Settings.StartTime.
// The default there is 2014-09-01 in UTC, which is core.Sonyflake().
func sonyflakeV1(start time.Time) core.Layout {
	l := core.Sonyflake()
	l.Epoch = start
	return l
}

// backfillOrders gives ids to the orders that have none.
func backfillOrders(ctx context.Context, db *sql.DB) (backfill.Result, error) {
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		return backfill.Result{}, err
	}
	return backfill.Run(ctx, db, backfill.Config{
		Dialect: ddl.SQLite, Table: "orders", CreatedAt: "created_at", Store: store,
	})
}

// widenOrders makes the key of orders a bigint, and all columns that refer to it.
func widenOrders(ctx context.Context, db *sql.DB) error {
	cfg := migrate.Config{Kind: migrate.Bigint, Table: "orders"}
	plan, err := migrate.Inspect(ctx, db, cfg)
	if err != nil {
		return err
	}
	fmt.Print(plan)
	_, err = migrate.Run(ctx, db, cfg)
	return err
}
