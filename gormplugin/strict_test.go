package gormplugin_test

import (
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Untagged   struct{ ID int64 }
	Misspelled struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;snowflke"`
	}
	BareComposite struct {
		Tenant string     `gorm:"primaryKey"`
		ID     sqltype.ID `gorm:"primaryKey"`
	}
	Sized struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;size:32"`
	}
	Serialized struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;serializer:json"`
	}
	MisspelledTable struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false"`
	}
	OrderID  sqltype.ID
	TypedKey struct {
		ID OrderID `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
	UntaggedTyped struct{ ID OrderID }
	OrderKey      sqltype.Key[Order]
	UntaggedKey   struct{ ID OrderKey }
	KeyAsNumber   struct {
		ID OrderKey `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
	UntaggedNull struct{ ID sqltype.NullKey[Order] }
	Wrapped      struct{ sqltype.Key[Order] }
	WrappedKey   struct{ ID Wrapped }
	TypedAsText  struct {
		ID OrderID `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id,string"`
	}
	Country struct {
		Code string `gorm:"primaryKey"`
	}
	Serial struct {
		ID uint `gorm:"snowflake:-"`
	}
	Keyless struct{ Text string }
	Visa    struct { // a join table of its own, all of whose key is that of others
		OrderID   sqltype.ID           `gorm:"primaryKey"`
		ArticleID sqltype.Key[Article] `gorm:"primaryKey"`
		Order     Order
		Article   Article
	}
)

var unkeyedModels = []struct {
	model any
	want  string
	loud  bool // a create fails without Strict too
}{
	{&Untagged{}, "Untagged.ID: the plugin does not fill this key: use sqltype.ID, or add autoIncrement:false;snowflake to its gorm tag", false},
	{&Misspelled{}, `Misspelled.ID: the gorm tag "primaryKey;autoIncrement:false;snowflke" says snowflke: write snowflake`, true},
	{&BareComposite{Tenant: "a"}, "BareComposite.Tenant: the plugin does not fill this key: add snowflake to its gorm tag", true},
	{&Sized{}, "Sized.ID: size:32 is too small for a key of 63 bits", true},
	{&Serialized{}, "Serialized.ID: a serializer would write the key in another form", true},
	{&MisspelledTable{}, `MisspelledTable has no column "idd", which Config.Tables names for "misspelled_tables": it has ["id"]`, true},
	{&UntaggedTyped{}, "UntaggedTyped.ID: the plugin does not fill this key: use sqltype.ID or a sqltype.Key itself, since gormplugin_test.OrderID has none of their methods", false},
	{&UntaggedKey{}, "UntaggedKey.ID: the plugin does not fill this key: use sqltype.ID or a sqltype.Key itself, since gormplugin_test.OrderKey has none of their methods", false},
	{&UntaggedNull{}, "UntaggedNull.ID: a key of type sqltype.NullKey[gormtest.Order] is filled only with the tag snowflake: add it, or use sqltype.ID or sqltype.Key", true},
	{&WrappedKey{}, "WrappedKey.ID: the plugin does not fill this key: its type gormplugin_test.Wrapped cannot hold a Snowflake id", false},
	{&Country{Code: "de"}, "Country.Code: the plugin does not fill this key", false},
	{&Keyless{}, "Keyless has no primary key: add one", false},
}

func TestValidateFindsForgottenKeys(t *testing.T) {
	cfg := gormplugin.Config{Source: &gormtest.Counter{}, Tables: map[string]gormplugin.Table{"misspelled_tables": {Column: "idd"}}}
	db := gormtest.Dry(t, cfg)
	for _, c := range unkeyedModels {
		if err := gormplugin.Validate(db, c.model); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Validate(%T): %v, want %q", c.model, err, c.want)
		}
		used := cfg
		used.Models = []any{&Order{}, c.model}
		plugin, err := gormplugin.New(used)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.Use(plugin); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Use with %T: %v, want %q", c.model, err, c.want)
		}
	}
	for model, want := range map[any]string{
		&TypedKey{}:    "TypedKey.ID: the type gormplugin_test.OrderID has none of the methods of sqltype.ID and sqltype.Key, so its JSON is a bare number",
		&KeyAsNumber{}: "KeyAsNumber.ID: the type gormplugin_test.OrderKey has none of the methods",
	} {
		if err := gormplugin.Validate(db, model); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T, whose key is of a type declared over another: %v", model, err)
		}
	}
	for _, model := range []any{&TypedAsText{}, &Serial{}, &Order{}, &Article{}, &Visa{}, &PublicNumber{}, &Ticket{}} {
		if err := gormplugin.Validate(db, model); err != nil {
			t.Errorf("Validate(%T): %v", model, err)
		}
	}
}

func TestStrict(t *testing.T) {
	cfg := gormplugin.Config{
		Source: &gormtest.Counter{}, Strict: true,
		Tables: map[string]gormplugin.Table{"misspelled_tables": {Column: "idd"}, "logs": {Column: "log_id"}},
	}
	strict, loose := gormtest.Dry(t, cfg), gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}, Tables: cfg.Tables})
	for _, c := range unkeyedModels {
		for name, create := range map[string]func(db *gorm.DB) *gorm.DB{
			"Create": func(db *gorm.DB) *gorm.DB { return db.Create(c.model) },
			"map":    func(db *gorm.DB) *gorm.DB { return db.Model(c.model).Create(map[string]any{"text": "x"}) },
		} {
			tx := create(strict)
			if tx.Error == nil || tx.Statement.SQL.Len() > 0 {
				t.Errorf("%s of %T: %v, %s", name, c.model, tx.Error, tx.Statement.SQL.String())
			}
		}
		if err := strict.Create(c.model).Error; err == nil || !c.loud && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %q", c.model, err, c.want)
		}
		if err := graph.Create(t.Context(), strict, c.model); err == nil {
			t.Errorf("a graph of %T was created", c.model)
		}
		if err := loose.Create(c.model).Error; (err != nil) != c.loud {
			t.Errorf("%T where nothing is strict: %v", c.model, err)
		}
	}
	for _, model := range []any{&Serial{}, &TypedKey{}, &Article{Tags: []Tag{{}}, Children: []Article{{}}}, &PublicNumber{}, &Visa{OrderID: 1, ArticleID: 2}} {
		if err := strict.Create(model).Error; err != nil {
			t.Errorf("%T: %v", model, err)
		}
	}
	if err := strict.Table("logs").Create(map[string]any{"text": "x"}).Error; err != nil {
		t.Error(err)
	}
	err := strict.Table("others").Create(map[string]any{"text": "x"}).Error
	if want := "gormplugin: table others: the plugin is strict and does not know the table: add it to Config.Tables"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a table that is not configured: %v", err)
	}
}

func TestExempt(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}, Strict: true, Exempt: []any{&Country{}, []Keyless{}, "untaggeds", "others"}, Models: []any{&Country{}, Keyless{}, Untagged{}}})
	for _, model := range []any{&Country{Code: "de"}, &Keyless{}, &Untagged{}} {
		if err := db.Create(model).Error; err != nil {
			t.Errorf("%T: %v", model, err)
		}
		if err := gormplugin.Validate(db, model); err != nil {
			t.Error(err)
		}
	}
	if err := db.Table("others").Create(map[string]any{"text": "x"}).Error; err != nil {
		t.Error(err)
	}
	_, err := gormplugin.New(gormplugin.Config{Source: &gormtest.Counter{}, Exempt: []any{"", "shop.orders", 5, nil, "fine", new(int)}})
	for _, want := range []string{`Exempt[0] "": must be the name`, `Exempt[1] "shop.orders": must be the name`, "Exempt[2] 5: is of type int: must be a model", "Exempt[3] nil: is of type <nil>", "Exempt[5] *int: is of type *int"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestValidateFindsNarrowColumns(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	for _, c := range []struct {
		model any
		want  string
	}{
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;type:integer"`
		}{}, "is too small for a key of 63 bits: say bigint"},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;type:int(11)"`
		}{}, "say bigint"},
		{&struct {
			ID sqltype.ID `gorm:"type:double precision"`
		}{}, "say bigint"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake;type:varchar(18)"`
		}{}, "say char(19)"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake:base62;type:char(10) COLLATE \"C\""`
		}{}, "say char(11)"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake:base62;type:character varying(11)"`
		}{}, ""},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;type:int8"`
		}{}, ""},
		{&struct {
			ID uint64 `gorm:"primaryKey;autoIncrement:false;snowflake;type:bigint unsigned"`
		}{}, ""},
	} {
		err := gormplugin.Validate(db.Table("things"), c.model)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%T: %v, want %q", c.model, err, c.want)
		}
	}
}

// A struct may have tags of the data warehouse that is called Snowflake.
func TestTagsOfTheWarehouse(t *testing.T) {
	type Sale struct {
		ID   sqltype.ID `gorm:"primaryKey;snowflake" snowflake:"SALE_ID"`
		Name string     `snowflake:"NAME"`
	}
	sale := &Sale{Name: "x"}
	if err := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}}).Create(sale).Error; err != nil || sale.ID == 0 {
		t.Errorf("%+v, %v", sale, err)
	}
}
