package integration

import (
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Citizen struct {
	ID   sqltype.Key[Citizen]
	Name string `gorm:"size:20"`
}

// Passport has its citizen's key, and Visa its passport's.
type Passport struct {
	CitizenID sqltype.Key[Citizen] `gorm:"primaryKey"`
	Citizen   Citizen
}

type Visa struct {
	PassportID sqltype.Key[Citizen] `gorm:"primaryKey"`
	Passport   *Passport
	Name       string `gorm:"size:20"`
}

// gorm saves what a row belongs to first, and the key comes with it.
func TestSharedKeyOfWhatItBelongsTo(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, &gorm.Config{SkipDefaultTransaction: true}, &Citizen{}, &Passport{}, &Visa{})
		made := func() *Visa { return &Visa{Passport: &Passport{Citizen: Citizen{Name: "c"}}} }
		preset := &Visa{Passport: &Passport{Citizen: Citizen{ID: 5}}}
		set := made().Passport
		if err := db.Create(set).Error; err != nil {
			t.Fatal(err)
		}
		visas := []*Visa{made(), preset, made(), {PassportID: set.CitizenID}, made()}
		for what, err := range map[string]error{
			"Create":            db.Create(visas[0]).Error,
			"Create of a slice": db.Create(visas[1:4]).Error,
			"graph":             graph.Create(t.Context(), db, visas[4]),
		} {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		for i, v := range visas {
			if v.PassportID == 0 || v.Passport != nil && (v.PassportID != v.Passport.CitizenID || v.PassportID != v.Passport.Citizen.ID) {
				t.Errorf("visa %d: %+v of %+v", i, v, v.Passport)
			}
		}
		var n int64
		if err := db.Table("visas v").Joins("JOIN passports p ON p.citizen_id = v.passport_id JOIN citizens c ON c.id = p.citizen_id").Count(&n).Error; err != nil || n != 5 {
			t.Errorf("%d visas of citizens, %v", n, err)
		}

		// Without it nothing is written.
		before := dump(t, db, "citizens", "passports", "visas")
		for what, err := range map[string]error{
			"no passport":       db.Create(&Visa{}).Error,
			"one of two":        db.Create([]*Visa{made(), {}}).Error,
			"omitted":           db.Omit("Passport").Create(made()).Error,
			"not selected":      db.Select("Name").Create(made()).Error,
			"by value":          db.Create(*made()).Error,
			"a map":             db.Model(&Visa{}).Create(map[string]any{"name": "x"}).Error,
			"zero, by value":    db.Create(&Passport{}).Error,
			"far from the row":  db.Create(&Visa{Passport: &Passport{}}).Error,
			"an empty passport": graph.Create(t.Context(), db, &Visa{Passport: &Passport{}}),
		} {
			t.Run(what, func(t *testing.T) {
				if err == nil || !strings.Contains(err.Error(), "is the key of another row, and is not set") {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		if after := dump(t, db, "citizens", "passports", "visas"); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%v became %v", before, after)
		}
	})
}

// Stamp's key is that of a row which is saved without one.
type Stamp struct {
	SheetID sqltype.ID `gorm:"primaryKey"`
	Sheet   *Sheet
}

type Sheet struct {
	ID   sqltype.ID `gorm:"snowflake:-"`
	Name string     `gorm:"size:20"`
}

func TestSharedKeyThatDoesNotCome(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Sheet{}, &Stamp{})
		err := db.Create(&Stamp{Sheet: &Sheet{Name: "s"}}).Error
		var n int64
		if e := db.Model(&Sheet{}).Count(&n).Error; e != nil || n != 0 {
			t.Errorf("%d sheets, %v", n, e)
		}
		if err == nil || !strings.Contains(err.Error(), "Stamp.SheetID is the key of another row, and is not set") {
			t.Error(err)
		}
	})
}
