package backfill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
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
// The errors are *core.ConfigError, *RowError, worker.ErrNoWorkerID, ErrRunning, *LeftError,
// *ReferenceError, those of the store's List and Claim, and those of the database. With a
// *LeftError or a *ReferenceError, or both joined, the Result is complete.
func Run(ctx context.Context, db *sql.DB, cfg Config) (Result, error) {
	none := Result{Worker: -1}
	j, err := inspect(ctx, db, cfg)
	if err != nil {
		return none, err
	}
	p, err := j.plan(ctx)
	if err != nil {
		return none, err
	}
	if err := j.addColumns(ctx); err != nil {
		return none, err
	}
	if !j.found && (p.Rows == 0 || p.Oldest.After(j.cfg.Now())) { // a claim would be of no use
		if none.Referring, err = j.sweep(ctx); err != nil {
			return none, err
		}
		return none, j.check(ctx)
	}
	if err := j.start(ctx); err != nil {
		return none, err
	}
	result := Result{Worker: j.state.worker}
	if err := j.fill(ctx, p.Rows, &result); err != nil {
		return result, interrupted(ctx, err)
	}
	swept, err := j.sweep(ctx)
	result.Referring += swept
	if err != nil {
		return result, interrupted(ctx, err)
	}
	if err := j.finish(ctx); err != nil {
		return result, interrupted(ctx, err)
	}
	return result, j.check(ctx)
}

func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w; the rows written so far keep their ids: run it again to continue", err)
	}
	return err
}

// start claims a worker ID, unless an unfinished backfill has one.
func (j *job) start(ctx context.Context) error {
	if j.found {
		return nil
	}
	if err := j.createState(ctx); err != nil {
		return err
	}
	worker, before, err := j.claim(ctx)
	if err != nil {
		return err
	}
	if err := j.conflict(ctx, worker); err != nil {
		return err
	}
	return j.begin(ctx, worker, before)
}

// fill gives ids to rows, page by page.
func (j *job) fill(ctx context.Context, total int64, result *Result) error {
	c := newCursor(j.cfg.Layout, j.state.worker, time.UnixMilli(j.state.before))
	if err := c.resume(j.state.lastTick, j.state.lastID); err != nil {
		return fmt.Errorf("backfill: the last id in the table %s: %w", stateTable, err)
	}
	batches := max(pageRows/j.cfg.BatchSize, 1)
	for {
		rows, err := j.page(ctx, batches*j.cfg.BatchSize, false)
		if err != nil || len(rows) == 0 {
			return err
		}
		before := result.Rows
		ended := false
		for len(rows) > 0 && !ended {
			var batch []row
			if batch, rows, ended, err = j.assign(c, rows, result); err != nil {
				return err
			}
			if len(batch) == 0 {
				break
			}
			if err := j.commit(ctx, c, batch, result); err != nil {
				return err
			}
			j.cfg.Progress(result.Rows, max(total, result.Rows))
		}
		if ended || result.Rows == before { // the rest is left
			return nil
		}
	}
}

// assign gives ids to the next batch of rows, and returns the rows after it. It reports whether
// the rest is too new.
func (j *job) assign(c *cursor, rows []row, result *Result) (batch, rest []row, ended bool, err error) {
	batch = make([]row, 0, min(j.cfg.BatchSize, len(rows)))
	for i, r := range rows {
		if len(batch) == j.cfg.BatchSize {
			return batch, rows[i:], false, nil
		}
		id, delay, o, err := c.next(r.made)
		switch {
		case err != nil:
			return nil, nil, false, fmt.Errorf("backfill: %s, row with the key %s: %w", j.table, keyText(r.key), err)
		case o == tooNew:
			return batch, nil, true, nil
		case o == late:
			continue
		}
		r.id = id
		result.MaxDelay = max(result.MaxDelay, delay)
		batch = append(batch, r)
	}
	return batch, nil, false, nil
}

// commit writes a batch and the cursor in one transaction. If the transaction is undone and run
// again, the rows get the same ids.
func (j *job) commit(ctx context.Context, c *cursor, batch []row, result *Result) error {
	var own, referring int64
	if err := j.pace.Wait(ctx, j.db, "backfill"); err != nil {
		return err
	}
	err := j.db.transact(ctx, func(tx *sql.Tx) (err error) {
		if err := j.advance(ctx, tx, c); err != nil {
			return err
		}
		own, referring, err = j.write(ctx, tx, batch)
		return err
	})
	if err != nil {
		return err
	}
	j.state.lastTick, j.state.lastID = c.rowTick, c.lastID
	result.Rows += own
	result.Referring += referring
	j.pace.Wrote(own + referring)
	return nil
}

// sweep sets the ids in referring columns that have no index, and of rows that were written after
// the rows they refer to had ids. If there are many, and the column has an index, it works in batches; one statement
// sets the others, and what was written meanwhile.
func (j *job) sweep(ctx context.Context) (total int64, err error) {
	for _, ref := range j.refs {
		many := false
		if ref.indexed {
			n, err := j.countReferring(ctx, ref, " AND "+j.hasID())
			if err != nil {
				return total, err
			}
			many = n > int64(j.cfg.BatchSize)
		}
		var batch []row
		for more := true; more; more = len(batch) > 0 {
			if many {
				if batch, err = j.referredTo(ctx, ref, batch); err != nil {
					return total, err
				}
			}
			n, err := j.sweepBatch(ctx, ref, batch)
			if err != nil {
				return total, err
			}
			total += n
		}
	}
	return total, nil
}

// sweepBatch sets the ids of what refers to the rows, or of all rows that have none.
func (j *job) sweepBatch(ctx context.Context, ref *target, batch []row) (total int64, err error) {
	if err := j.pace.Wait(ctx, j.db, "backfill"); err != nil {
		return 0, err
	}
	chunks := slices.Collect(slices.Chunk(batch, perStatement))
	if len(chunks) == 0 {
		chunks = [][]row{nil}
	}
	err = j.db.transact(ctx, func(tx *sql.Tx) error {
		total = 0
		for _, chunk := range chunks {
			n, err := j.setReferring(ctx, tx, ref, chunk)
			if err != nil {
				return err
			}
			total += n
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	j.pace.Wrote(total)
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
