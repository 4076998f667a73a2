package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inTurn is a pool of one connection that serves its callers in turn, as pgxpool does.
type inTurn struct{ free chan struct{} }

func (p inTurn) Connect(ctx context.Context) (driver.Conn, error) {
	select {
	case <-p.free:
		return lent{p: p}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
func (inTurn) Driver() driver.Driver { return nil }

type lent struct {
	driver.Conn
	p inTurn
}

func (c lent) Close() error {
	go func() { c.p.free <- struct{}{} }()
	return nil
}

// hanging is a database that answers nothing.
type hanging struct{ driver.Conn }

func (h hanging) Connect(context.Context) (driver.Conn, error) { return h, nil }
func (hanging) Driver() driver.Driver                          { return nil }
func (hanging) Close() error                                   { return nil }
func (hanging) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// knowing returns a store that has inspected its database.
func knowing(db *sql.DB) *Store {
	s := mustNew(New(db, Config{Dialect: Postgres}))
	s.inspected.Store(&inspected{st: s.cfg.statements(), tables: [tables]bool{true, true, true}})
	return s
}

// If the queue for a connection takes longer than one call may, calls reach its front anyway.
func TestWaiterComesToTheFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := inTurn{make(chan struct{})}
		db := sql.OpenDB(pool)
		defer db.Close()
		db.SetMaxIdleConns(-1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for range 400 { // transactions of 10ms, so that the queue takes four seconds
			go func() {
				for ctx.Err() == nil {
					if c, err := pool.Connect(ctx); err == nil {
						time.Sleep(10 * time.Millisecond)
						_ = c.Close()
					}
				}
			}()
		}
		synctest.Wait()
		go func() { pool.free <- struct{}{} }()
		s := knowing(db)
		for range 10 {
			began := time.Now()
			for tries := 1; ; tries++ {
				attempt, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				conn, err := s.connection(attempt, nil)
				cancel()
				if err == nil {
					_ = conn.Close()
					break
				}
				if tries == 3 {
					t.Errorf("no connection in %v: %v", time.Since(began), err)
					break
				}
				time.Sleep(500 * time.Millisecond)
			}
			if d := time.Since(began); d > 4100*time.Millisecond {
				t.Errorf("a connection after %v, and the queue takes 4s", d)
			}
		}
		stop()
		time.Sleep(waiterKept + connKept)
		if n := db.Stats().InUse; n != 0 {
			t.Errorf("%d connections are in use", n)
		}
		<-pool.free
	})
}

// A connection that comes when no call waits is given back, and the next call gets another.
func TestWaiterWithoutACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := inTurn{make(chan struct{})}
		db := sql.OpenDB(pool)
		defer db.Close()
		db.SetMaxIdleConns(-1)
		s := knowing(db)
		give := func(ctx context.Context) (*sql.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return s.connection(ctx, nil)
		}
		if _, err := give(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		pool.free <- struct{}{} // the kept waiter has it
		synctest.Wait()
		if n := db.Stats().InUse; n != 1 {
			t.Errorf("%d connections are in use", n)
		}
		time.Sleep(connKept + time.Millisecond)
		synctest.Wait()
		if n := db.Stats().InUse; n != 0 {
			t.Errorf("%d connections are in use", n)
		}
		conn, err := give(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		<-pool.free
		if _, err := give(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		time.Sleep(waiterKept) // the waiter ends by itself
		synctest.Wait()
		select {
		case pool.free <- struct{}{}:
			t.Error("a waiter is left")
		default:
		}
	})
}

// The error of a call that got no connection blames the pool if the program uses it up, and not
// if attempts to connect fill it, because the server is silent.
func TestPoolUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := inTurn{make(chan struct{})}
		db := sql.OpenDB(pool)
		defer db.Close()
		db.SetMaxOpenConns(1)
		s := knowing(db)
		give := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return s.onConnection(ctx, nil, func(session) error { return nil })
		}
		for range 3 {
			if err := give(); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "pool") {
				t.Errorf("silent: %v", err)
			}
		}
		pool.free <- struct{}{}
		if err := give(); err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const want = "sqlstore: all connections of the pool are in use (1 of 1): give the lease a pool of its own, or raise SetMaxOpenConns: context deadline exceeded"
		for range 3 {
			if err := give(); !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
		_ = conn.Close()
		if err := give(); err != nil {
			t.Error(err)
		}
		time.Sleep(waiterKept)
		_ = db.Close()
		<-pool.free
	})
}

// No statement is sent when the context is done: a driver might not check it.
func TestDoneBeforehand(t *testing.T) {
	db := sql.OpenDB(hanging{})
	defer db.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := knowing(db).onConnection(ctx, nil, func(session) error {
		t.Error("called")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An inspection that takes longer than a call continues, and the next call finds it done. One that
// hangs ends by itself, and each call with its own context.
func TestSlowInspection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: (&sound{version: "8.4.1", tables: true}).answer, takes: time.Second} // six queries
		db := f.open(t)
		s := mustNew(New(db, Config{}))
		try := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			began := time.Now()
			err := s.PrepareCounters(ctx)
			if err == nil {
				_, err = s.List(ctx, "x")
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("a call took %v", took)
			}
			return err
		}
		tries := 1
		for ; try() != nil && tries < 9; tries++ {
			time.Sleep(100 * time.Millisecond)
		}
		if tries > 4 {
			t.Errorf("%d calls, and it is not inspected", tries)
		}
		s = mustNew(New(db, Config{}))
		f.takes = time.Hour
		for range 3 {
			if err := try(); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		time.Sleep(waiterKept + inspectionLimit)
		synctest.Wait()
		if n := db.Stats().InUse; n != 0 {
			t.Errorf("%d connections are in use", n)
		}
	})
}

// A panic of the driver is an error, in whatever goroutine it happens, and whenever.
func TestDriverPanics(t *testing.T) {
	for name, f := range map[string]*fake{
		"connect": {broken: true},
		"inspect": {answer: func(string) answer { panic("ouch") }},
		"read": {answer: func(query string) answer {
			if contains(query, "UNION ALL") {
				panic("ouch")
			}
			return (&sound{version: "8.4.1", tables: true}).answer(query)
		}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		db := sql.OpenDB(f) // Close would wait for the connection
		if _, err := mustNew(New(db, Config{})).List(ctx, "x"); err == nil || !strings.Contains(err.Error(), "panicked: ouch") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
