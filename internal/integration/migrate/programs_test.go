package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/core"
)

// programs run during a migration. No key may come twice, whichever program got it.
type programs struct {
	db   *engine
	t    testing.TB
	ctx  context.Context
	stop context.CancelFunc
	live sync.WaitGroup

	mu      sync.Mutex
	seen    map[int64]bool
	done    map[string]int  // by program
	kept    map[string]bool // keys of order whose rows must be there; false: deleted
	again   int             // what was tried again
	longest time.Duration   // of a statement
	where   string          // that statement
}

func (db *engine) programs(t testing.TB) *programs {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &programs{db: db, t: t, ctx: ctx, stop: cancel, seen: map[int64]bool{}, done: map[string]int{}, kept: map[string]bool{}}
	t.Cleanup(p.end)
	return p
}

// run starts a program that works every few milliseconds. Its work returns what it was, and the key that
// it got, or 0. Its statements have no context that ends, so each is known to be committed or not.
func (p *programs) run(work func() (what string, key int64, err error)) {
	p.live.Go(func() {
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		for p.ctx.Err() == nil {
			<-pace.C
			what, key, err := work()
			p.mu.Lock()
			switch {
			case expected(err):
				p.again++
			case err != nil:
				p.t.Errorf("a program: %s: %v", what, err)
				p.stop()
			case p.seen[key]:
				p.t.Errorf("%s: the key %d for the second time", what, key)
			default:
				p.done[what]++
				p.seen[key] = key != 0
			}
			p.mu.Unlock()
		}
	})
}

// expected reports whether a program must try again: an id does not fit yet, or into what the session has
// prepared before the swap; or a sequence was made again.
func expected(err error) bool {
	if err == nil {
		return false
	}
	again := []string{"greater than maximum value for int4", "cached plan must not change result type", "could not open relation"}
	return slices.ContainsFunc(again, func(part string) bool { return strings.Contains(err.Error(), part) })
}

func (p *programs) timed(statement string, run func() error) error {
	begun := time.Now()
	err := run()
	p.mu.Lock()
	defer p.mu.Unlock()
	if took := time.Since(begun); took > p.longest {
		p.longest, p.where = took, statement
	}
	return err
}

// insert starts programs that run a query for a key. An id counts as one of the second name.
func (p *programs) insert(n int, name, ids, query string) {
	for range n {
		p.run(func() (what string, key int64, err error) {
			err = p.timed(query, func() error { return p.db.QueryRowContext(context.Background(), query).Scan(&key) })
			if what = name; key >= 1<<40 {
				what = ids
			}
			return what, key, err
		})
	}
}

// change starts programs that run a statement for one row after the other. The rows that it refers to may
// be gone, or have one already.
func (p *programs) change(statements ...string) {
	for i, statement := range statements {
		n := 0
		p.run(func() (string, int64, error) {
			n++
			_, err := p.db.ExecContext(context.Background(), statement, n*(31+i)%1000+1)
			var pg *pgconn.PgError
			if errors.As(err, &pg) && slices.Contains([]string{"23503", "23505", "40P01"}, pg.Code) {
				err = nil
			}
			return statement, 0, err
		})
	}
}

// exec executes a statement, in a transaction or outside.
func (p *programs) exec(in interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, statement string, args ...any) error {
	return p.timed(statement, func() error {
		_, err := in.ExecContext(context.Background(), statement, args...)
		return err
	})
}

// order starts a program that inserts an order and, by its key, what refers to it, changes another order, and
// deletes each tenth one.
func (p *programs) order(name string, insert func(tx *sql.Tx) (key int64, err error)) {
	n := 0
	p.run(func() (string, int64, error) {
		tx, err := p.db.Begin()
		if err != nil {
			return name, 0, err
		}
		defer func() { _ = tx.Rollback() }() // no effect after a commit
		key, err := insert(tx)
		for _, s := range []struct {
			statement string
			of        int64
		}{
			{"UPDATE orders SET note = 'changed', parent_id = id WHERE id = $1", int64(p.count("old") * 7919 % 2000)},
			{"INSERT INTO order_lines (order_id, line) VALUES ($1, 1)", key},
			{"INSERT INTO shipments (order_id) VALUES ($1)", key},
			{"INSERT INTO parcels (shipment_id) VALUES ($1)", key},
		} {
			if err == nil {
				err = p.exec(tx, s.statement, s.of)
			}
		}
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			return name, 0, err
		}
		const tenth = 10
		n++
		for deleted := n%tenth > 0; !deleted; {
			err := p.exec(p.db, "DELETE FROM orders WHERE id = $1", key)
			if deleted = !expected(err); deleted && err != nil {
				return name, 0, err
			}
		}
		p.mu.Lock()
		p.kept[fmt.Sprint(key)] = n%tenth > 0
		p.mu.Unlock()
		return name, key, nil
	})
}

// shop starts programs that write to the shop: old ones leave keys to the database, and new ones insert ids.
func (p *programs) shop() {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	must(p.t, err)
	for range 2 {
		p.order("old", func(tx *sql.Tx) (key int64, err error) {
			const query = "INSERT INTO orders (note) VALUES ('old') RETURNING id"
			err = p.timed(query, func() error { return tx.QueryRow(query).Scan(&key) })
			return key, err
		})
		p.order("new", func(tx *sql.Tx) (int64, error) {
			id, err := gen.Next(context.Background())
			if err == nil {
				err = p.exec(tx, "INSERT INTO orders (id, note) VALUES ($1, 'new')", id)
			}
			return id, err
		})
	}
}

func (p *programs) count(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done[what]
}

// more waits until programs have done more.
func (p *programs) more(whats ...string) {
	p.t.Helper()
	for _, what := range whats {
		from := p.count(what)
		for begun := time.Now(); p.count(what) < from+50; time.Sleep(time.Millisecond) {
			if p.t.Failed() || time.Since(begun) > patience {
				p.t.Fatalf("the programs have done %d of %s, and %d before", p.count(what), what, from)
			}
		}
	}
}

// end ends the programs.
func (p *programs) end() {
	p.stop()
	p.live.Wait()
	p.t.Logf("%v, %d tried again; the longest took %v: %s", p.done, p.again, p.longest.Round(time.Millisecond), p.where)
}

// check ends the programs, and looks by each query for the keys of their orders. No statement may have
// waited for longer than the plan states.
func (p *programs) check(queries ...string) {
	p.t.Helper()
	p.end()
	if stated := 2300 * time.Millisecond; p.longest > stated {
		p.t.Errorf("%s took %v, and the plan states %v", p.where, p.longest, stated)
	}
	for _, query := range queries {
		counts, wrong := map[string]int{}, 0
		for key := range strings.SplitSeq(p.db.One(p.t, "SELECT string_agg(k::text, ' ') FROM ("+query+") q (k)"), " ") {
			counts[key]++
		}
		for key, kept := range p.kept {
			if want := map[bool]int{true: 1}[kept]; counts[key] != want {
				wrong++
			}
		}
		if wrong > 0 {
			p.t.Errorf("%s: %d of %d rows of the programs are lost, twice or not deleted", query, wrong, len(p.kept))
		}
	}
}
