//go:build unix

package torture

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"time"

	_ "github.com/glebarez/go-sqlite"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/seed-299c1d6b/snowkey/contrib/etcdstore"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// httpToken is the shared secret of the processes and the HTTP handler.
const httpToken = "torture-torture-torture"

// openStore opens a store for as long as the process lives; every process has its own.
func openStore(name, dsn string) (driver.Store, error) {
	store, _, err := openOnce(name, dsn)
	return store, err
}

// openOnce opens a store, with connections that end closes. startService documents dsn.
func openOnce(name, dsn string) (store driver.Store, end func(), err error) {
	switch name {
	case "postgres":
		return openSQL("pgx", dsn)
	case "mariadb":
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
			return nil, nil, err
		}
		store, err := etcdstore.New(client, etcdstore.Config{})
		return store, func() { _ = client.Close() }, err
	case "httpstore":
		client := &http.Client{Timeout: 3 * time.Second}
		store, err := httpstore.New(httpstore.Config{URL: dsn, Token: httpToken, Client: client})
		return store, client.CloseIdleConnections, err
	}
	return nil, nil, fmt.Errorf("no store %q", name)
}

// The servers of the tests write to the kernel, which outlives them, and not to disk, so counters
// need AllowDataLoss.
func openSQL(driver, dsn string) (store driver.Store, end func(), err error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(4)
	store, err = sqlstore.New(db, sqlstore.Config{AllowDataLoss: driver != "sqlite"})
	return store, func() { _ = db.Close() }, err
}

// redisClient configures the Redis on each new connection, because a restarted one has lost its
// settings.
func redisClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, OnConnect: func(ctx context.Context, c *redis.Conn) error {
		return c.ConfigSet(ctx, "appendfsync", "always").Err()
	}})
}

func openRedis(addr string) (store driver.Store, end func(), err error) {
	client := redisClient(addr)
	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return client.Eval(ctx, script, keys, args...).Result()
	}
	get := func(ctx context.Context, name string) (string, error) {
		values, err := client.ConfigGet(ctx, name).Result()
		return values[name], err
	}
	store, err = redisstore.New(eval, redisstore.Config{ConfigGet: get})
	return store, func() { _ = client.Close() }, err
}
