package gormplugin_test

import (
	"reflect"
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Order = gormtest.Order
	Line  = gormtest.Line
	Item  = gormtest.Item
	Price = gormtest.Price
)

type (
	Base        struct{ ID sqltype.ID }
	Embedding   struct{ Base }
	ByPointer   struct{ *Base }
	PointerKey  struct{ ID *sqltype.ID }
	WithModel   struct{ gormplugin.Model }
	UnsignedKey struct {
		ID uint64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
	NamedKey struct {
		ID sqltype.ID `gorm:"primaryKey;snowflake:orders"`
	}
	OwnName struct { // filled, as its key has the model's name
		OwnNameID sqltype.ID `gorm:"primaryKey"`
	}
	PublicNumber struct {
		ID     uint  `gorm:"snowflake:-"`
		Number int64 `gorm:"snowflake"`
	}
	Composite struct {
		Tenant sqltype.Key[Article] `gorm:"primaryKey"`
		ID     sqltype.ID           `gorm:"primaryKey;snowflake"`
	}
	Untagged struct {
		ID   int64
		Text string
	}
)

// Ticket has keys with a prefix.
type Ticket struct{ ID sqltype.Key[Ticket] }

func (*Ticket) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ticket"} }

type Tag struct{ ID sqltype.Key[Tag] }

type Article struct {
	ID       sqltype.Key[Article]
	Tags     []Tag `gorm:"many2many:article_tags"`
	ParentID *sqltype.Key[Article]
	Children []Article `gorm:"foreignKey:ParentID"`
	Cover    *Cover
}

// Cover shares its key with its article, and does not say so.
type Cover struct {
	ArticleID sqltype.Key[Article] `gorm:"primaryKey"`
	URL       string
}

// Parcel has children in the forms that gorm allows.
type Parcel struct {
	ID    sqltype.ID
	Name  string
	Items []*Piece
	Tags  *[]*Tag `gorm:"many2many:parcel_tags"`
}

type Piece struct {
	ID       sqltype.ID
	ParcelID sqltype.ID
}

// open opens a handle on SQLite with a source that counts from 1, and one named orders that
// counts from 1001.
func open(t *testing.T, models ...any) (*gorm.DB, *gormtest.Counter) {
	t.Helper()
	src := &gormtest.Counter{}
	return gormtest.SQLite(t, config(src), models...), src
}

func config(src sqltype.Source) gormplugin.Config {
	return gormplugin.Config{Source: src, Named: map[string]sqltype.Source{"orders": &gormtest.Counter{Last: 1000}}}
}

// keysOf returns the keys of rows: the fields ID, or Number, or the only one.
func keysOf(value any) (keys []int64) {
	for _, row := range rows.List(rows.Indirect(reflect.ValueOf(value))) {
		f := row.FieldByName("ID")
		if number := row.FieldByName("Number"); number.IsValid() {
			f = number
		} else if !f.IsValid() {
			f = row.Field(0)
		}
		f = rows.Indirect(f)
		if f.CanUint() {
			keys = append(keys, int64(f.Uint()))
		} else {
			keys = append(keys, f.Int())
		}
	}
	return keys
}

// stored returns the values of a column, in order.
func stored(t *testing.T, db *gorm.DB, table, column string) (values []int64) {
	t.Helper()
	must(t, db.Session(&gorm.Session{NewDB: true}).Table(table).Order(column).Pluck(column, &values).Error)
	return values
}

// check compares the keys of rows with those in the table.
func check(t *testing.T, db *gorm.DB, table string, keys ...int64) {
	t.Helper()
	slices.Sort(keys)
	if got := stored(t, db, table, "id"); !slices.Equal(got, keys) {
		t.Errorf("the table %s has %v, want %v", table, got, keys)
	}
}

// idle fails if a connection is in use.
func idle(t *testing.T, db *gorm.DB) {
	t.Helper()
	if pool, err := db.DB(); err != nil || pool.Stats().InUse > 0 {
		t.Fatalf("a connection is in use, %v", err)
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
