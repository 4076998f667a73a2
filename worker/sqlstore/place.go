package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// A place is one in the queue for a connection of the pool. It outlives the call that has
// queued, and the next one has it. A call that gave it up with its context would begin
// again at the end, and where the queue takes longer than one call may, as after an outage,
// no call would ever come to its front.
type place struct {
	conn   chan *sql.Conn // closed when it has ended
	err    error          // why there is no connection; to be read when conn is closed
	cancel context.CancelFunc
}

const (
	keptFor = 15 * time.Second // a place whose call is over
	heldFor = time.Second      // a connection that has come when no call waits
)

var errHeld = errors.New("sqlstore: a connection came, and no call waited for it")

// places are those whose calls are over.
type places struct {
	mu   sync.Mutex
	kept []*place
}

// queue takes a place at the end of the queue.
func (s *Store) queue(ctx context.Context) *place {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &place{conn: make(chan *sql.Conn), cancel: cancel}
	go func() {
		defer cancel()
		defer close(p.conn)
		conn, err := s.db.Conn(ctx)
		if err != nil {
			p.err = err
			return
		}
		held := time.NewTimer(heldFor)
		defer held.Stop()
		select {
		case p.conn <- conn:
			return
		case <-held.C:
		case <-ctx.Done():
		}
		p.err = errHeld
		_ = conn.Close()
	}()
	return p
}

// take gives the place that was kept first, or none.
func (ps *places) take() *place {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.kept) == 0 {
		return nil
	}
	p := ps.kept[0]
	ps.kept = ps.kept[1:]
	return p
}

func (ps *places) keep(p *place) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.kept = append(ps.kept, p)
	time.AfterFunc(keptFor, p.cancel)
}

// connection waits in a place that was kept, if there is one, and in one at the end of the
// queue: the first may be one of a network that has changed, and a pool need not serve its
// callers in turn.
func (s *Store) connection(ctx context.Context) (*sql.Conn, error) {
	last := s.queue(ctx)
	first, conns := s.places.take(), (chan *sql.Conn)(nil)
	if first != nil {
		conns = first.conn
	}
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
				s.places.keep(first)
			}
			return conn, last.err
		case <-ctx.Done():
			if first != nil {
				last.cancel()
				last = first
			}
			s.places.keep(last)
			return nil, ctx.Err()
		}
	}
}

// maxBroken is how many connections are tried, as database/sql does it, when one has
// turned out to be broken before anything was sent.
const maxBroken = 3

// connectionKey is of the connection that a context's call has. A call that needs several
// statements queues once for all of them.
type connectionKey struct{}

// onConnection calls f with the connection of the context, or one of the pool.
func (s *Store) onConnection(ctx context.Context, f func(*sql.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err // a driver need not look
	}
	if conn, ok := ctx.Value(connectionKey{}).(*sql.Conn); ok {
		return f(conn)
	}
	for tries := 1; ; tries++ {
		conn, err := s.connection(ctx)
		if err != nil {
			return err
		}
		if err = ctx.Err(); err == nil {
			err = f(conn)
		}
		if readOnly(err) {
			// To a primary that has become a standby, it may be: the next one leads elsewhere.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close() // it goes back to the pool
		if tries == maxBroken || !errors.Is(err, driver.ErrBadConn) {
			return err
		}
	}
}

// readOnly reports whether the database takes no writes at all, or not on this connection: in
// PostgreSQL's drivers by SQLSTATE, in MySQL's by its text.
func readOnly(err error) bool {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState() == "25006"
	}
	return err != nil && slices.ContainsFunc([]string{"Error 1290", "Error 1792", "Error 1836"}, func(code string) bool {
		return strings.Contains(err.Error(), code)
	})
}
