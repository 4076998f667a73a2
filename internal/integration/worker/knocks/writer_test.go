package knocks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A clock can be set while it runs.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// patience is how long one write may take.
const patience = 3 * time.Second

// A writer writes graphs with its own lease, generator and clock.
type writer struct {
	name   string
	store  driver.Store
	ledger *ledger
	clock  clock
	rand   *rand.Rand
	source *source
	write  writing
	count  int
}

// writing writes graphs with keys of the writer's source.
type writing func(ctx context.Context, w *writer, orders []Order) (outcome, error)

// run writes until ctx is done. Sometimes it takes another lease.
func (w *writer) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.life(ctx); err != nil {
			w.ledger.met(kindOf(err))
			pause(ctx, 20*time.Millisecond)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (w *writer) life(ctx context.Context) error {
	gen, err := worker.Open(ctx, w.store, worker.Config{
		Namespace: "knocks", Owner: w.name, Now: w.clock.now,
		FenceWindow: 3 * time.Second, RenewInterval: time.Second, Timeout: time.Second,
	})
	if err != nil {
		return err
	}
	defer gen.Close(context.Background())
	w.source.gen = gen
	for range 200 + w.rand.IntN(800) {
		if ctx.Err() != nil {
			break
		}
		w.attempt()
	}
	return nil
}

// attempt writes some graphs at once, and records the outcome of each.
func (w *writer) attempt() {
	orders := make([]Order, 1+w.rand.IntN(5))
	notes := make([]string, len(orders))
	for i := range orders {
		w.count++
		notes[i] = fmt.Sprintf("%s/%d", w.name, w.count)
		orders[i] = Order{Note: notes[i], Want: w.rand.IntN(6)}
		for j := range orders[i].Want {
			orders[i].Lines = append(orders[i].Lines, Line{SKU: fmt.Sprintf("SKU-%d", j)})
		}
	}
	// Not the context of the test: an attempt is completed.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	if w.rand.IntN(50) == 0 { // gives up at any moment
		cancel()
		ctx, cancel = context.WithTimeout(context.Background(), time.Duration(w.rand.IntN(int(5*time.Millisecond))))
	}
	defer cancel()
	how, err := w.write(ctx, w, orders)
	if err != nil {
		kind := kindOf(err)
		w.ledger.met(kind)
		if kind == "duplicate" {
			w.ledger.fault(fmt.Errorf("%s: %w", w.name, err))
		}
		if how != written {
			pause(context.Background(), 10*time.Millisecond)
		}
	}
	for i := range orders {
		w.ledger.note(&orders[i], notes[i], how)
	}
}

// kindOf sorts the errors, for the report.
func kindOf(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "23505"), strings.Contains(text, "1062"), strings.Contains(text, "uplicate"):
		return "duplicate"
	case errors.Is(err, core.ErrFenced):
		return "fenced"
	case errors.Is(err, sqltype.ErrOutcomeUnknown):
		return "outcome unknown"
	case errors.Is(err, worker.ErrNoWorkerID):
		return "no number free"
	case errors.Is(err, context.DeadlineExceeded):
		return "too late"
	}
	return "other"
}

// byGORM writes with the plug-in's Create. An unknown outcome is settled by writing
// the same graph again, half of the time.
func byGORM(db *gorm.DB) writing {
	return func(ctx context.Context, w *writer, orders []Order) (outcome, error) {
		err := graph.Create(ctx, db, &orders)
		if err == nil {
			return written, nil
		}
		if !errors.Is(err, sqltype.ErrOutcomeUnknown) {
			return refused, err
		}
		if w.rand.IntN(2) == 0 {
			return unknown, err
		}
		for range 20 {
			again, cancel := context.WithTimeout(context.Background(), patience)
			errAgain := graph.Create(again, db.Clauses(clause.OnConflict{DoNothing: true}), &orders)
			cancel()
			if errAgain == nil {
				return written, err
			}
			pause(context.Background(), 200*time.Millisecond)
		}
		return unknown, err
	}
}

// byCOPY writes with pgxload, which asks the database itself after a lost answer.
func byCOPY(pool *pgxpool.Pool) writing {
	return func(ctx context.Context, w *writer, orders []Order) (outcome, error) {
		err := sqltype.Assign(ctx, w.source, orders, func(o *Order) *sqltype.ID { return &o.ID }, sqltype.Children(
			func(o *Order) []Line { return o.Lines },
			func(l *Line) *sqltype.ID { return &l.ID },
			func(l *Line) *sqltype.ID { return &l.OrderID },
		))
		if err != nil {
			return refused, err
		}
		there := func(ctx context.Context) (yes bool, err error) {
			err = pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM knock_orders WHERE id = $1)", orders[0].ID).Scan(&yes)
			return yes, err
		}
		err = pgxload.RetryWith(ctx, pool, pgxload.RetryConfig{Committed: there}, func(tx pgx.Tx) error {
			_, err := pgxload.Load(ctx, tx, func(w *pgxload.Writer) error {
				to, lines := w.Table("knock_orders", "id", "note", "want"), w.Table("knock_lines", "id", "order_id", "sku")
				for _, o := range orders {
					to.Row(o.ID, o.Note, o.Want)
					for _, l := range o.Lines {
						lines.Row(l.ID, l.OrderID, l.SKU)
					}
				}
				return nil
			})
			return err
		})
		switch {
		case err == nil:
			return written, nil
		case errors.Is(err, sqltype.ErrOutcomeUnknown):
			return unknown, err
		}
		return refused, err
	}
}
