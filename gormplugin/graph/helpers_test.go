package graph_test

import (
	"context"
	"sync"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// counter is a source whose ids are easy to read: from+1, from+2, …
type counter struct {
	mu    sync.Mutex
	last  int64
	calls int
	err   error
}

func (c *counter) Next(ctx context.Context) (int64, error) {
	ids := []int64{0}
	err := c.Fill(ctx, ids)
	return ids[0], err
}

func (c *counter) Fill(_ context.Context, ids []int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.err != nil {
		return c.err
	}
	for i := range ids {
		c.last++
		ids[i] = c.last
	}
	return nil
}

// dry opens a handle that builds statements and sends none.
func dry(t testing.TB, cfg gormplugin.Config) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	use(t, db, cfg)
	return db
}

func use(t testing.TB, db *gorm.DB, cfg gormplugin.Config) {
	t.Helper()
	plugin, err := gormplugin.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
}

type Order struct {
	ID    sqltype.ID
	Name  string
	Lines []Line
}

type Line struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	OrderID sqltype.ID
	Hooked  int64 `gorm:"-"` // the key as BeforeCreate saw it
}

func (l *Line) BeforeCreate(*gorm.DB) error { l.Hooked = l.ID; return nil }

type Item struct {
	ID     sqltype.ID
	Name   string
	Prices []Price
}

type Price struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	ItemID sqltype.ID
	Cents  int64
}

// The statements, to the letter, of each dialect: the key is a parameter like
// any other, and nothing is read back.
var dialects = []struct {
	name                  string
	open                  func(gorm.ConnPool) gorm.Dialector
	insertItem, insertTwo string
	upsertPrices          string
	thirdPrice            string
}{
	{
		name:         "postgres",
		thirdPrice:   `,($7,$8,$9)`,
		open:         func(c gorm.ConnPool) gorm.Dialector { return postgres.New(postgres.Config{Conn: c}) },
		insertItem:   `INSERT INTO "items" ("id","name") VALUES ($1,$2)`,
		insertTwo:    `INSERT INTO "items" ("id","name") VALUES ($1,$2),($3,$4)`,
		upsertPrices: `INSERT INTO "prices" ("id","item_id","cents") VALUES ($1,$2,$3),($4,$5,$6) ON CONFLICT ("id") DO UPDATE SET "item_id"="excluded"."item_id"`,
	},
	{
		name:       "mysql",
		thirdPrice: ",(?,?,?)",
		open: func(c gorm.ConnPool) gorm.Dialector {
			return mysql.New(mysql.Config{Conn: c, SkipInitializeWithVersion: true})
		},
		insertItem:   "INSERT INTO `items` (`id`,`name`) VALUES (?,?)",
		insertTwo:    "INSERT INTO `items` (`id`,`name`) VALUES (?,?),(?,?)",
		upsertPrices: "INSERT INTO `prices` (`id`,`item_id`,`cents`) VALUES (?,?,?),(?,?,?) ON DUPLICATE KEY UPDATE `item_id`=VALUES(`item_id`)",
	},
}

// mocked opens gorm on a mock that accepts exactly the expected statements.
func mocked(t *testing.T, open func(gorm.ConnPool) gorm.Dialector, src gormplugin.Source) (*gorm.DB, sqlmock.Sqlmock) {
	t.Helper()
	conn, mock, err := sqlmock.New(sqlmock.QueryMatcherOption(sqlmock.QueryMatcherEqual))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	db, err := gorm.Open(open(conn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	use(t, db, gormplugin.Config{Source: src, Models: []any{Item{}, Price{}}})
	return db, mock
}
