// Package catalog stores a catalogue of records with their artists.
package catalog

import (
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Install adds the plugin: labels have a source of their own.
func Install(db *gorm.DB, entries, labels *core.Generator) error {
	p, err := gormplugin.New(gormplugin.Config{
		Source: entries,
		Named:  map[string]sqltype.Source{"labels": labels},
	})
	if err != nil {
		return err
	}
	return db.Use(p)
}

type Artist struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false;snowflke"` // FAULT 005 class 2: snowflke
	Name string
}

type Release struct {
	ID       int64 `gorm:"primaryKey,autoIncrement:false,snowflake"` // FAULT 006 class 2: commas in place of semicolons, so gorm sees one unknown setting; go-gorm/gorm#2618
	ArtistID int64
	Title    string
}

type Label struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false;snowflake:label"` // FAULT 007 class 2: no source of that name, Named has labels
	Name string
}

type Imprint struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false;snowflake:labels"` // OK 09: Named has this source
	LabelID int64
}

// Share is the public link of a release.
type Share struct {
	ID        string `gorm:"primaryKey;size:11;snowflake:base58"` // FAULT 008 class 2: base58 is no text form of the tag, so it names a source
	ReleaseID int64
}

type Link struct {
	ID      string `gorm:"primaryKey;size:11;snowflake:base62"` // OK 10: a text key of fixed width
	ShareID string
}

type Track struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false" snowflake:""` // FAULT 009 class 2: snowflake is a tag beside the gorm tag
	ReleaseID int64
	Seconds   int
}

type Credit struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false" json:"id,string,snowflake"` // FAULT 010 class 2: snowflake is in the json tag
	TrackID int64 `json:"track_id,string"`
	Role    string
}

// Sale is loaded into the warehouse, whose package reads a tag of the same name.
type Sale struct {
	ID    int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Cents int64 `snowflake:"cents"` // OK 11: not a key, and the value is a column of the data warehouse
}
