package gormplugin_test

import (
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// sequence replaces a generator, so that the examples have an output.
type sequence struct{ gormtest.Counter }

// With auto-increment keys these models had the fields of the comments.
type Shop struct {
	gormplugin.Model        // gorm.Model
	OwnerID          int64  // the same
	Name             string // the same
}

type Sale struct {
	ID     int64      `gorm:"primaryKey;autoIncrement:false;snowflake"` // ID int64
	ShopID sqltype.ID // uint
}

// From auto-increment: the key's type or tag changes, and so does the type of the
// foreign keys that refer to it. Validate finds what was forgotten.
func Example_fromAutoIncrement() {
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true}) // your database here
	if err != nil {
		fmt.Println(err)
		return
	}
	plugin := gormplugin.New(gormplugin.Config{Source: &sequence{}, Models: []any{&Shop{}, &Sale{}}})
	if err := db.Use(plugin); err != nil {
		fmt.Println(err)
		return
	}
	// db.AutoMigrate(&Shop{}, &Sale{}), and the statements of docs/migrate.md.
	shop := Shop{Name: "tea"}
	err = db.Create(&shop).Error
	fmt.Println(shop.ID, err)
	// Output: 1 <nil>
}

// Visit had this hook, which is simply left out:
//
//	func (v *Visit) BeforeCreate(*gorm.DB) error {
//		v.ID = node.Generate().Int64()
//		return nil
//	}
//
// It did not run for maps, nor with SkipHooks, and took ids one by one. If the hook does more, keep
// the rest: it sees the key.
type Visit struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Path string
}

func (v *Visit) BeforeCreate(*gorm.DB) error {
	v.Path = fmt.Sprintf("/visits/%d", v.ID)
	return nil
}

func Example_fromHooks() {
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true}) // your database here
	if err != nil {
		fmt.Println(err)
		return
	}
	plugin := gormplugin.New(gormplugin.Config{Source: &sequence{}, Models: []any{&Visit{}}})
	if err := db.Use(plugin); err != nil {
		fmt.Println(err)
		return
	}
	visits := []Visit{{}, {}}
	row := map[string]any{"path": "/"}
	fmt.Println(db.Create(&visits).Error, db.Model(&Visit{}).Create(row).Error)
	fmt.Println(visits, row["id"])
	// Output:
	// <nil> <nil>
	// [{1 /visits/1} {2 /visits/2}] 3
}

// A table that has no model is named in Tables; what it creates are maps.
func Example_tables() {
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true}) // your database here
	if err != nil {
		fmt.Println(err)
		return
	}
	plugin := gormplugin.New(gormplugin.Config{
		Source: &sequence{},
		Tables: map[string]gormplugin.Table{"audit_log": {Column: "entry_id"}, "tokens": {Column: "token", Text: "base62"}},
	})
	if err := db.Use(plugin); err != nil {
		fmt.Println(err)
		return
	}
	entry, token := map[string]any{"text": "login"}, map[string]any{"user": "ada"}
	fmt.Println(db.Table("audit_log").Create(entry).Error, db.Table("tokens").Create(token).Error)
	fmt.Println(entry["entry_id"], token["token"])
	// Output:
	// <nil> <nil>
	// 1 00000000002
}
