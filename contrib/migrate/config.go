package migrate

import (
	"cmp"
	"database/sql"
	"strings"
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
	// StopBefore is the name of the step before which Run stops. Empty: none.
	StopBefore StepName

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
	// RowsPerSecond limits how many rows a fill writes. Zero: no limit.
	RowsPerSecond int
	// MaxReplicaLag makes Run wait before a batch or a step while a replica is behind by more. The role
	// must see the lag (pg_monitor), and a replica must be connected. Zero: no limit.
	MaxReplicaLag time.Duration
	// Waiting is called when Run waits for a replica, then every 10 seconds. Nil: no calls.
	Waiting func(reason string)

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
	live.CheckTable(&wrong, cfg.Table, badName)
	if reason := badName(cfg.Column); cfg.Column != "" && reason != "" {
		wrong.Add("Column", cfg.Column, "%s", reason)
	}
	if cfg.Undo && cfg.Finish {
		wrong.Add("Finish", true, "must be false with Undo")
	}
	if cfg.StopBefore != "" && !cfg.StopBefore.valid() {
		wrong.Add("StopBefore", string(cfg.StopBefore), "must be one of %s", strings.Join(StepNames(), ", "))
	}
	cfg.BatchSize = live.CheckBatch(&wrong, cfg.BatchSize, defaultBatch)
	cfg.pace().Check(&wrong)
	for _, d := range []struct {
		field string
		value *time.Duration
		zero  time.Duration
	}{
		{"LockTimeout", &cfg.LockTimeout, 0}, {"HoldTimeout", &cfg.HoldTimeout, defaultHold},
		{"Patience", &cfg.Patience, defaultPatience},
	} {
		if *d.value < 0 || *d.value > 0 && *d.value < time.Millisecond {
			wrong.Add(d.field, *d.value, "must be at least 1ms, or 0 for the default")
		}
		*d.value = cmp.Or(*d.value, d.zero)
	}
	if cfg.Progress == nil {
		cfg.Progress = func(Step, int64, int64) {}
	}
	return wrong.Err("migrate")
}

func (cfg *Config) pace() *live.Pace {
	return &live.Pace{RowsPerSecond: cfg.RowsPerSecond, MaxReplicaLag: cfg.MaxReplicaLag, Waiting: cfg.Waiting}
}

// badName returns what is wrong with a name, or "". Names are used in the bodies of functions.
func badName(name string) string {
	if strings.ContainsAny(name, "\\'$") || strings.TrimSpace(name) != name {
		return "must be a name without dots, quotes, question marks, dollars, backslashes and outer spaces"
	}
	return live.BadName(name)
}
