package migrate

import (
	"cmp"
	"database/sql"
	"regexp"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// Config configures Inspect and Run. Kind and Table are required.
type Config struct {
	Kind  Kind
	Table string // optionally with a schema and a dot before it

	// Column is the key to migrate. Empty: the primary key, which must have one column.
	Column string

	// Generator is the SQL expression that makes ids, such as snowkey_next('orders'). It becomes
	// the column's DEFAULT. The kinds UUID and Default require it; Bigint does not accept it.
	Generator string

	// Undo goes back. After the swap it first swaps again; then it removes what was added, for UUID
	// also the ids. Default gets its old numbers again.
	Undo bool
	// Finish does all steps that are left, the swap too, and drops the old columns or the
	// sequence. Then there is no way back.
	Finish bool
	// StopBefore is the name of the step before which Run stops. Empty: none.
	StopBefore StepName

	BatchSize int // about how many rows a batch of the fill has; zero: 2,000; at most 100,000

	// LockTimeout is how long an attempt to lock a table waits, with writers queued behind it. It must
	// be less than deadlock_timeout, so that no writer is the victim of a deadlock. Zero: 300ms, or
	// half of deadlock_timeout if that is less.
	LockTimeout time.Duration
	// HoldTimeout is how long a step may hold locks that stop writers. PostgreSQL rolls back a step
	// that takes longer. Zero: 2s.
	HoldTimeout time.Duration
	// Patience is how long Run retries a step that cannot lock its tables. Zero: 5 minutes.
	Patience time.Duration

	// FireTriggers lets UPDATE triggers of the tables fire for each row that is filled. Otherwise they
	// stay silent, which requires the right to set session_replication_role.
	FireTriggers bool
	// RowsPerSecond limits how many rows a fill writes. Zero: no limit.
	RowsPerSecond int
	// MaxReplicaLag makes Run wait before a batch or a step while a replica is behind by more. The role
	// must see the lag (pg_monitor), and a replica must be connected. Zero: no limit.
	MaxReplicaLag time.Duration
	// Waiting is called when Run waits for a replica, and every 10 seconds. Nil: none.
	Waiting func(reason string)

	// Progress is called before each step with done 0, and after each batch of a fill. Nil: none.
	Progress func(step Step, done, total int64)

	// Backfill configures the ids of old rows for the kind UUID. It requires CreatedAt, and Store or
	// Worker. References must be empty. The fields that Config has too are set by
	// the migration. For other kinds, leave it zero.
	Backfill backfill.Config
}

// A Kind is what a migration does.
type Kind string

// The kinds.
const (
	Bigint  Kind = "bigint"  // an integer becomes a bigint, with the columns that refer to it
	UUID    Kind = "uuid"    // an id beside a UUID becomes the primary key
	Default Kind = "default" // a bigint whose default is a sequence or another generator gets ids from a generator in SQL
)

const (
	defaultBatch    = 2000
	defaultLock     = 300 * time.Millisecond
	defaultHold     = 2 * time.Second
	defaultPatience = 5 * time.Minute
)

// check sets the defaults, and reports all fields that have a wrong value.
func (cfg *Config) check(db *sql.DB) error {
	var wrong live.Errors
	if db == nil {
		wrong.Add("db", nil, "must not be nil")
	}
	if cfg.Kind != Bigint && cfg.Kind != UUID && cfg.Kind != Default {
		wrong.Add("Kind", string(cfg.Kind), "must be bigint, uuid or default")
	}
	live.CheckTable(&wrong, cfg.Table, badName)
	if reason := badName(cfg.Column); cfg.Column != "" && reason != "" {
		wrong.Add("Column", cfg.Column, "%s", reason)
	}
	cfg.checkKind(&wrong)
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
	}{{"LockTimeout", &cfg.LockTimeout, 0}, {"HoldTimeout", &cfg.HoldTimeout, defaultHold}, {"Patience", &cfg.Patience, defaultPatience}} {
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

func (cfg *Config) checkKind(wrong *live.Errors) {
	switch {
	case cfg.Kind == UUID && cfg.Backfill.CreatedAt == "":
		wrong.Add("Backfill.CreatedAt", "", "must be the column with the time of a row")
	case cfg.Kind != UUID && cfg.Backfill.CreatedAt != "":
		wrong.Add("Backfill.CreatedAt", cfg.Backfill.CreatedAt, "must be empty: only the kind uuid gives ids to old rows")
	case cfg.Kind == UUID && len(cfg.Backfill.References) > 0:
		wrong.Add("Backfill.References", cfg.Backfill.References, "must be empty: migrate follows foreign keys only")
	}
	if of := namespaceOf(cfg.Generator); cfg.Kind == UUID && cfg.Backfill.Store != nil && of != "" && of != cmp.Or(cfg.Backfill.Namespace, "default") {
		wrong.Add("Backfill.Namespace", cfg.Backfill.Namespace, "must be %q, as for the generator: ids of two namespaces can be equal", of)
	}
	generates := cfg.Kind == UUID || cfg.Kind == Default
	switch {
	case generates && cfg.Generator == "":
		wrong.Add("Generator", "", "must be the SQL expression that makes ids: programs that insert rows without one rely on it")
	case !generates && cfg.Generator != "":
		wrong.Add("Generator", cfg.Generator, "must be empty: the kind %s makes no ids", cfg.Kind)
	case cfg.Kind == Default && regexp.MustCompile(`(?i)^\s*(pg_catalog\s*\.\s*)?nextval\s*\([^()]*\)\s*$`).MatchString(cfg.Generator):
		wrong.Add("Generator", cfg.Generator, "must not be a sequence: that is what the migration starts from")
	case strings.ContainsAny(cfg.Generator, ";\x00"):
		wrong.Add("Generator", cfg.Generator, "must be one expression, without a semicolon")
	}
}

// namespaceOf returns the namespace that a call of ddl.Generator names, or nothing.
func namespaceOf(generator string) string {
	if call := regexp.MustCompile(`next"?\('([^']*)'\)\s*$`).FindStringSubmatch(generator); call != nil {
		return call[1]
	}
	return ""
}

// badName is stricter than package backfill, because names are in texts of functions.
func badName(name string) string {
	if strings.ContainsAny(name, "\\'$") || strings.TrimSpace(name) != name {
		return "must be a name without dots, quotes, question marks, dollars, backslashes and outer spaces"
	}
	return live.BadName(name)
}
