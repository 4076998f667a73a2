//go:build unix

package torture

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"time"

	_ "github.com/glebarez/go-sqlite"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/seed-299c1d6b/snowkey/contrib/etcd"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// httpToken is the shared secret of the processes and the HTTP handler.
const httpToken = "torture-torture-torture"

// openStore opens a store; every process has its own. startService documents dsn.
func openStore(name, dsn string) (driver.Store, error) {
	switch name {
	case "postgres":
		return openSQL("pgx", dsn)
	case "mariadb":
		if err := mysql.SetLogger(new(mysql.NopLogger)); err != nil { // that a server is gone is no news here
			return nil, err
		}
		return openSQL("mysql", dsn)
	case "sqlite":
		return openSQL("sqlite", dsn)
	case "redis":
		return openRedis(dsn)
	case "etcd":
		again := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}
		again.Backoff.MaxDelay = 3 * time.Second // as docs/workers.md says
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{dsn}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithConnectParams(again)}})
		if err != nil {
			return nil, err
		}
		return etcd.New(client, etcd.Config{})
	case "httpstore":
		client := &http.Client{Timeout: 3 * time.Second}
		return httpstore.New(httpstore.Config{URL: dsn, Token: httpToken, Client: client})
	}
	return nil, fmt.Errorf("no store %q", name)
}

// The servers of the tests write to the kernel, which outlives them, and not to disk, so they
// need AllowDataLoss.
func openSQL(driver, dsn string) (driver.Store, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	return sqlstore.New(db, sqlstore.Config{AllowDataLoss: driver != "sqlite"})
}

// openRedis configures the Redis on each new connection, because a restarted one has lost its
// settings.
func openRedis(addr string) (driver.Store, error) {
	logging.Disable()
	client := redis.NewClient(&redis.Options{Addr: addr, OnConnect: func(ctx context.Context, c *redis.Conn) error {
		return c.ConfigSet(ctx, "appendfsync", "always").Err()
	}})
	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return client.Eval(ctx, script, keys, args...).Result()
	}
	get := func(ctx context.Context, name string) (string, error) {
		values, err := client.ConfigGet(ctx, name).Result()
		return values[name], err
	}
	return redisstore.New(eval, redisstore.Config{ConfigGet: get})
}
