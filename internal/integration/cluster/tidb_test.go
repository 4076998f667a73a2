//go:build cluster

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

type tidbOrder struct {
	ID    sqltype.ID
	Note  string      `gorm:"size:64"`
	Lines []*tidbLine `gorm:"foreignKey:OrderID"`
}

func (tidbOrder) TableName() string { return "orders" }

type tidbLine struct {
	ID      sqltype.ID
	OrderID sqltype.ID `gorm:"index"`
	SKU     string     `gorm:"size:32"`
}

func (tidbLine) TableName() string { return "order_lines" }

// TestTiDB writes rows into TiDB whose keys come from leases in another store.
func TestTiDB(t *testing.T) {
	server := testserver.NewTiDB(t)
	store := new(memstore.Store)
	open := func(t *testing.T, plugin gormplugin.Config) (*gorm.DB, error) {
		t.Helper()
		dialector := gormmysql.New(gormmysql.Config{Conn: opened(t, mysqlConnector(t, server.DSN))})
		db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
		must(t, err)
		return db, db.Use(gormplugin.New(plugin))
	}
	leased := func(t *testing.T) *gorm.DB {
		t.Helper()
		gen, err := worker.Open(t.Context(), store, worker.Config{})
		must(t, err)
		t.Cleanup(func() { _ = gen.Close(context.Background()) })
		db, err := open(t, gormplugin.Config{Source: gen})
		must(t, err)
		return db
	}
	t.Run("no leases", func(t *testing.T) {
		_, err := open(t, gormplugin.Config{})
		for _, part := range []string{"leases cannot be kept in TiDB", "Config.Source"} {
			if !strings.Contains(fmt.Sprint(err), part) {
				t.Errorf("%v, want %q", err, part)
			}
		}
		t.Log(err)
	})
	db := leased(t)
	must(t, db.AutoMigrate(&tidbOrder{}, &tidbLine{}))
	must(t, db.AutoMigrate(&tidbOrder{}, &tidbLine{}))
	t.Run("upserts", func(t *testing.T) { tidbUpserts(t, db) })
	t.Run("rows", func(t *testing.T) { tidbRows(t, db, leased) })
	t.Run("time", func(t *testing.T) { tidbTime(t, db) })
	t.Run("regions", func(t *testing.T) { tidbRegions(t, db) })
}

// tidbUser is found by its name, if it exists under another key.
type tidbUser struct {
	ID   sqltype.ID
	Name string `gorm:"size:20;uniqueIndex"`
}

// tidbUpserts shows that upserts fail, and write nothing: the plugin looks for the row that collided, and TiDB
// has no shared locks. Save of a row that exists is an UPDATE, and works.
func tidbUpserts(t *testing.T, db *gorm.DB) {
	must(t, db.AutoMigrate(&tidbUser{}))
	must(t, db.Create(&tidbUser{Name: "a"}).Error)
	for name, on := range map[string]clause.OnConflict{"DoNothing": {DoNothing: true}, "UpdateAll": {UpdateAll: true}} {
		refused(t, db.Clauses(on).Create(&[]tidbUser{{Name: "a"}, {Name: name}}).Error, 1235)
	}
	var users int64
	must(t, db.Model(&tidbUser{}).Count(&users).Error)
	if users != 1 {
		t.Errorf("%d users after upserts that failed", users)
	}
	order := tidbOrder{Note: "one", Lines: []*tidbLine{{SKU: "a"}}}
	must(t, graph.Create(t.Context(), db, &order))
	order.Note, order.Lines[0].SKU = "changed", "changed"
	must(t, errors.Join(db.Omit("Lines").Save(&order).Error, db.Save(order.Lines[0]).Error))
	var got tidbOrder
	must(t, db.Preload("Lines").Take(&got, order.ID).Error)
	if got.Note != "changed" || len(got.Lines) != 1 || got.Lines[0].SKU != "changed" {
		t.Errorf("%+v", got)
	}
	refused(t, db.Create(&tidbLine{OrderID: 1}).Error, 1452) // a foreign key
}

// refused checks the number of an error.
func refused(t *testing.T, err error, number uint16) {
	t.Helper()
	var failed *mysql.MySQLError
	if !errors.As(err, &failed) || failed.Number != number {
		t.Errorf("%v, want error %d", err, number)
	}
}

// tidbRows writes graphs from four programs at once, and finds each row once.
func tidbRows(t *testing.T, db *gorm.DB, leased func(*testing.T) *gorm.DB) {
	const programs, times, orders, lines = 4, 5, 20, 9
	must(t, errors.Join(db.Exec("DELETE FROM order_lines").Error, db.Exec("DELETE FROM orders").Error))
	var wg sync.WaitGroup
	for range programs {
		own := leased(t)
		wg.Go(func() {
			for range times {
				batch := make([]*tidbOrder, orders)
				for i := range batch {
					batch[i] = &tidbOrder{Note: "n"}
					for range lines {
						batch[i].Lines = append(batch[i].Lines, &tidbLine{SKU: "s"})
					}
				}
				if err := graph.Create(t.Context(), own, &batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var rows, parents int64
	must(t, db.Model(&tidbLine{}).Count(&rows).Error)
	whole := db.Model(&tidbLine{}).Select("order_id").Group("order_id").Having("COUNT(*) = ?", lines)
	must(t, db.Model(&tidbOrder{}).Where("id IN (?)", whole).Count(&parents).Error)
	if rows != programs*times*orders*lines || parents != programs*times*orders {
		t.Errorf("%d lines, %d orders with all their lines", rows, parents)
	}
}

// tidbTime makes partitions by time. TiDB has neither functions nor an INTERVAL that is computed.
func tidbTime(t *testing.T, db *gorm.DB) {
	functions, err := ddl.Config{Dialect: ddl.MySQL}.Functions()
	must(t, err)
	refused(t, db.Exec(functions[0]).Error, 1064)
	made, err := ddl.Config{Dialect: ddl.MySQL}.Expression(ddl.Time, "id")
	must(t, err)
	refused(t, db.Exec("SELECT "+made+" FROM orders").Error, 1064)
	var id int64
	must(t, db.Raw("SELECT id FROM orders LIMIT 1").Scan(&id).Error)
	months := ddl.Partitioning{Dialect: ddl.MySQL, Table: "events", By: ddl.Month}
	now := time.Now()
	first, err := months.Bounds(now, now.AddDate(0, 1, 0))
	must(t, err)
	clause, err := months.Clause(first)
	must(t, err)
	must(t, db.Exec("CREATE TABLE events (id bigint PRIMARY KEY) "+clause).Error)
	must(t, db.Exec("INSERT INTO events VALUES (?)", id).Error)
	pool, err := db.DB()
	must(t, err)
	have, err := months.Read(t.Context(), pool)
	must(t, err)
	script, err := months.Extend(have, now, now.AddDate(0, 3, 0))
	must(t, err)
	for _, statement := range script {
		must(t, db.Exec(statement).Error)
	}
	after, err := months.Read(t.Context(), pool)
	must(t, err)
	want, err := months.Bounds(now, now.AddDate(0, 3, 0))
	must(t, err)
	if len(have) != len(first) || len(after) != len(want) {
		t.Errorf("%d partitions, then %d, want %d and %d", len(have), len(after), len(first), len(want))
	}
}

// tidbRegions shows into which regions consecutive ids fall: all into the one of the present time, unless
// the row has another key. Their index then still ascends.
func tidbRegions(t *testing.T, db *gorm.DB) {
	now := time.Now()
	from, to, err := core.Twitter().Range(now.Add(-8*time.Hour), now.Add(8*time.Hour))
	must(t, err)
	var ids []int64
	must(t, db.Raw("SELECT id FROM order_lines").Scan(&ids).Error)
	fill := func(table, columns, options string) {
		must(t, db.Exec("CREATE TABLE "+table+" (id bigint, "+columns+") "+options).Error)
		for some := range slices.Chunk(ids, 10) {
			rows := strings.ReplaceAll(strings.Trim(fmt.Sprint(some), "[]"), " ", "), (")
			must(t, db.Exec("INSERT INTO "+table+" (id) VALUES ("+rows+")").Error)
		}
	}
	fill("clustered", "PRIMARY KEY (id) CLUSTERED", "")
	must(t, db.Exec(fmt.Sprintf("SPLIT TABLE clustered BETWEEN (%d) AND (%d) REGIONS 16", from, to)).Error)
	fill("spread", "PRIMARY KEY (id) NONCLUSTERED", "SHARD_ROW_ID_BITS = 4 PRE_SPLIT_REGIONS = 4")
	must(t, db.Exec(fmt.Sprintf("SPLIT TABLE spread INDEX `PRIMARY` BETWEEN (%d) AND (%d) REGIONS 16", from, to)).Error)
	var keys []int64
	must(t, db.Raw("SELECT id FROM clustered ORDER BY id").Scan(&keys).Error)
	hour := (to - from) / 16
	first, last := (keys[0]-from)/hour, (keys[len(keys)-1]-from)/hour // their regions
	if last > first+1 {
		t.Errorf("%d rows are in the regions %d to %d of 16", len(keys), first, last)
	}
	var shards int
	must(t, db.Raw("SELECT COUNT(DISTINCT _tidb_rowid >> 59) FROM spread").Scan(&shards).Error)
	if shards < 8 {
		t.Errorf("%d rows are in %d of 16 regions", len(ids), shards)
	}
	must(t, db.Exec("CREATE TABLE random (id bigint PRIMARY KEY AUTO_RANDOM)").Error)
	refused(t, db.Exec("INSERT INTO random VALUES (?)", ids[0]).Error, 8216)
}
