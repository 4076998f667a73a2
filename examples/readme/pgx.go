package readme

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.AfterConnect = pgxtype.AfterConnect // registers a codec for ids and slices of ids
	return pgxpool.NewWithConfig(ctx, cfg)
}
