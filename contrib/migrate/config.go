package migrate

import (
	"cmp"
	"database/sql"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// Config configures Inspect and Run. Table is required.
type Config struct {
	Table string // a table, optionally with a schema and a dot before it

	// Column is the key to migrate. Empty: the primary key, which must have one column.
	Column string

	// Undo undoes the migration: after the swap it first swaps back; then it removes what was added.
	Undo bool
	// Finish does all steps that are left, including the swap, and drops the old columns. This cannot
	// be undone.
	Finish bool
	// StopBefore is the name of the step before which Run stops, such as StepSwap. Empty: none.
	StopBefore string

	BatchSize int // approximate number of rows in a batch of the fill; zero: 2,000; at most 100,000

	// LockTimeout is how long an attempt to lock a table waits, with writers queued behind it. It must
	// be less than deadlock_timeout, so that no writer is the victim of a deadlock. Zero: 300ms, or
	// half of deadlock_timeout if that is less.
	LockTimeout time.Duration
	// HoldTimeout is how long a step may hold locks that stop writers. PostgreSQL rolls back a step
	// that takes longer. Zero: 2s.
	HoldTimeout time.Duration
	// Patience is how long Run retries a step that cannot lock its tables. Zero: 5 minutes.
	Patience time.Duration

	// FireTriggers lets UPDATE triggers of the tables fire for each row that is filled. Without it they
	// do not fire, which requires the privilege to set session_replication_role.
	FireTriggers bool
	Pause        time.Duration // after each batch of a fill, for programs and replicas

	// Progress is called before each step with done 0, and after each batch of a fill. Nil: no
	// calls.
	Progress func(step Step, done, total int64)
}

const (
	defaultBatch    = 2000
	defaultLock     = 300 * time.Millisecond
	defaultHold     = 2 * time.Second
	defaultPatience = 5 * time.Minute
)

// check sets the defaults, and returns an error with all fields that have a wrong value.
func (cfg *Config) check(db *sql.DB) error {
	var wrong live.Errors
	if db == nil {
		wrong.Add("db", nil, "must not be nil")
	}
	cfg.BatchSize = wrong.Check(cfg.Table, cfg.Column, cfg.BatchSize, defaultBatch, cfg.Pause)
	if cfg.Undo && cfg.Finish {
		wrong.Add("Finish", true, "must be false with Undo")
	}
	checkTime := func(field string, d time.Duration) {
		if d < 0 || d > 0 && d < time.Millisecond {
			wrong.Add(field, d, "must be at least 1ms, or 0 for the default")
		}
	}
	checkTime("LockTimeout", cfg.LockTimeout)
	checkTime("HoldTimeout", cfg.HoldTimeout)
	checkTime("Patience", cfg.Patience)
	cfg.HoldTimeout = cmp.Or(cfg.HoldTimeout, defaultHold)
	cfg.Patience = cmp.Or(cfg.Patience, defaultPatience)
	if cfg.Progress == nil {
		cfg.Progress = func(Step, int64, int64) {}
	}
	return wrong.Err("migrate")
}
