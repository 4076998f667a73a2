package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A Store keeps the records of any number of namespaces. Make it with New; every method of a nil
// or zero Store returns a *core.ConfigError. It does not close the database. All methods are
// safe for concurrent use.
type Store struct {
	db      *sql.DB
	cfg     Config
	limiter driver.Limiter // of the requests of leases
	calls   hung.Calls

	inspected atomic.Pointer[server]         // what is known about the database; nil: nothing yet
	ready     [leasetables.Count]atomic.Bool // which tables exist, and survive a crash
	late      atomic.Bool                    // the last call got no answer in time
	waits     atomic.Bool                    // or was told that another transaction keeps a lock
	memory    atomic.Value                   // string: the incarnation of the database in memory that this store uses
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Admin   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError. It does not use the database: the first call
// inspects it.
func New(db *sql.DB, cfg Config) (*Store, error) {
	var wrong fields.Errors
	if db == nil {
		wrong.Add("db", nil, "must be an open *sql.DB")
	}
	cfg.validate(&wrong, "must be empty, postgres, mysql or sqlite", "", ddl.Postgres, ddl.MySQL, ddl.SQLite)
	if err := wrong.Err("sqlstore"); err != nil {
		return nil, err
	}
	return &Store{db: db, cfg: cfg}, nil
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	return call(ctx, s, fmt.Sprintf("claim in namespace %q", c.Namespace), leaseTables, func(x session) (driver.Lease, error) {
		if x.Dialect == ddl.MySQL && !x.mariaDB { // in MySQL no statement limits its wait for a row: see settle
			defer discard(x.conn)
			if _, err := x.conn.ExecContext(ctx, "SET innodb_lock_wait_timeout = 1"); err != nil {
				return driver.Lease{}, err
			}
		}
		return driver.Transact(ctx, c.Decide, func(ctx context.Context, all bool) (driver.State, error) {
			records := x.candidates(c)
			if all {
				records = x.every(c.Namespace)
			}
			return x.read(ctx, c.Namespace, records)
		}, func(ctx context.Context, st driver.State, ch driver.Change) (bool, error) {
			return x.writeClaim(ctx, c, st, ch)
		})
	})
}

// Renew implements driver.Store. The result has no Start.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	return call(ctx, s, fmt.Sprintf("renew worker ID %d of namespace %q", r.Worker, r.Namespace), leaseTables, func(x session) (driver.Lease, error) {
		l := driver.Lease{Worker: r.Worker, FencingToken: r.FencingToken}
		renew := func() (done bool, err error) {
			l.Fence, done, err = x.renewOnce(ctx, r)
			return done, err
		}
		if done, err := renew(); done || err != nil {
			return l, err
		}
		decided, err := driver.Transact(ctx, r.Decide, func(ctx context.Context, _ bool) (driver.State, error) {
			return x.read(ctx, r.Namespace, x.fill(x.every(r.Namespace)+" AND worker_id = ?", r.Worker))
		}, func(ctx context.Context, st driver.State, ch driver.Change) (bool, error) {
			switch {
			case ch.Namespace != nil:
				return x.writeNamespace(ctx, r.Namespace, st, *ch.Namespace)
			case *ch.Record == ch.Old: // MySQL reports only changed rows, and within a millisecond nothing changes
				l.Fence = ch.Record.Fence
				return true, nil
			}
			return renew()
		})
		l.FloorRaised = decided.FloorRaised
		return l, err
	})
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Release) error {
	_, err := call(ctx, s, fmt.Sprintf("release worker ID %d of namespace %q", r.Worker, r.Namespace), leaseTables, func(x session) (none struct{}, err error) {
		return none, x.end(ctx, r.Namespace, r.Worker, r.FencingToken, x.fill("fence = ?, state = 'released'", r.Unused), x.fill(" AND claim_id = ?", r.ClaimID))
	})
	return err
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, worker, fencingToken int64) error {
	if err := driver.CheckNamespace(namespace); err != nil {
		return err
	}
	_, err := call(ctx, s, fmt.Sprintf("free worker ID %d of namespace %q", worker, namespace), leaseTables, func(x session) (none struct{}, err error) {
		return none, x.end(ctx, namespace, worker, fencingToken, "state = 'freed'", "")
	})
	return err
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) (driver.State, error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return driver.State{}, err
	}
	return call(ctx, s, fmt.Sprintf("list namespace %q", namespace), leaseTables, func(x session) (driver.State, error) {
		st, err := x.read(ctx, namespace, x.every(namespace))
		return st.Listed(), err
	})
}

// Raise implements driver.Admin.
func (s *Store) Raise(ctx context.Context, namespace string, fenceWindow int64) (driver.Namespace, error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return driver.Namespace{}, err
	}
	return call(ctx, s, fmt.Sprintf("raise the floor of namespace %q", namespace), leaseTables, func(x session) (ns driver.Namespace, err error) {
		err = driver.Retry(ctx, func() (bool, error) {
			st, err := x.read(ctx, namespace, x.every(namespace))
			if err != nil {
				return false, err
			}
			ch, err := st.Raise(fenceWindow)
			if err != nil {
				return false, driver.Permanent(err)
			}
			ns = *ch.Namespace
			return x.writeNamespace(ctx, namespace, st, ns)
		})
		return ns, err
	})
}

// Namespaces returns all namespaces in the tables, sorted by name.
func (s *Store) Namespaces(ctx context.Context) ([]driver.Namespace, error) {
	return call(ctx, s, "list the namespaces", leaseTables, func(x session) (all []driver.Namespace, err error) {
		err = queryRows(ctx, x.conn, func(rows *sql.Rows) error {
			var ns driver.Namespace
			err := rows.Scan(&ns.Name, &ns.Layout, &ns.FenceWindow, &ns.MaxSkew, &ns.Incarnation, &ns.Since, &ns.Floor, &ns.Seen, &ns.Version)
			all = append(all, ns)
			return err
		}, "SELECT namespace, "+namespaceColumns+" FROM "+x.Quoted(leasetables.Namespaces)+" WHERE namespace <> '"+indexName+"' AND version > 0 ORDER BY namespace", x.simple...)
		return all, err
	})
}

// Incarnation returns the incarnation of the server that answers, and the names of its parts. Each part
// changes after certain events in which the server may lose acknowledged writes.
func (s *Store) Incarnation(ctx context.Context) (value string, parts []string, err error) {
	value, err = call(ctx, s, "ask for the incarnation", leaseTables, func(x session) (string, error) {
		st, err := x.read(ctx, indexName, "")
		parts = x.incarnation.parts
		return st.Server, err
	})
	return value, parts, err
}

// Open returns a generator with a worker ID that it leases from the database. See [worker.Open] for the
// guarantees and errors.
//
// Open creates missing tables. If the role may not do that, the error has the statements to run. By
// default, the lease briefly takes a connection of db every ten seconds. Close the generator before db;
// it does not close db. For tables with other names, call [worker.Open] with a store of New.
func Open(ctx context.Context, db *sql.DB, cfg worker.Config) (*worker.Generator, error) {
	store, err := New(db, Config{})
	if err != nil {
		return nil, err
	}
	return worker.Open(ctx, store, cfg)
}
