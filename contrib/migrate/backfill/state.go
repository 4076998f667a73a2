package backfill

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

const (
	// stateTable has one row for each backfill that is not finished.
	stateTable = "snow_backfill"
	// stateVersion is the version of a row. Whatever else a later version changes, a row has a name and a version.
	stateVersion = 1
)

func stateDDL(d ddl.Dialect) string {
	name := "VARCHAR(191)" // of three names of 63 bytes, and two dots
	if d == ddl.MySQL {
		name += " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" // where Orders is not orders
	}
	text := "CREATE TABLE IF NOT EXISTS " + stateTable + " (name " + name + " PRIMARY KEY, version INT NOT NULL, namespace VARCHAR(64) NOT NULL, layout VARCHAR(200) NOT NULL, " +
		"worker BIGINT NOT NULL, before_ts BIGINT NOT NULL, last_tick BIGINT NOT NULL, last_id BIGINT NOT NULL)"
	if d == ddl.MySQL {
		text += " ENGINE=InnoDB"
	}
	return text
}

// A state says how far a backfill is, as the database keeps it.
type state struct {
	namespace, layout string
	worker            int64
	before            int64 // in Unix milliseconds: no id of the worker ID carries that time or a later one
	lastTick, lastID  int64 // see cursor
}

// stateName identifies the backfill.
func (j *job) stateName() string { return j.table.String() + "." + j.into.to }

// hasState reports whether there is a table of states.
func (j *job) hasState(ctx context.Context) (bool, error) {
	tables, err := query(ctx, j.db, func(*sql.Rows) (bool, error) { return true, nil }, catalogOf(j.db.dialect).table, j.db.args("", stateTable)...)
	if err != nil {
		return false, fmt.Errorf("backfill: look for the table %s: %w", stateTable, err)
	}
	return len(tables) > 0, nil
}

// loadState returns the state of an unfinished backfill.
func (j *job) loadState(ctx context.Context) (state, bool, error) {
	if has, err := j.hasState(ctx); !has || err != nil {
		return state{}, false, err
	}
	const where = " FROM " + stateTable + " WHERE name = ?"
	version, err := j.db.count(ctx, "SELECT version"+where, j.stateName())
	if err == nil && version != 0 && version != stateVersion {
		return state{}, false, live.Error("backfill", "Table", j.table.String(), "has a backfill that was begun by a snowkey of version %d, and this is for version %d: finish it with the one that began it", version, stateVersion)
	}
	var states []state
	if err == nil {
		states, err = query(ctx, j.db, func(rows *sql.Rows) (s state, err error) {
			return s, rows.Scan(&s.namespace, &s.layout, &s.worker, &s.before, &s.lastTick, &s.lastID)
		}, "SELECT namespace, layout, worker, before_ts, last_tick, last_id"+where, j.stateName())
	}
	switch {
	case err != nil:
		return state{}, false, fmt.Errorf("backfill: read the table %s: %w", stateTable, err)
	case len(states) == 0:
		return state{}, false, nil
	}
	return states[0], true, j.checkState(states[0])
}

// checkState returns an error if the unfinished backfill was begun with other settings.
func (j *job) checkState(s state) error {
	var wrong live.Errors
	const finish = "the unfinished backfill of this column has %q: use that value to finish it, or delete its row in " + stateTable
	if j.cfg.Worker == nil && s.namespace != j.cfg.Namespace {
		wrong.Add("Namespace", j.cfg.Namespace, finish, s.namespace)
	}
	if layout := driver.Fingerprint(j.cfg.Layout); s.layout != layout {
		wrong.Add("Layout", layout, finish, s.layout)
	}
	if j.cfg.Worker != nil && s.worker != *j.cfg.Worker {
		wrong.Add("Worker", *j.cfg.Worker, finish, fmt.Sprint(s.worker))
	}
	return wrong.Err("backfill")
}

// createState makes the table of states if it is missing.
func (j *job) createState(ctx context.Context) error {
	has, err := j.hasState(ctx)
	if has || err != nil {
		return err
	}
	text := stateDDL(j.cfg.Dialect)
	if _, err := j.db.ExecContext(ctx, text); err != nil {
		return fmt.Errorf("backfill: create the table %s by %s: %w", stateTable, text, err)
	}
	return nil
}

// begin keeps the state of a new backfill.
func (j *job) begin(ctx context.Context, worker int64, before time.Time) error {
	j.state = state{namespace: j.cfg.Namespace, layout: driver.Fingerprint(j.cfg.Layout), worker: worker, before: before.UnixMilli()}
	s := &j.state
	insert := func() error {
		return j.db.transact(ctx, func(tx *sql.Tx) error {
			_, err := j.db.change(ctx, tx, "INSERT INTO "+stateTable+" (name, version, namespace, layout, worker, before_ts, last_tick, last_id) VALUES (?, ?, ?, ?, ?, ?, 0, 0)",
				j.stateName(), stateVersion, s.namespace, s.layout, s.worker, s.before)
			return err
		})
	}
	err := insert()
	if err != nil {
		if _, found, loaded := j.loadState(ctx); found && loaded == nil {
			return ErrRunning // it began at the same time
		}
		err = insert() // it may have ended by now
	}
	if err != nil {
		return fmt.Errorf("backfill: write to the table %s: %w", stateTable, err)
	}
	return nil
}

// advance keeps the cursor within the transaction of the ids. It returns ErrRunning if another
// process has moved it, which waits for that process's transaction.
func (j *job) advance(ctx context.Context, tx *sql.Tx, c *cursor) error {
	return j.checkOwned(j.db.change(ctx, tx, "UPDATE "+stateTable+" SET last_tick = ?, last_id = ? WHERE name = ? AND worker = ? AND last_id = ?",
		c.rowTick, c.lastID, j.stateName(), j.state.worker, j.state.lastID))
}

// finish removes the state.
func (j *job) finish(ctx context.Context) error {
	return j.db.transact(ctx, func(tx *sql.Tx) error {
		return j.checkOwned(j.db.change(ctx, tx, "DELETE FROM "+stateTable+" WHERE name = ? AND worker = ? AND last_id = ?", j.stateName(), j.state.worker, j.state.lastID))
	})
}

// checkOwned checks that the state is still this process's.
func (j *job) checkOwned(changed int64, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("backfill: write to the table %s: %w", stateTable, err)
	case changed == 0:
		return ErrRunning
	}
	return nil
}

// addColumns adds the columns that are missing.
func (j *job) addColumns(ctx context.Context) error {
	integer := "bigint"
	if j.db.dialect == ddl.SQLite {
		integer = "integer" // the only name for it in STRICT tables
	}
	for _, t := range j.targets() {
		if !t.adds {
			continue
		}
		text := "ALTER TABLE " + t.table.of(j.db) + " ADD COLUMN " + j.db.quote(t.to) + " " + integer
		if _, err := j.db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("backfill: add a column by %s: %w", strings.TrimSpace(text), err)
		}
		t.adds = false
	}
	return nil
}
