package gormplugin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type SameAsOrder Order

// What gorm panics on, or refuses after it has written associations, is refused
// before anything is done, and takes no id.
func TestDestinationsRefused(t *testing.T) {
	row := map[string]any{"name": "a"}
	type rowMap map[string]any
	var boxed any = &Order{}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"[]any", []any{&Order{}, &Order{}}, "row 0 is of type interface {}: create gormtest.Order, []gormtest.Order"},
		{"pointer to []any", &[]any{Order{}}, "row 0 is of type interface {}"},
		{"interface", &boxed, gorm.ErrInvalidData.Error()},
		{"nil element", []*Order{{}, nil}, "row 1 is nil"},
		{"nil pointer to a nil element", []**Order{new(*Order)}, "row 0 is nil"},
		{"pointers to maps", []*map[string]any{&row}, "row 0 is of type map[string]interface {}"},
		{"a type over map", rowMap{"name": "a"}, "row 0 is of type gormplugin_test.rowMap"},
		{"a list of lists", [][]Order{{{}}}, "row 0 is of type []gormtest.Order"},
		{"another model", &Line{}, "row 0 is of type gormtest.Line"},
		{"nil map", map[string]any(nil), "a nil map cannot be given a key"},
		{"nil among maps", []map[string]any{{"name": "a"}, nil}, "a nil map cannot be given a key"},
		{"an empty list", []Order{}, gorm.ErrEmptySlice.Error()},
		{"an empty list of maps", []map[string]any{}, gorm.ErrEmptySlice.Error()},
		{"nil", (*Order)(nil), gorm.ErrInvalidValue.Error()},
		{"a nil list", []Order(nil), gorm.ErrEmptySlice.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := &gormtest.Counter{}
			tx := gormtest.Dry(t, gormplugin.Config{Source: src}).Model(&Order{}).Create(c.value)
			if tx.Error == nil || !strings.Contains(tx.Error.Error(), c.want) {
				t.Errorf("error %v, want %q", tx.Error, c.want)
			}
			ours := strings.HasPrefix(fmt.Sprint(tx.Error), "gormplugin: ") // gorm may have begun to build
			if sql := tx.Statement.SQL.String(); ours && sql != "" || src.Last != 0 {
				t.Errorf("%d ids were taken, and it was built: %s", src.Last, sql)
			}
		})
	}
	same := SameAsOrder{}
	if err := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}}).Model(&Order{}).Create(&same).Error; err != nil || same.ID != 1 {
		t.Errorf("a type with the same fields: %+v, %v", same, err)
	}
}

type Parcel struct {
	ID    sqltype.ID
	Items []*Piece
	Tags  *[]*Tag `gorm:"many2many:parcel_tags"`
}

type Piece struct {
	ID       sqltype.ID
	ParcelID sqltype.ID
}

// gorm would panic on them when the parcel is already written.
func TestNilChildrenRefused(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	for want, value := range map[string]any{
		"Parcel.Items[1] of row 0 is nil": &Parcel{Items: []*Piece{{}, nil}},
		"Parcel.Items[0] of row 2 is nil": []Parcel{{}, {}, {Items: []*Piece{nil}}},
		"Parcel.Tags[0] of row 0 is nil":  &Parcel{Tags: &[]*Tag{nil}},
	} {
		tx := db.Create(value)
		if !errors.Is(tx.Error, gorm.ErrInvalidData) || !strings.Contains(tx.Error.Error(), want) || tx.Statement.SQL.Len() > 0 {
			t.Errorf("%v, want %s", tx.Error, want)
		}
	}
	for name, tx := range map[string]*gorm.DB{"Omit": db.Omit("Items"), "Omit all": db.Omit(clause.Associations), "Select": db.Select("ID")} {
		if err := tx.Create(&Parcel{Items: []*Piece{nil}}).Error; err != nil {
			t.Errorf("%s leaves the pieces out, and yet: %v", name, err)
		}
	}
	whole := Parcel{Items: []*Piece{{}, {}}, Tags: &[]*Tag{{}, {}}}
	if err := db.Create(&whole).Error; err != nil || whole.Items[1].ID == 0 || (*whole.Tags)[1].ID == 0 {
		t.Errorf("%+v, %v", whole, err)
	}
}

type Ledger struct {
	EntryID sqltype.ID `gorm:"primaryKey;column:entry_no"`
	Ref     string     `gorm:"snowflake:base62"`
	Text    string
}

// A map's key may be the column or the field, in any case. The column is written
// once, as a value of the field's type.
func TestMapKeys(t *testing.T) {
	id, none := sqltype.ID(7), sqltype.ID(0)
	for _, c := range []struct {
		name string
		in   map[string]any
		want map[string]any
	}{
		{"without", map[string]any{"text": "a"}, map[string]any{"text": "a", "entry_no": sqltype.ID(1), "ref": "00000000002"}},
		{"by column", map[string]any{"entry_no": 0, "ref": ""}, map[string]any{"entry_no": sqltype.ID(1), "ref": "00000000002"}},
		{"by field", map[string]any{"EntryID": nil, "Ref": nil}, map[string]any{"entry_no": sqltype.ID(1), "ref": "00000000002"}},
		{"in any case", map[string]any{"ENTRY_NO": int64(0), "entryid": 0, "REF": ""}, map[string]any{"entry_no": sqltype.ID(1), "ref": "00000000002"}},
		{"many names, one value", map[string]any{"EntryID": 0, "entry_no": 5, "ref": "x"}, map[string]any{"EntryID": 0, "entry_no": 5, "ref": "x"}},
		{"zero pointer", map[string]any{"entry_no": &none, "ref": "x"}, map[string]any{"entry_no": sqltype.ID(1), "ref": "x"}},
		{"nil pointer", map[string]any{"entry_no": (*int64)(nil), "ref": "x"}, map[string]any{"entry_no": sqltype.ID(1), "ref": "x"}},
		{"a null", map[string]any{"entry_no": sqltype.NullID{Valid: true}, "ref": "x"}, map[string]any{"entry_no": sqltype.ID(1), "ref": "x"}},
		{"set by pointer", map[string]any{"EntryID": &id, "ref": "x"}, map[string]any{"EntryID": &id, "ref": "x"}},
		{"an expression", map[string]any{"entry_no": gorm.Expr("next()"), "ref": "x"}, map[string]any{"entry_no": gorm.Expr("next()"), "ref": "x"}},
		{"set, in capitals", map[string]any{"ENTRY_NO": "7", "ref": "x"}, map[string]any{"ENTRY_NO": "7", "ref": "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, create := range map[string]func(db *gorm.DB, m map[string]any) error{
				"map":     func(db *gorm.DB, m map[string]any) error { return db.Model(&Ledger{}).Create(m).Error },
				"pointer": func(db *gorm.DB, m map[string]any) error { return db.Model(Ledger{}).Create(&m).Error },
				"list": func(db *gorm.DB, m map[string]any) error {
					return db.Model(&Ledger{}).Create([]map[string]any{m}).Error
				},
				"pointer to list": func(db *gorm.DB, m map[string]any) error {
					return db.Model(&Ledger{}).Create(&[]map[string]any{m}).Error
				},
			} {
				m := maps.Clone(c.in)
				if err := create(gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}}), m); err != nil || fmt.Sprintf("%#v", m) != fmt.Sprintf("%#v", c.want) {
					t.Errorf("%s: %#v, %v, want %#v", name, m, err, c.want)
				}
			}
		})
	}
}

// Clears sets its key to zero in a hook.
type Clears struct{ ID sqltype.ID }

func (c *Clears) BeforeCreate(*gorm.DB) error {
	c.ID = 0
	return nil
}

// Neither a hook nor a map may set a key to zero.
func TestKeysSetToZero(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	if tx := db.Create(&Clears{}); tx.Error == nil || !strings.Contains(tx.Error.Error(), "Clears.ID was filled, and a hook has set it to zero") || tx.Statement.SQL.Len() > 0 {
		t.Errorf("a hook: %v, %s", tx.Error, tx.Statement.SQL.String())
	}
	if err := graph.Create(t.Context(), db, &Clears{}); err == nil || !strings.Contains(err.Error(), "a hook has set it to zero") {
		t.Errorf("a hook in a graph: %v", err)
	}
	if err := db.Session(&gorm.Session{SkipHooks: true}).Create(&Clears{}).Error; err != nil {
		t.Error(err)
	}
	for _, m := range []map[string]any{{"id": 0}, {"name": "x", "ID": nil}, {"id": sqltype.NullID{}}, {"id": new(int64)}} {
		tx := db.Model(&Order{ID: 5}).Updates(m)
		if tx.Error == nil || !strings.Contains(tx.Error.Error(), "Order.ID is a key, and the map sets it to ") || strings.Contains(tx.Error.Error(), "0x") || tx.Statement.SQL.Len() > 0 {
			t.Errorf("%v: %v, %s", m, tx.Error, tx.Statement.SQL.String())
		}
	}
	if err := db.Model(&Order{ID: 5}).Updates(map[string]any{"id": 6, "name": ""}).Error; err != nil {
		t.Error(err)
	}
}

// Where gorm itself would put something else into the map or the row.
func TestMapsRefused(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	for want, model := range map[string]any{
		"Forgotten.ID is auto-increment to gorm": &Forgotten{},
	} {
		tx := db.Model(model).Create(map[string]any{})
		if tx.Error == nil || !strings.Contains(tx.Error.Error(), want) || tx.Statement.SQL.Len() > 0 {
			t.Errorf("%v, want %s", tx.Error, want)
		}
		if err := db.Model(model).Create(map[string]any{"id": 5}).Error; err != nil {
			t.Errorf("a set key: %v", err)
		}
	}
}

// Hooks run after the fill: they see the key, may change it, and what they set is
// what is written.
type Hooked struct {
	ID       sqltype.ID
	Mode     string `gorm:"-"`
	Seen     sqltype.ID
	Children []HookedChild
}

type HookedChild struct {
	ID       sqltype.ID
	HookedID sqltype.ID
}

func (h *Hooked) BeforeSave(tx *gorm.DB) error {
	h.Seen = h.ID
	if h.Mode == "create in the hook" {
		children := []HookedChild{{}, {}, {}}
		h.Children = nil
		if err := tx.CreateInBatches(&children, 2).Error; err != nil {
			return err
		}
		h.Children = children
	}
	return nil
}

func (h *Hooked) BeforeCreate(*gorm.DB) error {
	switch h.Mode {
	case "set":
		h.ID = 4711
	case "set if zero":
		if h.ID == 0 {
			h.ID = 4712
		}
	case "refuse":
		return errors.New("refused")
	}
	return nil
}

func TestHooksOfTheModel(t *testing.T) {
	for mode, want := range map[string]sqltype.ID{"": 1, "set": 4711, "set if zero": 1} {
		db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
		h := Hooked{Mode: mode, Children: []HookedChild{{}}}
		if err := db.Create(&h).Error; err != nil || h.Seen != 1 || h.ID != want || h.Children[0].HookedID != want || h.Children[0].ID != 2 {
			t.Errorf("%q: %+v, %v", mode, h, err)
		}
	}
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}}).Session(&gorm.Session{SkipDefaultTransaction: true})
	h := Hooked{Mode: "create in the hook"}
	if err := db.Create(&h).Error; err != nil || h.ID != 1 || h.Children[0].ID != 2 || h.Children[2].ID != 4 {
		t.Errorf("%+v, %v", h, err)
	}
	skipped := Hooked{Mode: "refuse"}
	if err := db.Session(&gorm.Session{SkipHooks: true}).Create(&skipped).Error; err != nil || skipped.ID == 0 || skipped.Seen != 0 {
		t.Errorf("%+v, %v", skipped, err)
	}
}

// The errors of a real generator reach the caller, with the table and the field.
func TestErrorsOfTheSource(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	db := gormtest.Dry(t, gormplugin.Config{Source: gen})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, value := range []any{&Order{}, &[]Order{{}, {}}, &Parcel{Items: []*Piece{{}}}} {
		tx := db.WithContext(ctx).Create(value)
		if !errors.Is(tx.Error, context.Canceled) || !strings.HasPrefix(tx.Error.Error(), "gormplugin: table "+tx.Statement.Table+": ") || tx.Statement.SQL.Len() > 0 {
			t.Errorf("%T: %v", value, tx.Error)
		}
	}
	layout := core.Twitter()
	grant, err := core.NewGrant(layout, 1, layout.Epoch, layout.Epoch.Add(time.Hour)) // over for many years
	if err != nil {
		t.Fatal(err)
	}
	fenced, err := core.New(core.Config{Worker: once{grant}, MaxWait: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer fenced.Close()
	orders := make([]Order, 2)
	if err := gormtest.Dry(t, gormplugin.Config{Source: fenced}).Create(&orders).Error; !errors.Is(err, core.ErrFenced) || orders[0].ID != 0 ||
		!strings.Contains(err.Error(), "table orders: Order.ID (2 ids): ") {
		t.Errorf("fenced: %+v, %v", orders, err)
	}
	gen.Close()
	o := Order{}
	if err := db.Create(&o).Error; !errors.Is(err, core.ErrClosed) || o.ID != 0 {
		t.Errorf("closed: %+v, %v", o, err)
	}
}

type once struct{ grant *core.Grant }

func (o once) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	if prev != nil {
		return prev, nil
	}
	return o.grant, nil
}

// A nested Select or Omit applies to the children as their own.
func TestNestedSelectAndOmit(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	p := Parcel{Items: []*Piece{{}}}
	if err := db.Omit("Items.ID").Create(&p).Error; err == nil || !strings.Contains(err.Error(), "Piece.ID is left out by Omit") {
		t.Errorf("Omit(Items.ID): %v", err)
	}
	p = Parcel{Items: []*Piece{{}}}
	if err := db.Select("Items", "Items.ParcelID").Create(&p).Error; err != nil || p.ID == 0 || p.Items[0].ID == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	set := Order{ID: 77, Name: "set"}
	if sql := db.Select("Name").Create(&set).Statement.SQL.String(); !strings.Contains(sql, "`id`") {
		t.Errorf("a key that is set was left out: %s", sql)
	}
	m := map[string]any{"name": "m"}
	if tx := db.Model(&Order{}).Select("name").Create(m); tx.Error != nil || !strings.Contains(tx.Statement.SQL.String(), "`id`") {
		t.Errorf("%s, %v", tx.Statement.SQL.String(), tx.Error)
	}
	if err := db.Model(&Order{}).Omit("id").Create(map[string]any{"name": "m"}).Error; err == nil {
		t.Error("a map without its key was created")
	}
	for _, all := range []string{"*", "orders.*"} {
		o := Order{}
		if sql := db.Select(all).Create(&o).Statement.SQL.String(); strings.Count(sql, "`id`") != 1 {
			t.Errorf("Select(%s): %s", all, sql)
		}
	}
}

// The batches of one call are filled each from one reservation, ascending.
func TestBatches(t *testing.T) {
	src := &gormtest.Counter{}
	db := gormtest.Dry(t, gormplugin.Config{Source: src}).Session(&gorm.Session{SkipDefaultTransaction: true})
	orders := make([]Order, 25)
	if err := db.CreateInBatches(&orders, 10).Error; err != nil || src.Calls != 3 {
		t.Errorf("%d reservations, %v", src.Calls, err)
	}
	more := make([]*Order, 25)
	for i := range more {
		more[i] = &Order{}
	}
	if err := db.Session(&gorm.Session{CreateBatchSize: 10}).Create(more).Error; err != nil || src.Calls != 6 {
		t.Errorf("%d reservations, %v", src.Calls, err)
	}
	keys := keysOf(orders...)
	for _, o := range more {
		keys = append(keys, o.ID.Int64())
	}
	if !slices.IsSorted(keys) || keys[0] != 1 || keys[49] != 50 {
		t.Errorf("%v", keys)
	}
}

// A statement that has failed already takes no ids.
func TestFailedStatementTakesNothing(t *testing.T) {
	src, before := &gormtest.Counter{}, errors.New("before")
	tx := gormtest.Dry(t, gormplugin.Config{Source: src}).Set("a", "setting")
	_ = tx.AddError(before)
	o := Order{}
	if err := tx.Create(&o).Error; !errors.Is(err, before) || src.Calls != 0 || o.ID != 0 {
		t.Errorf("%+v after %d calls, %v", o, src.Calls, err)
	}
}

// What the caller selects with is the caller's: nothing is appended to it.
func TestSelectsAreNotShared(t *testing.T) {
	columns := make([]string, 1, 8)
	columns[0] = "Name"
	o := Order{}
	if err := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}}).Select(columns).Create(&o).Error; err != nil || o.ID == 0 {
		t.Errorf("%+v, %v", o, err)
	}
	if all := columns[:8]; slices.ContainsFunc(all[1:], func(c string) bool { return c != "" }) {
		t.Errorf("the caller's slice holds %q", all)
	}
}
