package knocks

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func TestPostgres(t *testing.T) {
	server := testserver.NewPostgres(t)
	db := connect(t, server.DSN)
	cfg, err := pgxpool.ParseConfig(server.DSN)
	must(t, err)
	cfg.AfterConnect = pgxtype.AfterConnect
	cfg.ConnConfig.ConnectTimeout = time.Second
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	must(t, err)
	t.Cleanup(pool.Close)
	knock(t, server, db, connect(t, server.DSN), func() gorm.Dialector { return postgres.New(postgres.Config{Conn: db}) }, pool)
}

func TestMariaDB(t *testing.T) {
	server := testserver.NewMariaDB(t)
	cfg, err := driver.ParseDSN(server.DSN)
	must(t, err)
	cfg.Logger = &driver.NopLogger{} // it would log each connection that a knock breaks
	connector, err := driver.NewConnector(cfg)
	must(t, err)
	db := limited(t, sql.OpenDB(connector))
	knock(t, server, db, limited(t, sql.OpenDB(connector)), func() gorm.Dialector { return mysql.New(mysql.Config{Conn: db}) }, nil)
}

func connect(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	must(t, err)
	return limited(t, db)
}

func limited(t *testing.T, db *sql.DB) *sql.DB {
	t.Helper()
	db.SetMaxOpenConns(20)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// open gives a handle of one writer's; the first makes the tables.
func open(t *testing.T, dialect gorm.Dialector, src *source) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(dialect, &gorm.Config{Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: "knock_"}})
	must(t, err)
	if err := db.AutoMigrate(&Order{}, &Line{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormplugin.New(gormplugin.Config{Source: src, Models: []any{Order{}, Line{}}})); err != nil {
		t.Fatal(err)
	}
	return db
}

// length and seed are the environment's.
func length(t *testing.T) (d time.Duration, seed uint64) {
	t.Helper()
	d, seed = 12*time.Second, rand.Uint64()
	if text := os.Getenv("SNOWKEY_KNOCKS"); text != "" {
		var err error
		if d, err = time.ParseDuration(text); err != nil {
			t.Fatalf("SNOWKEY_KNOCKS %q: %v", text, err)
		}
	}
	if text := os.Getenv("SNOWKEY_KNOCKS_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SNOWKEY_KNOCKS_SEED %q: %v", text, err)
		}
	}
	return d, seed
}

// knock runs the writers, knocks, and checks.
func knock(t *testing.T, server *testserver.Server, db, leases *sql.DB, dialect func() gorm.Dialector, pool *pgxpool.Pool) {
	d, seed := length(t)
	t.Logf("seed %d, %v", seed, d)
	book := newLedger()
	store := engines.MustNew(sqlstore.New(leases, sqlstore.Config{}))
	var writers []*writer
	add := func(name string) *writer {
		w := &writer{name: name, store: store, ledger: book, source: &source{ledger: book}, rand: rand.New(rand.NewPCG(seed, uint64(len(writers))))}
		writers = append(writers, w)
		return w
	}
	for i := range 8 {
		w := add(fmt.Sprintf("gorm-%d", i))
		w.write = byGORM(open(t, dialect(), w.source))
	}
	for i := range 4 {
		if pool != nil {
			add(fmt.Sprintf("copy-%d", i)).write = byCOPY(pool)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for _, w := range writers {
		all.Go(func() { w.run(ctx) })
	}
	done := knocks(t, d, server, writers, rand.New(rand.NewPCG(seed, 1<<32)))
	// On a busy machine nothing may have come through between the knocks.
	for deadline := time.Now().Add(ample); book.written() == 0 && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	cancel()
	all.Wait()
	// What was under way when its writer gave up comes to an end.
	must(t, server.Restart())
	testserver.Eventually(t, ample, func() error { return db.PingContext(t.Context()) })
	summary, faults := book.check(db)
	for _, err := range faults {
		t.Error(err)
	}
	t.Log(summary)
	t.Logf("knocks: %v", done)
}

// ample is for what is certain to come, on a machine that is busy.
const ample = 3 * time.Minute

// kinds are the knocks there are; each happens in turn, so that none is left out.
var kinds = []string{"kill", "step", "pause", "step", "restart", "step", "long pause", "step"}

// knocks hits the server and the writers' clocks for that long, and until each kind
// has come.
func knocks(t *testing.T, d time.Duration, server *testserver.Server, writers []*writer, r *rand.Rand) map[string]int {
	t.Helper()
	done := map[string]int{}
	within := func(low, high time.Duration) { time.Sleep(low + time.Duration(r.Int64N(int64(high-low)))) }
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	first := r.IntN(len(kinds))
	for i, began := 0, time.Now(); i < len(kinds) || time.Since(began) < d; i++ {
		within(100*time.Millisecond, 800*time.Millisecond)
		kind := kinds[(first+i)%len(kinds)]
		switch kind {
		case "kill":
			must(server.Kill())
			within(0, time.Second)
			must(server.Start())
		case "pause":
			must(server.Pause())
			within(0, time.Second)
			must(server.Resume())
		case "long pause": // leases end, and writes are given up
			must(server.Pause())
			within(patience, 2*patience)
			must(server.Resume())
		case "restart":
			must(server.Restart())
		case "step":
			for range 1 + r.IntN(len(writers)) {
				step := time.Duration(r.Int64N(int64(10*time.Second))) >> r.IntN(16)
				if r.IntN(2) == 0 {
					step = -step
				}
				writers[r.IntN(len(writers))].clock.ahead.Store(int64(step)) // far ones claim nothing until the next step
			}
		}
		done[kind]++
	}
	return done
}

var must = engines.Must
