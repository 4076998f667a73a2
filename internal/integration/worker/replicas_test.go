package worker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/plugin/dbresolver"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/pgxstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Row is what the tests write.
type Row struct {
	ID  sqltype.ID
	Who string `gorm:"size:40"`
}

// TableName of Row; ROWS is a word of MySQL's.
func (Row) TableName() string { return "rows_" }

// A replica is one instance of a service.
type replica struct {
	gen    *worker.Generator
	insert func(row *Row) error
}

// A way is a call with which a service begins.
type way struct {
	name string
	open func(t *testing.T, e engine) (replica, error)
}

var ways = []way{{"gorm", byGORM}, {"sql", bySQL}, {"pgxpool", byPgx}}

// patient configures a lease that a slow machine does not lose.
var patient = leasing(worker.Config{ClaimWait: patience, Timeout: patience, RenewInterval: patience, FenceWindow: 2 * patience})

// use installs a plugin that leases a worker ID, however long that takes.
func use(db *gorm.DB, cfg gormplugin.Config) (*worker.Generator, error) {
	cfg.Timeout = patience
	plugin := gormplugin.New(cfg)
	err := db.Use(plugin)
	return plugin.Generator(), err
}

func byGORM(t *testing.T, e engine) (replica, error) {
	db := e.gorm(t)
	gen, err := use(db, gormplugin.Config{Models: []any{Row{}}, Store: patient})
	return replica{gen, func(row *Row) error { return db.Create(row).Error }}, err
}

func bySQL(t *testing.T, e engine) (replica, error) {
	db := e.open(t)
	gen, err := sqlstore.Open(t.Context(), db, patient)
	query := map[bool]string{true: "INSERT INTO rows_ (id, who) VALUES ($1, $2)", false: "INSERT INTO rows_ (id, who) VALUES (?, ?)"}[e.dialect == sqlstore.Postgres]
	return replica{gen, func(row *Row) error {
		id, err := gen.Next(context.Background())
		if row.ID = sqltype.ID(id); err == nil {
			_, err = db.Exec(query, row.ID, row.Who)
		}
		return err
	}}, err
}

func byPgx(t *testing.T, e engine) (replica, error) {
	pool := e.pgx(t, 2)
	gen, err := pgxstore.Open(t.Context(), pool, patient)
	return replica{gen, func(row *Row) error {
		id, err := gen.Next(context.Background())
		if row.ID = sqltype.ID(id); err == nil {
			_, err = pool.Exec(context.Background(), "INSERT INTO rows_ (id, who) VALUES ($1, $2)", row.ID.Int64(), row.Who)
		}
		return err
	}}, err
}

// Three replicas begin at the same time on an empty database, and write at the same time: the
// primary key refuses a duplicate. After they have closed, the next three have their worker IDs.
func TestReplicas(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		for _, w := range ways {
			if w.name != "pgxpool" || e.dialect == sqlstore.Postgres {
				t.Run(w.name, func(t *testing.T) { replicas(t, e, w) })
			}
		}
	})
}

func replicas(t *testing.T, e engine, w way) {
	const replicas, writers, rows = 3, 4, 25
	db := e.open(t)
	mustExec(t, db, "DROP TABLE IF EXISTS rows_", "CREATE TABLE rows_ (id bigint NOT NULL PRIMARY KEY, who varchar(40))")
	var held [2][]int64
	for round := range held {
		opened := together(t, replicas, func(int) (replica, error) { return w.open(t, e) })
		for _, r := range opened {
			defer r.gen.Close(context.Background()) // should the test end early
			held[round] = append(held[round], r.gen.Worker())
		}
		together(t, replicas*writers, func(i int) (none struct{}, err error) {
			for range rows {
				err = errors.Join(err, opened[i%replicas].insert(&Row{Who: fmt.Sprint(i)}))
			}
			return none, err
		})
		for _, r := range opened {
			must(t, r.gen.Failing())
			must(t, r.gen.Close(context.Background()))
		}
		slices.Sort(held[round])
	}
	if len(slices.Compact(slices.Clone(held[0]))) != replicas || !slices.Equal(held[0], held[1]) {
		t.Errorf("worker IDs %d, and %d after they were closed", held[0], held[1])
	}
	var stored int
	must(t, db.QueryRow("SELECT count(*) FROM rows_").Scan(&stored))
	if want := len(held) * replicas * writers * rows; stored != want {
		t.Errorf("%d rows, want %d", stored, want)
	}
}

// together calls f n times at once.
func together[T any](t *testing.T, n int, f func(i int) (T, error)) []T {
	t.Helper()
	results, errs := make([]T, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { results[i], errs[i] = f(i) })
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	return results
}

// leased are the worker IDs of the namespace "default" that have a holder; -1 without tables.
func leased(t *testing.T, e engine) (n int) {
	t.Helper()
	if e.open(t).QueryRow("SELECT count(*) FROM snow_worker WHERE token <> ''").Scan(&n) != nil {
		return -1
	}
	return n
}

// The lease is kept in the primary, also if reads go to a replica, before and after the plugin. If
// the plugin cannot be installed after the worker ID was leased, that is given back.
func TestPlugin(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		for _, first := range []bool{true, false} {
			other := e
			switch e.dialect {
			case sqlstore.SQLite:
				other.dsn = "file:" + filepath.Join(t.TempDir(), "replica.sqlite")
			case sqlstore.Postgres:
				other = newPostgres(t)
			default:
				other = newMySQL(t, e.dsn)
			}
			db := e.gorm(t)
			resolve := func() {
				must(t, db.Use(dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{other.dialector()}})))
			}
			if first {
				resolve()
			}
			gen, err := use(db, gormplugin.Config{Store: lossy})
			must(t, err)
			defer gen.Close(context.Background())
			if !first {
				resolve()
			}
			if writer, reader := leased(t, e), leased(t, other); writer != 1 || reader != -1 {
				t.Errorf("%d worker IDs are leased from the writer, %d from the replica", writer, reader)
			}
			must(t, gen.Close(t.Context()))
		}
		db := e.gorm(t)
		// snowkey:fill cannot be before gorm:before_create and behind this one.
		must(t, db.Callback().Create().Before("snowkey:fill").After("gorm:before_create").Register("mine", func(*gorm.DB) {}))
		if _, err := use(db, gormplugin.Config{Store: lossy}); err == nil || !strings.Contains(err.Error(), "conflicting callback") || leased(t, e) != 0 || len(db.Plugins) > 0 {
			t.Errorf("%v; %d worker IDs are leased, and there are %d plugins", err, leased(t, e), len(db.Plugins))
		}
	})
}
