package serial

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// patience is the timeout of what must happen, on a busy machine.
const patience = 3 * time.Minute

// engine is one empty database.
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
			engines.OnMySQL(t, func(cfg *mysql.Config) {
				if cfg.InterpolateParams = mode == "interpolated"; mode == "autocommit off" {
					cfg.Params["autocommit"] = "0"
				}
			}, func(t *testing.T, db *engines.Engine) { test(t, engine{driver: "mysql", dsn: db.DSN}) })
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
	switch e.driver {
	case "redis":
		client := client(t, e.dsn)
		eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
			return client.Eval(ctx, script, keys, args...).Result()
		}
		return engines.MustNew(redisstore.New(eval, redisstore.Config{AllowDataLoss: true}))
	case "etcd":
		client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(e.dsn, ","), Logger: zap.NewNop()})
		must(t, err)
		t.Cleanup(func() { _ = client.Close() })
		return engines.MustNew(etcdstore.New(client, etcdstore.Config{}))
	case "http":
		return engines.MustNew(httpstore.New(httpstore.Config{URL: e.dsn, Token: token}))
	}
	return engines.MustNew(sqlstore.New(open(t, e.driver, e.dsn), sqlstore.Config{AllowDataLoss: true}))
}

// numbering is a Config on one day.
func numbering(c serial.Counter, code string, block int64) serial.NumbersConfig {
	return serial.NumbersConfig{
		Prefix: "INV", Code: code, Separator: "-", Block: block, Counter: c,
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}
}

func client(t testing.TB, dsn string) *redis.Client {
	t.Helper()
	options := &redis.Options{Addr: dsn}
	if strings.Contains(dsn, "://") {
		var err error
		options, err = redis.ParseURL(dsn)
		must(t, err)
	}
	options.MaxRetries = -1 // the test itself retries
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// code is a business code that no other test has: a Redis is shared.
func code() string { return fmt.Sprintf("T%016x", rand.Uint64()) }

var must = engines.Must
