package dsn

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/etcdstore"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Store is a lease store with its operator's methods.
type Store interface {
	driver.Store
	driver.Admin
}

// StoreOptions configure a store.
type StoreOptions struct {
	NoCreate      bool // missing tables are an error
	AllowDataLoss bool // accepts a server that may lose acknowledged writes
}

// Store returns the lease store in the target.
func (t *Target) Store(opt StoreOptions) (Store, error) {
	switch t.Kind {
	case Redis:
		return redisstore.New(t.eval, redisstore.Config{ConfigGet: t.ConfigGet, AllowDataLoss: opt.AllowDataLoss})
	case Etcd:
		return etcdstore.New(t.Etcd, etcdstore.Config{Clock: t.etcdClock})
	case Dir:
		store, err := filestore.New(filestore.Config{Dir: t.path})
		if err == nil {
			t.closers = append(t.closers, store.Close)
		}
		return store, err
	case HTTP:
		return httpstore.New(httpstore.Config{URL: t.url, Token: t.token})
	}
	dialect := map[Kind]sqlstore.Dialect{Postgres: sqlstore.Postgres, MySQL: sqlstore.MySQL, SQLite: sqlstore.SQLite}[t.Kind]
	return sqlstore.New(t.DB, sqlstore.Config{Dialect: dialect, NoCreate: opt.NoCreate, AllowDataLoss: opt.AllowDataLoss})
}

// Namespaces returns the first namespaces in a database, and none for other kinds of
// stores or on an error.
func (t *Target) Namespaces(ctx context.Context, limit int) (namespaces []string) {
	if !t.Kind.SQL() {
		return nil
	}
	rows, err := t.DB.QueryContext(ctx, fmt.Sprintf("SELECT space FROM snow_worker_space ORDER BY space LIMIT %d", limit))
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var namespace string
		if rows.Scan(&namespace) != nil {
			return nil
		}
		namespaces = append(namespaces, namespace)
	}
	if rows.Err() != nil {
		return nil
	}
	return namespaces
}

func (t *Target) eval(ctx context.Context, script string, keys []string, args ...any) (any, error) {
	return t.Redis.Eval(ctx, script, keys, args...).Result()
}

// ConfigGet returns a setting of a Redis.
func (t *Target) ConfigGet(ctx context.Context, name string) (string, error) {
	values, err := t.Redis.ConfigGet(ctx, name).Result()
	return values[name], err
}
