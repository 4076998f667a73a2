// Package snowscope makes generators for each row.
package snowscope

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"sync"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

type Order struct {
	ID   sqltype.ID
	Note string
}

func handler(w http.ResponseWriter, r *http.Request) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)}) // want `core.New makes a generator for each request`
	if err != nil {
		return
	}
	defer gen.Close()
	id, err := gen.Next(r.Context())
	if err == nil {
		fmt.Fprint(w, id)
	}
}

func literal(db *sql.DB) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		gen, err := sqlstore.Open(r.Context(), db, worker.Config{}) // want `sqlstore.Open makes a generator for each request`
		if err != nil {
			return
		}
		defer gen.Close(context.Background())
		_, _ = gen.Next(r.Context())
	}
}

func (o *Order) BeforeCreate(tx *gorm.DB) error {
	gen, err := newGenerator() // want `newGenerator makes a generator for each row`
	if err != nil {
		return err
	}
	defer gen.Close()
	o.ID, err = sqltype.NextID(tx.Statement.Context, gen)
	return err
}

func newGenerator() (*core.Generator, error) {
	return core.New(core.Config{Worker: core.Fixed(2)})
}

func loop(ctx context.Context, orders []Order) error {
	for i := range orders {
		gen, err := core.New(core.Config{Worker: core.Fixed(3)}) // want `core.New makes a generator for each iteration of this loop`
		if err != nil {
			return err
		}
		id, err := gen.Next(ctx)
		gen.Close()
		if err != nil {
			return err
		}
		orders[i].ID = sqltype.ID(id)
	}
	return nil
}

func newID(ctx context.Context) (sqltype.ID, error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(4)}) // want `core.New makes a generator for each call of newID`
	if err != nil {
		return 0, err
	}
	defer gen.Close()
	return sqltype.NextID(ctx, gen)
}

func newOrder(ctx context.Context) (Order, error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(6)}) // want `core.New makes a generator for each call of newOrder`
	if err != nil {
		return Order{}, err
	}
	defer gen.Close()
	var o Order
	o.ID, err = sqltype.NextID(ctx, gen)
	return o, err
}

func namedID(ctx context.Context) (id int64, err error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(8)}) // want `core.New makes a generator for each call of namedID`
	if err != nil {
		return 0, err
	}
	defer gen.Close()
	id, err = gen.Next(ctx)
	return id, err
}

func bareID(ctx context.Context) (id int64, err error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(9)}) // want `core.New makes a generator for each call of bareID`
	if err != nil {
		return
	}
	defer gen.Close()
	id, err = gen.Next(ctx)
	return
}

type repository struct{ db *sql.DB }

func (r *repository) insert(ctx context.Context, o Order) error {
	gen, err := sqlstore.Open(ctx, r.db, worker.Config{}) // want `sqlstore.Open makes a generator for each call of insert`
	if err != nil {
		return err
	}
	defer gen.Close(context.Background())
	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	_, err = r.db.ExecContext(ctx, "INSERT INTO orders (id, note) VALUES (?, ?)", id, o.Note)
	return err
}

func (r *repository) insertAll(ctx context.Context, orders []Order) error {
	gen, err := sqlstore.Open(ctx, r.db, worker.Config{}) // want `sqlstore.Open makes a generator for each call of insertAll`
	if err != nil {
		return err
	}
	defer gen.Close(context.Background())
	return assign(ctx, gen, orders)
}

func assign(ctx context.Context, gen sqltype.Source, orders []Order) error {
	return sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.ID { return &o.ID })
}

// None of these is a fault.

var (
	once   sync.Once
	shared *core.Generator
)

func lazily(w http.ResponseWriter, r *http.Request) {
	once.Do(func() { shared, _ = core.New(core.Config{Worker: core.Fixed(5)}) })
	_, _ = shared.Next(r.Context())
}

func perShard(n int) ([]*core.Generator, error) {
	var all []*core.Generator
	for i := range n {
		gen, err := core.New(core.Config{Worker: core.Fixed(int64(i))})
		if err != nil {
			return nil, err
		}
		all = append(all, gen)
	}
	return all, nil
}

func perPreset(ctx context.Context) error {
	for _, preset := range core.Presets() {
		gen, err := core.New(core.Config{Layout: preset.Layout, Worker: core.Fixed(0)})
		if err != nil {
			return err
		}
		id, err := gen.Next(ctx)
		gen.Close()
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return nil
}

func load(ctx context.Context, db *sql.DB, orders []Order) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(7)})
	if err != nil {
		return err
	}
	defer gen.Close()
	own := append([]Order(nil), orders...)
	if err := sqltype.Assign(ctx, gen, own, func(o *Order) *sqltype.ID { return &o.ID }); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "SELECT 1")
	return err
}

func loadOwn(ctx context.Context, db *sql.DB, orders []Order) (err error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(7)})
	if err != nil {
		return err
	}
	defer gen.Close()
	own := append([]Order(nil), orders...)
	err = sqltype.Assign(ctx, gen, own, func(o *Order) *sqltype.ID { return &o.ID })
	return err
}

func service(ctx context.Context, db *sql.DB) error {
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		return err
	}
	defer gen.Close(context.Background())
	return http.ListenAndServe(":0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, err := gen.Next(r.Context()); err == nil {
			fmt.Fprint(w, id)
		}
	}))
}
