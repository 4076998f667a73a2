package open

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
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

// database is an empty one.
type database struct{ name, dsn string }

func onEvery(t *testing.T, test func(t *testing.T, d database)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, database{"sqlite", "file:" + filepath.Join(t.TempDir(), "test.sqlite") + "?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_txlock=immediate"})
	})
	t.Run("postgres", func(t *testing.T) { test(t, freshPostgres(t)) })
	t.Run("mysql", func(t *testing.T) {
		for i, server := range testserver.MySQLs(t) {
			t.Run(fmt.Sprint(i), func(t *testing.T) { test(t, freshMySQL(t, server.DSN)) })
		}
	})
}

func freshPostgres(t *testing.T) database {
	t.Helper()
	return database{"postgres", testserver.Database(t, "pgx", testserver.Postgres(t).DSN)}
}

func freshMySQL(t *testing.T, dsn string) database {
	t.Helper()
	return database{"mysql", testserver.Database(t, "mysql", dsn)}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (d database) sql(t testing.TB) *sql.DB {
	t.Helper()
	driver := map[string]string{"sqlite": "sqlite", "postgres": "pgx", "mysql": "mysql"}[d.name]
	db, err := sql.Open(driver, d.dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d database) dialector() gorm.Dialector {
	return map[string]gorm.Dialector{"sqlite": sqlite.Open(d.dsn), "postgres": postgres.Open(d.dsn), "mysql": mysql.Open(d.dsn)}[d.name]
}

func (d database) gorm(t testing.TB) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(d.dialector(), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	pool, err := db.DB()
	must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return db
}

func (d database) pgx(t testing.TB, most int) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(d.dsn)
	must(t, err)
	cfg.MaxConns = int32(most) //nolint:gosec // a few
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// A replica is one instance of a service.
type replica struct {
	gen    *worker.Generator
	insert func(who string, n int) ([]int64, error) // rows, by one statement for each
}

// A way is a call with which a service begins.
type way struct {
	name, only string
	instance   func(t *testing.T, d database) start
}

// start makes that call, over the instance's own pool.
type start func(ctx context.Context, lease worker.Config) (replica, error)

var ways = []way{{"gorm", "", byGORM}, {"sql", "", bySQL}, {"pgxpool", "postgres", byPgx}}

// each runs a test for each way on every database.
func each(t *testing.T, test func(t *testing.T, d database, instance func(t *testing.T) start)) {
	onEvery(t, func(t *testing.T, d database) {
		for _, w := range ways {
			if w.only == "" || w.only == d.name {
				t.Run(w.name, func(t *testing.T) {
					test(t, d, func(t *testing.T) start { t.Helper(); return w.instance(t, d) })
				})
			}
		}
	})
}

// The tests' servers do not sync.
var lossy = sqlstore.Config{AllowDataLoss: true}

// leasing is lossy with a configuration of the lease.
func leasing(cfg worker.Config) sqlstore.Config {
	return sqlstore.Config{AllowDataLoss: true, Lease: cfg}
}

// use installs a plugin that leases a worker ID, however long that takes.
func use(db *gorm.DB, cfg gormplugin.Config) (*worker.Generator, error) {
	cfg.Timeout = patience
	plugin := gormplugin.New(cfg)
	err := db.Use(plugin)
	return plugin.Generator(), err
}

func byGORM(t *testing.T, d database) start {
	db := d.gorm(t)
	return func(_ context.Context, lease worker.Config) (replica, error) {
		gen, err := use(db, gormplugin.Config{Models: []any{Row{}}, Store: leasing(lease)})
		return replica{gen, func(who string, n int) ([]int64, error) {
			ids := make([]int64, n)
			for i := range ids {
				row := Row{Who: who}
				if err := db.Create(&row).Error; err != nil {
					return nil, err
				}
				ids[i] = row.ID.Int64()
			}
			return ids, nil
		}}, err
	}
}

func bySQL(t *testing.T, d database) start {
	db := d.sql(t)
	return func(ctx context.Context, lease worker.Config) (replica, error) {
		gen, err := sqlstore.Open(ctx, db, leasing(lease))
		return replica{gen, func(who string, n int) ([]int64, error) {
			return drawn(gen, n, func(id int64) error {
				_, err := db.Exec(d.placed("INSERT INTO rows_ (id, who) VALUES (?, ?)"), id, who)
				return err
			})
		}}, err
	}
}

func byPgx(t *testing.T, d database) start {
	pool := d.pgx(t, 2)
	return func(ctx context.Context, lease worker.Config) (replica, error) {
		gen, err := pgxstore.Open(ctx, pool, leasing(lease))
		return replica{gen, func(who string, n int) ([]int64, error) {
			return drawn(gen, n, func(id int64) error {
				_, err := pool.Exec(context.Background(), "INSERT INTO rows_ (id, who) VALUES ($1, $2)", id, who)
				return err
			})
		}}, err
	}
}

// drawn writes rows under ids, half of them drawn one by one.
func drawn(gen *worker.Generator, n int, insert func(id int64) error) ([]int64, error) {
	ids := make([]int64, n)
	if err := gen.Fill(context.Background(), ids[:n/2]); err != nil {
		return nil, err
	}
	for i := range ids {
		if i >= n/2 {
			id, err := gen.Next(context.Background())
			if err != nil {
				return nil, err
			}
			ids[i] = id
		}
		if err := insert(ids[i]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func (d database) placed(query string) string {
	if d.name != "postgres" {
		return query
	}
	for i := 1; strings.Contains(query, "?"); i++ {
		query = strings.Replace(query, "?", fmt.Sprintf("$%d", i), 1)
	}
	return query
}

// TableName of Row; ROWS is a word of MySQL's.
func (Row) TableName() string { return "rows_" }

// table makes the one for Row, and empties it.
func (d database) table(t *testing.T) *sql.DB {
	t.Helper()
	db := d.sql(t)
	for _, statement := range []string{"DROP TABLE IF EXISTS rows_", "CREATE TABLE rows_ (id bigint NOT NULL PRIMARY KEY, who varchar(40))"} {
		_, err := db.Exec(statement)
		must(t, err)
	}
	return db
}
