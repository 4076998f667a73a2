package sqlstore

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore/internal/rawconn"
)

// A session is one request's connection to a server.
type session struct {
	*server
	conn       *sql.Conn
	store      *Store
	counting   bool        // the request is for a counter, not a lease
	conditions []condition // of its writes
	changed    bool        // it has settings that the pool must not get back
}

// call calls f with a connection to the inspected database. It returns when ctx is done, even if the
// database's driver does not. The limiter limits the requests of leases.
func call[T any](ctx context.Context, s *Store, what string, wanted []leasetables.Table, f func(session) (T, error)) (result T, err error) {
	if s == nil || s.db == nil {
		return result, fields.Error("sqlstore", "Store", nil, "must come from sqlstore.New")
	}
	ask := func() error {
		result, err = hung.Do(ctx, &s.calls, "sqlstore: "+what, func() (result T, err error) {
			err = s.withSession(ctx, wanted, func(x session) (err error) {
				result, err = f(x)
				return err
			})
			if err != nil {
				err = named(what, classified(err))
			}
			return result, err
		})
		s.note(err != nil && ctx.Err() != nil, errors.Is(err, driver.ErrLocked))
		return err
	}
	if wanted[0] == leasetables.Counters {
		err = ask()
	} else {
		err = s.limiter.Do(ctx, ask)
	}
	return result, err
}

// dropLimit is the longest wait for an idle connection that is dropped.
const dropLimit = time.Second

// note records whether a call got no answer in time, or waited for a lock in vain. After two calls in a row
// without an answer, it drops the idle connections: the network may have lost all of them without closing
// any, and each would cost a call. It takes all at once, because a driver may first try each one, which
// also takes time. In SQLite it drops none, because a connection may hold a database in memory.
func (s *Store) note(late, locked bool) {
	s.waits.Store(late || locked)
	before := s.late.Swap(late)
	if known := s.inspected.Load(); !late || !before || known == nil || known.Dialect == ddl.SQLite {
		return
	}
	for range s.db.Stats().Idle {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), dropLimit)
			defer cancel()
			if conn, err := s.db.Conn(ctx); err == nil {
				discard(conn)
				_ = conn.Close()
			}
		}()
	}
}

// maxBroken is how many connections are tried, as in database/sql, if they turn out to be broken before
// anything was sent.
const maxBroken = 3

// withSession calls f with a connection of the pool, which a request uses for all its statements.
func (s *Store) withSession(ctx context.Context, wanted []leasetables.Table, f func(session) error) error {
	for tries := 1; ; tries++ {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return s.waitError(ctx, err)
		}
		x, err := s.newSession(ctx, conn, wanted)
		if err == nil {
			err = f(x)
		}
		if x.changed || readOnly(err) { // the next connection may lead to the new primary
			discard(conn)
		}
		_ = conn.Close() // not after a panic: database/sql would wait for its end
		switch {
		case !errors.Is(err, sqldriver.ErrBadConn):
			return err
		case tries == maxBroken:
			return s.rejected(ctx, err)
		}
	}
}

// newSession inspects the database, if that was not done yet, and creates missing tables. It keeps what it
// has learned even if the request then fails.
func (s *Store) newSession(ctx context.Context, conn *sql.Conn, wanted []leasetables.Table) (x session, err error) {
	known := s.inspected.Load()
	if known == nil {
		if known, err = s.inspect(ctx, conn); err != nil {
			return x, err
		}
		s.inspected.Store(known)
	}
	x = session{server: known, conn: conn, store: s, counting: wanted[0] == leasetables.Counters, conditions: known.ofLeases}
	if x.counting {
		x.conditions = known.ofCounters
	}
	if x.changed, err = x.settle(ctx); err != nil { // the inspection may have begun a transaction
		return x, err
	}
	return x, x.prepareTables(ctx, wanted)
}

// waitError returns the error if the pool gives no connection.
func (s *Store) waitError(ctx context.Context, err error) error {
	if st := s.db.Stats(); ctx.Err() != nil && st.MaxOpenConnections > 0 && st.InUse >= st.MaxOpenConnections {
		return fmt.Errorf("all connections of the pool are in use (%d of %d): give the lease its own pool, or raise SetMaxOpenConns: %w", st.InUse, st.MaxOpenConnections, err)
	}
	return fmt.Errorf("wait for the database: %w", err)
}

// rejected explains err, which all connections returned. With rejectReadOnly, MySQL's driver calls a
// connection broken if its server takes no writes.
func (s *Store) rejected(ctx context.Context, err error) error {
	var readOnly bool
	if i := s.inspected.Load(); i == nil || i.Dialect != ddl.MySQL || s.db.QueryRowContext(ctx, "SELECT @@global.read_only").Scan(&readOnly) != nil || !readOnly {
		return err
	}
	return fmt.Errorf("%w: the server has read_only = ON, so it is a replica", err)
}

// discard makes the pool close the connection.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return sqldriver.ErrBadConn })
}

// settle makes a MySQL session commit each statement by itself, so that no lock is held between
// statements. It ends a transaction that was left open. It reports whether it has changed the session's
// settings.
//
// A statement that waits for a row outlives a client that has given up. In MariaDB and PostgreSQL, the
// statement itself limits the wait. In MySQL, settle limits it in the session after a request that waited
// in vain.
func (x session) settle(ctx context.Context) (changed bool, err error) {
	if x.Dialect != ddl.MySQL {
		return false, nil
	}
	limit := x.store.waits.Load() && !x.mariaDB
	if !limit && !x.autocommitOff && rawconn.Commits(x.conn) {
		return false, nil
	}
	// Whatever completion_type the session has.
	if _, err := x.conn.ExecContext(ctx, "COMMIT AND NO CHAIN NO RELEASE"); err != nil {
		return false, err
	}
	var autocommit bool
	if err := x.queryRow(ctx, "SELECT @@autocommit", &autocommit); err != nil || autocommit && !limit {
		return false, err
	}
	set := "SET autocommit = 1"
	if limit {
		set += fmt.Sprint(", innodb_lock_wait_timeout = ", max(int64(lockWait(ctx, maxLockWait)/time.Second), 1))
	}
	_, err = x.conn.ExecContext(ctx, set)
	return true, err
}
