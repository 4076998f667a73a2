package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"
)

// A waiter waits in the pool's queue for a connection. It outlives the call that started it, and
// the next call inherits it. If each call queued again at the end, and the queue took longer
// than a call's context, as after an outage, no call would ever get a connection.
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

// waiters are those that no call uses at present.
type waiters struct {
	mu     sync.Mutex
	kept   []*waiter
	silent int  // calls in a row whose context ended before the database answered
	mute   bool // whether the last request on a connection, or attempt to connect, got no answer
}

// startWaiter queues at the end.
func (s *Store) startWaiter(ctx context.Context) *waiter {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &waiter{conn: make(chan *sql.Conn), cancel: cancel}
	go func() {
		defer cancel()
		defer close(w.conn)
		conn, err := s.db.Conn(ctx)
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

func (ws *waiters) keep(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.kept = append(ws.kept, w)
	time.AfterFunc(waiterKept, w.cancel)
}

// connection uses a kept waiter, if there is one, and also a new one: the kept one may belong to
// a connection attempt that hangs, and a pool need not serve its callers in order.
func (s *Store) connection(ctx context.Context) (*sql.Conn, error) {
	queued := s.db.Stats().WaitCount
	last := s.startWaiter(ctx)
	var first *waiter // that was kept the longest
	var conns chan *sql.Conn
	s.waiters.mu.Lock()
	if len(s.waiters.kept) > 0 {
		first = s.waiters.kept[0]
		s.waiters.kept, conns = s.waiters.kept[1:], first.conn
	}
	s.waiters.mu.Unlock()
	for {
		select {
		case conn, ok := <-conns:
			if ok {
				last.cancel()
				return conn, nil
			}
			first, conns = nil, nil // it was kept for too long, or failed
		case conn, ok := <-last.conn:
			if first != nil && ok {
				first.cancel()
			} else if first != nil {
				s.waiters.keep(first)
			}
			return conn, last.err
		case <-ctx.Done():
			if first != nil {
				last.cancel()
				last = first
			}
			s.waiters.keep(last)
			return nil, s.waitError(ctx.Err(), queued)
		}
	}
}

// waitError is the error of a call whose context is done while it waits for a connection. queued
// is how many requests had waited in the queue of database/sql before. The error says so if the
// program uses up the pool. It does not while the server is silent: the pool may then be full of
// attempts to connect, and of connections that got no answer.
func (s *Store) waitError(done error, queued int64) error {
	st := s.db.Stats()
	inUse, limit, setting := st.InUse, st.MaxOpenConnections, "SetMaxOpenConns"
	full := st.WaitCount > queued && limit > 0 && inUse >= limit
	if pool, ok := s.db.Driver().(interface{ InUse() (n, limit int) }); ok { // of pgxstore
		inUse, limit = pool.InUse()
		full, setting = inUse >= limit, "MaxConns"
	}
	s.waiters.mu.Lock()
	defer s.waiters.mu.Unlock()
	if s.waiters.mute = s.waiters.mute || !full; s.waiters.mute {
		return done
	}
	return fmt.Errorf("all connections of the pool are in use (%d of %d): give the lease a pool of its own, or raise %s: %w", inUse, limit, setting, done)
}

func (ws *waiters) notAnswered() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.mute = true
}

const (
	maxSilent = 2           // calls in a row without an answer before idle connections are dropped
	dropLimit = time.Second // the longest wait for one of them
)

// expectAnswer drops the idle connections if calls get no answer before their contexts end: the
// network may have lost all connections without closing any, and each would cost a call.
func (s *Store) expectAnswer(ctx context.Context) (answered func()) {
	stop := context.AfterFunc(ctx, s.noAnswer)
	return func() {
		if ctx.Err() == nil && stop() { // stop alone may be faster than noAnswer when ctx is done
			s.waiters.mu.Lock()
			defer s.waiters.mu.Unlock()
			s.waiters.silent, s.waiters.mute = 0, false
		}
	}
}

func (s *Store) noAnswer() {
	s.waiters.mu.Lock()
	defer s.waiters.mu.Unlock()
	if s.waiters.silent++; s.waiters.silent < maxSilent {
		return
	}
	s.waiters.silent = 0
	if i := s.inspected.Load(); i == nil || i.st.cfg.Dialect == SQLite { // where a connection may be a database
		return
	}
	for range s.db.Stats().Idle {
		go s.dropIdle()
	}
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

// maxBroken is how many connections are tried if they turn out to be broken before anything was
// sent, as database/sql does.
const maxBroken = 3

// onConnection calls f with a connection of the pool. A request queues once for all its statements.
func (s *Store) onConnection(ctx context.Context, f func(*sql.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err // a driver might not look
	}
	defer s.expectAnswer(ctx)()
	for tries := 1; ; tries++ {
		conn, err := s.connection(ctx)
		if err != nil {
			return err
		}
		err = use(ctx, conn, f)
		if ctx.Err() != nil {
			s.waiters.notAnswered()
		}
		if tries == maxBroken || !errors.Is(err, driver.ErrBadConn) {
			return err
		}
	}
}

// use calls f with a connection, and returns that to the pool. After a panic, or if it rejects writes, it
// is closed: it may lead to a primary that has become a standby, and the next one to the new primary.
func use(ctx context.Context, conn *sql.Conn, f func(*sql.Conn) error) (err error) {
	done := false
	defer func() {
		if !done || readOnly(err) {
			discard(conn)
		}
		_ = conn.Close()
	}()
	if err = ctx.Err(); err == nil {
		err = f(conn)
	}
	done = true
	return err
}

// simple is simpleProtocol for a connection of a pool.
func simple(conn *sql.Conn) (args []any) {
	_ = conn.Raw(func(driver any) error {
		args = simpleProtocol(driver)
		return nil
	})
	return args
}

// simpleProtocol returns the argument that makes pgx send a query without arguments in one message
// and prepare nothing; for other drivers none, since they do so anyway. The argument is pgx's
// QueryExecModeSimpleProtocol. It comes from the connection, so that programs for other databases need
// not contain pgx. If the connection is wrapped in a way that hides it, or pgx refuses the session's
// encoding, pgx prepares the queries.
func simpleProtocol(conn any) []any {
	c := reflect.ValueOf(conn)
	for range maxWrappers {
		pgx := call0(c, "Conn")
		if config := pointed(call0(pgx, "Config")); config.IsValid() && config.Kind() == reflect.Struct && allowsSimple(call0(pgx, "PgConn")) {
			return simpleMode(config.FieldByName("DefaultQueryExecMode"))
		}
		inner := call0(c, "Raw") // as such wrappers call it
		for _, name := range []string{"Unwrap", "WrappedConn"} {
			if !inner.IsValid() {
				inner = call0(c, name)
			}
		}
		if c = inner; !c.IsValid() {
			break
		}
	}
	return nil
}

// allowsSimple reports whether pgx uses the simple protocol in this session.
func allowsSimple(pgconn reflect.Value) bool {
	if !pgconn.IsValid() {
		return false
	}
	status, ok := pgconn.Interface().(interface{ ParameterStatus(key string) string })
	return ok && status.ParameterStatus("client_encoding") == "UTF8" && status.ParameterStatus("standard_conforming_strings") == "on"
}

const (
	maxWrappers = 4
	maxModes    = 10 // more than pgx has
)

// simpleMode finds the mode by its name.
func simpleMode(field reflect.Value) []any {
	if !field.IsValid() || !field.CanInt() {
		return nil
	}
	mode := reflect.New(field.Type()).Elem()
	for i := range int64(maxModes) {
		if mode.SetInt(i); fmt.Sprint(mode.Interface()) == "simple protocol" {
			return []any{mode.Interface()}
		}
	}
	return nil
}

// call0 calls a method that has no arguments and one result.
func call0(v reflect.Value, method string) (result reflect.Value) {
	if !v.IsValid() {
		return result
	}
	m := v.MethodByName(method)
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
		return result
	}
	result = m.Call(nil)[0]
	if result.Kind() == reflect.Interface {
		result = result.Elem()
	}
	return result
}

func pointed(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	return v
}
