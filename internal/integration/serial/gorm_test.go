package serial

import (
	"errors"
	"fmt"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// bill sets its number in a hook, in the transaction of the hook.
type bill struct {
	Number string `gorm:"primaryKey;size:40"`
	Cents  int64  `gorm:"check:cents > 0"`

	numbers *serial.Numbers
	store   *sqlstore.Store
}

func (b *bill) BeforeCreate(tx *gorm.DB) (err error) {
	b.Number, err = b.numbers.NextIn(tx.Statement.Context, b.store.In(tx.Statement.ConnPool))
	return err
}

// gorm opens the database with gorm, and creates a table.
func (e engine) gorm(t *testing.T, cfg *gorm.Config, model any) *gorm.DB {
	t.Helper()
	dialector := map[string]func(string) gorm.Dialector{"sqlite": sqlite.Open, "pgx": postgres.Open, "mysql": mysql.Open}[e.driver]
	cfg.Logger = logger.Discard
	db := databases.HandleOf(t, dialector(e.dsn), cfg).WithContext(t.Context())
	must(t, db.AutoMigrate(model))
	return db
}

// In gorm's own transactions, and with prepared statements, there are no gaps. With
// SkipDefaultTransaction there is an error and no number.
func TestGORM(t *testing.T) {
	onEverySQL(t, func(t *testing.T, e engine) {
		code, given := code(), 0
		for _, prepare := range []bool{false, true} {
			db := e.gorm(t, &gorm.Config{PrepareStmt: prepare}, &bill{})
			pool, err := db.DB()
			must(t, err)
			store := engines.MustNew(sqlstore.New(pool, sqlstore.Config{AllowDataLoss: true}))
			must(t, store.PrepareCounters(t.Context()))
			n, err := serial.NewNumbers(numbering(store, code, 1))
			must(t, err)
			for _, cents := range []int64{5, 0, 7} { // the database refuses the second
				b := bill{Cents: cents, numbers: n, store: store}
				if cents > 0 {
					given++
				}
				err := db.Create(&b).Error
				if want := fmt.Sprintf("INV-20261121-%06d", given); (err == nil) != (cents > 0) || err == nil && b.Number != want {
					t.Errorf("prepared %v: %q of %d cents, %v; want %q", prepare, b.Number, cents, err, want)
				}
			}
			b := bill{Cents: 9, numbers: n, store: store}
			var config *core.ConfigError
			if err := db.Session(&gorm.Session{SkipDefaultTransaction: true}).Create(&b).Error; !errors.As(err, &config) || b.Number != "" {
				t.Errorf("prepared %v: %q in no transaction, %v", prepare, b.Number, err)
			}
		}
		var rows int
		if err := openCommitting(t, e).QueryRow("SELECT count(*) FROM bills").Scan(&rows); err != nil || rows != given {
			t.Errorf("%d rows, %v; want %d", rows, err, given)
		}
	})
}
