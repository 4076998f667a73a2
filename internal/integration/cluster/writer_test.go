//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// writers insert rows whose primary keys are ids of the crowd's namespace. As in most programs,
// each has one pool for both.
type writers struct {
	t     *testing.T
	on    target
	c     *crowd
	acks  *acknowledged
	db    *sql.DB
	stop  context.CancelFunc
	wg    sync.WaitGroup
	times []atomic.Int64 // acknowledged inserts of each

	mu      sync.Mutex
	rows    []int64 // acknowledged
	checked int     // how many of them were looked at after a kill
}

// The rows of each insert.
const rowsAtOnce = 8

func newWriters(t *testing.T, on target, c *crowd, acks *acknowledged, n int) *writers {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &writers{t: t, on: on, c: c, acks: acks, db: on.connect(t), stop: stop, times: make([]atomic.Int64, n)}
	w.db.SetMaxOpenConns(n + 2)
	store := watched{mustNew(sqlstore.New(w.db, sqlstore.Config{})), acks}
	for i := range n {
		gen, err := worker.Open(ctx, store, lease())
		must(t, err)
		w.wg.Go(func() {
			w.write(ctx, i, gen)
			_ = gen.Close(context.Background())
		})
	}
	return w
}

// write inserts until the end.
func (w *writers) write(ctx context.Context, number int, gen *worker.Generator) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	var values []string
	for i := range rowsAtOnce {
		values = append(values, "("+w.on.placeholder(2*i+1)+", "+w.on.placeholder(2*i+2)+")")
	}
	insert := "INSERT INTO failover_rows (id, writer) VALUES " + strings.Join(values, ", ")
	for ctx.Err() == nil {
		<-pause.C
		ids := make([]int64, rowsAtOnce)
		if err := gen.Fill(ctx, ids); err != nil {
			if ctx.Err() == nil && !errors.Is(err, core.ErrFenced) && !errors.Is(err, core.ErrSequenceExhausted) {
				w.t.Errorf("writer %d: %v", number, err)
				return
			}
			continue
		}
		w.c.ids.add(ids)
		var args []any
		for _, id := range ids {
			args = append(args, id, number)
		}
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		asked := time.Now()
		_, err := w.db.ExecContext(limited, insert, args...)
		cancel()
		switch {
		case err == nil:
			w.acks.written(asked)
			w.mu.Lock()
			w.rows = append(w.rows, ids...)
			w.mu.Unlock()
			w.times[number].Add(1)
		case w.on.duplicate(err): // nothing is inserted twice: another was given the same id
			w.t.Errorf("writer %d: %v", number, err)
			return
		}
	}
}

// progress waits until each writer has made this many more inserts.
func (w *writers) progress(times int64) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(patience)
	for i := range w.times {
		for want := w.times[i].Load() + times; w.times[i].Load() < want; <-tick.C {
			if time.Now().After(deadline) {
				w.t.Fatalf("writer %d: no row in %v", i, patience)
			}
		}
	}
}

// acknowledged returns the rows that were acknowledged and not yet checked.
func (w *writers) acknowledged() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := slices.Clone(w.rows[w.checked:])
	w.checked = len(w.rows)
	return fresh
}

// missing counts the rows that do not exist.
func (w *writers) missing(rows []int64) (missing int) {
	w.t.Helper()
	for chunk := range slices.Chunk(rows, 1000) {
		args, places := make([]any, len(chunk)), make([]string, len(chunk))
		for i, id := range chunk {
			args[i], places[i] = id, w.on.placeholder(i+1)
		}
		var there int
		w.ask("SELECT COUNT(*) FROM failover_rows WHERE id IN ("+strings.Join(places, ", ")+")", args, func(rows *sql.Rows) error { return rows.Scan(&there) })
		missing += len(chunk) - there
	}
	return missing
}

// ask reads rows, and retries.
func (w *writers) ask(query string, args []any, row func(*sql.Rows) error) {
	w.t.Helper()
	testserver.Eventually(w.t, patience, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		rows, err := w.db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := row(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// leave ends the writers.
func (w *writers) leave() {
	w.stop()
	w.wg.Wait()
}

// end ends the writers and compares all acknowledged rows with the table. It returns the number
// of acknowledged rows, and of rows in the table whose acknowledgement was lost.
func (w *writers) end() (acknowledged, unknown int) {
	w.t.Helper()
	w.leave()
	there := map[int64]bool{}
	for last, n := int64(0), -1; n < len(there); {
		n = len(there)
		w.ask("SELECT id FROM failover_rows WHERE id > "+w.on.placeholder(1)+" ORDER BY id LIMIT 5000", []any{last}, func(rows *sql.Rows) error {
			err := rows.Scan(&last)
			there[last] = true
			return err
		})
	}
	lost := 0
	for _, id := range w.rows {
		if !there[id] {
			lost++
		}
	}
	if lost > 0 {
		w.t.Errorf("%d of %d acknowledged rows are not there", lost, len(w.rows))
	}
	return len(w.rows), len(there) - (len(w.rows) - lost)
}

// asksFor reads a row from the primary, which may have changed meanwhile.
func asksFor(t *testing.T, db *sql.DB, query string, into ...any) {
	t.Helper()
	testserver.Eventually(t, patience, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		return db.QueryRowContext(ctx, query).Scan(into...)
	})
}
