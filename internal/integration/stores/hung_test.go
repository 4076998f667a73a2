package stores

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// deaf is a driver of database/sql that gets no answer, and ignores contexts.
type deaf struct {
	sqldriver.Conn
	ended chan struct{}
}

func (d deaf) Connect(context.Context) (sqldriver.Conn, error) { return d, nil }
func (deaf) Driver() sqldriver.Driver                          { return nil }
func (deaf) Close() error                                      { return nil }
func (d deaf) QueryContext(context.Context, string, []sqldriver.NamedValue) (sqldriver.Rows, error) {
	<-d.ended
	return nil, sqldriver.ErrBadConn
}

func deafSQL(t *testing.T) driver.Store {
	d := deaf{ended: make(chan struct{})}
	db := sql.OpenDB(d)
	t.Cleanup(func() {
		close(d.ended)
		_ = db.Close()
	})
	return mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
}

// deafRedis is go-redis with its defaults, without ContextTimeoutEnabled, at a server that hangs.
func deafRedis(t *testing.T) driver.Store {
	server := testserver.NewRedis(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr, ReadTimeout: -1, MaxRetries: -1})
	t.Cleanup(func() {
		if err := server.Resume(); err != nil {
			t.Error(err)
		}
		_ = c.Close()
	})
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	return mustNew(redisstore.New(evaler(c, false), redisstore.Config{}))
}
