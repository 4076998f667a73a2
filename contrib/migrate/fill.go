package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// fill runs the statement over the blocks of a table. The trigger fills rows that come or move later. Rows
// that are left at the end were locked by others, so fill begins again.
func (r *run) fill(ctx context.Context, s Step) (int64, error) {
	var blocks, perBlock int64
	err := r.conn.QueryRowContext(ctx, `SELECT pg_relation_size(oid) / current_setting('block_size')::int,
			CASE WHEN relpages > 0 AND reltuples > 0 THEN ceil(reltuples / relpages) ELSE 100 END::bigint
		FROM pg_class WHERE oid = to_regclass($1)`, quote(strings.Split(s.Table, ".")...)).Scan(&blocks, &perBlock)
	if err != nil {
		return 0, err
	}
	step := max(int64(r.cfg.BatchSize)/max(perBlock, 1), 1)
	var rows int64
	for failures, last := 0, time.Now(); ; failures++ {
		before := rows
		for from := int64(0); from < max(blocks, 1); from += step {
			n, err := r.batch(ctx, s, from, from+step)
			if err != nil {
				return rows, err
			}
			rows += n
			r.cfg.Progress(s, min(from+step, blocks), blocks)
		}
		var done bool
		if err := r.conn.QueryRowContext(ctx, s.Check).Scan(&done); err != nil || done {
			return rows, err
		}
		if rows > before {
			failures, last = 0, time.Now()
		}
		if time.Since(last) > r.cfg.Patience {
			return rows, fmt.Errorf("%w, %v: rows of a table", ErrBusy, r.cfg.Patience)
		}
		if err := live.Backoff(ctx, failures); err != nil {
			return rows, err
		}
	}
}

// batch fills the rows of some blocks. It retries if another transaction was in the way.
func (r *run) batch(ctx context.Context, s Step, from, to int64) (rows int64, err error) {
	err = live.Transact(ctx, r.conn, func(tx *sql.Tx) error {
		last := len(s.Statements) - 1
		for _, text := range s.Statements[:last] {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		result, err := tx.ExecContext(ctx, s.Statements[last], fmt.Sprintf("(%d,0)", from), fmt.Sprintf("(%d,0)", to))
		if err != nil {
			return err
		}
		rows, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, err
	}
	return rows, live.Sleep(ctx, r.cfg.Pause)
}
