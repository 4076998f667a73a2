package sharding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	upstream "gorm.io/sharding"

	"github.com/seed-299c1d6b/snowkey/contrib/sharding"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const shards = 64

type Order struct {
	OrderID    sqltype.Key[Order] `gorm:"primaryKey"`
	CustomerID sqltype.Key[Customer]
	Customer   *Customer
	Note       string `gorm:"size:40"`
	Lines      []Line `gorm:"foreignKey:OrderID"`
}

type Line struct {
	ID      sqltype.Key[Line]
	OrderID sqltype.Key[Order] `gorm:"not null"`
	SKU     string             `gorm:"size:40;not null;check:sku <> ''"`
}

// Customer is in one table.
type Customer struct {
	ID   sqltype.Key[Customer]
	Name string `gorm:"size:40"`
}

// onEach runs a test on each kind of server, with an empty database.
func onEach(t *testing.T, test func(t *testing.T, d gorm.Dialector)) {
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgres.Open(testserver.Database(t, "pgx", testserver.Postgres(t).DSN)))
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		test(t, mysql.New(mysql.Config{DSNConfig: databases.FreshMySQL(t, testserver.MariaDB(t).DSN)}))
	})
}

// open opens a handle with the plugins.
func open(t *testing.T, d gorm.Dialector, plugins ...gorm.Plugin) *gorm.DB {
	t.Helper()
	return databases.HandleOf(t, d, &gorm.Config{
		TranslateError: true,
		Logger:         logger.New(log.New(io.Discard, "", 0), logger.Config{LogLevel: logger.Info}), // so that each statement is logged
	}, plugins...)
}

func migrate(t *testing.T, db *gorm.DB) *gorm.DB {
	t.Helper()
	if err := db.AutoMigrate(&Order{}, &Line{}, &Customer{}); err != nil {
		t.Fatal(err)
	}
	return db
}

func keys(src sqltype.Source) *gormplugin.Plugin {
	return gormplugin.New(gormplugin.Config{Source: src, Models: []any{&Order{}, &Line{}, &Customer{}}})
}

func sharded() gorm.Plugin {
	return sharding.New(sharding.Config{Key: "order_id", Shards: shards}, &Order{}, "lines")
}

// counts returns the number of rows in each shard of a table, past the plugin.
func counts(t *testing.T, db *gorm.DB, table string) (n [shards]int, sum int) {
	t.Helper()
	for i := range n {
		if err := db.Raw(fmt.Sprintf("SELECT count(*) FROM %s_s%d", table, i)).Scan(&n[i]).Error; err != nil {
			t.Fatal(err)
		}
		sum += n[i]
	}
	return n, sum
}

func shardOf(t *testing.T, key sqltype.Key[Order]) int {
	t.Helper()
	n, err := core.Shard(key.Int64(), shards)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func is(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %q", err, text)
	}
}

// What gorm.io/sharding does alone. If this changes, so may the module.
func TestAlone(t *testing.T) {
	onEach(t, func(t *testing.T, d gorm.Dialector) {
		db := open(t, d, upstream.Register(upstream.Config{
			ShardingKey: "order_id", NumberOfShards: 2,
			PrimaryKeyGenerator: upstream.PKCustom, PrimaryKeyGeneratorFn: func(int64) int64 { return 0 },
		}, &Order{}, &Line{}), keys(databases.Generator(t, 3)))
		id := sqltype.Key[Order](5)
		is(t, db.Create(&Order{Note: "x"}).Error, "default algorithm only support integer and string column")
		is(t, db.First(&Order{}, "order_id = ?", id).Error, "default algorithm only support integer and string column")
		is(t, db.First(&Line{}, "order_id = ? AND id = ?", int64(id), sqltype.ID(6)).Error, "ID should be int64 type")
	})
}

func TestRows(t *testing.T) {
	onEach(t, func(t *testing.T, d gorm.Dialector) {
		gen := databases.Generator(t, 3)
		db := migrate(t, open(t, d, sharded(), keys(gen)))
		const n = 640
		orders := make([]Order, n)
		var wg sync.WaitGroup
		for part := range slices.Chunk(orders, n/4) {
			wg.Go(func() {
				for i := range part {
					o := &part[i]
					o.Note = fmt.Sprint("order ", i)
					err := db.Create(o).Error
					o.Lines = []Line{{OrderID: o.OrderID, SKU: "a"}, {OrderID: o.OrderID, SKU: "b"}}
					if err = errors.Join(err, db.Create(&o.Lines).Error); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var want [shards]int
		for _, o := range orders {
			want[shardOf(t, o.OrderID)]++
		}
		got, _ := counts(t, db, "orders")
		lines, sum := counts(t, db, "lines")
		if got != want || sum != 2*n {
			t.Errorf("orders %v, want %v; %d lines", got, want, sum)
		}
		empty := 0
		for i := range got {
			if lines[i] != 2*got[i] {
				t.Errorf("shard %d: %d orders, %d lines: an order and its lines are apart", i, got[i], lines[i])
			}
			if got[i] == 0 {
				empty++
			}
		}
		if empty > 4 { // by chance one, every 300 runs
			t.Errorf("%d shards are empty", empty)
		}

		o, ofO := &orders[7], orders[7].Lines
		o.Lines = nil // Update would write them
		for name, key := range map[string]any{
			"Key": o.OrderID, "*Key": &o.OrderID, "ID": sqltype.ID(o.OrderID), "int64": o.OrderID.Int64(), "uint64": uint64(o.OrderID),
			"NullKey": sqltype.NullKey[Order]{Key: o.OrderID, Valid: true}, "string": fmt.Sprint(o.OrderID.Int64()),
		} {
			t.Run(name, func(t *testing.T) {
				var found []Order
				if err := db.Preload("Lines").Find(&found, "order_id = ?", key).Error; err != nil || len(found) != 1 || found[0].Note != o.Note || len(found[0].Lines) != 2 {
					t.Errorf("%v, %v", found, err)
				}
				var line Line
				if err := db.Where("order_id = ? AND id = ?", key, ofO[1].ID).First(&line).Error; err != nil || line.SKU != "b" {
					t.Errorf("%v, %v", line, err)
				}
			})
		}
		found := Order{}
		if err := db.First(&found, o.OrderID).Error; err != nil || found.Note != o.Note {
			t.Errorf("by the key alone: %v, %v", found, err)
		}
		if err := db.Take(&Order{OrderID: o.OrderID}).Error; err != nil {
			t.Errorf("by a struct: %v", err)
		}
		if err := db.First(&found, 12345).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
			t.Errorf("no row: %v", err)
		}

		// Updates and deletes.
		for name, change := range map[string]func() *gorm.DB{
			"Update": func() *gorm.DB { return db.Model(o).Update("note", "changed") },
			"Save":   func() *gorm.DB { return db.Omit(clause.Associations).Save(&Order{OrderID: o.OrderID, Note: "changed"}) },
			"Where": func() *gorm.DB {
				return db.Model(&Order{}).Where("order_id = ?", o.OrderID).Updates(map[string]any{"note": "changed"})
			},
			"Exec": func() *gorm.DB { return db.Exec("UPDATE orders SET note = ? WHERE order_id = ?", "changed", o.OrderID) },
			"line": func() *gorm.DB {
				return db.Model(&Line{}).Where(&Line{OrderID: o.OrderID, ID: ofO[0].ID}).Update("sku", "c")
			},
		} {
			t.Run(name, func(t *testing.T) {
				if err := db.Model(o).Update("note", "before").Error; err != nil {
					t.Fatal(err)
				}
				if tx := change(); tx.Error != nil || tx.RowsAffected != 1 {
					t.Errorf("%d rows, %v", tx.RowsAffected, tx.Error)
				}
				if err := db.First(&found, o.OrderID).Error; err != nil || name != "line" && found.Note != "changed" {
					t.Errorf("%v, %v", found, err)
				}
			})
		}
		if tx := db.Delete(&Line{}, "order_id = ?", o.OrderID); tx.Error != nil || tx.RowsAffected != 2 {
			t.Errorf("%d lines deleted, %v", tx.RowsAffected, tx.Error)
		}
		if tx := db.Delete(o); tx.Error != nil || tx.RowsAffected != 1 {
			t.Errorf("%d orders deleted, %v", tx.RowsAffected, tx.Error)
		}
		if _, sum := counts(t, db, "orders"); sum != n-1 {
			t.Errorf("%d orders are left", sum)
		}

		// A slice for one shard is one INSERT; for several it fails, and leaves nothing.
		id := orders[9].OrderID
		if err := db.Create([]*Line{{OrderID: id, SKU: "c"}, {OrderID: id, SKU: "d"}}).Error; err != nil {
			t.Error(err)
		}
		two := []Order{{OrderID: 1}, {OrderID: 2}}
		if shardOf(t, 1) == shardOf(t, 2) {
			t.Fatal("one shard")
		}
		is(t, db.Create(&two).Error, "can not insert different suffix")
		if err := db.CreateInBatches(&two, 1).Error; err != nil {
			t.Error(err)
		}

		// Without the key of the shard, or without a key.
		is(t, db.First(&Line{}, "id = ?", ofO[0].ID).Error, "there is not sharding key")
		is(t, db.Find(&[]Line{}, "sku = ?", "a").Error, "sharding key or id required")
		is(t, db.Find(&[]Line{}, "order_id IN ?", []sqltype.Key[Order]{id}).Error, "sharding key or id required")
		is(t, db.Create(&Line{SKU: "a"}).Error, "sharding: order_id is 0: it must be an id")
		is(t, db.First(&Line{}, "order_id = ?", "x").Error, `sharding: order_id is "x": it must be an id`)
		if err := db.Exec("INSERT INTO lines (order_id, sku) VALUES (?, 'a')", id).Error; err == nil {
			t.Error("a line without a key was written")
		}
	})
}

func TestGraph(t *testing.T) {
	onEach(t, func(t *testing.T, d gorm.Dialector) {
		leased := gormplugin.New(gormplugin.Config{})
		db := migrate(t, open(t, d, sharded(), leased))
		t.Cleanup(func() { _ = leased.Close(context.Background()) })
		many := func(sku string) (orders []*Order) {
			ann := &Customer{Name: "Ann"}
			for range 20 {
				orders = append(orders, &Order{Customer: ann, Lines: []Line{{SKU: "a"}, {SKU: sku}}})
			}
			return orders
		}
		check := func(name string, want int) {
			t.Helper()
			_, orders := counts(t, db, "orders")
			_, lines := counts(t, db, "lines")
			if orders != want || lines != 2*want {
				t.Errorf("%s: %d orders, %d lines, want %d", name, orders, lines, want)
			}
		}
		one := many("b")[0]
		if err := graph.Create(t.Context(), db, one); err != nil {
			t.Fatal(err)
		}
		var found Order
		if err := db.Preload("Lines").Preload("Customer").First(&found, one.OrderID).Error; err != nil || len(found.Lines) != 2 || found.Customer.Name != "Ann" {
			t.Errorf("%v, %v", found, err)
		}
		check("one", 1)

		is(t, graph.Create(t.Context(), db, many("b")), "can not insert different suffix")
		check("many in one INSERT", 1)
		result, err := graph.CreateWith(t.Context(), db, many("b"), graph.Config{BatchSize: 1})
		if err != nil || result.RowsAffected != 20 {
			t.Errorf("%v, %v", result, err)
		}
		check("row by row", 21)

		_, err = graph.CreateWith(t.Context(), db, many(""), graph.Config{BatchSize: 1})
		if !errors.Is(err, gorm.ErrCheckConstraintViolated) { // gorm translates PostgreSQL's error
			is(t, err, "CONSTRAINT `chk_lines_")
		}
		check("the last line is refused", 21)
		// In a transaction of the caller: a savepoint.
		err = db.Transaction(func(tx *gorm.DB) error {
			if _, err := graph.CreateWith(t.Context(), tx, many(""), graph.Config{BatchSize: 1}); err == nil {
				t.Error("a line without SKU was written")
			}
			return graph.Create(t.Context(), tx, many("b")[0])
		})
		if err != nil {
			t.Error(err)
		}
		check("after a rollback to the savepoint", 22)
		prepared := db.Session(&gorm.Session{PrepareStmt: true})
		if err := graph.Create(t.Context(), prepared, many("b")[0]); err != nil {
			t.Error(err)
		}
		err = prepared.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Create(many("b")[0]).Error, errors.New("roll back"))
		})
		is(t, err, "roll back")
		check("prepared statements", 23)

		// gorm's own create is no transaction here: what it wrote keeps its key.
		o := many("")[0]
		if err := db.Create(o).Error; err == nil || o.OrderID == 0 {
			t.Errorf("%v, %v", o.OrderID, err)
		}
		if err := db.Take(&Order{OrderID: o.OrderID}).Error; err != nil {
			t.Error(err)
		}
	})
}

// Statements that gorm.io/sharding cannot parse fail: there is no table without a suffix.
func TestNotParsed(t *testing.T) {
	onEach(t, func(t *testing.T, d gorm.Dialector) {
		db := migrate(t, open(t, d, sharded(), keys(databases.Generator(t, 3))))
		o := &Order{Note: "x"}
		if err := db.Create(o).Error; err != nil {
			t.Fatal(err)
		}
		missing := map[string]string{"postgres": "does not exist", "mysql": "doesn't exist"}[db.Name()]
		for name, err := range map[string]error{
			"FOR UPDATE": db.Clauses(clause.Locking{Strength: "UPDATE"}).First(&Order{}, o.OrderID).Error,
			"JOIN":       db.InnerJoins("Customer").First(&Order{}, o.OrderID).Error,
			"UNION":      db.Raw("SELECT note FROM orders WHERE order_id = ? UNION ALL SELECT note FROM orders WHERE order_id = ?", o.OrderID, o.OrderID).Scan(&[]string{}).Error,
			"Row":        db.Raw("SELECT note FROM orders WHERE order_id IN (?)", o.OrderID).Row().Err(),
		} {
			t.Run(name, func(t *testing.T) { is(t, err, missing) })
		}
		var some []Order
		elsewhere := o.OrderID + 1
		for shardOf(t, elsewhere) == shardOf(t, o.OrderID) {
			elsewhere++
		}
		if err := db.Find(&some, "order_id = ? OR order_id = ?", o.OrderID, elsewhere).Error; err != nil || len(some) != 0 { // it reads only the shard of the last
			t.Errorf("OR: %v, %v", some, err)
		}
		upsert := db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Order{OrderID: o.OrderID, Note: "y"})
		children := db.Create(&Order{Lines: []Line{{SKU: "a"}}})
		if db.Name() == "mysql" { // ON DUPLICATE KEY
			is(t, upsert.Error, missing)
			is(t, children.Error, missing)
			return
		}
		var found Order
		if err := errors.Join(upsert.Error, children.Error, db.First(&found, o.OrderID).Error); err != nil || found.Note != "y" {
			t.Errorf("%v, %v", found, err)
		}
	})
}

// A key in the column id needs no Config.Key.
func TestID(t *testing.T) {
	onEach(t, func(t *testing.T, d gorm.Dialector) {
		db := migrate(t, open(t, d, gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 3)}), sharding.New(sharding.Config{Shards: 3}, &Customer{})))
		for range 20 {
			c := &Customer{Name: "Ann"}
			if err := db.Create(c).Error; err != nil {
				t.Fatal(err)
			}
			var found Customer
			if err := db.First(&found, c.ID).Error; err != nil || found != *c {
				t.Errorf("%v, %v", found, err)
			}
			if tx := db.Model(c).Update("name", "Bob"); tx.Error != nil || tx.RowsAffected != 1 {
				t.Errorf("%d rows, %v", tx.RowsAffected, tx.Error)
			}
		}
	})
}

func TestUse(t *testing.T) {
	onEach(t, func(t *testing.T, d gorm.Dialector) {
		db := migrate(t, open(t, d)) // makes the tables without suffixes
		for name, test := range map[string]struct {
			plugin gorm.Plugin
			want   string
		}{
			"no shards":       {sharding.New(sharding.Config{}, "other"), "sharding: Config.Shards: "},
			"too many":        {sharding.New(sharding.Config{Shards: core.MaxShards + 1}, "other"), "65537"},
			"an old table":    {sharding.New(sharding.Config{Shards: 4}, &Order{}), `sharding: table "orders" exists`},
			"and by its name": {sharding.New(sharding.Config{Shards: 4}, "lines"), `sharding: table "lines" exists`},
		} {
			t.Run(name, func(t *testing.T) { is(t, db.Use(test.plugin), test.want) })
		}
		is(t, db.Use(sharding.New(sharding.Config{Shards: 4}, 7)), "sharding: unsupported data type: 7")
	})
}

// An error of the source writes nothing, and reaches the caller.
func TestSourceFails(t *testing.T) {
	onEach(t, func(t *testing.T, d gorm.Dialector) {
		gen := databases.Generator(t, 3)
		db := migrate(t, open(t, d, keys(gen), sharded())) // in this order, too
		gen.Close()
		for _, err := range []error{
			db.Create(&Order{Lines: []Line{{SKU: "a"}}}).Error,
			db.Create(&Line{OrderID: 5, SKU: "a"}).Error,
			graph.Create(t.Context(), db, &Order{}),
		} {
			if !errors.Is(err, core.ErrClosed) {
				t.Errorf("%v, want ErrClosed", err)
			}
		}
		_, orders := counts(t, db, "orders")
		if _, lines := counts(t, db, "lines"); orders+lines != 0 {
			t.Errorf("%d orders, %d lines", orders, lines)
		}
	})
}
