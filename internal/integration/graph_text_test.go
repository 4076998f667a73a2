package integration

import (
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Album is referred to by texts: by what may belong to anything, and by pointers.
type Album struct {
	ID       sqltype.Key[Album] // its text is not that of the references
	Captions []Caption          `gorm:"polymorphic:Owner"`
	Cover    *Cover             `gorm:"foreignKey:AlbumID;constraint:-"`
}

func (*Album) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "album"} }

type Caption struct {
	ID        sqltype.ID
	OwnerID   string `gorm:"size:30"`
	OwnerType string `gorm:"size:30"`
}

type Cover struct {
	ID      sqltype.ID
	AlbumID *string `gorm:"size:30"`
	Album   *Album  `gorm:"constraint:-"`
}

// gorm would lose such a key, so it is kept from saving it, and nothing is written.
func TestTextReferencesLeftToGorm(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: true, SkipDefaultTransaction: true}, &Album{}, &Caption{}, &Cover{})
		alone := []Album{{}, {Captions: []Caption{}}}
		if err := db.Create(&alone).Error; err != nil {
			t.Errorf("without what refers to it: %v", err)
		}
		if err := db.Omit("Captions").Create(&Album{Captions: make([]Caption, 1)}).Error; err != nil {
			t.Errorf("with what refers to it left out: %v", err)
		}
		before := dump(t, db, "albums", "captions", "covers")
		for what, err := range map[string]error{
			"Caption.OwnerID": db.Create(&Album{Captions: make([]Caption, 1)}).Error,
			"Cover.AlbumID":   db.Create([]*Album{{}, {Cover: &Cover{}}}).Error,
			"Album.ID":        db.Create(&Cover{Album: &Album{}}).Error,
			"sqltype.Key":     db.Save(&Album{ID: alone[0].ID, Captions: make([]Caption, 1)}).Error,
			"string":          db.Model(&alone[0]).Association("Captions").Append(&Caption{}),
		} {
			t.Run(what, func(t *testing.T) {
				if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "graph.Create") {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		if after := dump(t, db, "albums", "captions", "covers"); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%v became %v", before, after)
		}
	})
}
