package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// AutoMigrate creates plain keys: no sequence, no auto_increment, no default. A second run
// alters nothing.
func TestMigrate(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := migrated(t, d)
		for _, model := range models() {
			types, err := db.Migrator().ColumnTypes(model)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(types, func(c gorm.ColumnType) bool { return c.Name() == "id" })
			if i < 0 {
				t.Fatalf("%T has no column id", model)
			}
			if auto, known := types[i].AutoIncrement(); known && auto {
				t.Errorf("%T: the key is auto-increment", model)
			}
			if def, has := types[i].DefaultValue(); has && def != "" {
				t.Errorf("%T: the key has the default %q", model, def)
			}
			if kind := strings.ToLower(types[i].DatabaseTypeName()); !slices.Contains([]string{"bigint", "int8", "integer"}, kind) {
				t.Errorf("%T: the key is %s", model, kind)
			}
		}
		again, sent := record(db)
		if err := again.AutoMigrate(models()...); err != nil {
			t.Fatal(err)
		}
		for _, sql := range sent.sql {
			if strings.HasPrefix(sql, "ALTER") || strings.HasPrefix(sql, "CREATE") {
				t.Errorf("migrating again sent %s", sql)
			}
		}
	})
}

func TestKeysAreFilled(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := migrated(t, d)
		one := Order{Note: "struct", Customer: &Customer{Name: "Ada"}, Lines: []Line{{Position: 1}, {Position: 2}}}
		slice := []Order{{Note: "slice 1"}, {Note: "slice 2", ID: 4711}}
		pointers := []*Order{{Note: "pointer 1"}, {Note: "pointer 2", Lines: []Line{{Position: 1}}}}
		mapped := map[string]any{"note": "map"}
		maps := []map[string]any{{"note": "maps 1"}, {"note": "maps 2"}}
		for _, err := range []error{
			db.Create(&one).Error,
			db.Create(&slice).Error,
			db.Create(pointers).Error,
			db.Model(&Order{}).Create(mapped).Error,
			db.Model(&Order{}).Create(&maps).Error,
			db.Select("Note").Create(&Order{Note: "select"}).Error,
			db.Save(&Order{Note: "save"}).Error,
			db.Where(Order{Note: "first or create"}).FirstOrCreate(&Order{}).Error,
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if one.Hooked != one.ID || one.Lines[1].Hooked != one.Lines[1].ID || one.CustomerID == nil || *one.CustomerID != one.Customer.ID || *one.CustomerID == 0 {
			t.Errorf("the hooks or the children did not see the key: %+v", one)
		}
		var orders []Order
		if err := db.Preload("Lines").Preload("Customer").Order("id").Find(&orders).Error; err != nil {
			t.Fatal(err)
		}
		if len(orders) != 11 {
			t.Fatalf("%d orders, want 11", len(orders))
		}
		stored := map[string]sqltype.ID{}
		for _, o := range orders {
			stored[o.Note] = o.ID
			if o.ID != 4711 {
				checkParts(t, o.ID, 1)
			}
			for _, l := range o.Lines {
				checkParts(t, l.ID, 1)
			}
		}
		for note, id := range map[string]sqltype.ID{
			"struct": one.ID, "slice 1": slice[0].ID, "slice 2": 4711, "pointer 2": pointers[1].ID,
			"map": mapped["id"].(sqltype.ID), "maps 2": maps[1]["id"].(sqltype.ID),
		} {
			if stored[note] != id {
				t.Errorf("%s: the row has the key %d, the caller was given %d", note, stored[note], id)
			}
		}
		// Keys are found again by value, in a list and by pointer.
		var some []Order
		if err := db.Where("id IN ?", []sqltype.ID{one.ID, slice[0].ID}).Find(&some).Error; err != nil || len(some) != 2 {
			t.Errorf("IN with ids: %d, %v", len(some), err)
		}
		child := Order{Note: "child", ParentID: &one.ID}
		if err := db.Create(&child).Error; err != nil {
			t.Fatal(err)
		}
		var back Order
		if err := db.First(&back, child.ID).Error; err != nil || back.ParentID == nil || *back.ParentID != one.ID {
			t.Errorf("a nullable id came back as %v, %v", back.ParentID, err)
		}
	})
}

func checkParts(t *testing.T, id sqltype.ID, worker int64) {
	t.Helper()
	p, err := core.Twitter().Decode(id.Int64())
	if err != nil || p.Worker != worker {
		t.Errorf("id %d is %+v, %v", id, p, err)
	}
}

// A browser receives and sends back the ids of the database, to the last digit.
func TestJSONRoundTrip(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := migrated(t, d)
		o := Order{Note: "x", Customer: &Customer{Name: "Ada"}, Lines: []Line{{Position: 1}}}
		if err := db.Create(&o).Error; err != nil {
			t.Fatal(err)
		}
		var row Order
		if err := db.Preload("Lines").Preload("Customer").First(&row, o.ID).Error; err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`"id":"%d"`, o.ID); !strings.Contains(string(text), want) || o.ID < 1<<53 {
			t.Errorf("%s has no %s", text, want)
		}
		var back Order
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, row) {
			t.Errorf("%s came back as %+v, %v; want %+v", text, back, err, row)
		}
		var found Order
		if err := db.First(&found, "id = ?", back.ID).Error; err != nil || found.ID != o.ID {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

func TestBatches(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := migrated(t, d)
		events := make([]Event, 3500)
		if err := db.CreateInBatches(&events, 1000).Error; err != nil {
			t.Fatal(err)
		}
		whole := make([]Event, 1000)
		if err := db.Create(&whole).Error; err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(events, whole)
		if !slices.IsSortedFunc(all, func(a, b Event) int { return a.ID.Compare(b.ID) }) {
			t.Error("the keys do not ascend in the order of the rows")
		}
		checkStored(t, db, all)
	})
}

// checkStored compares the keys of the callers with those in the table.
func checkStored(t *testing.T, db *gorm.DB, events []Event) {
	t.Helper()
	var stored []sqltype.ID
	if err := db.Model(&Event{}).Order("id").Pluck("id", &stored).Error; err != nil {
		t.Fatal(err)
	}
	held := make([]sqltype.ID, len(events))
	for i, e := range events {
		held[i] = e.ID
	}
	slices.Sort(held)
	if !slices.Equal(stored, held) {
		t.Errorf("%d rows stored, %d keys handed out, or they differ", len(stored), len(held))
	}
	if len(slices.Compact(held)) != len(events) {
		t.Error("a key was handed out twice")
	}
}

// newOrder returns an order whose keys, and those of its lines, are known before it is written.
func newOrder(t *testing.T, db *gorm.DB, gen sqltype.Source, lines int) *Order {
	t.Helper()
	customer := Customer{Name: "Ada"}
	if err := db.Create(&customer).Error; err != nil {
		t.Fatal(err)
	}
	o := []Order{{CustomerID: &customer.ID, Note: "assigned", Lines: make([]Line, lines)}}
	for i := range o[0].Lines {
		o[0].Lines[i].Position = i + 1
	}
	if err := sqltype.Assign(t.Context(), gen, o, func(o *Order) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *Order) []Line { return o.Lines },
		func(l *Line) *sqltype.ID { return &l.ID },
		func(l *Line) *sqltype.ID { return &l.OrderID },
	)); err != nil {
		t.Fatal(err)
	}
	return &o[0]
}

func TestParentAndChildrenInOneTransaction(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := migrated(t, d)
		gen, err := core.New(core.Config{Worker: core.Fixed(2)})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		write := func(o *Order, fail error) error {
			return db.Transaction(func(tx *gorm.DB) error {
				if err := tx.Omit(clause.Associations).Create(o).Error; err != nil {
					return err
				}
				if err := tx.Create(&o.Lines).Error; err != nil {
					return err
				}
				return fail
			})
		}
		good := newOrder(t, db, gen, 1000)
		id, last := good.ID, good.Lines[999].ID
		if err := write(good, nil); err != nil {
			t.Fatal(err)
		}
		var back Order
		if err := db.Preload("Lines", func(db *gorm.DB) *gorm.DB { return db.Order("id") }).First(&back, id).Error; err != nil {
			t.Fatal(err)
		}
		if len(back.Lines) != 1000 || back.Lines[999].ID != last || back.Lines[999].Position != 1000 {
			t.Errorf("%d lines came back, the last is %+v", len(back.Lines), back.Lines[len(back.Lines)-1])
		}
		checkParts(t, id, 2)

		count := func() (orders, lines int64) {
			db.Model(&Order{}).Count(&orders)
			db.Model(&Line{}).Count(&lines)
			return orders, lines
		}
		rollback := errors.New("the caller changes its mind")
		if err := write(newOrder(t, db, gen, 5), rollback); !errors.Is(err, rollback) {
			t.Errorf("%v", err)
		}
		duplicate := newOrder(t, db, gen, 5)
		duplicate.Lines[4].ID = last
		if err := write(duplicate, nil); err == nil {
			t.Error("a line with another's key was taken")
		}
		refused := newOrder(t, db, gen, 5)
		refused.Lines[4].Position = -1
		if err := write(refused, nil); !errors.Is(err, errRefused) {
			t.Errorf("%v", err)
		}
		graph := Order{Note: "graph", Lines: []Line{{Position: 1}, {Position: -1}}, Customer: &Customer{Name: "Bob"}}
		if err := db.Create(&graph).Error; !errors.Is(err, errRefused) {
			t.Errorf("%v", err)
		}
		if orders, lines := count(); orders != 1 || lines != 1000 {
			t.Errorf("%d orders and %d lines after four failures, want 1 and 1000", orders, lines)
		}
		var bobs int64
		if db.Model(&Customer{}).Where("name = ?", "Bob").Count(&bobs); bobs != 0 {
			t.Error("the failed graph left its customer behind")
		}
	})
}

// Four handles with a worker ID each, like four processes, and four goroutines on each. The
// primary key rejects duplicates, and the keys of the callers are compared with those in the
// table.
func TestManyWriters(t *testing.T) {
	const handles, each, batch = 4, 4, 100
	onEvery(t, func(t *testing.T, d database) {
		rows := d.size(2500, 500)
		migrated(t, d)
		var all [handles * each][]Event
		var wg sync.WaitGroup
		var first *gorm.DB
		for h := range handles {
			db := handle(t, d, int64(10+h))
			if first == nil {
				first = db
			}
			for g := range each {
				who := h*each + g
				wg.Go(func() {
					for len(all[who]) < rows {
						events := make([]Event, batch)
						for i := range events {
							events[i] = Event{Who: who, What: "write"}
						}
						if err := db.Create(&events).Error; err != nil {
							t.Errorf("writer %d: %v", who, err)
							return
						}
						all[who] = append(all[who], events...)
					}
				})
			}
		}
		wg.Wait()
		if !t.Failed() {
			checkStored(t, first, slices.Concat(all[:]...))
		}
	})
}
