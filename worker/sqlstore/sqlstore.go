package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Config configures Open and New. The zero value is ready for use.
type Config struct {
	// Dialect is that of the database. Zero: the store asks the database.
	Dialect Dialect
	// Table is the table of the records, optionally with a schema and a dot before it. Two more
	// tables have the names snow_namespace and snow_counter if it is snow_lease, and otherwise its
	// name with _namespace and _counter after it; a name that ends in lease is treated like
	// snow_lease. Zero: "snow_lease". Without a schema it is in PostgreSQL's schema public, whatever
	// the search_path is, or in the database that the MySQL connection has selected. Two databases of
	// one server, and two schemas, have separate namespaces.
	Table string
	// NoCreate makes a missing table an error: you create the tables.
	NoCreate bool
	// AllowDataLoss accepts, for counters, a database that may lose committed writes when its machine
	// crashes, as in tests. Numbers may then be given twice. Leases need no such setting.
	AllowDataLoss bool
	// Lease configures the generator of Open and its lease: the namespace, the layout, an
	// observer. New ignores it.
	Lease worker.Config
}

// A Store keeps the records of any number of namespaces. Make it with New; every method of a nil
// or zero Store returns a *core.ConfigError. It does not close the database. All methods are
// safe for concurrent use.
type Store struct {
	db      *sql.DB
	cfg     Config
	limiter driver.Limiter // of the requests of leases
	calls   hung.Calls

	inspecting chan struct{}          // holds an element while a call inspects the database
	inspected  atomic.Pointer[server] // what is known about the database; nil: nothing yet
	late       atomic.Int32           // calls in a row that got no answer in time
	nonce      string                 // the incarnation of a database in memory that this store begins
	memory     atomic.Value           // string: that of the database in memory that this store uses
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
	cfg.complete(&wrong, "must be Detect, Postgres, MySQL or SQLite", Detect, Postgres, MySQL, SQLite)
	if err := wrong.Err("sqlstore"); err != nil {
		return nil, err
	}
	return &Store{db: db, cfg: cfg, inspecting: make(chan struct{}, 1), nonce: "memory " + rand.Text()}, nil
}

// lease is the call of a verb of a lease, in its turn.
func (s *Store) lease(ctx context.Context, what string, f func(session) (driver.Lease, error)) (l driver.Lease, err error) {
	if err := s.check(); err != nil {
		return l, err
	}
	err = s.limiter.Do(ctx, func() (err error) {
		l, err = call(ctx, s, what, leaseTables, f)
		return err
	})
	return l, err
}

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	return s.lease(ctx, fmt.Sprintf("claim in namespace %q", c.Namespace), func(x session) (driver.Lease, error) {
		which := candidates(c)
		read := func(ctx context.Context) (driver.State, error) { return x.read(ctx, c.Namespace, which) }
		write := func(ctx context.Context, st driver.State, ch driver.Change) (bool, error) {
			return x.writeClaim(ctx, c, st, ch)
		}
		l, err := driver.Transact(ctx, c.Decide, read, write)
		if errors.Is(err, driver.ErrNoWorkerID) { // its text counts the records
			forgot := l.Forgot
			which = every(c.Namespace)
			l, err = driver.Transact(ctx, c.Decide, read, write)
			l.Forgot = l.Forgot || forgot
		}
		if errors.As(err, new(*driver.SkewError)) && x.Dialect == MySQL { // perhaps of the session only
			err = cmp.Or(x.unmet(ctx), err)
		}
		return l, err
	})
}

// Renew implements driver.Store. The result has no Start.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	return s.lease(ctx, fmt.Sprintf("renew worker ID %d of namespace %q", r.Worker, r.Namespace), func(x session) (l driver.Lease, err error) {
		var done bool
		renew := func() error {
			fence, changed, err := x.renewOnce(ctx, r)
			done, l = changed, driver.Lease{Worker: r.Worker, FencingToken: r.FencingToken, Fence: fence}
			return err
		}
		if err := renew(); done || err != nil {
			return l, err
		}
		decided, err := driver.Transact(ctx, r.Decide, func(ctx context.Context) (driver.State, error) {
			return x.read(ctx, r.Namespace, query{oneRecord, []any{r.Namespace, r.Worker}})
		}, func(ctx context.Context, st driver.State, ch driver.Change) (bool, error) {
			switch {
			case ch.Namespace != nil:
				return x.writeNamespace(ctx, r.Namespace, st, *ch.Namespace)
			case slices.Contains(st.Records, *ch.Record): // MySQL counts what has changed: within a millisecond, nothing has
				l.Fence = ch.Record.Fence
				return true, nil
			}
			err := renew()
			return done, err
		})
		l.Forgot = decided.Forgot
		return l, err
	})
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Release) error {
	_, err := s.lease(ctx, fmt.Sprintf("release worker ID %d of namespace %q", r.Worker, r.Namespace), func(x session) (l driver.Lease, err error) {
		return l, x.end(ctx, "fence = ?, state = 'released'", " AND claim_id = ?", r.Unused, r.Namespace, r.Worker, r.FencingToken, r.ClaimID)
	})
	return err
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, worker, fencingToken int64) error {
	if err := driver.CheckNamespace(namespace); err != nil {
		return err
	}
	_, err := call(ctx, s, fmt.Sprintf("free worker ID %d of namespace %q", worker, namespace), leaseTables, func(x session) (none struct{}, err error) {
		return none, x.end(ctx, "state = 'freed'", "", namespace, worker, fencingToken)
	})
	return err
}

// List implements driver.Admin.
func (s *Store) List(ctx context.Context, namespace string) (driver.State, error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return driver.State{}, err
	}
	return call(ctx, s, fmt.Sprintf("list namespace %q", namespace), leaseTables, func(x session) (driver.State, error) {
		st, err := x.read(ctx, namespace, every(namespace))
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
			st, err := x.read(ctx, namespace, every(namespace))
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

// Namespaces returns the namespaces that the tables have, by name.
func (s *Store) Namespaces(ctx context.Context) ([]driver.Namespace, error) {
	return call(ctx, s, "list the namespaces", leaseTables, func(x session) (all []driver.Namespace, err error) {
		err = x.each(ctx, func(rows *sql.Rows) error {
			var ns driver.Namespace
			err := rows.Scan(&ns.Name, &ns.Layout, &ns.FenceWindow, &ns.MaxSkew, &ns.Incarnation, &ns.Since, &ns.Floor, &ns.Seen, &ns.Version)
			all = append(all, ns)
			return err
		}, "SELECT namespace, "+namespaceColumns+" FROM "+x.table(namespaceTable)+" WHERE namespace <> '"+indexName+"' AND version > 0 ORDER BY namespace")
		return all, err
	})
}

// Incarnation returns the incarnation of the server that answers, and what it consists of: each part
// changes when the server may have lost what it has acknowledged, in one way or another.
func (s *Store) Incarnation(ctx context.Context) (value string, parts []string, err error) {
	value, err = call(ctx, s, "ask for the incarnation", leaseTables, func(x session) (string, error) {
		st, err := x.read(ctx, indexName, query{})
		parts = x.incarnation.parts
		return st.Server, err
	})
	return value, parts, err
}

// Open returns a generator with a worker ID that it leases from the database: see [worker.Open],
// which says what is guaranteed, and which errors are returned.
//
// Open creates the tables if they are missing. If the role may not do that, the error ends with
// the statements to run. Every ten seconds the lease takes a connection of db for a moment. Close
// the generator before db; it does not close db.
func Open(ctx context.Context, db *sql.DB, cfg Config) (*worker.Generator, error) {
	store, err := New(db, cfg)
	if err != nil {
		return nil, err
	}
	return worker.Open(ctx, store, cfg.Lease)
}
