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

// Store is a lease store and its operator's side.
type Store interface {
	driver.Store
	driver.Admin
}

// StoreOptions say what a store may do.
type StoreOptions struct {
	NoCreate   bool // tables that are not there are an error
	AllowLossy bool // a server that may lose what it has acknowledged will do
}

// Store is the lease store in the target.
func (t *Target) Store(opt StoreOptions) (Store, error) {
	switch t.Kind {
	case Redis:
		return redisstore.New(redisstore.EvalFunc(t.eval), redisstore.Config{ConfigGet: t.ConfigGet, AllowDataLoss: opt.AllowLossy})
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
	return sqlstore.New(t.DB, sqlstore.Config{Dialect: dialect, NoCreate: opt.NoCreate, AllowDataLoss: opt.AllowLossy})
}

// Spaces are the first few that a database has worker numbers of; of other kinds, and
// where it has no such table, there are none to be told.
func (t *Target) Spaces(ctx context.Context, most int) (spaces []string) {
	if !t.Kind.SQL() {
		return nil
	}
	rows, err := t.DB.QueryContext(ctx, fmt.Sprintf("SELECT space FROM snow_worker_space ORDER BY space LIMIT %d", most))
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var space string
		if rows.Scan(&space) != nil {
			return nil
		}
		spaces = append(spaces, space)
	}
	if rows.Err() != nil {
		return nil
	}
	return spaces
}

func (t *Target) eval(ctx context.Context, script string, keys []string, args ...any) (any, error) {
	return t.Redis.Eval(ctx, script, keys, args...).Result()
}

// ConfigGet asks a Redis for a setting.
func (t *Target) ConfigGet(ctx context.Context, name string) (string, error) {
	values, err := t.Redis.ConfigGet(ctx, name).Result()
	return values[name], err
}
