// Package snowauto has models, some of which have auto-increment keys.
package snowauto

import (
	"context"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Untagged struct {
	ID   int64  // want `the key Untagged.ID is auto-increment: add autoIncrement:false;snowflake`
	Note string `gorm:"size:40"`
}

type Primary struct {
	Code uint64 `gorm:"primaryKey" json:"code"` // want `the key Primary.Code is auto-increment`
}

type HalfTagged struct {
	ID int64 `gorm:"primaryKey;snowflake"` // want `the key HalfTagged.ID is of type int64, so gorm makes it auto-increment`
}

type Counter struct {
	ID int64 `gorm:"primaryKey;autoIncrement;snowflake"` // want `"autoIncrement" makes the key ID auto-increment`
}

type Serial struct {
	ID sqltype.ID `gorm:"type:bigserial"` // want `the column type "bigserial" of ID is auto-increment`
}

type Empty struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"` // want `nothing fills the key Empty.ID`
	Note string
}

type Small struct {
	ID   uint   // want `the key Small.ID is auto-increment: use sqltype.ID`
	Note string `gorm:"index"`
}

type Base struct {
	gorm.Model // want `the key of gorm.Model in Base is auto-increment`
	Note       string
}

type ByHand struct {
	ID   int64  // want `the program sets ByHand.ID to ids, but gorm makes it auto-increment`
	Note string `gorm:"size:40"`
}

func newByHand(ctx context.Context, gen *core.Generator) (*ByHand, error) {
	id, err := gen.Next(ctx)
	if err != nil {
		return nil, err
	}
	return &ByHand{ID: id}, nil
}

// Found by the list of the plugin.
type Listed struct {
	ID   string // want `the plugin does not fill the text Listed.ID`
	Note string
}

// Found by a call of gorm.
type Created struct {
	ID   int64 // want `the key Created.ID is auto-increment`
	Note string
	Part Part
}

// Found by the model that refers to it.
type Part struct {
	ID        int64 // want `the key Part.ID is auto-increment`
	CreatedID int64
}

func create(db *gorm.DB) error { return db.Create(&Created{}).Error }

// None of these is a fault.

type Good struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
}

type Typed struct {
	ID   sqltype.ID
	Note string `gorm:"size:40"`
}

type Ours struct {
	gormplugin.Model
	Note string
}

type Intended struct {
	ID uint `gorm:"primaryKey;snowflake:-"`
}

type Explicit struct {
	ID uint `gorm:"primaryKey;autoIncrement"`
}

// Profile has the key of its user.
type Profile struct {
	UserID int64 `gorm:"primaryKey"`
	User   User
}

type User struct {
	ID sqltype.ID `gorm:"primaryKey"`
}

type Composite struct {
	TenantID int64 `gorm:"primaryKey"`
	No       int64 `gorm:"primaryKey"`
}

type Natural struct {
	Code int64 `gorm:"primaryKey;autoIncrement:false"`
}

func natural(code int64) Natural { return Natural{Code: code} }

type Setting struct {
	ID   uint
	Name string `gorm:"size:40"`
}

type Country struct {
	ID   uint
	Name string `gorm:"size:40"`
}

// View is no model.
type View struct {
	ID   int64
	Note string
}

func use(gen *core.Generator) (*gormplugin.Plugin, error) {
	return gormplugin.New(gormplugin.Config{
		Source: gen, Models: []any{&Listed{}}, Exempt: []any{&Setting{}, "countries"},
	})
}
