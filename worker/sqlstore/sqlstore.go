// Package sqlstore keeps worker leases in the database you have: PostgreSQL,
// MySQL, MariaDB or SQLite, over any driver of database/sql.
//
//	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
//
// leases a worker ID and makes a generator under it. For a lease alone:
//
//	lease, err := worker.Acquire(ctx, sqlstore.New(db, sqlstore.Config{}), worker.Config{})
//
// It needs two small tables, counters need a third, and it creates them if they are not there: see
// [Config.DDL]. Every verb is one UPDATE that names the row as it was read, or the INSERT
// of a row that was not there, at any isolation level. It commits by itself, even if the
// sessions of MySQL or MariaDB have autocommit off. No lock is held between calls.
//
// A store takes one connection at a time from the pool, and waits for it in turn with the
// program. A call whose context is done leaves its place in the queue to the next call, for
// 15 seconds. If the program may use up the pool for longer than a lease can go without a
// renewal, give the store a pool of its own.
//
// A store also counts: [Store.Count] for worker.FromCounter, and [Store.Reserve] for
// the numbers of package serial, in one statement for each block; [Store.In] does so
// within a transaction of yours.
//
// No call outlasts its context, whatever the driver does, except those of [Store.In],
// which run in your transaction.
//
// The first call looks at the database: which it is, its settings, its tables. That takes
// some 12 round trips; a claim afterwards takes 4 (PostgreSQL by pgx) or 5 (MySQL). The
// look continues for 3 seconds after its caller's context is done, and its results are
// kept for the next attempt.
//
// # What the database must do
//
// It must not lose a committed write. A setting that allows that, as far as it can
// be seen, is a *driver.DurabilityError: synchronous_commit or fsync off in
// PostgreSQL; innodb_flush_log_at_trx_commit or, with a binary log, sync_binlog
// other than 1 in MySQL and MariaDB; synchronous below FULL, or no file, in
// SQLite; a table or a partition that is unlogged in PostgreSQL, or of another engine than
// InnoDB; synchronous_commit = local where synchronous_standby_names is set. A standby of
// PostgreSQL that is promoted must have been synchronous: [Store.Warnings] names those that
// commits do not wait for. What cannot be seen from here: an SQLite file must lie on a
// local disk. After a restore from a backup, first raise until_ts of all rows above the
// present, and empty their tokens.
//
// A temporary table that has the name of one of the store's is a *core.ConfigError. The
// session that looks is asked, once: let no session of the pool make one later.
//
// # Galera
//
// The clients of one space may use different nodes of a Galera cluster, and one client
// several. Of two writes that meet on two nodes, one is undone at its commit (error 1213)
// and made again, so a number has one holder; what a node outside the primary component
// is asked to do fails (error 1047), and is tried again. A node applies what others have
// committed in its own time; where that matters, the store waits for it, so wsrep_sync_wait
// need not be set. It does so in MariaDB only: on Percona's cluster set it to 7 in the DSN,
// for a node that is behind may take a number for lost or not find it to release. No id is
// issued twice for that. A session with wsrep_on off writes to its node alone, which is a
// *driver.DurabilityError.
//
// A store whose database/sql pool knows one node fails with that node. Ids go on for
// FenceWindow − RenewInterval; for more, connect by a balancer that leaves out a node whose wsrep_ready
// is not ON.
//
// # Group Replication
//
// MySQL's Group Replication loses no commit while most of its members live, at every
// group_replication_consistency. A primary that was cut off commits nothing more. The DSN
// must lead to the primary, for example through MySQL Router. It needs rejectReadOnly=true,
// timeout, readTimeout and writeTimeout: without them the driver keeps connections to the
// old primary, and waits for a server that hangs. A server that is configured for a group
// and accepts writes outside it is a *driver.DurabilityError.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// Config is what a store is made of; the zero value is ready for use.
type Config struct {
	// Dialect of the database. Zero: it is asked.
	Dialect Dialect
	// Table holds the numbers; two more have its name with _space and _counter
	// behind it. It may have a schema before it. Zero: "snow_worker".
	Table string
	// NoCreate leaves it to you to create the tables.
	NoCreate bool
	// AllowDataLoss accepts a database that may lose a committed write when its machine
	// crashes. Ids may then be issued twice after that.
	AllowDataLoss bool
}

// Store keeps the numbers of any number of spaces. Make it with New. It does not
// close the database.
type Store struct {
	driver.ClaimLimiter // of the leases that share the store

	db    *sql.DB
	cfg   Config
	calls bounded.Calls

	found  atomic.Pointer[found] // what is known about the database; nil: nothing yet
	failed atomic.Pointer[error] // the error of the last look at it; nil, or a nil error: none
	turn   chan struct{}         // held by the call that finds out more
	safe   bool                  // its settings were seen, and lose nothing; like cfg.Dialect changed only with the turn
	places places                // in the queue for a connection, kept for the next call
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError. It does not use the database: the first call
// looks at it.
func New(db *sql.DB, cfg Config) (*Store, error) {
	var wrong fields.Errors
	if db == nil {
		wrong.Add("db", nil, "must be an open *sql.DB")
	}
	if cfg.Dialect > SQLite {
		wrong.Add("Dialect", cfg.Dialect, "must be Detect, Postgres, MySQL or SQLite")
	}
	cfg.complete(&wrong)
	if err := wrong.Err("sqlstore"); err != nil {
		return nil, err
	}
	return &Store{db: db, cfg: cfg, turn: make(chan struct{}, 1)}, nil
}

// Claim implements worker.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	return bound(ctx, s, fmt.Sprintf("claim in space %q", r.Namespace), func() (driver.Claim, error) { return s.claim(ctx, r) })
}

// bound lets a call return when its context is done, even if the driver does not, and adds
// the missing right to its error.
func bound[T any](ctx context.Context, s *Store, what string, f func() (T, error)) (none T, err error) {
	if err := s.check(); err != nil {
		return none, err
	}
	return bounded.Do(ctx, &s.calls, "sqlstore: "+what, func() (T, error) {
		result, err := f()
		return result, s.withRights(ctx, err)
	})
}

func boundVoid(ctx context.Context, s *Store, what string, f func() error) error {
	_, err := bound(ctx, s, what, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func (s *Store) claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	st, err := s.prepare(ctx)
	if err != nil {
		return driver.Claim{}, lasting(err)
	}
	var c driver.Claim
	var shuffle func(int, func(i, j int)) // only those who have met need to get out of each other's way
	err = s.onConnection(ctx, func(conn *sql.Conn) error {
		ctx := context.WithValue(ctx, connectionKey{}, conn)
		return repeat(ctx, func() (ok bool, err error) {
			c, ok, err = s.claimOnce(ctx, st, r, shuffle)
			shuffle = rand.Shuffle
			return ok, err
		})
	})
	if err != nil {
		return driver.Claim{}, lasting(err)
	}
	return c, nil
}

// claimOnce reads the space and tries one number; it is not ok if that has
// changed meanwhile.
func (s *Store) claimOnce(ctx context.Context, st *statements, r driver.Request, shuffle func(int, func(i, j int))) (c driver.Claim, ok bool, err error) {
	found, err := s.read(ctx, st, r.Namespace, shuffle != nil)
	if err != nil {
		return c, false, err
	}
	if err := r.CheckSkew(found.now); err != nil {
		return c, false, err
	}
	if found.layout.Valid && found.layout.String != r.Layout {
		return c, false, &driver.LayoutError{Namespace: r.Namespace, Have: found.layout.String, Want: r.Layout}
	}
	rows := found.rows
	if i := slices.IndexFunc(rows, func(row driver.Record) bool { return row.ClaimID == r.ClaimID }); i >= 0 {
		return s.again(ctx, st, r, rows[i])
	}
	free, err := driver.Candidates(r, rows, found.now, shuffle)
	if err != nil {
		return c, false, err
	}
	row := free[0]
	from, until := r.Interval(row.Fence)
	c = driver.Claim{Worker: row.Worker, FencingToken: row.FencingToken + 1, From: from, Fence: until}
	args := []any{r.ClaimID, r.Owner, c.FencingToken, until, min(r.TTL, driver.NoTTL), r.Namespace, row.Worker}
	// This is the swap: the row must be as it was read and still free, or must not exist.
	query, forever := st.claim, st.claimForever
	if known := slices.ContainsFunc(rows, func(have driver.Record) bool { return have.Worker == row.Worker }); known {
		args = append(args, row.FencingToken, row.Fence)
	} else {
		query, forever = st.first, st.firstForever
	}
	if r.TTL >= driver.NoTTL {
		query = forever
	}
	err = repeat(ctx, func() (bool, error) {
		return true, s.alone(ctx, st.cfg.Dialect, func(q querier) (err error) {
			if !found.layout.Valid { // another may be first, with another layout
				if ok, err = change(ctx, q, st.addSpace, r.Namespace, r.Layout); !ok || err != nil {
					return err
				}
			}
			ok, err = change(ctx, q, query, args...)
			return err
		})
	})
	if err != nil {
		return c, false, fmt.Errorf("sqlstore: claim number %d of space %q: %w", row.Worker, r.Namespace, err)
	}
	return c, ok, nil
}

// Renew implements worker.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	return boundVoid(ctx, s, fmt.Sprintf("renew number %d of space %q", r.Worker, r.Namespace), func() error { return s.renew(ctx, r) })
}

func (s *Store) renew(ctx context.Context, r driver.Renewal) error {
	st, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	if r.ClaimID == "" {
		return driver.ErrNotHeld
	}
	query, expiry := st.renew, r.TTL
	if r.TTL >= driver.NoTTL {
		query, expiry = st.renewForever, driver.NoTTL
	}
	changed, err := s.execKnown(ctx, st, query, r.Fence, r.Fence, expiry, r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
	if err != nil {
		return fmt.Errorf("sqlstore: renew number %d of space %q: %w", r.Worker, r.Namespace, err)
	}
	if changed {
		return nil
	}
	// MySQL counts rows that have changed: within a millisecond there is none.
	var until int64
	err = s.row(ctx, st, st.held, r.Namespace, r.Worker, r.FencingToken, r.ClaimID)(&until)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return driver.ErrNotHeld
	case err != nil:
		return fmt.Errorf("sqlstore: renew number %d of space %q: %w", r.Worker, r.Namespace, err)
	case until < r.Fence:
		return fmt.Errorf("sqlstore: number %d of space %q is held until %d and was not raised to %d", r.Worker, r.Namespace, until, r.Fence)
	}
	return nil
}

// Release implements worker.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return boundVoid(ctx, s, fmt.Sprintf("release number %d of space %q", r.Worker, r.Namespace), func() error { return s.release(ctx, r) })
}

func (s *Store) release(ctx context.Context, r driver.Return) error {
	st, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	if r.ClaimID == "" {
		return driver.ErrNotHeld
	}
	changed, err := s.execKnown(ctx, st, st.release, r.Fence, r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
	if err != nil {
		return fmt.Errorf("sqlstore: release number %d of space %q: %w", r.Worker, r.Namespace, err)
	}
	if !changed {
		return driver.ErrNotHeld
	}
	return nil
}

// List implements worker.Admin.
func (s *Store) List(ctx context.Context, space string) ([]driver.Record, error) {
	if err := driver.CheckNamespace(space); err != nil {
		return nil, err
	}
	return bound(ctx, s, fmt.Sprintf("list space %q", space), func() ([]driver.Record, error) {
		st, err := s.prepare(ctx)
		if err != nil {
			return nil, err
		}
		found, err := s.read(ctx, st, space, false)
		return found.rows, err
	})
}

// Free implements worker.Admin.
func (s *Store) Free(ctx context.Context, space string, number, epoch int64) error {
	if err := driver.CheckNamespace(space); err != nil {
		return err
	}
	what := fmt.Sprintf("free number %d of space %q", number, space)
	return boundVoid(ctx, s, what, func() error {
		st, err := s.prepare(ctx)
		if err != nil {
			return err
		}
		changed, err := s.execKnown(ctx, st, st.free, space, number, epoch)
		if err != nil {
			return fmt.Errorf("sqlstore: %s: %w", what, err)
		}
		if !changed {
			return driver.ErrNotHeld
		}
		return nil
	})
}
