package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore/internal/rawconn"
)

// A session is the connection of one request to a server.
type session struct {
	*server
	conn     *sql.Conn
	store    *Store
	counting bool // numbers, not leases
}

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.db == nil {
		return fields.Error("sqlstore", "Store", nil, "must come from sqlstore.New")
	}
	return nil
}

// call calls f with a connection to the database, which was inspected. It returns when its context
// is done, even if the database's driver does not.
func call[T any](ctx context.Context, s *Store, what string, wanted []table, f func(session) (T, error)) (T, error) {
	var none T
	if err := s.check(); err != nil {
		return none, err
	}
	result, err := hung.Do(ctx, &s.calls, "sqlstore: "+what, func() (result T, err error) {
		err = s.onConnection(ctx, wanted, func(x session) (err error) {
			result, err = f(x)
			return x.withRights(wanted, err)
		})
		if err != nil {
			err = named(what, markPermanent(err))
		}
		return result, err
	})
	s.note(err != nil && ctx.Err() != nil)
	return result, err
}

const (
	maxUnanswered = 2           // calls in a row without an answer before idle connections are dropped
	dropLimit     = time.Second // the longest wait for one of them
)

// note notes whether a call got no answer in time. After some, it drops the idle connections: the network
// may have lost all of them without closing any, and each would cost a call. All are taken at once, because
// a driver may try each of them first, and that takes its time too. In SQLite, one may be a database.
func (s *Store) note(late bool) {
	if !late {
		s.late.Store(0)
		return
	}
	if i := s.inspected.Load(); s.late.Add(1)%maxUnanswered > 0 || i == nil || i.Dialect == SQLite {
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

// maxBroken is how many connections are tried if they turn out to be broken before anything was
// sent, as database/sql does.
const maxBroken = 3

// onConnection calls f with a connection of the pool. A request queues once for all its statements.
func (s *Store) onConnection(ctx context.Context, wanted []table, f func(session) error) error {
	for tries := 1; ; tries++ {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return s.waitError(ctx, err)
		}
		err = s.on(ctx, conn, wanted, f)
		if readOnly(err) || errors.Is(err, errReplaced) { // the next connection may lead to the new primary, or file
			discard(conn)
		}
		_ = conn.Close() // not after a panic: database/sql would wait for its end
		switch {
		case !errors.Is(err, driver.ErrBadConn):
			return err
		case tries == maxBroken:
			return s.rejected(ctx, err)
		}
	}
}

func (s *Store) on(ctx context.Context, conn *sql.Conn, wanted []table, f func(session) error) error {
	// What another call has inspected may not be all that this one wants.
	if err := s.inspect(ctx, conn, wanted); err != nil {
		return err
	}
	x := session{s.inspected.Load(), conn, s, wanted[0] == counterTable}
	restore, err := x.settle(ctx)
	if err != nil {
		return err
	}
	defer restore()
	return f(x)
}

// waitError is the error if the pool gives no connection.
func (s *Store) waitError(ctx context.Context, err error) error {
	if st := s.db.Stats(); ctx.Err() != nil && st.MaxOpenConnections > 0 && st.InUse >= st.MaxOpenConnections {
		return fmt.Errorf("all connections of the pool are in use (%d of %d): give the lease a pool of its own, or raise SetMaxOpenConns: %w", st.InUse, st.MaxOpenConnections, err)
	}
	return fmt.Errorf("wait for the database: %w", err)
}

// rejected explains err, which all connections had. The driver of MySQL calls a connection broken if
// its server takes no writes, with rejectReadOnly.
func (s *Store) rejected(ctx context.Context, err error) error {
	var readOnly bool
	if i := s.inspected.Load(); i == nil || i.Dialect != MySQL || s.db.QueryRowContext(ctx, "SELECT @@global.read_only").Scan(&readOnly) != nil || !readOnly {
		return err
	}
	return fmt.Errorf("%w: the server has read_only = ON, so it is a replica", err)
}

// discard makes the pool close the connection.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// settle makes a session of MySQL commit each statement by itself, so that no lock is held between
// statements. It ends a transaction that was left open. restore undoes what settle has set.
//
// A statement that waits for a row outlives a client that has given up. MariaDB and
// PostgreSQL have a limit for that in the statement. In MySQL the session gets it, after a request
// that was too late.
func (x session) settle(ctx context.Context) (restore func(), err error) {
	restore = func() {}
	if x.Dialect != MySQL {
		return restore, nil
	}
	limit := x.store.late.Load() > 0 && !x.mariaDB && !x.vitess
	if status, known := rawconn.MySQLStatus(x.conn); known && status&(rawconn.InTransaction|rawconn.Autocommit) == rawconn.Autocommit && !limit {
		return restore, nil
	}
	end := "COMMIT AND NO CHAIN NO RELEASE" // whatever completion_type the session has
	if x.vitess {                           // which knows only the short form, and ignores that
		end = "COMMIT"
	}
	if _, err := x.conn.ExecContext(ctx, end); err != nil {
		return nil, err
	}
	var autocommit, seconds int64
	if err := x.row(ctx, "SELECT @@autocommit, @@innodb_lock_wait_timeout", &autocommit, &seconds); err != nil {
		return nil, err
	}
	most := seconds
	if limit {
		most = lockSeconds(ctx)
	}
	if autocommit == 1 && most == seconds {
		return restore, nil
	}
	const set = "SET autocommit = %d, innodb_lock_wait_timeout = %d"
	if _, err := x.conn.ExecContext(ctx, fmt.Sprintf(set, 1, most)); err != nil {
		return nil, err
	}
	return func() { x.setBack(ctx, fmt.Sprintf(set, autocommit, seconds)) }, nil
}

// setBack executes what undoes a setting of the session, or closes the connection.
func (x session) setBack(ctx context.Context, query string) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer end()
	if _, err := x.conn.ExecContext(ctx, query); err != nil {
		discard(x.conn)
	}
}
