package testkit

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/snowkeytest/gormtest"
	"github.com/seed-299c1d6b/snowkey/snowkeytest/pgxtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type order struct {
	ID       sqltype.Key[order]
	Customer string
	Lines    []line
}

type line struct {
	ID      sqltype.Key[line]
	OrderID sqltype.Key[order]
	SKU     string
}

// The rows of both databases have the keys of the golden file, although the tests run at once.
func TestGorm(t *testing.T) {
	var keys [2]sqltype.Key[order]
	t.Run("databases", func(t *testing.T) {
		for i, open := range []func(t *testing.T) gorm.Dialector{
			func(t *testing.T) gorm.Dialector { return sqlite.Open(filepath.Join(t.TempDir(), "test.sqlite")) },
			func(t *testing.T) gorm.Dialector {
				return postgres.Open(testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
			},
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				db := gormtest.Open(t, open(t), snowkeytest.Config{}, &order{}, &line{})
				o := order{Customer: "Ann", Lines: []line{{SKU: "a"}, {SKU: "b"}}}
				if err := db.Create(&o).Error; err != nil {
					t.Fatal(err)
				}
				var found order
				if err := db.Preload("Lines").First(&found, o.ID).Error; err != nil {
					t.Fatal(err)
				}
				snowkeytest.Golden(t, "testdata/order.json", found)
				keys[i] = found.ID
				if err := db.Create(&struct{ ID int64 }{}).Error; err == nil {
					t.Error("a row without a key was created: the plugin is not strict")
				}
			})
		}
	})
	if keys[0] == keys[1] {
		t.Errorf("two tests got the id %d", keys[0])
	}
}

// A transaction knows the types, and leaves nothing behind.
func TestPgx(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), "CREATE TABLE orders (id bigint PRIMARY KEY, lines bigint[])"); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for range 2 { // the second time, the key is free again
		t.Run("insert", func(t *testing.T) {
			tx := pgxtest.Begin(t, pool)
			gen := snowkeytest.New(t, snowkeytest.Config{Seed: 5})
			ids := make([]int64, 2)
			if err := gen.Fill(t.Context(), ids); err != nil {
				t.Fatal(err)
			}
			order, lines := snowkeytest.ID(1), []sqltype.ID{sqltype.ID(ids[0]), sqltype.ID(ids[1])}
			if _, err := tx.Exec(t.Context(), "INSERT INTO orders VALUES ($1, $2)", order, lines); err != nil {
				t.Fatal(err)
			}
			var got []sqltype.ID
			if err := tx.QueryRow(t.Context(), "SELECT lines FROM orders WHERE id = $1", order).Scan(&got); err != nil || len(got) != 2 {
				t.Errorf("%v, %v", got, err)
			}
			ran++
		})
	}
	var n int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM orders").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows are left, %v", n, err)
	}
	if ran != 2 {
		t.Errorf("%d tests ran", ran)
	}
}
