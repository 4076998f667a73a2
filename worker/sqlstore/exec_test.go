package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/glebarez/sqlite"

	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
)

// A faulty is a driver whose connections ask exec what becomes of a statement.
type faulty struct {
	driver driver.Driver
	dsn    string
	exec   func(query string) (run bool, err error)
}

func (f faulty) Driver() driver.Driver { return f.driver }

func (f faulty) Connect(context.Context) (driver.Conn, error) {
	conn, err := f.driver.Open(f.dsn)
	return faultyConn{conn, f}, err
}

type faultyConn struct {
	driver.Conn
	f faulty
}

func (c faultyConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	run, err := c.f.exec(query)
	if run {
		if _, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), query, args); err != nil {
			return nil, err
		}
	}
	return driver.RowsAffected(0), err
}

// No transaction stays open on a connection of the pool, whatever a driver says of statements
// during which the context ends: others could not write any more.
func TestTransactionEnds(t *testing.T) {
	interrupted := errors.New("interrupted (9)")
	var cancel context.CancelFunc
	for name, exec := range map[string]func(query string) (run bool, err error){
		"success of a COMMIT that was not run": func(query string) (run bool, err error) {
			if query == "COMMIT" {
				cancel()
				return false, nil
			}
			return true, nil
		},
		"failure of a BEGIN that was run": func(query string) (run bool, err error) {
			switch query {
			case "BEGIN IMMEDIATE":
				cancel()
				return true, interrupted
			case "ROLLBACK":
				return false, interrupted
			}
			return true, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := t.TempDir() + "/shop.db"
			sound, err := sql.Open(sqlite.DriverName, dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer sound.Close()
			db := sql.OpenDB(faulty{driver: sound.Driver(), dsn: dsn, exec: exec})
			defer db.Close()
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			x := session{server: &server{Names: leasetables.Names{Schema: "main"}}, conn: conn}
			_ = x.inTransaction(ctx, func() error { return nil })
			_ = conn.Close()
			if _, err := sound.Exec("CREATE TABLE orders (id INTEGER PRIMARY KEY)"); err != nil {
				t.Error(err)
			}
		})
	}
}
