package serial

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// patience is the timeout of what must happen, on a busy machine.
const patience = 3 * time.Minute

// engine is one empty database, which another process can open too.
type engine struct {
	driver, dsn string
	behind      *engine // of an HTTP server
}

// onEverySQL runs a test on an empty database of every engine.
func onEverySQL(t *testing.T, test func(t *testing.T, e engine)) {
	for _, mode := range []string{"wal", "delete"} {
		t.Run("sqlite "+mode, func(t *testing.T) {
			test(t, engine{driver: "sqlite", dsn: sqliteIn(t, mode)})
		})
	}
	for _, isolation := range []string{"read committed", "serializable"} {
		t.Run("postgres "+isolation, func(t *testing.T) {
			test(t, engine{driver: "pgx", dsn: freshPostgres(t, testserver.Postgres(t).DSN, isolation)})
		})
	}
	for _, mode := range []string{"prepared", "interpolated", "autocommit off"} {
		t.Run("mysql "+mode, func(t *testing.T) {
			for i, server := range testserver.MySQLs(t) {
				t.Run(fmt.Sprint(i), func(t *testing.T) { test(t, engine{driver: "mysql", dsn: freshMySQL(t, server.DSN, mode)}) })
			}
		})
	}
}

// onEvery also runs it on Redis, etcd, and a server over HTTP.
func onEvery(t *testing.T, test func(t *testing.T, e engine)) {
	onEverySQL(t, test)
	t.Run("redis", func(t *testing.T) { test(t, engine{driver: "redis", dsn: testserver.Redis(t).DSN}) })
	t.Run("etcd", func(t *testing.T) { test(t, engine{driver: "etcd", dsn: testserver.Etcd(t).DSN}) })
	t.Run("http", func(t *testing.T) {
		behind := engine{driver: "sqlite", dsn: sqliteIn(t, "wal")}
		handler, err := httpstore.NewHandler(behind.counter(t).(driver.Store), httpstore.HandlerConfig{Tokens: []string{token}, Timeout: patience})
		must(t, err)
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		test(t, engine{"http", server.URL, &behind})
	})
}

const token = "serial-serial-serial" // of the HTTP server

func sqliteIn(t *testing.T, mode string) (dsn string) {
	t.Helper()
	return "file:" + filepath.Join(t.TempDir(), "test.sqlite") + "?_pragma=busy_timeout(180000)&_pragma=journal_mode(" + mode + ")&_pragma=synchronous(2)&_txlock=immediate"
}

func freshPostgres(t *testing.T, dsn, isolation string) string {
	t.Helper()
	u, err := url.Parse(testserver.Database(t, "pgx", dsn))
	must(t, err)
	query := u.Query()
	query.Set("default_transaction_isolation", isolation)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a blank, to PostgreSQL
	return u.String()
}

func freshMySQL(t *testing.T, dsn, mode string) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(testserver.Database(t, "mysql", dsn))
	must(t, err)
	cfg.InterpolateParams = mode == "interpolated"
	if mode == "autocommit off" {
		cfg.Params = map[string]string{"autocommit": "0"}
	}
	return cfg.FormatDSN()
}

func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// counter opens a store, as another process would.
func (e engine) counter(t testing.TB) serial.Counter {
	t.Helper()
	c, end, err := e.open()
	must(t, err)
	t.Cleanup(end)
	return c
}

func (e engine) open() (c serial.Counter, end func(), err error) {
	switch e.driver {
	case "redis":
		options, err := redisOptions(e.dsn)
		if err != nil {
			return nil, nil, err
		}
		client := redis.NewClient(options)
		c, err = redisstore.New(evaler(client), redisstore.Config{AllowDataLoss: true})
		return c, func() { _ = client.Close() }, err
	case "etcd":
		client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(e.dsn, ","), Logger: zap.NewNop()})
		if err != nil {
			return nil, nil, err
		}
		c, err = etcdstore.New(client, etcdstore.Config{})
		return c, func() { _ = client.Close() }, err
	case "http":
		c, err = httpstore.New(httpstore.Config{URL: e.dsn, Token: token})
		return c, func() {}, err
	}
	db, err := sql.Open(e.driver, e.dsn)
	if err != nil {
		return nil, nil, err
	}
	c, err = sqlstore.New(db, sqlstore.Config{AllowDataLoss: true})
	return c, func() { _ = db.Close() }, err
}

func client(t testing.TB, dsn string) *redis.Client {
	t.Helper()
	options, err := redisOptions(dsn)
	must(t, err)
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func redisOptions(dsn string) (*redis.Options, error) {
	options := &redis.Options{Addr: dsn}
	if strings.Contains(dsn, "://") {
		var err error
		if options, err = redis.ParseURL(dsn); err != nil {
			return nil, err
		}
	}
	options.MaxRetries = -1 // the test itself retries
	return options, nil
}

func evaler(c *redis.Client) redisstore.EvalFunc {
	return func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return c.Eval(ctx, script, keys, args...).Result()
	}
}

// code is a business code that no other test has: a Redis is shared.
func code() string { return fmt.Sprintf("T%016x", rand.Uint64()) }

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
