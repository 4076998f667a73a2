// Package snowtag has tags that gorm ignores.
package snowtag

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Misspelled struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false;snowflak"` // want `gorm does not know the setting "snowflak": write snowflake`
}

type Equals struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake=orders"` // want `gorm does not know the setting "snowflake=orders": write snowflake:orders`
}

type Commas struct {
	ID int64 `gorm:"primaryKey,autoIncrement:false,snowflake"` // want `gorm separates settings with a semicolon`
}

type Outside struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false" snowflake:"orders"` // want `the tag snowflake is beside the gorm tag`
}

type Elsewhere struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false" json:"id,snowflake"` // want `snowflake is in the tag of json`
}

type Base struct {
	ID sqltype.ID
}

type Embedding struct {
	Base `gorm:"embedded;snowflake"` // want `the tag snowflake is on the field that embeds or refers to Base`
}

type Form struct {
	ID string `gorm:"primaryKey;size:11;snowflake:base58"` // want `snowflake has no option "base58"`
}

type Stray struct {
	ID string `gorm:"primaryKey;size:11;snowflake;base62"` // want `base62 is an option of snowflake: write snowflake:base62`
}

type Two struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake:orders,lines"` // want `names two sources, "orders" and "lines"`
}

type NoSource struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake:order"` // want `a source "order" in Named: it has "orders"`
}

type Kinds struct {
	Small int32     `gorm:"snowflake"`                // want `a field of type int32 cannot hold a key of 63 bits`
	Time  time.Time `gorm:"snowflake"`                // want `a field of type time.Time cannot hold a key of 63 bits`
	Short string    `gorm:"size:10;snowflake:base62"` // want `size:10 is too short for a key of 11 characters`
	Wrong int64     `gorm:"snowflake:base62"`         // want `base62 is a form of texts`
}

type Good struct {
	ID     int64          `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Text   string         `gorm:"size:11;snowflake:orders,base62"`
	Null   sqltype.NullID `gorm:"snowflake"`
	Never  uint           `gorm:"snowflake:-"`
	Column string         `gorm:"size:40" snowflake:"name"` // of a package for the data warehouse
	Note   string         `gorm:"comment:a snowflake, or not"`
	Other  string         `json:"snowflake"`
}

func use(gen *core.Generator) (*gormplugin.Plugin, error) {
	return gormplugin.New(gormplugin.Config{Source: gen, Named: map[string]sqltype.Source{"orders": gen}})
}
