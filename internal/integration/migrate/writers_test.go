package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// writers are programs that write to the shop for the whole time, and note what they have written.
type writers struct {
	db      *engine
	t       testing.TB
	stop    context.CancelFunc
	live    sync.WaitGroup
	old     atomic.Int64 // transactions of writers that leave keys to the database
	newer   atomic.Int64 // of those that insert ids
	early   atomic.Int64 // ids that did not fit yet
	again   atomic.Int64 // statements that were tried again
	longest atomic.Int64 // nanoseconds of the longest statement, tries included
	where   atomic.Value // that statement

	swapped atomic.Bool   // so that an id fits
	known   atomic.Bool   // the old programs have been told to end
	fresh   chan struct{} // closed when new programs may begin

	mu    sync.Mutex
	texts map[string]bool // of writeUUIDs
	kept  map[int64]bool  // orders that must be there, with one line, shipment and parcel; false: deleted
}

// stale is a part of pgx's error for an id as an argument that is an integer.
const stale = "greater than maximum value for int4"

// write starts writers of both kinds.
func (db *engine) write(t testing.TB) *writers {
	t.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &writers{db: db, t: t, stop: cancel, kept: map[int64]bool{}}
	const each = 2
	for range each {
		w.live.Go(func() {
			w.loop(ctx, func(tx *sql.Tx) (int64, error) { return w.insert(ctx, tx) }, &w.old)
		})
		w.live.Go(func() {
			w.loop(ctx, func(tx *sql.Tx) (int64, error) {
				id, err := gen.Next(ctx)
				if err != nil {
					return 0, err
				}
				_, err = w.exec(ctx, tx, "INSERT INTO orders (id, note) VALUES (?, 'new')", id)
				return id, err
			}, &w.newer)
		})
	}
	t.Cleanup(func() { cancel(); w.live.Wait() })
	return w
}

// insert leaves the key to the database.
func (w *writers) insert(ctx context.Context, tx *sql.Tx) (id int64, err error) {
	begun := time.Now()
	err = tx.QueryRowContext(ctx, "INSERT INTO orders (note) VALUES ('old') RETURNING id").Scan(&id)
	w.took("INSERT INTO orders", begun)
	return id, err
}

func (w *writers) exec(ctx context.Context, tx *sql.Tx, query string, args ...any) (sql.Result, error) {
	for i := range args {
		query = strings.Replace(query, "?", fmt.Sprintf("$%d", i+1), 1)
	}
	begun := time.Now()
	defer w.took(query, begun)
	return tx.ExecContext(ctx, query, args...)
}

func (w *writers) took(query string, begun time.Time) {
	for took := time.Since(begun).Nanoseconds(); ; {
		longest := w.longest.Load()
		if took <= longest {
			return
		}
		if w.longest.CompareAndSwap(longest, took) {
			w.where.Store(query)
			return
		}
	}
}

// loop writes an order with all that refers to it, changes an old one, and deletes every tenth.
func (w *writers) loop(ctx context.Context, insert func(tx *sql.Tx) (int64, error), count *atomic.Int64) {
	pace := time.NewTicker(2 * time.Millisecond)
	defer pace.Stop()
	for n := int64(1); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		var id int64
		err := w.transact(ctx, func(tx *sql.Tx) (err error) {
			if id, err = insert(tx); err != nil {
				return err
			}
			for _, s := range []string{"INSERT INTO order_lines (order_id, line) VALUES (?, 1)", "INSERT INTO shipments (order_id) VALUES (?)", "INSERT INTO parcels (shipment_id) VALUES (?)"} {
				if _, err := w.exec(ctx, tx, s, id); err != nil {
					return err
				}
			}
			_, err = w.exec(ctx, tx, "UPDATE orders SET note = 'changed', parent_id = id WHERE id = ?", n*7919%2000)
			return err
		})
		if ctx.Err() != nil {
			return // whether it was committed is not known: see check
		}
		if err != nil {
			if strings.Contains(err.Error(), stale) {
				w.early.Add(1)
				continue
			}
			w.t.Errorf("a writer: %v", err)
			return
		}
		w.note(id, true)
		count.Add(1)
		if count == &w.newer {
			w.swapped.Store(true)
		}
		const tenth = 10
		if n%tenth != 0 {
			continue
		}
		err = w.transact(ctx, func(tx *sql.Tx) error {
			_, err := w.exec(ctx, tx, "DELETE FROM orders WHERE id = ?", id) // with ON DELETE CASCADE
			return err
		})
		if ctx.Err() != nil {
			w.forget(id)
			return
		}
		if err != nil {
			w.t.Errorf("a writer that deletes: %v", err)
			return
		}
		w.note(id, false)
	}
}

func (w *writers) note(id int64, kept bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was, known := w.kept[id]; known && was && kept {
		w.t.Errorf("the key %d was given twice", id)
	}
	w.kept[id] = kept
}

func (w *writers) forget(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.kept, id)
}

// transact runs a transaction again after errors that programs must expect.
func (w *writers) transact(ctx context.Context, f func(tx *sql.Tx) error) error {
	for {
		tx, err := w.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err = f(tx); err == nil {
			return tx.Commit()
		}
		_ = tx.Rollback()
		expected := strings.Contains(err.Error(), "cached plan must not change result type") ||
			strings.Contains(err.Error(), stale) && w.swapped.Load() // a session that has prepared the statement before the swap
		if !expected {
			return err
		}
		w.again.Add(1)
	}
}

// end stops the writers, and looks for each row that they have written.
func (w *writers) end() {
	w.t.Helper()
	w.stop()
	w.live.Wait()
	there := func(query string) map[int64]int {
		rows, err := w.db.Query(query)
		if err != nil {
			w.t.Fatal(err)
		}
		defer rows.Close()
		counts := map[int64]int{}
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				w.t.Fatal(err)
			}
			counts[id]++
		}
		if err := rows.Err(); err != nil {
			w.t.Fatal(err)
		}
		return counts
	}
	for _, query := range []string{"SELECT id FROM orders", "SELECT order_id FROM order_lines", "SELECT order_id FROM shipments", "SELECT shipment_id FROM parcels"} {
		wrong := 0
		counts := there(query)
		for id, kept := range w.kept {
			if want := map[bool]int{true: 1, false: 0}[kept]; counts[id] != want {
				wrong++
			}
		}
		if wrong > 0 {
			w.t.Errorf("%s: %d of %d rows of the writers are lost, twice or not deleted", query, wrong, len(w.kept))
		}
	}
	w.report()
}

func (w *writers) report() {
	w.t.Helper()
	w.t.Logf("%d transactions of old writers, %d of new ones, %d ids before the swap, %d statements tried again; the longest statement took %v: %v",
		w.old.Load(), w.newer.Load(), w.early.Load(), w.again.Load(), time.Duration(w.longest.Load()).Round(time.Millisecond), w.where.Load())
}

// wait waits for the writers.
func (w *writers) wait(done func() bool) {
	w.t.Helper()
	for begun := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if w.t.Failed() || time.Since(begun) > patience {
			w.t.Fatal("the writers have not written")
		}
	}
}
