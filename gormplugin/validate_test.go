package gormplugin_test

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	DoublePointer struct {
		ID **sqltype.ID `gorm:"primaryKey"`
	}
	Forgotten struct {
		ID int64 `gorm:"primaryKey;snowflake"`
	}
	Outside struct {
		ID int64 `gorm:"primaryKey" snowflake:""`
	}
	OnlyOuter struct {
		Base `gorm:"snowflake"`
	}
	OnRelation struct {
		ID      sqltype.ID
		OrderID sqltype.ID
		Order   *Order `gorm:"snowflake"`
	}
	Excepted      struct{ ID int64 }
	BareComposite struct {
		Tenant string     `gorm:"primaryKey"`
		ID     sqltype.ID `gorm:"primaryKey"`
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
	UntaggedNull  struct{ ID sqltype.NullKey[Order] }
	Wrapped       struct{ sqltype.Key[Order] }
	WrappedKey    struct{ ID Wrapped }
	Country       struct {
		Code string `gorm:"primaryKey;size:2"`
	}
	Serial struct {
		ID uint `gorm:"snowflake:-"`
	}
	Keyless  struct{ Text string }
	Endorsed struct { // a join table with a model, whose key consists of foreign keys
		OrderID   sqltype.ID           `gorm:"primaryKey"`
		ArticleID sqltype.Key[Article] `gorm:"primaryKey"`
		Order     Order
		Article   Article
	}
)

// Validate, and db.Use with Config.Models, find what would not be filled, or not be stored whole.
func TestValidate(t *testing.T) {
	const number = "primaryKey;autoIncrement:false;snowflake"
	cfg := gormplugin.Config{
		Source: &gormtest.Counter{}, Named: map[string]sqltype.Source{"a": &gormtest.Counter{}},
		Tables: map[string]gormplugin.Table{"misspelled_tables": {Column: "idd"}},
		Exempt: []any{&Excepted{}, "keyless_too"},
	}
	db, fills := gormtest.Dry(t, cfg), true // a create succeeds all the same
	for i, c := range []struct {
		model any
		want  string // "": it is right
		fills bool
	}{
		// Keys that are not filled.
		{&Untagged{}, "Untagged.ID: the plugin does not fill this key: use sqltype.ID or sqltype.Key itself, or add autoIncrement:false;snowflake to its gorm tag", fills},
		{&BareComposite{Tenant: "a"}, "BareComposite.Tenant: the plugin does not fill this key: add snowflake to its gorm tag", false},
		{&MisspelledTable{}, `MisspelledTable has no column "idd", which Config.Tables names for "misspelled_tables": it has ["id"]`, false},
		{&UntaggedTyped{}, "UntaggedTyped.ID: the plugin does not fill this key: use sqltype.ID or sqltype.Key itself", fills},
		{&UntaggedKey{}, "UntaggedKey.ID: the plugin does not fill this key: use sqltype.ID or sqltype.Key itself", fills},
		{&WrappedKey{}, "WrappedKey.ID: the plugin does not fill this key: use sqltype.ID, since its type gormplugin_test.Wrapped cannot hold a Snowflake id", fills},
		{&Country{Code: "de"}, "Country.Code: the plugin does not fill this key: add snowflake to its gorm tag", fills},
		{&Keyless{}, "Keyless has no primary key: add one", fills},
		{&struct{ gorm.Model }{}, "ID: the plugin does not fill this key: embed gormplugin.Model instead of gorm.Model", fills},
		{5, "int: ", fills},
		// Tags.
		{keyed[int64](number + ":a,b"), `ID: the tag snowflake:a,b names two sources, "a" and "b"`, false},
		{keyed[int64](number + ":base62"), "ID: base62 needs a string, and its type is int64", false},
		{keyed[int64](number + ":nobody"), `ID: source "nobody" is not in Config.Named, which has ["a"]`, false},
		{keyed[int64]("primaryKey;autoIncrement:false;snowflke"), `ID: the gorm tag "primaryKey;autoIncrement:false;snowflke" says snowflke: write snowflake`, false},
		{keyed[sqltype.ID]("snowflake=a"), "says snowflake=a: write snowflake, or snowflake:name", false},
		{&Outside{}, "Outside.ID: put snowflake inside the gorm tag: `gorm:\"primaryKey;snowflake\"`", false},
		{&OnlyOuter{}, "OnlyOuter.ID: the tag snowflake is on the field that embeds it", false},
		{&OnRelation{}, "OnRelation.Order: the tag snowflake is on a field of type *gormtest.Order, which is no column", false},
		// Types and sizes.
		{keyed[string]("primaryKey;snowflake:base62;size:10"), "makes its column too small for a key of 63 bits: say char(11)", false},
		{keyed[string]("primaryKey;snowflake;size:18"), "too small for a key of 63 bits: say char(19)", false},
		{keyed[int32](number), "ID: the type int32 cannot hold a key of 63 bits", false},
		{keyed[[]byte]("primaryKey;snowflake"), "ID: the type []uint8 cannot hold a key", false},
		{keyed[sql.NullInt64]("primaryKey;snowflake"), "ID: a key of type sql.NullInt64 cannot be filled: use sqltype.NullID", false},
		{&DoublePointer{}, "DoublePointer.ID: the type **sqltype.ID cannot hold a key", false},
		{keyed[int64](number + ";size:32"), "size:32\" makes its column too small for a key of 63 bits: say bigint", false},
		{keyed[int64](number + ";serializer:json"), "ID: a serializer would write the key in another form", false},
		{keyed[sqltype.ID]("->"), `ID: the gorm tag "->" keeps it out of creates; if the database sets it, say snowflake:-`, false},
		{keyed[int64](number + ";type:integer"), "too small for a key of 63 bits: say bigint", false},
		{keyed[int64](number + ";type:int(11)"), "say bigint", false},
		{keyed[sqltype.ID]("type:double precision"), "say bigint", false},
		{keyed[string]("primaryKey;snowflake;type:varchar(18)"), "say char(19)", false},
		{keyed[string]("primaryKey;snowflake:base62;type:char(10) COLLATE \"C\""), "say char(11)", false},
		// Foreign keys: gorm would cut the key, so that a row refers to nothing, or to another's row.
		{&Depot{}, "Packet.DepotID: its type uint32 cannot hold Depot.ID of type sqltype.ID: make the types the same", false},
		{&Stamp{}, "Stamp.DepotID: its type *int32 cannot hold Depot.ID", false},
		{&Shelf{ID: 3, Boxes: []Box{{}}}, "", fills},
		// Keys of the database.
		{keyed[sqltype.ID]("autoIncrement"), `ID: by the gorm tag "autoIncrement", the database makes the key: say autoIncrement:false`, false},
		{&Forgotten{}, `Forgotten.ID: the key of type int64 is auto-increment to gorm: add autoIncrement:false to its gorm tag "primaryKey;snowflake"`, false},
		{keyed[sqltype.ID]("type:BIGSERIAL"), `ID: by the gorm tag "type:BIGSERIAL", the database makes the key`, false},
		// Right ones.
		{keyed[string]("primaryKey;snowflake:base62;type:character varying(11)"), "", fills},
		{keyed[int64](number + ";type:int8"), "", fills},
		{keyed[uint64](number + ";type:bigint unsigned"), "", fills},
		{&struct {
			Tagged `gorm:"snowflake"`
		}{}, "", fills}, // twice, and rightly the second time
		{&TypedKey{}, "", fills},
		{&Serial{}, "", fills},
		{&Order{}, "", fills},
		{&Article{}, "", fills},
		{&Endorsed{OrderID: 1, ArticleID: 2}, "", fills},
		{&Composite{Tenant: 7}, "", fills},
		{&PublicNumber{}, "", fills},
		{&UntaggedNull{}, "", fills},
		{&Excepted{}, "", fills},
	} {
		t.Run(fmt.Sprintf("%d %T", i, c.model), func(t *testing.T) {
			used := cfg
			used.Models = []any{&Order{}, c.model}
			for _, err := range []error{gormplugin.Validate(db.Table("things"), c.model), bare(t, tests.DummyDialector{}).Table("things").Use(gormplugin.New(used))} {
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%v, want %q", err, c.want)
				}
			}
			tx := db.Session(&gorm.Session{})
			if reflect.TypeOf(c.model) == reflect.TypeFor[int]() {
				return
			}
			if reflect.TypeOf(c.model).Elem().Name() == "" {
				tx = db.Table("things")
			}
			if tx := tx.Create(c.model); (tx.Error == nil) != c.fills || tx.Error != nil && tx.Statement.SQL.Len() > 0 {
				t.Errorf("Create: %v, %s", tx.Error, tx.Statement.SQL.String())
			}
		})
	}
	mysql := gormtest.Dialects()[1]
	on, _ := mysql.Mock(t, &gormtest.Counter{})
	for tag, ok := range map[string]bool{"size:11": false, "type:char(11)": false, "type:char(11) CHARACTER SET ascii COLLATE ascii_bin": true, "type:binary(11)": true} {
		model := keyed[string]("primaryKey;snowflake:base62;" + tag)
		if err := gormplugin.Validate(on.Table("things"), model); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "COLLATE ascii_bin to its gorm tag") {
			t.Errorf("base62 on MySQL with %q: %v", tag, err)
		}
		if tx := on.Session(&gorm.Session{DryRun: true, SkipDefaultTransaction: true}).Table("things").Create(model); (tx.Error == nil) != ok {
			t.Errorf("base62 on MySQL with %q: %v", tag, tx.Error)
		}
	}
}

// A struct may have tags of the data warehouse that is called Snowflake.
func TestTagsOfTheWarehouse(t *testing.T) {
	type Sale struct {
		ID   sqltype.ID `gorm:"primaryKey;snowflake" snowflake:"SALE_ID"`
		Name string     `snowflake:"NAME"`
	}
	db, _ := open(t)
	sale := &Sale{Name: "x"}
	if err := errors.Join(db.AutoMigrate(&Sale{}), db.Create(sale).Error); err != nil || sale.ID == 0 {
		t.Errorf("%+v, %v", sale, err)
	}
}

type (
	Depot struct {
		ID      sqltype.ID
		Packets []Packet
		Stamp   *Stamp
		Scales  []Scale `gorm:"foreignKey:Site"`
		Labels  []Label
	}
	Label struct {
		ID      sqltype.ID
		DepotID string
	}
	Packet struct {
		ID      sqltype.ID
		DepotID uint32
	}
	Stamp struct {
		ID      int64 `gorm:"autoIncrement:false;snowflake"`
		DepotID *int32
		Depot   *Depot
	}
	Scale struct {
		ID   sqltype.ID
		Site float64
	}
	// Its key comes from the database, so it may be small.
	Shelf struct {
		ID    uint32 `gorm:"snowflake:-"`
		Boxes []Box
	}
	Box struct {
		ID      sqltype.ID
		ShelfID uint32
	}
	Pallet struct {
		ID    sqltype.ID
		Slots []Slot
	}
	Rack struct {
		ID     int64 `gorm:"autoIncrement:false;snowflake"`
		Spares []Spare
	}
	Slot struct {
		ID       sqltype.ID
		PalletID int64 `gorm:"type:int"`
	}
	Spare struct {
		ID     sqltype.ID
		RackID int64 `gorm:"size:32"`
	}
)

type (
	Harbor struct {
		ID    sqltype.Key[Harbor]
		Ships []Ship
		Pilot Pilot `gorm:"foreignKey:ID;references:ID"`
	}
	Ship struct {
		ID       sqltype.Key[Ship]
		HarborID *sqltype.Key[Ship]
		Harbor   *Harbor
		SisterID sqltype.NullKey[Ship]
		Sister   *Ship
		NextID   sqltype.ID
		Next     *Harbor
		LastID   sqltype.NullKey[Pilot]
		Last     *Harbor
		Flags    []Flag `gorm:"many2many:ship_flags"`
	}
	Flag  struct{ ID sqltype.Key[Flag] }
	Pilot struct{ ID sqltype.Key[Pilot] } // has its harbor's key
)

// Faults of relations are found once, whichever model comes first.
func TestValidateRelations(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	for name, c := range map[string]struct {
		models []any
		want   []string
	}{
		"narrow": {[]any{&Depot{}, &Pallet{}, &Rack{}, &Box{}}, []string{
			"Packet.DepotID: its type uint32 cannot hold Depot.ID of type sqltype.ID: make the types the same",
			"Stamp.DepotID: its type *int32 cannot hold", "Scale.Site: its type float64 cannot hold", "Label.DepotID: its type string cannot hold",
			`Slot.PalletID: the gorm tag "type:int" makes its column too small for Pallet.ID, a key of 63 bits: say bigint, or leave the type out`,
			`Spare.RackID: the gorm tag "size:32" makes its column too small`,
		}},
		"child first":  {[]any{&Ship{}, &Harbor{}}, mixedUp},
		"parent first": {[]any{&Harbor{}, &Ship{}, &Flag{}, &Pilot{}}, mixedUp},
		"right":        {[]any{&Ticket{}, &Pilot{}}, nil},
	} {
		err := gormplugin.Validate(db, c.models...)
		if err == nil && c.want == nil {
			continue
		}
		faults := strings.Split(fmt.Sprint(err), "\n")
		if len(faults) != len(c.want) {
			t.Errorf("%s: %d faults, want %d: %v", name, len(faults), len(c.want), err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v lacks %q", name, err, want)
			}
		}
	}
}

var mixedUp = []string{
	"Ship.HarborID: its type is sqltype.Key[gormplugin_test.Ship], and it refers to Harbor.ID of type sqltype.Key[gormplugin_test.Harbor]: make the types the same",
	"Ship.LastID: its type is sqltype.NullKey[gormplugin_test.Pilot], and it refers to Harbor.ID of type",
}

// Save, Updates and associations write rows too, and gorm would cut their foreign keys.
func TestUpdatesOfModelsThatLoseKeys(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	for name, err := range map[string]error{
		"Save":       db.Save(&Depot{ID: 7, Packets: []Packet{{}}}).Error,
		"Updates":    db.Updates(&Depot{ID: 7, Packets: []Packet{{}}}).Error,
		"has-many":   db.Model(&Depot{ID: 7}).Association("Packets").Append(&Packet{}),
		"belongs-to": db.Model(&Stamp{ID: 7}).Association("Depot").Replace(&Depot{}),
		"Update":     db.Model(&Depot{ID: 7}).Update("id", 8).Error,
	} {
		if err == nil || !strings.Contains(err.Error(), "cannot hold Depot.ID") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := db.Model(&Packet{ID: 7}).Update("depot_id", 8).Error; err != nil {
		t.Errorf("a model that is right: %v", err)
	}
}

// Validate logs one line about fields that are right for the database.
func TestValidateNotes(t *testing.T) {
	type Leaf struct {
		ID      sqltype.ID
		OrderID int64
		Order   *Order
		Second  *uint  `json:"second,string"`
		Other   *Order `gorm:"foreignKey:Second"`
	}
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	log := &warnings{Interface: logger.Discard}
	db = db.Session(&gorm.Session{Logger: log})
	for _, models := range [][]any{{&Order{}, &Line{}, &Item{}}, {&Leaf{}, &Article{}}} {
		must(t, gormplugin.Validate(db, models...))
	}
	want := "snowkey: Leaf.OrderID: its JSON is a number, which JavaScript rounds: use sqltype.ID"
	if got := strings.Join(log.lines, "; "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
