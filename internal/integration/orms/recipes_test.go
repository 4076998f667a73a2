package orms

import (
	"database/sql"
	"io"
	"log"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	udb "github.com/upper/db/v4"
	umysql "github.com/upper/db/v4/adapter/mysql"
	upostgres "github.com/upper/db/v4/adapter/postgresql"
	"xorm.io/xorm"
	xlog "xorm.io/xorm/log"

	"github.com/Masterminds/squirrel"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// docs/sql.md shows what is in the files recipe_*_test.go.

// put is an upsert by the number, without the values.
func put(kind string) string {
	if kind == "mysql" {
		return "ON DUPLICATE KEY UPDATE customer = VALUES(customer)"
	}
	return "ON CONFLICT (number) DO UPDATE SET customer = excluded.customer"
}

func scanLists(rows *sql.Rows) (lists [][]sqltype.ID, err error) {
	defer rows.Close()
	for rows.Next() {
		var ids []sqltype.ID
		if err := rows.Scan(pq.Array(&ids)); err != nil {
			return nil, err
		}
		lists = append(lists, ids)
	}
	return lists, rows.Err()
}

func openSqlx(t *testing.T, db database, src source) store {
	db.tables(t)
	driver := map[string]string{"postgres": "pgx", "mysql": "mysql", "sqlite": "sqlite"}[db.kind]
	return sqlxStore{sqlx.NewDb(db.pool, driver), src, db.kind}
}

func openSquirrel(t *testing.T, db database, src source) store {
	db.tables(t)
	builder := squirrel.StatementBuilder
	if db.kind == "postgres" {
		builder = builder.PlaceholderFormat(squirrel.Dollar)
	}
	return squirrelStore{db.pool, builder, src, db.kind}
}

func openXorm(t *testing.T, db database, src source) store {
	driver := map[string]string{"postgres": "pgx", "mysql": "mysql", "sqlite": "sqlite"}[db.kind]
	engine, err := xorm.NewEngine(driver, db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	engine.SetLogger(xlog.DiscardLogger{})
	db.tables(t) // with foreign keys, of which xorm makes none
	if err := engine.Sync(new(xormOrder), new(xormLine)); err != nil {
		t.Fatal(err)
	}
	return xormStore{engine, src, db.kind}
}

func openUpper(t *testing.T, db database, src source) store {
	db.tables(t)
	udb.LC().SetLogger(log.New(io.Discard, "", 0)) // it logs every error
	var session udb.Session
	var err error
	if db.kind == "mysql" {
		session, err = umysql.New(db.pool)
	} else {
		session, err = upostgres.New(db.pool)
	}
	if err != nil {
		t.Fatal(err)
	}
	return upperStore{session, src, db.kind}
}

// xorm writes a row without a key under the key 0.
func TestXormForgottenKey(t *testing.T) {
	db := open(t, "sqlite", "")
	s := openXorm(t, db, nil).(xormStore)
	if _, err := s.engine.Insert(&xormOrder{Number: "A-1", Customer: "Ada"}); err != nil {
		t.Fatal(err)
	}
	if got := db.ints(t, "SELECT id FROM orders"); len(got) != 1 || got[0] != 0 {
		t.Errorf("%d; the documents say 0", got)
	}
}
