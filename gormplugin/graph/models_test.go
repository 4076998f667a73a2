package graph_test

import (
	"context"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A graph with a relation of every kind. Each row has a name, by which it is identified
// apart where keys differ from run to run.

// Some keys are typed, and those of buyers and labels have a prefix.

type Buyer struct {
	ID    sqltype.Key[Buyer]
	Name  string  `gorm:"size:60"`
	Email *string `gorm:"size:60;uniqueIndex"`
	Cards []Card  // children of an upsert follow it
}

type Card struct {
	ID      sqltype.ID
	Name    string `gorm:"size:60"`
	BuyerID sqltype.Key[Buyer]
}

type Purchase struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index"`
	Name      string         `gorm:"size:60"`
	State     string         `gorm:"size:20;default:new"`
	Weight    int            `gorm:"default:7"`
	Meta      map[string]int `gorm:"serializer:json;size:200"`
	Place     Place          `gorm:"embedded;embeddedPrefix:place_"`

	BuyerID *sqltype.Key[Buyer]
	Buyer   *Buyer
	ShopID  sqltype.NullKey[Shop]
	Shop    Shop // by value

	Wares    []Ware    // values
	Pallets  []*Pallet // pointers
	Receipt  *Receipt
	Slip     Slip     // has one, by value
	Labels   []*Label `gorm:"many2many:purchase_labels"`
	Groups   []Group  `gorm:"many2many:purchase_groups"`
	Notes    []Note   `gorm:"polymorphic:Owner"`
	ParentID *int64
	Parent   *Purchase
	Parts    []*Purchase `gorm:"foreignKey:ParentID"`
}

type Place struct {
	City string `gorm:"size:40"`
	Zip  string `gorm:"size:10"`
}

type Shop struct {
	ID   sqltype.Key[Shop]
	Name string `gorm:"size:60"`
}

type Ware struct {
	ID         sqltype.ID
	Name       string `gorm:"size:60"`
	PurchaseID int64  `gorm:"not null"`
	Purchase   *Purchase
	Notes      []Note `gorm:"polymorphic:Owner"`
}

type Pallet struct {
	ID         sqltype.ID
	Name       string `gorm:"size:60"`
	PurchaseID *int64
}

type Receipt struct {
	ID         sqltype.ID
	Name       string `gorm:"size:60"`
	PurchaseID int64
}

// Slip has its purchase's key as its own.
type Slip struct {
	PurchaseID int64  `gorm:"primaryKey;autoIncrement:false;snowflake:-"`
	Name       string `gorm:"size:60"`
}

type Label struct {
	ID   sqltype.Key[Label]
	Name string `gorm:"size:60"`
}

func (*Buyer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "buyer"} }
func (Label) KeyForm() sqltype.Form  { return sqltype.Form{Prefix: "label"} }

type Group struct {
	ID   sqltype.ID
	Name string `gorm:"size:60"`
}

type Note struct {
	ID        sqltype.ID
	Name      string `gorm:"size:60"`
	OwnerID   int64
	OwnerType string `gorm:"size:40"`
}

func graphModels() []any {
	return []any{&Buyer{}, &Card{}, &Shop{}, &Purchase{}, &Ware{}, &Pallet{}, &Receipt{}, &Slip{}, &Label{}, &Group{}, &Note{}}
}

// graphTables are all, children first, as they can be emptied.
var graphTables = []string{
	"purchase_labels", "purchase_groups", "notes", "slips", "receipts", "pallets", "wares", "purchases", "labels", "groups", "cards", "shops", "buyers",
}

// graphHandle opens gorm with the plugin over the source; nil is a generator.
func graphHandle(t testing.TB, d gorm.Dialector, src sqltype.Source, cfg *gorm.Config, models ...any) *gorm.DB {
	t.Helper()
	if src == nil {
		gen, err := core.New(core.Config{Worker: core.Fixed(5)})
		must(t, err)
		t.Cleanup(gen.Close)
		src = gen
	}
	if cfg == nil {
		cfg = &gorm.Config{}
	}
	if cfg.Logger == nil {
		cfg.Logger = logger.Discard
	}
	db := databases.HandleOf(t, d, cfg, gormplugin.New(gormplugin.Config{Source: src, Models: models}))
	must(t, db.AutoMigrate(models...))
	return db
}

// onGraphs runs a test on every database, with the tables of the graph.
func onGraphs(t *testing.T, test func(t *testing.T, db *gorm.DB)) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		test(t, graphHandle(t, d.Open(t), nil, nil, graphModels()...))
	})
}

func empty(t testing.TB, db *gorm.DB, tables ...string) {
	t.Helper()
	for _, table := range tables {
		if table == "purchases" {
			must(t, db.Exec("UPDATE purchases SET parent_id = NULL").Error)
		}
		must(t, db.Exec("DELETE FROM "+quoted(db, table)).Error)
	}
}

func quoted(db *gorm.DB, name string) string { return (&gorm.Statement{DB: db}).Quote(name) }

// dump is the rows of all tables, without order, keys written as the names of the
// rows that have them, and times as whether they are set.
func dump(t testing.TB, db *gorm.DB, tables ...string) []string {
	t.Helper()
	type row struct {
		table string
		m     map[string]any
	}
	var rows []row
	names := map[string]string{"0": "0"}
	for _, table := range tables {
		var found []map[string]any
		must(t, db.Table(table).Find(&found).Error)
		for _, m := range found {
			rows = append(rows, row{table, m})
			if id, ok := m["id"]; ok {
				key := fmt.Sprint(id)
				if old, twice := names[key]; twice && key > "1000000" {
					t.Errorf("the key %s is in %s and in %s/%v", key, old, table, m["name"])
				}
				names[key] = fmt.Sprintf("%s/%v", table, m["name"])
			}
		}
	}
	var lines []string
	for _, r := range rows {
		var cells []string
		for column, v := range r.m {
			switch {
			case v == nil:
				cells = append(cells, column+"=NULL")
				continue
			case strings.HasSuffix(column, "_at"):
				cells = append(cells, column+"=time")
				continue
			}
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			text := fmt.Sprint(v)
			if column == "id" || strings.HasSuffix(column, "_id") {
				name, known := names[text]
				if !known {
					name = "NOWHERE " + text
				}
				if column == "owner_id" && strings.HasPrefix(name, "0") {
					name = "none"
				}
				text = name
			}
			cells = append(cells, column+"="+text)
		}
		sort.Strings(cells)
		lines = append(lines, r.table+": "+strings.Join(cells, " "))
	}
	sort.Strings(lines)
	return lines
}

// checkGraph compares every key and foreign key of the structs with one another,
// and finds keys that are zero or there twice.
func checkGraph(t testing.TB, db *gorm.DB, value any) {
	t.Helper()
	keys := map[int64]string{}
	seen := map[any]bool{}
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return
			}
			v = v.Elem()
		}
		if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
			for i := range v.Len() {
				visit(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
			}
			return
		}
		at := [2]any{v.Addr().Pointer(), v.Type()}
		if seen[at] {
			return
		}
		seen[at] = true
		stmt := &gorm.Statement{DB: db}
		must(t, stmt.Parse(v.Addr().Interface()))
		ctx := context.Background()
		if f := stmt.Schema.FieldsByName["ID"]; f != nil {
			id := f.ReflectValueOf(ctx, v).Int()
			if id == 0 {
				t.Errorf("%s has no key", path)
			} else if other, twice := keys[id]; twice && id > 1000 { // the caller may well give one twice
				t.Errorf("%s and %s have the key %d", path, other, id)
			}
			keys[id] = path
		}
		for _, rel := range stmt.Schema.Relationships.Relations {
			if rel.Schema != stmt.Schema || strings.HasPrefix(rel.Name, "_") || rel.Type == schema.Many2Many {
				if rel.Type == schema.Many2Many && rel.Schema == stmt.Schema {
					visit(rel.Field.ReflectValueOf(ctx, v), path+"."+rel.Name)
				}
				continue
			}
			other := rel.Field.ReflectValueOf(ctx, v)
			if other.IsZero() {
				continue
			}
			each := []reflect.Value{reflect.Indirect(other)}
			if each[0].Kind() == reflect.Slice {
				each = nil
				for i := range other.Len() {
					each = append(each, reflect.Indirect(other.Index(i)))
				}
			}
			for _, o := range each {
				for _, ref := range rel.References {
					from, to := o, v
					if ref.OwnPrimaryKey {
						from, to = v, o
					}
					var want any = ref.PrimaryValue
					if ref.PrimaryValue == "" {
						want, _ = ref.PrimaryKey.ValueOf(ctx, from)
					} else {
						to = o
					}
					got, _ := ref.ForeignKey.ValueOf(ctx, to)
					if fmt.Sprint(reflect.Indirect(reflect.ValueOf(got))) != fmt.Sprint(want) {
						t.Errorf("%s.%s: %s is %v, want %v", path, rel.Name, ref.ForeignKey.Name, got, want)
					}
				}
			}
			visit(other, path+"."+rel.Name)
		}
	}
	visit(reflect.ValueOf(value), "value")
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
