package gormplugin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestFillsEveryShape(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		want  []int64
	}{
		{"pointer", &Order{}, []int64{1}},
		{"a set key", &Order{ID: 77}, []int64{77}},
		{"a set key by value", Order{ID: 77}, []int64{77}},
		{"slice", []Order{{}, {ID: 77}, {}}, []int64{1, 77, 2}},
		{"pointer to slice", &[]Order{{}, {}}, []int64{1, 2}},
		{"slice of pointers", []*Order{{}, {ID: 77}, {}}, []int64{1, 77, 2}},
		{"array", &[2]Order{}, []int64{1, 2}},
		{"embedded", &Embedding{}, []int64{1}},
		{"embedded by pointer", &[]ByPointer{{}, {&Base{}}, {&Base{77}}}, []int64{1, 2, 77}},
		{"Model", &WithModel{}, []int64{1}},
		{"the model's name", &OwnName{}, []int64{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, src := open(t, &Order{}, &Line{})
			if _, ours := c.value.(*Order); !ours {
				must(t, db.AutoMigrate(c.value))
			}
			tx := db.Create(c.value)
			if got := keysOf(c.value); tx.Error != nil || !slices.Equal(got, c.want) {
				t.Fatalf("keys %v, want %v, %v", got, c.want, tx.Error)
			}
			column := tx.Statement.Schema.PrimaryFields[len(tx.Statement.Schema.PrimaryFields)-1].DBName
			slices.Sort(c.want)
			if got := stored(t, db, tx.Statement.Table, column); !slices.Equal(got, c.want) {
				t.Errorf("stored %v, want %v", got, c.want)
			}
			if src.Calls > 1 {
				t.Errorf("%d reservations for one create", src.Calls)
			}
		})
	}
}

type Ledger struct {
	EntryID sqltype.ID `gorm:"primaryKey;snowflake;column:entry_no"`
	Ref     string     `gorm:"snowflake:base62"`
	Text    string
}

// A map's key may be the column or the field, in any case. The column is written once, as a
// value of the field's type.
func TestMapKeys(t *testing.T) {
	id, none := sqltype.ID(7), sqltype.ID(0)
	filled := map[string]any{"entry_no": sqltype.ID(1), "ref": "00000000002"}
	one := map[string]any{"entry_no": sqltype.ID(1), "ref": "x"}
	db, src := open(t, &Ledger{})
	for _, c := range []struct {
		name string
		in   map[string]any
		want map[string]any // nil: as it is
	}{
		{"without", map[string]any{"text": "a"}, map[string]any{"text": "a", "entry_no": sqltype.ID(1), "ref": "00000000002"}},
		{"by column", map[string]any{"entry_no": 0, "ref": ""}, filled},
		{"by field", map[string]any{"EntryID": nil, "Ref": nil}, filled},
		{"in any case", map[string]any{"ENTRY_NO": int64(0), "entryid": 0, "REF": ""}, filled},
		{"zero pointer", map[string]any{"entry_no": &none, "ref": "x"}, one},
		{"nil pointer", map[string]any{"entry_no": (*int64)(nil), "ref": "x"}, one},
		{"set by pointer", map[string]any{"EntryID": &id, "ref": "x"}, nil},
		{"an expression", map[string]any{"entry_no": gorm.Expr("40 + 2"), "ref": "x"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, create := range map[string]func(m map[string]any) error{
				"map":             func(m map[string]any) error { return db.Model(&Ledger{}).Create(m).Error },
				"pointer":         func(m map[string]any) error { return db.Model(Ledger{}).Create(&m).Error },
				"list":            func(m map[string]any) error { return db.Model(&Ledger{}).Create([]map[string]any{m}).Error },
				"pointer to list": func(m map[string]any) error { return db.Model(&Ledger{}).Create(&[]map[string]any{m}).Error },
			} {
				m, want := maps.Clone(c.in), c.want
				if want == nil {
					want = c.in
				}
				src.Last = 0
				if err := create(m); err != nil || fmt.Sprintf("%#v", m) != fmt.Sprintf("%#v", want) {
					t.Errorf("%s: %#v, %v, want %#v", name, m, err, want)
				}
				if ids := stored(t, db, "ledgers", "entry_no"); len(ids) != 1 || !slices.Contains([]int64{1, 7, 42}, ids[0]) {
					t.Errorf("%s: stored %v", name, ids)
				}
				must(t, db.Exec("DELETE FROM ledgers").Error)
			}
		})
	}
}

// What gorm panics on, or refuses after it has written associations, is refused before that, and
// takes no id. No connection stays in use.
func TestDestinationsRefused(t *testing.T) {
	type rowMap map[string]any
	row := map[string]any{"name": "a"}
	var boxed any = &Order{}
	src := &gormtest.Counter{}
	db := gormtest.SQLite(t, gormplugin.Config{Source: src, Tables: map[string]gormplugin.Table{"logs": {Column: "id"}}}, &Order{}, &Line{})
	must(t, db.Exec("CREATE TABLE logs (id integer PRIMARY KEY, text text)").Error)
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"[]any", []any{&Order{}, &Order{}}, "row 0 is of type interface {}: create the model's structs"},
		{"interface", &boxed, gorm.ErrInvalidData.Error()},
		{"pointers to maps", []*map[string]any{&row}, "row 0 is of type map[string]interface {}"},
		{"a type over map", rowMap{"name": "a"}, "row 0 is of type gormplugin_test.rowMap"},
		{"another model", &Line{}, "row 0 is of type gormtest.Line"},
		{"nil map", map[string]any(nil), "row 0 is a nil map"},
		{"nil among maps", []map[string]any{{"name": "a"}, nil}, "row 1 is a nil map"},
		{"an empty list", []Order{}, gorm.ErrEmptySlice.Error()},
		{"nil", (*Order)(nil), gorm.ErrInvalidValue.Error()},
		{"by value", Order{}, "create a pointer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx := db.Model(&Order{}).Create(c.value)
			if tx.Error == nil || !strings.Contains(tx.Error.Error(), c.want) {
				t.Errorf("error %v, want %q", tx.Error, c.want)
			}
			idle(t, db)
		})
	}
	for _, value := range []any{nil, rowMap{"text": "a"}, []rowMap{{}}, map[string]any(nil), map[string]string{}} {
		if err := db.Table("logs").Create(value).Error; err == nil {
			t.Errorf("a table without a model: %T was created", value)
		}
		idle(t, db)
	}
	if err := db.Table("logs").Clauses(clause.OnConflict{DoNothing: true}).Create(map[string]any{"text": "a"}).Error; err != nil {
		t.Errorf("a map with a conflict clause: %v", err)
	}
	if orders := stored(t, db, "orders", "id"); len(orders) > 0 {
		t.Errorf("%v", orders)
	}
	type SameAsOrder Order
	same := SameAsOrder{}
	if err := db.Model(&Order{}).Create(&same).Error; err != nil || same.ID == 0 {
		t.Errorf("a type with the same fields: %+v, %v", same, err)
	}
}

// Rows that share the variable their keys point to get their own keys. A row that is listed
// twice is the database's duplicate key.
func TestSharedRows(t *testing.T) {
	db, _ := open(t, &PointerKey{}, &Order{}, &Line{}, &ByPointer{})
	var key sqltype.ID
	if list := []PointerKey{{&key}, {&key}, {&key}}; db.Create(&list).Error != nil || !slices.Equal(keysOf(list), []int64{1, 2, 3}) || key != 0 {
		t.Errorf("keys %v, and the variable is %d", keysOf(list), key)
	}
	one, base, m := &Order{}, &Base{}, map[string]any{"name": "m"}
	for _, tx := range []*gorm.DB{
		db.Create([]*Order{one, {}, one}), db.Create(&[]ByPointer{{base}, {base}}), db.Model(&Order{}).Create([]map[string]any{m, m}),
	} {
		if tx.Error == nil || !strings.Contains(tx.Error.Error(), "UNIQUE") {
			t.Errorf("%s: %v", tx.Statement.Table, tx.Error)
		}
	}
	if one.ID != 0 || base.ID != 0 || len(m) != 1 {
		t.Errorf("they keep %d, %d and %v", one.ID, base.ID, m)
	}
	// An association that two rows share is one row, and its children are written once.
	shared := &Order{Lines: []Line{{}}}
	owners := []Fails{{Name: "a", Owner: shared}, {Name: "b", Owner: shared}}
	if err := errors.Join(db.AutoMigrate(&Fails{}, &Hooked{}), db.Create(&owners).Error); err != nil || *owners[0].OwnerID != shared.ID || *owners[1].OwnerID != shared.ID {
		t.Errorf("%+v of %+v, %v", owners, shared, err)
	}
	check(t, db, "orders", shared.ID.Int64())
	check(t, db, "lines", shared.Lines[0].ID)
}

// Hooked has a hook for each stage.
type Hooked struct {
	ID       sqltype.ID
	Mode     string `gorm:"-"`
	Seen     sqltype.ID
	FailsID  *sqltype.ID
	Tags     []Tag `gorm:"-"`
	Children []HookedChild
}

type HookedChild struct {
	ID       sqltype.ID
	HookedID sqltype.ID
}

func (h *Hooked) BeforeSave(tx *gorm.DB) error {
	h.Seen = h.ID
	if h.Mode == "create in the hook" {
		h.Tags = make([]Tag, 3)
		return tx.CreateInBatches(&h.Tags, 2).Error
	}
	return nil
}

var errRefused = errors.New("refused")

func (h *Hooked) BeforeCreate(*gorm.DB) error {
	switch h.Mode {
	case "set":
		h.ID = 4711
	case "set if zero":
		if h.ID == 0 {
			h.ID = 4712
		}
	case "clear":
		h.ID = 0
	case "refuse":
		return errRefused
	}
	return nil
}

func (h *Hooked) AfterCreate(*gorm.DB) error {
	if h.Mode == "refuse after" {
		return errRefused
	}
	return nil
}

// Hooks run after the fill: they see the key, and what they set is written. None may set it to
// zero.
func TestHooks(t *testing.T) {
	db, src := open(t, &Hooked{}, &HookedChild{}, &Tag{})
	for mode, want := range map[string]sqltype.ID{"": 1, "set": 4711, "set if zero": 1} {
		src.Last = 0
		h := Hooked{Mode: mode, Children: []HookedChild{{}}}
		if err := db.Create(&h).Error; err != nil || h.Seen != 1 || h.ID != want || h.Children[0].HookedID != want || h.Children[0].ID != 2 {
			t.Errorf("%q: %+v, %v", mode, h, err)
		}
		check(t, db, "hookeds", int64(want))
		must(t, errors.Join(db.Exec("DELETE FROM hooked_children").Error, db.Exec("DELETE FROM hookeds").Error))
	}
	src.Last = 0
	h := Hooked{Mode: "create in the hook"}
	if err := db.Create(&h).Error; err != nil || h.ID != 1 || h.Tags[0].ID != 2 || h.Tags[2].ID != 4 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, key := range []sqltype.ID{0, 4712} {
		for way, create := range map[string]func(h *Hooked) error{
			"Create": func(h *Hooked) error { return db.Create(h).Error },
			"Save":   func(h *Hooked) error { return db.Save([]*Hooked{h}).Error },
			"upsert": func(h *Hooked) error { return db.Clauses(clause.OnConflict{DoNothing: true}).Create(h).Error },
			"graph":  func(h *Hooked) error { return graph.Create(t.Context(), db, h) },
			"Assign, then Create": func(h *Hooked) error {
				return errors.Join(graph.Assign(t.Context(), db, h), db.Create(h).Error)
			},
		} {
			if err := create(&Hooked{ID: key, Mode: "clear"}); err == nil || !strings.Contains(err.Error(), "a hook has set Hooked.ID to zero: do not change it") {
				t.Errorf("%s of %d: %v", way, key, err)
			}
		}
	}
	if keys := stored(t, db, "hookeds", "id"); len(keys) != 1 {
		t.Errorf("%d", keys)
	}
	skipped := Hooked{Mode: "refuse"}
	if err := db.Session(&gorm.Session{SkipHooks: true}).Create(&skipped).Error; err != nil || skipped.ID == 0 || skipped.Seen != 0 {
		t.Errorf("%+v, %v", skipped, err)
	}
}

type (
	JUser struct {
		ID   sqltype.ID
		Prof *JProf `gorm:"foreignKey:UserID"`
	}
	JProf struct {
		UserID sqltype.ID `gorm:"primaryKey"`
		Name   string
	}
	// Root and Extension share one key, of a name that is filled.
	Root struct {
		ID  sqltype.ID
		Ext *Extension `gorm:"foreignKey:ID;references:ID"`
	}
	Extension struct {
		ID   sqltype.ID
		Text string
	}
	// Passport declares that it has its citizen's key, and Visa has its passport's.
	Citizen struct {
		ID   sqltype.Key[Citizen]
		Name string
	}
	Passport struct {
		CitizenID sqltype.Key[Citizen] `gorm:"primaryKey"`
		Citizen   Citizen
	}
	Visa struct {
		PassportID sqltype.Key[Citizen] `gorm:"primaryKey"`
		Passport   *Passport
		Name       string
	}
)

// What a create does depends on its model alone, not on which models gorm has parsed before.
func TestSharedKeys(t *testing.T) {
	for _, parentFirst := range []bool{true, false} {
		db, src := open(t)
		for _, table := range []string{"j_users (id integer", "j_profs (name text, user_id integer", "roots (id integer", "extensions (text text, id integer"} {
			must(t, db.Exec("CREATE TABLE "+table+" PRIMARY KEY)").Error)
		}
		alone := func() {
			prof, ext, zero := &JProf{Name: "alone"}, &Extension{}, src.Last
			err := db.Create(prof).Error
			if err == nil || !strings.Contains(err.Error(), "JProf.UserID is zero: it is not named ID, so it may be the key of another row") || prof.UserID != 0 || src.Last != zero {
				t.Errorf("parent first %t: %+v, %v", parentFirst, prof, err)
			}
			set := &JProf{UserID: 70 + sqltype.ID(src.Last)}
			if err := errors.Join(db.Create(set).Error, db.Create(ext).Error); err != nil || ext.ID == 0 {
				t.Errorf("parent first %t: %+v, %v", parentFirst, ext, err)
			}
		}
		under := func() {
			user, root := &JUser{Prof: &JProf{}}, &Root{Ext: &Extension{}}
			if err := errors.Join(db.Create(user).Error, db.Create(root).Error); err != nil || user.ID == 0 || user.Prof.UserID != user.ID || root.Ext.ID != root.ID {
				t.Errorf("parent first %t: %+v of %d, %+v of %d, %v", parentFirst, user.Prof, user.ID, root.Ext, root.ID, err)
			}
		}
		if parentFirst {
			under()
		}
		alone()
		under()
		alone()
	}
}

// A key that comes from what the row belongs to.
func TestKeysOfWhatRowsBelongTo(t *testing.T) {
	db, _ := open(t, &Citizen{}, &Passport{}, &Visa{})
	made := func() *Visa { return &Visa{Passport: &Passport{Citizen: Citizen{Name: "c"}}} }
	preset := &Visa{Passport: &Passport{Citizen: Citizen{ID: 5}}}
	visas := []*Visa{made(), preset, made()}
	must(t, errors.Join(db.Create(visas[0]).Error, db.Create(visas[1:]).Error))
	for i, v := range visas {
		if v.PassportID == 0 || v.PassportID != v.Passport.CitizenID || v.PassportID != v.Passport.Citizen.ID {
			t.Errorf("visa %d: %+v of %+v", i, v, v.Passport)
		}
	}
	for what, tx := range map[string]*gorm.DB{
		"no passport":  db.Create(&Visa{}),
		"one of two":   db.Create([]*Visa{made(), {}}),
		"omitted":      db.Omit("Passport").Create(made()),
		"not selected": db.Select("Name").Create(made()),
		"a map":        db.Model(&Visa{}).Create(map[string]any{"name": "x"}),
		"far":          db.Omit("Passport.Citizen").Create(made()),
	} {
		if tx.Error == nil || !strings.Contains(tx.Error.Error(), "ID is zero") || !strings.Contains(tx.Error.Error(), "foreign key ") {
			t.Errorf("%s: %v", what, tx.Error)
		}
	}
	if n := len(stored(t, db, "citizens", "id")); n != 3 {
		t.Errorf("%d citizens, want 3", n)
	}
}

// Tenanted has a part of its key set by a hook, Regional by a default.
type (
	Tenanted struct {
		Tenant sqltype.ID `gorm:"primaryKey"`
		ID     sqltype.ID `gorm:"primaryKey;snowflake"`
		Hooked sqltype.ID `gorm:"-"`
	}
	Regional struct {
		Region sqltype.ID `gorm:"primaryKey;default:5"`
		ID     sqltype.ID `gorm:"primaryKey;snowflake"`
	}
)

func (r *Tenanted) BeforeCreate(*gorm.DB) error {
	r.Tenant = r.Hooked
	return nil
}

func TestPartsOfKeys(t *testing.T) {
	db, _ := open(t, &Tenanted{}, &Regional{})
	list, region := []Tenanted{{Hooked: 7}, {Hooked: 8}}, Regional{}
	if err := errors.Join(db.Create(&list).Error, db.Create(&region).Error); err != nil || list[0].Tenant != 7 || list[1].ID == 0 || region.Region != 5 || region.ID == 0 {
		t.Errorf("%+v, %+v, %v", list, region, err)
	}
	for name, tx := range map[string]*gorm.DB{"a hook that sets nothing": db, "no hook": db.Session(&gorm.Session{SkipHooks: true})} {
		if err := tx.Create(&[]Tenanted{{Hooked: 9}, {}}).Error; err == nil || !strings.Contains(err.Error(), "Tenanted.Tenant is a part of the key, and is zero") {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, db, "tenanteds", list[0].ID.Int64(), list[1].ID.Int64())
}

// The key of a join table that is a model is filled like any other, and its references are not changed.
func TestJoinTableWithItsOwnKey(t *testing.T) {
	type Membership struct {
		ID        sqltype.ID
		ArticleID sqltype.Key[Article] `gorm:"uniqueIndex:pair"`
		TagID     sqltype.Key[Tag]     `gorm:"uniqueIndex:pair"`
	}
	db, _ := open(t)
	article := Article{Tags: []Tag{{}, {}}, Children: []Article{{}}, Cover: &Cover{}}
	must(t, errors.Join(db.SetupJoinTable(&Article{}, "Tags", &Membership{}), db.AutoMigrate(&Tag{}, &Article{}, &Cover{}, &Membership{}), db.Create(&article).Error))
	var rows []Membership
	if err := db.Order("id").Find(&rows).Error; err != nil || len(rows) != 2 || rows[0].ID == 0 || rows[1].ArticleID != article.ID || rows[0].TagID != article.Tags[0].ID {
		t.Errorf("%+v of %+v, %v", rows, article, err)
	}
	if article.Cover.ArticleID != article.ID || article.ParentID != nil || *article.Children[0].ParentID != article.ID { // foreign keys are not filled
		t.Errorf("%+v", article)
	}
}

func TestSelectAndOmit(t *testing.T) {
	db, _ := open(t, &Order{}, &Line{}, &PublicNumber{}, &Parcel{}, &Piece{}, &Tag{})
	columns := make([]string, 1, 8)
	columns[0] = "Name"
	for _, tx := range []*gorm.DB{db.Select("Name"), db.Select(columns), db.Select("*"), db.Select("orders.*")} {
		for range 2 { // a second use of the handle must not see what the first appended
			o := Order{Name: "x"}
			if err := tx.Create(&o).Error; err != nil || o.ID == 0 || !slices.Contains(stored(t, db, "orders", "id"), o.ID.Int64()) {
				t.Errorf("%+v, %v", o, err)
			}
		}
	}
	if all := columns[:8]; slices.ContainsFunc(all[1:], func(c string) bool { return c != "" }) {
		t.Errorf("the caller's slice holds %q", all)
	}
	m := map[string]any{"name": "m"}
	err := errors.Join(db.Select("Name").Create(&Order{ID: 77, Name: "set"}).Error, db.Model(&Order{}).Select("name").Create(m).Error)
	if ids := stored(t, db, "orders", "id"); err != nil || !slices.Contains(ids, 77) || !slices.Contains(ids, m["id"].(sqltype.ID).Int64()) {
		t.Errorf("%v has not %v, or 77, %v", ids, m, err)
	}
	for what, tx := range map[string]*gorm.DB{
		"Order.ID":         db.Omit("ID").Create(&Order{}),
		"Order.ID is left": db.Model(&Order{}).Omit("id").Create(map[string]any{"name": "m"}),
		"Piece.ID":         db.Omit("Items.ID").Create(&Parcel{Items: []*Piece{{}}}),
	} {
		if tx.Error == nil || !strings.Contains(tx.Error.Error(), strings.TrimSuffix(what, " is left")+" is left out by Omit") {
			t.Errorf("%s: %v", what, tx.Error)
		}
	}
	n, p := PublicNumber{ID: 1}, Parcel{Items: []*Piece{{}}}
	if err := db.Omit("Number").Create(&n).Error; err != nil || n.Number != 0 {
		t.Errorf("Omit of a column that is no key: %+v, %v", n, err)
	}
	if err := db.Select("Items", "Items.ParcelID").Create(&p).Error; err != nil || p.ID == 0 || p.Items[0].ID == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	must(t, db.Omit(clause.Associations).Create(&Parcel{Items: []*Piece{{}}}).Error)
}

// Elsewhere is in another schema of the database.
type Elsewhere struct{ ID sqltype.ID }

func (Elsewhere) TableName() string { return "main.elsewhere" }

// A column that is named in Tables is filled as if it were tagged, but the tag's own source has
// priority. In another table, the model alone decides.
func TestTables(t *testing.T) {
	type Plain struct {
		ID   int64 `gorm:"primaryKey;autoIncrement:false"`
		Code string
	}
	src := &gormtest.Counter{}
	cfg := config(src)
	cfg.Named["other"] = &gormtest.Counter{Last: 2000}
	cfg.Tables = map[string]gormplugin.Table{
		"plains":     {Column: "ID", Source: "other"},
		"orders":     {Column: "id", Source: "other"},
		"elsewhere":  {Column: "id", Source: "other"},
		"named_keys": {Column: "id", Source: "other"},
		"codes":      {Column: "code", Text: "base62"},
		"texts":      {Column: "code", Text: "decimal"},
		"numbers":    {Column: "code"},
	}
	db := gormtest.SQLite(t, cfg, &Plain{}, &Order{}, &NamedKey{}, &Elsewhere{})
	for _, table := range []string{"codes", "texts", "numbers", "archive", "unknown"} {
		must(t, db.Exec("CREATE TABLE "+table+" (id integer PRIMARY KEY, code text, name text, text text)").Error)
	}
	plain, o, named, far, archived := Plain{}, Order{}, NamedKey{}, Elsewhere{}, Order{}
	must(t, errors.Join(db.Create(&plain).Error, db.Create(&o).Error, db.Create(&named).Error, db.Create(&far).Error, db.Table("archive").Create(&archived).Error))
	if plain.ID != 2001 || o.ID != 2002 || named.ID != 1001 || far.ID != 2003 || archived.ID != 2004 || src.Last != 0 {
		t.Errorf("%+v %+v %+v %+v %+v", plain, o, named, far, archived)
	}
	code, text, number, other := map[string]any{}, []map[string]any{{"CODE": ""}, {"code": "7"}}, map[string]any{"code": 0}, map[string]any{"text": "x"}
	if err := errors.Join(
		db.Table("main.codes").Create(code).Error, db.Table("texts").Create(&text).Error, db.Table("numbers").Create(number).Error, db.Table("unknown").Create(other).Error,
	); err != nil || code["code"] != "00000000001" || text[0]["code"] != "2" || text[1]["code"] != "7" || number["code"] != int64(3) || other["code"] != nil {
		t.Errorf("%v, %v, %v, %v, %v", code, text, number, other, err)
	}
	if err := db.Table("codes").Omit("code").Create(map[string]any{"text": "x"}).Error; err == nil || !strings.Contains(err.Error(), "codes.code is left out by Omit") {
		t.Error(err)
	}
}

// calling is a source that cannot be compared.
type calling struct{ fill func(ids []int64) }

func (s calling) Next(context.Context) (int64, error) {
	ids := []int64{0}
	s.fill(ids)
	return ids[0], nil
}

func (s calling) Fill(_ context.Context, ids []int64) error {
	s.fill(ids)
	return nil
}

// One create asks each source once, by its name, whatever it fills.
func TestOneReservationForAllColumns(t *testing.T) {
	type Badge struct {
		ID     sqltype.ID
		Number int64 `gorm:"snowflake"`
		Other  int64 `gorm:"snowflake:a"`
		More   int64 `gorm:"snowflake:b"`
	}
	var calls []int
	last := int64(0)
	s := calling{func(ids []int64) {
		calls = append(calls, len(ids))
		for i := range ids {
			last++
			ids[i] = last
		}
	}}
	db := gormtest.SQLite(t, gormplugin.Config{Source: s, Named: map[string]sqltype.Source{"a": s, "b": s}}, &Badge{})
	list := make([]Badge, 10)
	list[3] = Badge{ID: 1077, Number: 1078}
	if err := db.Create(&list).Error; err != nil || !slices.Equal(calls, []int{18, 10, 10}) {
		t.Errorf("%v, %v", calls, err)
	}
	seen := map[int64]bool{0: true}
	for i, r := range list {
		for _, id := range []int64{r.ID.Int64(), r.Number, r.Other, r.More} {
			if seen[id] {
				t.Errorf("row %d is %+v", i, r)
			}
			seen[id] = true
		}
	}
}

// The errors of a source reach the caller, with the table and the field.
func TestErrorsOfTheSource(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	before := errors.New("before")
	for _, c := range []struct {
		name string
		src  sqltype.Source
		want error
		text string
	}{
		{"its own", &gormtest.Counter{Err: errRefused}, errRefused, "gormplugin: table orders: Order.ID: 2 ids: refused"},
		{"zero", &gormtest.Counter{Last: -2}, nil, "gormplugin: table orders: Order.ID: the source returned -1, and ids are positive"},
	} {
		db := gormtest.SQLite(t, gormplugin.Config{Source: c.src}, &Order{}, &Line{})
		orders := make([]Order, 2)
		if tx := db.Create(&orders); c.want != nil && !errors.Is(tx.Error, c.want) || !strings.HasPrefix(fmt.Sprint(tx.Error), c.text) || orders[0].ID != 0 || len(stored(t, db, "orders", "id")) > 0 {
			t.Errorf("%s: %+v, %v", c.name, orders, tx.Error)
		}
		idle(t, db)
	}
	db, src := open(t, &Order{}, &Line{})
	failed := db.Set("a", "setting")
	_ = failed.AddError(before)
	if err := failed.Create(&Order{}).Error; !errors.Is(err, before) || src.Calls != 0 {
		t.Errorf("a statement that has failed already takes %d, %v", src.Calls, err)
	}
	if err := db.WithContext(canceled).Create(&Order{}).Error; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Without the first callback, no row is written with a key of 0.
func TestCallbackRemoved(t *testing.T) {
	for _, strict := range []bool{true, false} {
		db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}, Strict: strict}, &Order{}, &Line{})
		must(t, db.Callback().Create().Remove("gorm:before_create"))
		for range 2 {
			o := Order{Name: "x"}
			if err := db.Create(&o).Error; err == nil && o.ID == 0 || err != nil && !strings.Contains(err.Error(), "snowkey:fill did not run") {
				t.Errorf("%+v, %v", o, err)
			}
			idle(t, db)
		}
		if slices.Contains(stored(t, db, "orders", "id"), 0) {
			t.Error("a key of 0 is stored")
		}
	}
}
