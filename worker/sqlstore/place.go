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

// A place is a place in the queue for a connection of the pool. It outlives the call that
// took it, and the next call inherits it. If each call had to queue again from the end, and
// the queue took longer than a call's context, as after an outage, no call would ever get a
// connection.
type place struct {
	conn   chan *sql.Conn // closed when the place has ended
	err    error          // why there is no connection; valid once conn is closed
	cancel context.CancelFunc
}

const (
	keptFor = 15 * time.Second // how long a place is kept after its call
	heldFor = time.Second      // how long a connection is held while no call waits
)

var errHeld = errors.New("sqlstore: a connection came, and no call waited for it")

// places are the places that no call waits in at present.
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

// take returns the oldest place that was kept, or nil.
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

// connection waits in a kept place, if there is one, and also in a new one at the end of
// the queue: the kept place may belong to a connection attempt that hangs, and a pool need
// not serve its callers in turn.
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

// maxBroken is how many connections are tried if they turn out to be broken before anything
// was sent, as database/sql does.
const maxBroken = 3

// connectionKey is the context key of a call's connection. A call with several statements
// queues once for all of them.
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
			// It may lead to a primary that has become a standby; the next one leads elsewhere.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close() // returns it to the pool
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
