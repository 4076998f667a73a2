package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Models whose rows refer to each other in a circle.

// Firm has a head, which is one of its clerks: two tables that refer to each other.
type Firm struct {
	ID     sqltype.ID
	Name   string `gorm:"size:40;uniqueIndex"`
	HeadID *sqltype.Key[Clerk]
	Head   *Clerk `gorm:"foreignKey:HeadID"` // else gorm takes it for one of the rows with its FirmID
	Clerks []*Clerk
}

// Clerk must have a firm, and may have a mentor and many pupils, which are clerks.
type Clerk struct {
	ID       sqltype.Key[Clerk]
	Name     string     `gorm:"size:40"`
	FirmID   sqltype.ID `gorm:"not null"`
	Firm     *Firm
	MentorID sqltype.NullKey[Clerk] `gorm:"type:bigint"`
	Mentor   *Clerk
	Pupils   []*Clerk `gorm:"foreignKey:MentorID"`
}

// Cell refers to another by both parts of its key, of which it has its own sheet for the second.
type Cell struct {
	Sheet     int64      `gorm:"primaryKey;autoIncrement:false"`
	ID        sqltype.ID `gorm:"primaryKey;snowflake"`
	NextSheet *int64
	NextID    *sqltype.ID
	Next      *Cell `gorm:"foreignKey:NextSheet,NextID;references:Sheet,ID"`
}

// Link gets its key from the database.
type Link struct {
	ID     uint   `gorm:"snowflake:-"`
	Name   string `gorm:"size:40"`
	NextID *uint
	Next   *Link
}

// Hen and Egg require each other.
type Hen struct {
	ID    sqltype.ID
	EggID sqltype.ID
	Egg   *Egg `gorm:"foreignKey:EggID"`
}

type Egg struct {
	ID    sqltype.ID
	HenID *sqltype.ID `gorm:"not null"`
	Hen   *Hen        `gorm:"foreignKey:HenID"`
}

// Twin notes what its hooks see.
type Twin struct {
	ID      sqltype.ID
	Name    string `gorm:"size:40"`
	OtherID *sqltype.ID
	Other   *Twin
}

func (w *Twin) BeforeCreate(tx *gorm.DB) error {
	note(tx, fmt.Sprint("before, other ", w.OtherID != nil && *w.OtherID == w.Other.ID), w.Name, w.ID, nil, 0)
	return nil
}

func (w *Twin) AfterCreate(tx *gorm.DB) error {
	var n int64
	if err := tx.Model(&Twin{}).Where("id = ? AND other_id = ?", w.ID, w.Other.ID).Count(&n).Error; err != nil {
		return err
	}
	note(tx, fmt.Sprint("after, other ", n == 1), w.Name, w.ID, nil, 0)
	return nil
}

var cycleModels = []any{&Firm{}, &Clerk{}, &Cell{}, &Link{}, &Hen{}, &Egg{}, &Twin{}}

func onCycles(t *testing.T, test func(t *testing.T, db *gorm.DB)) {
	onEvery(t, func(t *testing.T, d database) {
		dialect := d.open(t)
		bare := dialect.Name() != "sqlite" // the others want a table before they refer to it
		db := graphHandle(t, dialect, nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: bare}, cycleModels...)
		for _, sql := range []string{
			"ALTER TABLE firms ADD CONSTRAINT f1 FOREIGN KEY (head_id) REFERENCES clerks(id)",
			"ALTER TABLE clerks ADD CONSTRAINT f2 FOREIGN KEY (firm_id) REFERENCES firms(id)",
			"ALTER TABLE clerks ADD CONSTRAINT f3 FOREIGN KEY (mentor_id) REFERENCES clerks(id)",
			"ALTER TABLE cells ADD CONSTRAINT f4 FOREIGN KEY (next_sheet, next_id) REFERENCES cells(sheet, id)",
			"ALTER TABLE links ADD CONSTRAINT f5 FOREIGN KEY (next_id) REFERENCES links(id)",
			"ALTER TABLE hens ADD CONSTRAINT f6 FOREIGN KEY (egg_id) REFERENCES eggs(id)",
			"ALTER TABLE eggs ADD CONSTRAINT f7 FOREIGN KEY (hen_id) REFERENCES hens(id)",
			"ALTER TABLE twins ADD CONSTRAINT f8 FOREIGN KEY (other_id) REFERENCES twins(id)",
		} {
			if bare {
				if err := db.Exec(sql).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, sql := range []string{"UPDATE firms SET head_id = 4711", "UPDATE twins SET other_id = 4711", "UPDATE cells SET next_sheet = 1, next_id = 4711"} { // there are constraints
			err := db.Transaction(func(tx *gorm.DB) error {
				if err := errors.Join(tx.Create(&Firm{Name: "x"}).Error, tx.Exec("INSERT INTO twins (id, name) VALUES (1, 'x')").Error, tx.Create(&Cell{Sheet: 1}).Error); err != nil {
					t.Fatal(err)
				}
				return tx.Exec(sql).Error
			})
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), "foreign key") {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		test(t, db)
	})
}
