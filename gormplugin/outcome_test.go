package gormplugin_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Bill struct {
		ID    sqltype.ID
		No    int64  `gorm:"snowflake"`
		Name  string `gorm:"size:20"`
		Posts []*Post
	}
	Post struct {
		ID     sqltype.ID
		BillID sqltype.ID
		Text   string `gorm:"size:20"`
	}
)

// wire is the network to a server. It passes on the next message that matches, and loses the answer.
type wire struct {
	at     atomic.Pointer[regexp.Regexp]
	silent atomic.Bool // the client waits for the answer; else its connection is closed
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	return &wired{Conn: conn, wire: w}, err
}

type wired struct {
	net.Conn
	*wire
	lost atomic.Bool
}

func (c *wired) Write(b []byte) (int, error) {
	if at := c.at.Load(); at != nil && at.Match(b) && c.at.CompareAndSwap(at, nil) {
		c.lost.Store(true)
	}
	return c.Conn.Write(b)
}

func (c *wired) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.lost.Load() {
		return n, err
	}
	for c.silent.Load() && err == nil {
		_, err = c.Conn.Read(b)
	}
	_ = c.Close()
	return 0, io.ErrUnexpectedEOF
}

// onWires runs a test on PostgreSQL and MariaDB behind a wire.
func onWires(t *testing.T, test func(t *testing.T, db *gorm.DB, w *wire)) {
	t.Run("postgres", func(t *testing.T) {
		w := &wire{}
		cfg, err := pgx.ParseConfig(testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
		must(t, err)
		cfg.DialFunc, cfg.DefaultQueryExecMode = w.dial, pgx.QueryExecModeExec // which sends the SQL each time
		pool := stdlib.OpenDB(*cfg)
		test(t, databases.HandleOf(t, postgres.New(postgres.Config{Conn: pool}), &gorm.Config{Logger: logger.Discard}), w)
	})
	t.Run("mysql", func(t *testing.T) {
		w := &wire{}
		cfg := databases.FreshMySQL(t, testserver.MySQLs(t)[0].DSN)
		mysqldriver.RegisterDialContext("wire", func(ctx context.Context, addr string) (net.Conn, error) {
			return w.dial(ctx, "tcp", addr)
		})
		cfg.Net = "wire"
		test(t, databases.HandleOf(t, mysql.New(mysql.Config{DSNConfig: cfg}), &gorm.Config{Logger: logger.Discard}), w)
	})
}

// The database has written rows, and its answer is lost. Creating the same structs again, in each way and
// several times, writes no row twice.
func TestLostAnswers(t *testing.T) {
	onWires(t, func(t *testing.T, db *gorm.DB, w *wire) {
		must(t, db.Use(gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 1)})))
		must(t, db.AutoMigrate(&Bill{}, &Post{}))
		auto := func(db *gorm.DB) *gorm.DB { return db.Session(&gorm.Session{SkipDefaultTransaction: true}) }
		for how, create := range map[string]func(db *gorm.DB, bills []*Bill) error{
			"Create":          func(db *gorm.DB, bills []*Bill) error { return db.Create(bills).Error },
			"autocommit":      func(db *gorm.DB, bills []*Bill) error { return auto(db).Create(bills).Error },
			"autocommit, one": func(db *gorm.DB, bills []*Bill) error { return auto(db).Create(bills[0]).Error },
			"autocommit, prepared": func(db *gorm.DB, bills []*Bill) error {
				return auto(db).Session(&gorm.Session{PrepareStmt: true}).Create(bills).Error
			},
			"batches":             func(db *gorm.DB, bills []*Bill) error { return db.CreateInBatches(bills, 2).Error },
			"batches, autocommit": func(db *gorm.DB, bills []*Bill) error { return auto(db).CreateInBatches(bills, 2).Error },
			"in a transaction": func(db *gorm.DB, bills []*Bill) error {
				return db.Transaction(func(tx *gorm.DB) error { return tx.Create(bills).Error })
			},
			"graph": func(db *gorm.DB, bills []*Bill) error { return graph.Create(db.Statement.Context, db, bills) },
			"graph, in transaction": func(db *gorm.DB, bills []*Bill) error {
				return db.Transaction(func(tx *gorm.DB) error { return graph.Create(db.Statement.Context, tx, bills) })
			},
		} {
			for _, at := range []string{"first bill", "last bill", "first post", "last post", "(?i)^.{5}commit"} {
				for _, silent := range []bool{false, true} {
					if silent && !strings.HasPrefix(at, "first") {
						continue // it is slow; and database/sql waits for COMMIT without a context
					}
					t.Run(fmt.Sprintf("%s, %s, silent=%v", how, at, silent), func(t *testing.T) {
						for _, table := range []string{"posts", "bills"} {
							must(t, db.Exec("DELETE FROM "+table).Error)
						}
						bills := []*Bill{
							{Name: "first bill", Posts: []*Post{{Text: "first post"}, {Text: "a"}}},
							{Name: "b", Posts: []*Post{{Text: "c"}}},
							{Name: "last bill", Posts: []*Post{{Text: "last post"}}},
						}
						ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
						if !silent {
							ctx = t.Context()
						}
						defer cancel()
						w.silent.Store(silent)
						w.at.Store(regexp.MustCompile(at))
						err := create(db.WithContext(ctx), bills)
						if w.at.Swap(nil) != nil {
							if !silent && at == "first bill" {
								t.Error("nothing was lost")
							}
							return
						}
						if err == nil {
							t.Fatal("no error")
						}
						for _, again := range []*gorm.DB{db, db, db.Clauses(clause.OnConflict{DoNothing: true})} {
							err = create(again.WithContext(t.Context()), bills)
							for _, table := range []string{"bills", "posts"} {
								var twice []string
								column := map[string]string{"bills": "name", "posts": "text"}[table]
								must(t, db.Table(table).Group(column).Having("COUNT(*) > 1").Pluck(column, &twice).Error)
								if len(twice) > 0 {
									t.Errorf("%s are there twice: %v; %v", table, twice, err)
								}
							}
						}
						if err != nil {
							t.Errorf("again, with DoNothing: %v", err)
						}
						if strings.HasSuffix(how, "one") {
							bills = bills[:1]
						}
						for _, b := range bills {
							for _, p := range b.Posts {
								var n int64
								must(t, db.Table("posts").Where("id = ? AND bill_id = ? AND text = ?", p.ID, b.ID, p.Text).Count(&n).Error)
								if n != 1 {
									t.Errorf("%+v of %+v is not there", p, b)
								}
							}
						}
					})
				}
			}
		}
	})
}

type (
	Mark struct {
		ID   sqltype.ID
		No   int64   `gorm:"uniqueIndex;snowflake"`
		Word *string `gorm:"size:20;uniqueIndex"`
		Text string  `gorm:"size:20"`
	}
	Note struct {
		ID     sqltype.ID
		MarkID sqltype.ID
		Mark   *Mark
	}
)

// The answer to an upsert is lost, so it is not known under which key the row is. The same upsert again
// finds it by its unique value. A row that has only a filled one keeps its key.
func TestLostAnswerOfAnUpsert(t *testing.T) {
	onWires(t, func(t *testing.T, db *gorm.DB, w *wire) {
		must(t, db.Use(gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 1)})))
		must(t, db.AutoMigrate(&Mark{}, &Note{}))
		auto := db.Session(&gorm.Session{SkipDefaultTransaction: true})
		there, fresh := "there", "fresh"
		must(t, db.Create(&Mark{ID: 5, Word: &there}).Error)
		for _, at := range []string{"lost", "SELECT .*marks"} { // the look-up
			given := []*Mark{{Word: &there, Text: "lost"}, {Word: &fresh}, {Text: "null"}}
			note := &Note{Mark: &Mark{Word: &there, Text: "lost"}}
			for what, create := range map[string]func() error{
				"given":  func() error { return auto.Clauses(clause.OnConflict{DoNothing: true}).Create(given).Error },
				"parent": func() error { return auto.Create(note).Error },
			} {
				w.at.Store(regexp.MustCompile(at))
				if err := create(); err == nil || w.at.Load() != nil {
					t.Errorf("%s, %s: %v", at, what, err)
				}
				if err := create(); err != nil {
					t.Errorf("%s, %s, again: %v", at, what, err)
				}
			}
			check(t, db, "marks", 5, int64(given[1].ID), int64(given[2].ID))
			if given[0].ID != 5 || note.MarkID != 5 || note.Mark.ID != 5 {
				t.Errorf("%s: %+v, %+v", at, given[0], note)
			}
			must(t, db.Delete(&Mark{}, "id <> 5").Error)
		}
	})
}

// Odd has a column whose default gorm cannot read.
type Odd struct {
	ID   sqltype.ID
	Name string `gorm:"size:20;uniqueIndex"`
	Made int8   `gorm:"type:bigint;default:(999+1)"`
}

// Without a transaction of gorm's, a row that the database has refused has no key: a key would keep
// FirstOrCreate from finding the other row. A row whose returned values cannot be read is there, with its key.
func TestRefusedOrUnread(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		for _, translate := range []bool{false, true} {
			cfg := &gorm.Config{Logger: logger.Discard, TranslateError: translate, SkipDefaultTransaction: true}
			db := databases.HandleOf(t, d.Open(t), cfg, gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 1)}))
			must(t, db.Migrator().DropTable(&Odd{}))
			must(t, db.AutoMigrate(&Odd{}))
			must(t, db.Create(&Odd{ID: 5, Name: "a", Made: 1}).Error)
			refused := &Odd{Name: "a", Made: 1}
			if err := db.Create(refused).Error; err == nil || refused.ID != 0 {
				t.Errorf("refused: %+v, %v", refused, err)
			}
			err := db.Transaction(func(tx *gorm.DB) error { return tx.Create(refused).Error })
			if err == nil || refused.ID != 0 {
				t.Errorf("refused in a transaction: %+v, %v", refused, err)
			}
			if err := db.Where("name = ?", "a").FirstOrCreate(refused).Error; err != nil || refused.ID != 5 {
				t.Errorf("FirstOrCreate: %+v, %v", refused, err)
			}
			unread := []*Odd{{Name: "b"}, {Name: "c"}}
			if err := db.Create(unread).Error; err == nil {
				continue // nothing is returned
			}
			check(t, db, "odds", 5, int64(unread[0].ID), int64(unread[1].ID))
		}
	})
}
