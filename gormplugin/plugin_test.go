package gormplugin_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Order = gormtest.Order
	Line  = gormtest.Line
)

type Base struct{ ID sqltype.ID }

type (
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
	PublicNumber struct {
		ID     uint  `gorm:"snowflake:-"`
		Number int64 `gorm:"snowflake"`
	}
	Composite struct {
		Tenant sqltype.Key[Article] `gorm:"primaryKey"`
		ID     sqltype.ID           `gorm:"primaryKey;snowflake"`
	}
)

func TestFillsEveryShape(t *testing.T) {
	one, two := &Order{}, &Order{ID: 77}
	three := sqltype.ID(77)
	for _, c := range []struct {
		name  string
		value any
		keys  func(v any) []int64
		want  []int64
	}{
		{"pointer", one, func(any) []int64 { return []int64{one.ID.Int64()} }, []int64{1}},
		{"a set key", two, func(any) []int64 { return []int64{two.ID.Int64()} }, []int64{77}},
		{"a set key by value", Order{ID: 77}, func(v any) []int64 { return []int64{v.(Order).ID.Int64()} }, []int64{77}},
		{"slice", []Order{{}, {ID: 77}, {}}, func(v any) []int64 { return keysOf(v.([]Order)...) }, []int64{1, 77, 2}},
		{"pointer to slice", &[]Order{{}, {}}, func(v any) []int64 { return keysOf(*v.(*[]Order)...) }, []int64{1, 2}},
		{"slice of pointers", []*Order{{}, {ID: 77}, {}}, func(v any) []int64 {
			s := v.([]*Order)
			return keysOf(*s[0], *s[1], *s[2])
		}, []int64{1, 77, 2}},
		{"array", &[2]Order{}, func(v any) []int64 { return keysOf(v.(*[2]Order)[:]...) }, []int64{1, 2}},
		{"embedded", &Embedding{}, func(v any) []int64 { return []int64{v.(*Embedding).ID.Int64()} }, []int64{1}},
		{"embedded by pointer", &ByPointer{}, func(v any) []int64 { return []int64{v.(*ByPointer).ID.Int64()} }, []int64{1}},
		{"Model", &WithModel{}, func(v any) []int64 { return []int64{v.(*WithModel).ID.Int64()} }, []int64{1}},
		{"nil pointer key", &PointerKey{}, func(v any) []int64 { return []int64{v.(*PointerKey).ID.Int64()} }, []int64{1}},
		{"zero pointer key", &PointerKey{new(sqltype.ID)}, func(v any) []int64 { return []int64{v.(*PointerKey).ID.Int64()} }, []int64{1}},
		{"set pointer key", &PointerKey{&three}, func(v any) []int64 { return []int64{v.(*PointerKey).ID.Int64()} }, []int64{77}},
		{"uint64", &UnsignedKey{}, func(v any) []int64 { return []int64{int64(v.(*UnsignedKey).ID)} }, []int64{1}},
		{"named source", &NamedKey{}, func(v any) []int64 { return []int64{v.(*NamedKey).ID.Int64()} }, []int64{1001}},
		{"public number", &PublicNumber{}, func(v any) []int64 { return []int64{int64(v.(*PublicNumber).ID), v.(*PublicNumber).Number} }, []int64{0, 1}},
		{"composite", &Composite{Tenant: 7}, func(v any) []int64 {
			return []int64{v.(*Composite).Tenant.Int64(), v.(*Composite).ID.Int64()}
		}, []int64{7, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := &gormtest.Counter{}
			db := gormtest.Dry(t, gormplugin.Config{Source: src, Named: map[string]sqltype.Source{"orders": &gormtest.Counter{Last: 1000}}})
			if err := db.Create(c.value).Error; err != nil {
				t.Fatal(err)
			}
			got := c.keys(c.value)
			if len(got) != len(c.want) {
				t.Fatalf("keys %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("keys %v, want %v", got, c.want)
					break
				}
			}
			if src.Calls > 1 {
				t.Errorf("%d reservations for one create", src.Calls)
			}
		})
	}
}

func keysOf(orders ...Order) (keys []int64) {
	for _, o := range orders {
		keys = append(keys, o.ID.Int64())
	}
	return keys
}

func TestFillsMaps(t *testing.T) {
	src := &gormtest.Counter{}
	db := gormtest.Dry(t, gormplugin.Config{Source: src, Tables: map[string]gormplugin.Table{"logs": {Column: "log_id"}}})
	single := map[string]any{"name": "a", "ID": 0, "id": nil}
	if err := db.Model(&Order{}).Create(single).Error; err != nil {
		t.Fatal(err)
	}
	if id, ok := single["id"].(sqltype.ID); !ok || id != 1 || len(single) != 2 {
		t.Errorf("the map is %v: the column must stand there once, as an ID", single)
	}
	several := []map[string]any{{"name": "a"}, {"name": "b", "ID": 77}, {"name": "c"}}
	if err := db.Model(&Order{}).Create(&several).Error; err != nil {
		t.Fatal(err)
	}
	if several[0]["id"] != sqltype.ID(2) || several[1]["ID"] != 77 || several[2]["id"] != sqltype.ID(3) {
		t.Errorf("the maps are %v", several)
	}
	typed := map[string]any{"ID": sqltype.NullKey[Ticket]{}}
	if err := db.Model(&Ticket{}).Create(typed).Error; err != nil || typed["id"] != sqltype.Key[Ticket](4) || len(typed) != 1 {
		t.Errorf("a typed key: %v, %v", typed, err)
	}
	bare := map[string]any{"text": "x"}
	if err := db.Table("logs").Create(bare).Error; err != nil || bare["log_id"] != int64(5) {
		t.Errorf("a table without a model: %v, %v", bare, err)
	}
	other := map[string]any{"text": "x"}
	if err := db.Table("unknown").Create(other).Error; err != nil || len(other) != 1 {
		t.Errorf("a table that is not configured: %v, %v", other, err)
	}
}

func TestHooksAndChildrenSeeTheKey(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	o := Order{Lines: []Line{{}, {}}}
	if err := db.Create(&o).Error; err != nil {
		t.Fatal(err)
	}
	for i, l := range o.Lines {
		if l.OrderID != o.ID || o.ID == 0 || l.ID == 0 || l.Hooked != l.ID {
			t.Errorf("line %d is %+v of order %d", i, l, o.ID)
		}
	}
	skipped := Order{Lines: []Line{{}}}
	if err := db.Session(&gorm.Session{SkipHooks: true}).Create(&skipped).Error; err != nil || skipped.ID == 0 || skipped.Lines[0].ID == 0 {
		t.Errorf("SkipHooks: %+v, %v", skipped, err)
	}
}

func TestSelectAndOmit(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	base := db.Select("Name")
	for range 2 { // a second use of the handle must not see what the first appended
		o := Order{Name: "x"}
		tx := base.Create(&o)
		if sql := tx.Statement.SQL.String(); tx.Error != nil || !strings.Contains(sql, "`id`") || o.ID == 0 {
			t.Errorf("Select(Name): %s, %v", sql, tx.Error)
		}
	}
	o := Order{Name: "x"}
	if err := db.Omit("ID").Create(&o).Error; err == nil || !strings.Contains(err.Error(), "Order.ID is left out by Omit") {
		t.Errorf("Omit(ID): %v", err)
	}
	if err := db.Omit(clause.Associations).Create(&o).Error; err != nil {
		t.Errorf("Omit(Associations): %v", err)
	}
	n := PublicNumber{ID: 1}
	if err := db.Omit("Number").Create(&n).Error; err != nil || n.Number != 0 {
		t.Errorf("Omit of a column that is no key: %+v, %v", n, err)
	}
}

type Tag struct{ ID sqltype.Key[Tag] }

type Article struct {
	ID       sqltype.Key[Article]
	Tags     []Tag `gorm:"many2many:article_tags"`
	ParentID *sqltype.Key[Article]
	Children []Article `gorm:"foreignKey:ParentID"`
	Cover    Cover
}

// Cover shares its key with its article.
type Cover struct {
	ArticleID sqltype.Key[Article] `gorm:"primaryKey"`
	URL       string
}

func TestNeverFillsForeignKeys(t *testing.T) {
	src := &gormtest.Counter{}
	db := gormtest.Dry(t, gormplugin.Config{Source: src})
	a := Article{Tags: []Tag{{}, {}}, Children: []Article{{}}, Cover: Cover{URL: "/a.png"}}
	if err := db.Create(&a).Error; err != nil {
		t.Fatal(err)
	}
	if a.Cover.ArticleID != a.ID || a.ParentID != nil || *a.Children[0].ParentID != a.ID {
		t.Errorf("%+v", a)
	}
	// article, two tags, child: join rows and the cover take none.
	if src.Last != 4 {
		t.Errorf("%d ids were taken, want 4", src.Last)
	}
}

// Root and Extension share one key.
type Root struct {
	ID  sqltype.ID
	Ext *Extension `gorm:"foreignKey:ID;references:ID"`
}

type Extension struct {
	ID   sqltype.ID
	Text string
}

// A key that is another row's must be set, whichever model gorm met first.
func TestSharedKeyMustBeSet(t *testing.T) {
	for name, models := range map[string][]any{"parent first": {Root{}, Article{}}, "parent not yet": nil} {
		t.Run(name, func(t *testing.T) {
			db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}, Models: models})
			if models == nil {
				if err := db.Create(&Extension{}).Error; err != nil { // nothing refers to it, as far as gorm knows
					t.Error(err)
				}
			}
			root := Root{Ext: &Extension{Text: "x"}}
			if err := db.Create(&root).Error; err != nil || root.ID == 0 || root.Ext.ID != root.ID {
				t.Errorf("%+v, %v", root, err)
			}
			if err := db.Create(&Extension{Text: "alone"}).Error; err == nil || !strings.Contains(err.Error(), "Extension.ID is the key of another row") {
				t.Errorf("a shared key that is not set: %v", err)
			}
		})
	}
}

func TestFailuresWriteNothing(t *testing.T) {
	boom := errors.New("no worker number")
	for _, c := range []struct {
		name  string
		src   *gormtest.Counter
		value any
		want  string
	}{
		{"the source fails", &gormtest.Counter{Err: boom}, &Order{}, "gormplugin: table things: Order.ID: no worker number"},
		{"a batch fails", &gormtest.Counter{Err: boom}, []Order{{}, {}}, "gormplugin: table things: Order.ID (2 ids): no worker number"},
		{"the source gives zero", &gormtest.Counter{Last: -1}, &Order{}, "returned 0"},
		{"by value", &gormtest.Counter{}, Order{}, "create a pointer"},
		{"array by value", &gormtest.Counter{}, [2]Order{}, "create a pointer"},
		{"an unknown name", &gormtest.Counter{}, &struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake:nobody"`
		}{}, `source "nobody"`},
		{"a narrow type", &gormtest.Counter{}, &Narrow{}, "Narrow.ID: the type int32"},
		{"a pointer to a pointer", &gormtest.Counter{}, &DoublePointer{}, "DoublePointer.ID: the type **sqltype.ID"},
		{"a protected key", &gormtest.Counter{}, &Protected{}, `Protected.ID: the tag "<-:false"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := gormtest.Dry(t, gormplugin.Config{Source: c.src})
			tx := db.Table("things").Create(c.value)
			if tx.Error == nil || !strings.Contains(tx.Error.Error(), c.want) {
				t.Errorf("error %v, want %q", tx.Error, c.want)
			}
			if sql := tx.Statement.SQL.String(); sql != "" {
				t.Errorf("it was built all the same: %s", sql)
			}
		})
	}
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{Err: boom}})
	if err := db.Create(&Order{}).Error; !errors.Is(err, boom) {
		t.Errorf("the source's error is hidden: %v", err)
	}
	for _, maps := range []any{map[string]any(nil), []map[string]any{{"name": "a"}, nil}} {
		tx := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}}).Model(&Order{}).Create(maps)
		if tx.Error == nil || tx.Statement.SQL.String() != "" {
			t.Errorf("%v was created: %v", maps, tx.Error)
		}
	}
	var none *Order
	if err := db.Create(none).Error; err == nil {
		t.Error("a nil pointer was created")
	}
	if err := db.Create([]Order{}).Error; err == nil {
		t.Error("an empty slice was created")
	}
}
