//go:build cluster

package cluster

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
)

// The tables of docs/generator.md.
type order struct {
	ID    sqltype.ID
	Note  string
	Lines []orderLine
}

type orderLine struct {
	ID      sqltype.ID
	OrderID sqltype.ID
	SKU     string
}

// The parts of what each site writes.
const (
	linesOfOrder = 3
	ordersAtOnce = 20
	bulkAtOnce   = 10_000
	mostByGORM   = 2_000 // rows of a call of write
	mostBySQL    = 500_000
)

// siteWriters write to one site: orders with lines by GORM, and orders in bulk by COPY, each with a
// lease of its own, and orders by a generator in SQL.
type siteWriters struct {
	*site
	ids  *tally
	gorm *gorm.DB
	pool *pgxpool.Pool
	gen  *worker.Generator
	next string // an expression of SQL
}

func newSiteWriters(t *testing.T, s *site, ids *tally) *siteWriters {
	t.Helper()
	w := &siteWriters{site: s, ids: ids}
	var err error
	w.gorm, err = gorm.Open(postgres.Open(s.dsn), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	plugin := gormplugin.New(gormplugin.Config{Models: []any{order{}, orderLine{}}, Lease: s.lease()})
	must(t, w.gorm.Use(plugin))
	w.pool, err = pgxpool.New(t.Context(), s.dsn)
	must(t, err)
	w.gen, err = pgxstore.Open(t.Context(), w.pool, s.lease())
	must(t, err)
	w.createGenerator(t)
	t.Cleanup(func() {
		ctx, done := ending()
		defer done()
		for _, g := range []*worker.Generator{plugin.Generator(), w.gen} {
			if err := g.Close(ctx); err != nil {
				t.Error(err)
			}
		}
		w.pool.Close()
		if db, err := w.gorm.DB(); err == nil {
			_ = db.Close()
		}
	})
	return w
}

// createGenerator creates the generator in SQL.
func (w *siteWriters) createGenerator(t *testing.T) {
	t.Helper()
	g := ddl.Generator{Dialect: ddl.Postgres, Namespace: namespace, Datacenter: &w.datacenter, MaxAhead: w.lease().FenceWindow}
	script, err := g.Create()
	must(t, err)
	for _, statement := range script {
		w.exec(t, w.db, statement)
	}
	w.next, err = g.Default()
	must(t, err)
}

// write inserts about this many rows and returns how many were acknowledged: a tenth by GORM and
// a tenth by the generator in SQL, but not too many.
func (w *siteWriters) write(t *testing.T, rows int) (acknowledged int) {
	byGORM, bySQL := min(rows/10, mostByGORM), min(rows/10, mostBySQL)
	var written [3]int
	var errs [3]error
	var wg sync.WaitGroup
	wg.Go(func() { written[0], errs[0] = w.writeOrders(t, byGORM) })
	wg.Go(func() { written[1], errs[1] = w.writeBulk(t, rows-byGORM-bySQL) })
	wg.Go(func() { written[2], errs[2] = w.writeSQL(t, bySQL) })
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("%s: %v", w.site, err)
		}
		acknowledged += written[i]
	}
	return acknowledged
}

// writeOrders creates orders with lines.
func (w *siteWriters) writeOrders(t *testing.T, rows int) (written int, err error) {
	for written < rows {
		batch := make([]order, ordersAtOnce)
		for i := range batch {
			batch[i] = order{Note: "by GORM", Lines: make([]orderLine, linesOfOrder)}
			for j := range batch[i].Lines {
				batch[i].Lines[j].SKU = fmt.Sprint("sku ", j)
			}
		}
		if err := w.gorm.WithContext(t.Context()).Create(&batch).Error; err != nil {
			return written, err
		}
		var ids []int64
		for _, o := range batch {
			ids = append(ids, int64(o.ID))
			for _, l := range o.Lines {
				ids = append(ids, int64(l.ID))
			}
		}
		w.ids.add(ids)
		if err := w.own(ids); err != nil {
			return written, err
		}
		written += len(ids)
	}
	return written, nil
}

// writeBulk copies orders.
func (w *siteWriters) writeBulk(t *testing.T, rows int) (written int, err error) {
	for written < rows {
		ids := make([]int64, min(bulkAtOnce, rows-written))
		if err := w.gen.Fill(t.Context(), ids); err != nil {
			return written, err
		}
		w.ids.add(ids)
		if err := w.own(ids); err != nil {
			return written, err
		}
		n, err := w.pool.CopyFrom(t.Context(), pgx.Identifier{"orders"}, []string{"id", "note"}, pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
			return []any{ids[i], "in bulk"}, nil
		}))
		if err != nil {
			return written, err
		}
		written += int(n)
	}
	return written, nil
}

// writeSQL inserts orders whose ids the database makes.
func (w *siteWriters) writeSQL(t *testing.T, rows int) (written int, err error) {
	for written < rows {
		n := min(bulkAtOnce, rows-written)
		made, err := w.pool.Query(t.Context(), "INSERT INTO orders SELECT "+w.next+", 'in SQL' FROM generate_series(1, $1) RETURNING id", n)
		if err != nil {
			return written, err
		}
		ids, err := pgx.CollectRows(made, pgx.RowTo[int64])
		if err != nil {
			return written, err
		}
		w.ids.add(ids)
		if err := w.own(ids); err != nil {
			return written, err
		}
		written += len(ids)
	}
	return written, nil
}
