package sqlstore

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fake is a server whose answers a test chooses. It notes what it is asked.
type fake struct {
	answer func(query string) answer
	takes  time.Duration // a query
	broken bool          // the driver panics

	mu        sync.Mutex
	asked     []string
	connected int
}

// answer is rows, or what a statement has changed, or an error.
type answer struct {
	rows    [][]any
	changed int64
	err     error
}

// row is the answer of one row.
func row(values ...any) answer { return answer{rows: [][]any{values}} }

func (f *fake) open(t *testing.T) *sql.DB {
	t.Helper()
	db := sql.OpenDB(f)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (f *fake) ask(query string) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, query)
	return f.answer(query)
}

// taken returns the queries so far, and clears them.
func (f *fake) taken() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func (f *fake) Driver() sqldriver.Driver { return nil }
func (f *fake) Connect(context.Context) (sqldriver.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.connected++
	if f.broken {
		panic("ouch")
	}
	return &fakeConn{of: f}, nil
}

type fakeConn struct {
	sqldriver.Conn
	of *fake
}

func (c *fakeConn) Close() error { return nil }

func (c *fakeConn) QueryContext(ctx context.Context, query string, _ []sqldriver.NamedValue) (sqldriver.Rows, error) {
	select {
	case <-time.After(c.of.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	a := c.of.ask(query)
	if a.err != nil {
		return nil, a.err
	}
	columns := 0
	if len(a.rows) > 0 {
		columns = len(a.rows[0])
	}
	return &fakeRows{columns, a.rows}, nil
}

func (c *fakeConn) ExecContext(_ context.Context, query string, _ []sqldriver.NamedValue) (sqldriver.Result, error) {
	a := c.of.ask(query)
	return fakeResult(a.changed), a.err
}

type fakeResult int64

func (r fakeResult) LastInsertId() (int64, error) { return int64(r), nil }
func (r fakeResult) RowsAffected() (int64, error) { return int64(r), nil }

type fakeRows struct {
	columns int
	left    [][]any
}

func (r *fakeRows) Columns() []string { return make([]string, r.columns) }
func (*fakeRows) Close() error        { return nil }
func (r *fakeRows) Next(into []sqldriver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	for i, value := range r.left[0] {
		into[i] = value
	}
	r.left = r.left[1:]
	return nil
}

// state is PostgreSQL's error with an SQLSTATE.
type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

// contains reports whether the query has one of these words.
func contains(query string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(query, word) {
			return true
		}
	}
	return false
}
