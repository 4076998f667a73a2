//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

type vitessOrder struct {
	ID    sqltype.ID
	Note  string        `gorm:"size:64"`
	Lines []*vitessLine `gorm:"foreignKey:OrderID"` // with a foreign key, so lines are in the shard of their order
}

func (vitessOrder) TableName() string { return "orders" }

type vitessLine struct {
	ID      sqltype.ID
	OrderID sqltype.ID `gorm:"index"`
	SKU     string     `gorm:"size:32"`
}

func (vitessLine) TableName() string { return "order_lines" }

const shopVSchema = `{"sharded": true, "vindexes": {"xxhash": {"type": "xxhash"}}, "tables": {
	"orders": {"column_vindexes": [{"column": "id", "name": "xxhash"}]},
	"order_lines": {"column_vindexes": [{"column": "order_id", "name": "xxhash"}]}}}`

var shopShards = []string{"-80", "80-"}

// TestVitess leases worker IDs in a keyspace of one shard, and writes orders with their lines to one
// of two shards. SNOWKEY_VITESS_ROWS is about the number of rows, 20,000 if not set.
func TestVitess(t *testing.T) {
	v := testserver.NewVitess(t, testserver.Keyspace{Name: "main", Shards: []string{"0"}, Tablets: 1},
		testserver.Keyspace{Name: "shop", Shards: shopShards, Tablets: 2, VSchema: shopVSchema}) // TWOPC needs two
	t.Run("suite", func(t *testing.T) {
		storetest.Run(t, storetest.Config{Open: func(t *testing.T) driver.Store {
			return mustNew(sqlstore.New(opened(t, mysqlConnector(t, v.DSN("main"))), sqlstore.Config{}))
		}})
	})
	t.Run("other keyspaces", func(t *testing.T) { otherKeyspaces(t, v) })
	db := openShop(t, v)
	must(t, db.AutoMigrate(&vitessOrder{}, &vitessLine{}))
	poll(t, patience, func() error { // vtgate learns of the columns
		return db.Order("id").Limit(1).Find(&[]vitessOrder{}).Error
	})
	t.Run("GORM", func(t *testing.T) { vitessGORM(t, db) })
	t.Run("rows", func(t *testing.T) { vitessRows(t, v, db) })
	t.Run("COMMIT that fails", func(t *testing.T) {
		for mode, written := range map[string]int{"MULTI": 1, "TWOPC": 0} {
			t.Run(mode, func(t *testing.T) { failedCommit(t, v, db, mode, written) })
		}
	})
}

// openShop opens a handle that has a lease of its own.
func openShop(t *testing.T, v *testserver.Vitess) *gorm.DB {
	t.Helper()
	gen, err := sqlstore.Open(t.Context(), opened(t, mysqlConnector(t, v.DSN("main"))), sqlstore.Config{})
	must(t, err)
	t.Cleanup(func() { _ = gen.Close(context.Background()) })
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: opened(t, mysqlConnector(t, v.DSN("shop")))}), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	must(t, db.Use(gormplugin.New(gormplugin.Config{Source: gen})))
	return db
}

// otherKeyspaces refuses tables in a sharded keyspace, and in another than is selected, whose
// settings would be asked for. The settings are those of the tables' server.
func otherKeyspaces(t *testing.T, v *testserver.Vitess) {
	reserve := func(keyspace, table string) error {
		_, err := mustNew(sqlstore.New(opened(t, mysqlConnector(t, v.DSN(keyspace))), sqlstore.Config{Table: table})).Reserve(t.Context(), "x", 1)
		return err
	}
	for _, table := range []string{"", "main.snow_lease"} {
		var wrong *core.ConfigError
		if err := reserve("shop", table); !errors.As(err, &wrong) {
			t.Errorf("%q: %v", table, err)
		}
	}
	must(t, reserve("main@primary", "main.snow_lease"))
	for _, tablet := range v.Tablets {
		server := opened(t, mysqlConnector(t, tablet.MySQL.DSN))
		set := func(level int) {
			_, err := server.ExecContext(t.Context(), fmt.Sprint("SET GLOBAL innodb_flush_log_at_trx_commit = ", level))
			must(t, err)
		}
		set(2)
		var lossy *driver.DurabilityError
		if err := reserve("main", ""); errors.As(err, &lossy) != (tablet.Keyspace == "main") {
			t.Errorf("not flushed at %s: %v", tablet.Keyspace, err)
		}
		set(1)
	}
}

// shards returns how a statement is routed: EqualUnique and IN need only the shards of their keys.
func shards(t *testing.T, db *gorm.DB, build func(tx *gorm.DB) *gorm.DB) string {
	t.Helper()
	statement := db.ToSQL(build)
	var plan string
	if err := db.Raw("VEXPLAIN PLAN " + statement).Row().Scan(&plan); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	type operator struct {
		Variant, Query string
		Inputs         []operator
	}
	var root operator
	must(t, json.Unmarshal([]byte(plan), &root))
	for len(root.Inputs) > 0 {
		root = root.Inputs[0]
	}
	return root.Variant
}

func vitessGORM(t *testing.T, db *gorm.DB) {
	orders := []*vitessOrder{{Note: "one", Lines: []*vitessLine{{SKU: "a"}, {SKU: "b"}}}, {Note: "two", Lines: []*vitessLine{{SKU: "c"}}}}
	must(t, graph.Create(t.Context(), db, &orders))
	must(t, db.Create(&vitessOrder{Note: "three", Lines: []*vitessLine{{SKU: "d"}}}).Error)
	o, line := orders[0], orders[0].Lines[1]
	from, to, err := core.Twitter().Range(time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	must(t, err)
	for name, c := range map[string]struct {
		want  string
		build func(tx *gorm.DB) *gorm.DB
	}{
		"order by key":            {"EqualUnique", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]vitessOrder{}, o.ID) }},
		"orders by keys":          {"IN", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]vitessOrder{}, []sqltype.ID{o.ID, orders[1].ID}) }},
		"lines of an order":       {"EqualUnique", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]vitessLine{}, "order_id = ?", o.ID) }},
		"line by key":             {"Scatter", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]vitessLine{}, line.ID) }},
		"line by key and order":   {"EqualUnique", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]vitessLine{}, "id = ? AND order_id = ?", line.ID, o.ID) }},
		"orders by time":          {"Scatter", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]vitessOrder{}, "id >= ? AND id < ?", from, to) }},
		"newest orders":           {"Scatter", func(tx *gorm.DB) *gorm.DB { return tx.Order("id DESC").Limit(10).Find(&[]vitessOrder{}) }},
		"order joined with lines": {"EqualUnique", func(tx *gorm.DB) *gorm.DB { return joined(tx).Where("o.id = ?", o.ID).Find(&[]map[string]any{}) }},
		"orders with lines":       {"Scatter", func(tx *gorm.DB) *gorm.DB { return joined(tx).Find(&[]map[string]any{}) }},
		"update of a line":        {"Scatter", func(tx *gorm.DB) *gorm.DB { return tx.Model(line).Update("sku", "x") }},
		"update with the order":   {"EqualUnique", func(tx *gorm.DB) *gorm.DB { return tx.Model(line).Where("order_id = ?", o.ID).Update("sku", "x") }},
		"insert":                  {"Sharded", func(tx *gorm.DB) *gorm.DB { return tx.Create(&[]vitessOrder{{Note: "a"}, {Note: "b"}}) }},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shards(t, db, c.build); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("upserts", func(t *testing.T) {
		must(t, db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&vitessOrder{ID: o.ID, Note: "changed"}).Error)
		must(t, db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&vitessLine{ID: line.ID, OrderID: o.ID, SKU: "changed"}).Error)
		must(t, db.Clauses(clause.Insert{Modifier: "IGNORE"}).Create(&vitessOrder{ID: o.ID, Note: "ignored"}).Error)
		must(t, db.Omit("OrderID").Save(&vitessLine{ID: orders[1].Lines[0].ID, SKU: "saved"}).Error)
		var got vitessOrder
		must(t, db.Preload("Lines", func(tx *gorm.DB) *gorm.DB { return tx.Order("id") }).Find(&got, o.ID).Error)
		if got.Note != "changed" || len(got.Lines) != 2 || got.Lines[0].SKU != "a" || got.Lines[1].SKU != "changed" {
			t.Errorf("%+v", got)
		}
	})
	// Vitess refuses each for its own reason. If one works, the document may say so.
	for name, err := range map[string]error{
		"AutoMigrate of tables that exist": db.AutoMigrate(&vitessOrder{}),
		"DoNothing":                        db.Clauses(clause.OnConflict{DoNothing: true}).Create(&vitessOrder{ID: o.ID}).Error,
		"Save of a line":                   db.Save(&vitessLine{ID: line.ID, OrderID: o.ID, SKU: "saved"}).Error,
	} {
		if err == nil {
			t.Errorf("%s: works", name)
		}
		t.Logf("%s: %.120v", name, err)
	}
}

func joined(tx *gorm.DB) *gorm.DB {
	return tx.Table("orders o").Select("o.id, l.sku").Joins("JOIN order_lines l ON l.order_id = o.id")
}

// vitessRows writes from four programs at once, and finds each row once, in both shards.
func vitessRows(t *testing.T, v *testserver.Vitess, db *gorm.DB) {
	const programs, orders, lines = 4, 50, 9                                                           // of each transaction
	transactions := int(setting(t, "SNOWKEY_VITESS_ROWS", 20_000)) / (programs * orders * (1 + lines)) //nolint:gosec // of a test
	must(t, errors.Join(db.Exec("DELETE FROM order_lines").Error, db.Exec("DELETE FROM orders").Error))
	var mu sync.Mutex
	keys := map[string][]int64{}
	began := time.Now()
	var wg sync.WaitGroup
	for range programs {
		own := openShop(t, v)
		wg.Go(func() {
			for range transactions {
				batch := make([]*vitessOrder, orders)
				for i := range batch {
					batch[i] = &vitessOrder{Note: "n"}
					for range lines {
						batch[i].Lines = append(batch[i].Lines, &vitessLine{SKU: "s"})
					}
				}
				if err := graph.Create(t.Context(), own, &batch); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, o := range batch {
					keys["orders"] = append(keys["orders"], int64(o.ID))
					for _, l := range o.Lines {
						keys["order_lines"] = append(keys["order_lines"], int64(l.ID))
					}
				}
				mu.Unlock()
			}
		})
	}
	if wg.Wait(); t.Failed() {
		return
	}
	took := time.Since(began)
	pool, err := db.DB()
	must(t, err)
	conn, err := pool.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	for table, want := range keys {
		slices.Sort(want)
		if n := len(slices.Compact(slices.Clone(want))); n != len(want) {
			t.Errorf("%s: %d ids, of which %d differ", table, len(want), n)
		}
		// Without olap, an answer has at most 10,000 rows.
		if got := merged(t, conn, "SELECT id FROM "+table+" ORDER BY id"); !slices.Equal(got, want) {
			t.Errorf("%s has %d rows in the order of their keys, want %d", table, len(got), len(want))
		}
	}
	all := keys["orders"]
	cut, err := core.Twitter().Decode(all[len(all)/3])
	must(t, err)
	from, to, err := core.Twitter().Range(began.Add(-time.Minute), cut.Time)
	must(t, err)
	var early int64
	must(t, db.Model(&vitessOrder{}).Where("id >= ? AND id < ?", from, to).Count(&early).Error)
	if want, _ := slices.BinarySearch(all, to); int64(want) != early || early == 0 {
		t.Errorf("%d orders before %v, want %d", early, cut.Time, want)
	}
	var counts []int
	for _, shard := range shopShards {
		var n, apart int
		_, err := conn.ExecContext(t.Context(), "USE `shop/"+shard+"`")
		must(t, err)
		must(t, conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM orders").Scan(&n))
		must(t, conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id WHERE o.id IS NULL").Scan(&apart))
		if counts = append(counts, n); apart > 0 {
			t.Errorf("%d lines are in %s, and their orders are not", apart, shard)
		}
	}
	if d := counts[0] - counts[1]; counts[0]+counts[1] != len(all) || d*d > 25*len(all) { // five standard deviations
		t.Errorf("orders in %v: %v of %d", shopShards, counts, len(all))
	}
	n := len(all) * (1 + lines)
	t.Logf("%d rows in %v, %.0f/s; orders in %v: %v", n, took.Round(time.Millisecond), float64(n)/took.Seconds(), shopShards, counts)
}

// merged reads keys of both shards, without a limit.
func merged(t *testing.T, conn *sql.Conn, query string) (all []int64) {
	t.Helper()
	_, err := conn.ExecContext(t.Context(), "SET workload = 'olap'")
	must(t, err)
	rows, err := conn.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		must(t, rows.Scan(&id))
		all = append(all, id)
	}
	must(t, rows.Err())
	_, err = conn.ExecContext(t.Context(), "SET workload = 'oltp'")
	must(t, err)
	return all
}

// failedCommit ends a transaction over two shards of which the second one fails in COMMIT. In the
// mode MULTI, which is the default, the first one's half is written.
func failedCommit(t *testing.T, v *testserver.Vitess, db *gorm.DB, mode string, written int) {
	lines := make([]*vitessLine, len(shopShards))
	for i, shard := range shopShards {
		lines[i] = &vitessLine{}
		must(t, db.Connection(func(tx *gorm.DB) error {
			defer tx.Exec("USE shop")
			return errors.Join(tx.Exec("USE `shop/"+shard+"`").Error, tx.Raw("SELECT id FROM orders LIMIT 1").Scan(&lines[i].OrderID).Error)
		}))
	}
	second := v.Tablets[slices.IndexFunc(v.Tablets, func(tablet *testserver.VitessTablet) bool { return tablet.Shard == shopShards[1] })]
	must(t, db.Connection(func(conn *gorm.DB) error {
		defer conn.Exec("SET transaction_mode = 'MULTI'")
		must(t, conn.Exec("SET transaction_mode = '"+mode+"'").Error)
		tx := conn.Begin()
		must(t, errors.Join(tx.Create(lines[0]).Error, tx.Create(lines[1]).Error, second.Tablet.Kill()))
		if err := tx.Commit().Error; err == nil {
			t.Error("COMMIT succeeds without the second shard")
		} else {
			t.Logf("%.200v", err)
		}
		return nil
	}))
	must(t, second.Tablet.Start())
	var found []sqltype.ID
	poll(t, patience, func() error {
		return db.Model(&vitessLine{}).Where("id IN ?", []sqltype.ID{lines[0].ID, lines[1].ID}).Pluck("id", &found).Error
	})
	if len(found) != written || written > 0 && found[0] != lines[0].ID {
		t.Errorf("of %v and %v, %v are written", lines[0], lines[1], found)
	}
}
