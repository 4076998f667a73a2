package gormplugin

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// One model for each kind of field that is filled.
type (
	kindInt64 struct {
		ID   int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Name string
	}
	kindUint64 struct {
		ID   uint64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Name string
	}
	kindString struct {
		ID   string `gorm:"primaryKey;size:19;snowflake"`
		Name string
	}
	kindID struct {
		ID   sqltype.ID
		Name string
	}
	kindPrefixed struct {
		ID   *sqltype.Key[kindPrefixed]
		Name string
	}
	kindModel struct {
		gormplugin.Model
		Name string
	}
	kindEmbedded struct {
		*KindBase
		Name string
	}
	kindPublic struct { // a number for the public beside a serial key
		ID     uint  `gorm:"snowflake:-"`
		Number int64 `gorm:"uniqueIndex;snowflake:other"`
		Name   string
	}
	kindNullPublic struct {
		ID     sqltype.ID
		Number sqltype.NullKey[kindPrefixed] `gorm:"uniqueIndex;snowflake"`
		Name   string
	}
	kindDefault struct { // the key has a default, which is not asked for
		ID   sqltype.ID `gorm:"primaryKey;default:1"`
		Name string
	}
)

func (*kindPrefixed) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "kind"} }

// KindBase is embedded by pointer.
type KindBase struct{ ID sqltype.ID }

func kinds() []any {
	return []any{
		&kindInt64{}, &kindUint64{}, &kindString{}, &kindID{},
		&kindPrefixed{}, &kindModel{}, &kindEmbedded{}, &kindPublic{}, &kindNullPublic{}, &kindDefault{},
	}
}

// Each kind of field is filled, stored, and read back as it was.
func TestKindsOfFields(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		gen := databases.Generator(t, 1)
		db := databases.Handle(t, d, fillPlugin(gen, kinds()...))
		if err := db.AutoMigrate(kinds()...); err != nil {
			t.Fatal(err)
		}
		again, sent := databases.Record(db)
		if err := again.AutoMigrate(kinds()...); err != nil {
			t.Fatal(err)
		}
		for _, sql := range sent.SQL {
			if strings.HasPrefix(sql, "ALTER") || strings.HasPrefix(sql, "CREATE") || strings.HasPrefix(sql, "DROP") {
				t.Errorf("migrating again sent %s", sql)
			}
		}
		for _, kind := range kinds() {
			model := reflect.TypeOf(kind).Elem()
			t.Run(model.Name(), func(t *testing.T) {
				if model != reflect.TypeFor[kindPublic]() {
					checkNoAutoIncrement(t, db, kind)
				}
				rows := reflect.New(reflect.SliceOf(model))
				rows.Elem().Set(reflect.MakeSlice(rows.Elem().Type(), 5, 5))
				for i := range 5 {
					rows.Elem().Index(i).FieldByName("Name").SetString(fmt.Sprint(i))
				}
				one := reflect.New(model)
				one.Elem().FieldByName("Name").SetString("5")
				if err := errors.Join(db.Create(rows.Interface()).Error, db.Create(one.Interface()).Error); err != nil {
					t.Fatal(err)
				}
				rows.Elem().Set(reflect.Append(rows.Elem(), one.Elem()))
				back := reflect.New(rows.Elem().Type())
				if err := db.Order("name").Find(back.Interface()).Error; err != nil {
					t.Fatal(err)
				}
				keys := map[string]bool{}
				for i := range 6 {
					want, got := plainKey(rows.Elem().Index(i)), plainKey(back.Elem().Index(i))
					if want != got || keys[got] || strings.HasPrefix(got, "0") || strings.HasSuffix(got, " 0") {
						t.Errorf("row %d was created as %s and is stored as %s", i, want, got)
					}
					keys[got] = true
				}
			})
		}
	})
}

// plainKey are the keys and numbers of a row, pointers followed.
func plainKey(row reflect.Value) string {
	var texts []string
	for _, name := range []string{"ID", "Number"} {
		f := row.FieldByName(name)
		for f.IsValid() && f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if f.IsValid() {
			texts = append(texts, fmt.Sprint(f.Interface()))
		}
	}
	return strings.Join(texts, " ")
}

func checkNoAutoIncrement(t *testing.T, db *gorm.DB, model any) {
	t.Helper()
	types, err := db.Migrator().ColumnTypes(model)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(types, func(c gorm.ColumnType) bool { return c.Name() == "id" })
	if auto, known := types[i].AutoIncrement(); known && auto {
		t.Error("the key is auto-increment")
	}
	if def, has := types[i].DefaultValue(); has && def != "" && reflect.TypeOf(model) != reflect.TypeFor[*kindDefault]() {
		t.Errorf("the key has the default %q", def)
	}
}

// Base 62 in the syntax of each database: the column must be case-sensitive, and sort by bytes.
type (
	base62SQLite struct {
		ID string `gorm:"primaryKey;size:11;snowflake:base62"`
		N  int
	}
	base62Postgres struct {
		ID string `gorm:"primaryKey;type:char(11) COLLATE \"C\";snowflake:base62"`
		N  int
	}
	base62MySQL struct {
		ID string `gorm:"primaryKey;type:char(11) CHARACTER SET ascii COLLATE ascii_bin;snowflake:base62"`
		N  int
	}
)

func TestBase62Keys(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		switch d.Name {
		case "sqlite":
			testBase62(t, d, func(r *base62SQLite) (*string, *int) { return &r.ID, &r.N })
		case "postgres":
			testBase62(t, d, func(r *base62Postgres) (*string, *int) { return &r.ID, &r.N })
		case "mysql":
			testBase62(t, d, func(r *base62MySQL) (*string, *int) { return &r.ID, &r.N })
			refuseBase62(t, d)
		}
	})
}

// A model whose column would ignore case is refused when the plugin checks it, and when a row is
// created.
func refuseBase62(t *testing.T, d databases.Database) {
	db := databases.Handle(t, d, fillPlugin(databases.Generator(t, 1)))
	for _, err := range []error{gormplugin.Validate(db, &base62SQLite{}), db.Create(&base62SQLite{}).Error} {
		if err == nil || !strings.Contains(err.Error(), "ascii_bin") {
			t.Error(err)
		}
	}
}

func testBase62[T any](t *testing.T, d databases.Database, of func(*T) (*string, *int)) {
	gen := databases.Generator(t, 1)
	db := databases.Handle(t, d, fillPlugin(gen, new(T)))
	if err := db.AutoMigrate(new(T)); err != nil {
		t.Fatal(err)
	}
	again, sent := databases.Record(db)
	if err := again.AutoMigrate(new(T)); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(sent.SQL, func(sql string) bool { return strings.HasPrefix(sql, "ALTER") || strings.HasPrefix(sql, "CREATE") }); i >= 0 {
		t.Errorf("migrating again sent %s", sent.SQL[i])
	}
	rows := make([]T, 300) // of one or two milliseconds, so that they differ in the case of few letters
	for i := range rows {
		_, n := of(&rows[i])
		*n = i
	}
	if err := db.Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	var back []T
	if err := db.Order("id").Find(&back).Error; err != nil || len(back) != len(rows) {
		t.Fatalf("%d rows, %v", len(back), err)
	}
	for i := range back {
		if id, n := of(&back[i]); *n != i || len(*id) != 11 {
			t.Errorf("row %d is %d with the key %s: the order is not that of creation", i, *n, *id)
		}
	}
}
