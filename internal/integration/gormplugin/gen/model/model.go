// Package model holds the models from which gorm.io/gen generates package query.
package model

import (
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Doc has the base struct's key, a public number, and two kinds of details.
type Doc struct {
	gormplugin.Model
	Name   string `gorm:"size:60"`
	Number int64  `gorm:"uniqueIndex;snowflake:other"`
	Notes  []Note
	Topics []*Topic `gorm:"many2many:doc_topics"`
}

// Note has a key that is text.
type Note struct {
	ID    string     `gorm:"primaryKey;size:19;snowflake"`
	DocID sqltype.ID `gorm:"index"`
	Text  string     `gorm:"size:60"`
}

// Topic is what docs share.
type Topic struct {
	ID   *uint64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Name string  `gorm:"size:60"`
}

// All is what to migrate, and to generate from.
func All() []any { return []any{&Doc{}, &Note{}, &Topic{}} }
