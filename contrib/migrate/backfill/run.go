package backfill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A Result reports what Run has done.
type Result struct {
	Worker    int64         // the worker ID of the ids; -1 if no row needed one
	Rows      int64         // rows that got an id
	Referring int64         // references that got the id of their row
	MaxDelay  time.Duration // the longest time from a row's tick to the time of its id
}

// pageRows is about how many rows are read at once. Without an index that begins with CreatedAt,
// each page costs a scan of the table.
const pageRows = 50_000

// Run gives ids to the rows that have none. If its context, an error or the end of the process
// interrupts it, the rows written so far keep their ids, and the next Run continues.
//
// The errors are *core.ConfigError, *RowError, worker.ErrNoWorkerID, *LeftError, *ReferenceError, those of the
// store's List and Claim, and those of the database. With a *LeftError or a *ReferenceError, or both
// joined, the Result is complete.
func Run(ctx context.Context, db *sql.DB, cfg Config) (Result, error) {
	result := Result{Worker: -1}
	j, err := inspect(ctx, db, cfg)
	if err != nil {
		return result, err
	}
	p, err := j.plan(ctx)
	if err != nil {
		return result, err
	}
	if err := j.addColumns(ctx); err != nil {
		return result, err
	}
	if p.Rows > 0 && !p.Oldest.After(j.cfg.Now()) { // otherwise a claim is of no use
		worker, before, err := j.claim(ctx)
		if err == nil {
			err = j.conflict(ctx, worker)
		}
		if err != nil {
			return result, err
		}
		result.Worker = worker
		if err := j.fill(ctx, newCursor(j.cfg.Layout, worker, before), p.Rows, &result); err != nil {
			return result, err
		}
	}
	swept, err := j.sweep(ctx)
	result.Referring += swept
	if err != nil {
		return result, err
	}
	return result, j.check(ctx)
}

// fill gives ids to rows, page by page, and writes them in batches. A batch that is undone and written
// again has the same ids.
func (j *job) fill(ctx context.Context, c *cursor, total int64, result *Result) error {
	for {
		rows, err := j.page(ctx, max(pageRows, j.cfg.BatchSize), false)
		if err == nil {
			rows, err = j.assign(c, rows, result)
		}
		if err != nil {
			return err
		}
		before := result.Rows
		for batch := range slices.Chunk(rows, j.cfg.BatchSize) {
			var own, referring int64
			err := live.Transact(ctx, j.db, func(tx *sql.Tx) (err error) {
				own, referring, err = j.write(ctx, tx, batch)
				return err
			})
			if err != nil {
				return err
			}
			result.Rows += own
			result.Referring += referring
			j.cfg.Progress(result.Rows, max(total, result.Rows))
			if err := live.Sleep(ctx, j.cfg.Pause); err != nil {
				return err
			}
		}
		if result.Rows == before { // the rest is left
			return nil
		}
	}
}

// assign gives ids to rows, and returns those that got one: not those that are late or too new.
func (j *job) assign(c *cursor, rows []row, result *Result) (ready []row, err error) {
	for _, r := range rows {
		id, delay, o, err := c.next(r.made)
		switch {
		case err != nil:
			return nil, fmt.Errorf("backfill: %s, row with the key %s: %w", j.table, keyText(r.key), err)
		case o == tooNew:
			return ready, nil
		case o == late:
			continue
		}
		r.id = id
		result.MaxDelay = max(result.MaxDelay, delay)
		ready = append(ready, r)
	}
	return ready, nil
}

// sweep sets the ids in referring columns that have no index, each in one statement, and of rows that were
// written after the rows they refer to had ids, in batches.
func (j *job) sweep(ctx context.Context) (total int64, err error) {
	for _, ref := range j.refs {
		var rows []row // of the last batch
		for {
			chunks := [][]row{nil} // one statement for all rows
			if ref.indexed {
				if rows, err = j.referredTo(ctx, ref, rows); err != nil {
					return total, err
				}
				if len(rows) == 0 {
					break
				}
				chunks = slices.Collect(slices.Chunk(rows, perStatement))
			}
			var n int64
			err = live.Transact(ctx, j.db, func(tx *sql.Tx) error {
				n = 0
				for _, chunk := range chunks {
					set, err := j.setReferring(ctx, tx, ref, chunk)
					if err != nil {
						return err
					}
					n += set
				}
				return nil
			})
			if err != nil {
				return total, err
			}
			total += n
			if err := live.Sleep(ctx, j.cfg.Pause); err != nil {
				return total, err
			}
			if !ref.indexed {
				break
			}
		}
	}
	return total, nil
}

// check returns what is wrong at the end.
func (j *job) check(ctx context.Context) error {
	errs := []error{j.leftError(ctx)}
	for _, ref := range j.refs {
		errs = append(errs, j.checkStale(ctx, ref))
	}
	return errors.Join(errs...)
}

// leftError describes the rows that have no id at the end.
func (j *job) leftError(ctx context.Context) error {
	n, err := j.countLeft(ctx)
	if n == 0 || err != nil {
		return err
	}
	oldest, err := j.page(ctx, 1, false)
	if err != nil || len(oldest) == 0 {
		return err
	}
	return &LeftError{Table: j.table.String(), Rows: n, Key: keyText(oldest[0].key), Made: oldest[0].made}
}
