package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/hung"
)

// A session is the connection of one request, with the statements of its database.
type session struct {
	*statements
	conn *sql.Conn
}

// call calls f with a connection to the database, which was inspected. It returns when its context
// is done, even if the database's driver does not, and adds the missing right to the error.
func call[T any](ctx context.Context, s *Store, what string, wanted []table, f func(session) (T, error)) (T, error) {
	var none T
	if err := s.check(); err != nil {
		return none, err
	}
	return hung.Do(ctx, &s.calls, "sqlstore: "+what, func() (result T, err error) {
		err = s.onConnection(ctx, wanted, func(x session) (err error) {
			if result, err = f(x); err != nil {
				err = x.withRights(ctx, wanted, err)
			}
			return err
		})
		if err != nil {
			return none, err
		}
		return result, nil
	})
}

// maxBroken is how many connections are tried if they turn out to be broken before anything was
// sent, as database/sql does.
const maxBroken = 3

// onConnection calls f with a connection of the pool. A request queues once for all its statements.
func (s *Store) onConnection(ctx context.Context, wanted []table, f func(session) error) error {
	for tries := 1; ; tries++ {
		conn, err := s.connection(ctx, wanted)
		if err == nil {
			err = s.answered(ctx, func() error {
				if err := ctx.Err(); err != nil {
					return err // a driver might not look
				}
				// What another call has inspected may not be all that this one wants.
				if err := s.inspect(ctx, conn, wanted); err != nil {
					return err
				}
				return f(session{s.inspected.Load().st, conn})
			})
			giveBack(conn, err) // not after a panic: database/sql would wait for its end
		}
		if tries == maxBroken || !errors.Is(err, driver.ErrBadConn) {
			return err
		}
	}
}

// giveBack returns the connection to the pool after this error, or nil. It closes one that rejects
// writes: that may lead to a primary that has become a standby, and the next one to the new primary.
func giveBack(conn *sql.Conn, err error) {
	if readOnly(err) {
		discard(conn)
	}
	_ = conn.Close()
}

// discard makes the pool close the connection.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// A waiter waits in the pool's queue for a connection, and inspects the database if no call has. It
// outlives the call that started it, and the next call inherits it. Otherwise a queue that takes
// longer than a call's context, as after an outage, would never be passed, because each call
// queues at the end; nor would the inspection of a distant database ever be over.
type waiter struct {
	conn   chan *sql.Conn // closed when the waiter has ended
	err    error          // why there is no connection; valid once conn is closed
	cancel context.CancelFunc
}

const (
	waiterKept = 15 * time.Second // how long a waiter is kept after its call
	connKept   = time.Second      // how long a connection is kept while no call wants it
)

var errUnwanted = errors.New("sqlstore: a connection was free, and no call waited for it")

// startWaiter queues at the end.
func (s *Store) startWaiter(ctx context.Context, wanted []table) *waiter {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &waiter{conn: make(chan *sql.Conn), cancel: cancel}
	go func() {
		defer cancel()
		defer close(w.conn)
		conn, err := s.inspectedConn(ctx, wanted)
		if err != nil {
			w.err = err
			return
		}
		kept := time.NewTimer(connKept)
		defer kept.Stop()
		select {
		case w.conn <- conn:
			return
		case <-kept.C:
		case <-ctx.Done():
		}
		w.err = errUnwanted
		_ = conn.Close()
	}()
	return w
}

// inspectedConn takes a connection to the database, which it inspects if no call has.
func (s *Store) inspectedConn(ctx context.Context, wanted []table) (conn *sql.Conn, err error) {
	defer func() {
		if p := recover(); p != nil { // the caller is in another goroutine and could not
			conn, err = nil, fmt.Errorf("sqlstore: the driver panicked: %v", p)
		}
	}()
	if conn, err = s.db.Conn(ctx); err != nil {
		return nil, err
	}
	if err := s.inspect(ctx, conn, wanted); err != nil {
		giveBack(conn, err)
		return nil, err
	}
	return conn, nil
}

// waiting is the state of the calls that wait, for connections and for answers.
type waiting struct {
	mu         sync.Mutex
	kept       []*waiter // those that no call uses at present
	unanswered int       // calls in a row whose context ended before the database answered
	mute       bool      // whether the last request on a connection, or attempt to connect, got no answer
}

func (w *waiting) keep(one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, one)
	time.AfterFunc(waiterKept, one.cancel)
}

// longestKept removes and returns the waiter that was kept the longest; nil: there is none.
func (w *waiting) longestKept() (one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept) > 0 {
		one, w.kept = w.kept[0], w.kept[1:]
	}
	return one
}

// connection uses a kept waiter, if there is one, and also a new one: the kept one may belong to
// a connection attempt that hangs, and a pool need not serve its callers in order.
func (s *Store) connection(ctx context.Context, wanted []table) (*sql.Conn, error) {
	queued := s.db.Stats().WaitCount
	last := s.startWaiter(ctx, wanted)
	var conns chan *sql.Conn // of first
	first := s.waiting.longestKept()
	if first != nil {
		conns = first.conn
	}
	var before error // of first
	for {
		select {
		case conn, ok := <-conns:
			if ok {
				last.cancel()
				return conn, nil
			}
			if !errors.Is(first.err, errUnwanted) && !errors.Is(first.err, context.Canceled) { // it was kept for too long
				before = first.err
			}
			first, conns = nil, nil
		case conn, ok := <-last.conn:
			if first != nil && ok {
				first.cancel()
			} else if first != nil {
				s.waiting.keep(first)
			}
			return conn, last.err
		case <-ctx.Done():
			if first != nil {
				last.cancel()
				last = first
			}
			s.waiting.keep(last)
			return nil, s.waitError(ctx.Err(), before, queued)
		}
	}
}

// waitError is the error of a call whose context is done while it waits for a connection. before is
// why the attempt before has failed, and queued how many requests had waited in the queue of
// database/sql before. The error says so if the program uses up the pool. It does not while the
// server is silent: the pool may then be full of attempts to connect, and of connections that got no
// answer.
func (s *Store) waitError(done, before error, queued int64) error {
	st := s.db.Stats()
	inUse, limit, setting := st.InUse, st.MaxOpenConnections, "SetMaxOpenConns"
	full := st.WaitCount > queued && limit > 0 && inUse >= limit
	if pool, ok := s.db.Driver().(interface{ InUse() (n, limit int) }); ok { // of pgxstore
		inUse, limit = pool.InUse()
		full, setting = inUse >= limit, "MaxConns"
	}
	switch mute := s.noAnswer(!full); {
	case !mute:
		return fmt.Errorf("sqlstore: all connections of the pool are in use (%d of %d): give the lease a pool of its own, or raise %s: %w", inUse, limit, setting, done)
	case before != nil:
		return fmt.Errorf("sqlstore: wait for the database: %w; the attempt before failed: %w", done, before)
	}
	return fmt.Errorf("sqlstore: wait for the database: %w", done)
}

const (
	maxUnanswered = 2           // calls in a row without an answer before idle connections are dropped
	dropLimit     = time.Second // the longest wait for one of them
)

// answered calls f, which uses a connection, and notes whether it was answered in time.
func (s *Store) answered(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, func() { s.noAnswer(true) }) // also if f does not return
	err := f()
	if ctx.Err() == nil && stop() { // stop alone may be faster than noAnswer when ctx is done
		s.waiting.mu.Lock()
		defer s.waiting.mu.Unlock()
		s.waiting.unanswered, s.waiting.mute = 0, false
	}
	return err
}

// noAnswer drops the idle connections if calls get no answer before their contexts end: the
// network may have lost all connections without closing any, and each would cost a call. It sets
// mute if this call was muted, and returns it.
func (s *Store) noAnswer(muted bool) (mute bool) {
	w := &s.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute = w.mute || muted
	if w.unanswered++; w.unanswered < maxUnanswered {
		return w.mute
	}
	w.unanswered = 0
	if i := s.inspected.Load(); i == nil || i.st.cfg.Dialect == SQLite { // where a connection may be a database
		return w.mute
	}
	for range s.db.Stats().Idle {
		go s.dropIdle()
	}
	return w.mute
}

// dropIdle closes an idle connection of the pool. All are taken at once, because a
// driver may try each of them first, and that takes its time too.
func (s *Store) dropIdle() {
	ctx, cancel := context.WithTimeout(context.Background(), dropLimit)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return
	}
	discard(conn)
	_ = conn.Close()
}
