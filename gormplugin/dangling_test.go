package gormplugin_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A passenger with berths that have meals. The database has unique indexes on Hidden that no model
// declares.
type (
	Passenger struct {
		ID     sqltype.ID
		Email  string  `gorm:"size:40;uniqueIndex"`
		Hidden *string `gorm:"size:40"`
		Berths []Berth
		Perks  []Perk `gorm:"many2many:passenger_perks"`
	}
	Berth struct {
		ID          sqltype.ID
		PassengerID sqltype.NullID
		Passenger   *Passenger
		Hidden      *string `gorm:"size:40"`
		Meals       []Meal
	}
	Meal struct {
		ID      sqltype.ID
		BerthID sqltype.ID
	}
	Perk struct {
		ID     sqltype.ID
		Word   string  `gorm:"size:40;uniqueIndex"`
		Hidden *string `gorm:"size:40"`
	}
)

// onPassengers runs a test on tables with and without foreign keys.
func onPassengers(t *testing.T, test func(t *testing.T, db *gorm.DB)) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		for _, foreignKeys := range []bool{true, false} {
			t.Run(fmt.Sprintf("foreign keys %t", foreignKeys), func(t *testing.T) {
				cfg := &gorm.Config{Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: !foreignKeys}
				db := databases.HandleOf(t, d.Open(t), cfg, fillPlugin(databases.Generator(t, 1)))
				models := []any{&Passenger{}, &Perk{}, &Berth{}, &Meal{}}
				for _, table := range []any{"passenger_perks", &Meal{}, &Berth{}, &Perk{}, &Passenger{}} {
					must(t, db.Migrator().DropTable(table))
				}
				must(t, db.AutoMigrate(models...))
				for _, table := range []string{"passengers", "perks", "berths"} {
					column := "hidden"
					if table == "perks" && d.Name != "mysql" && d.Name != "mariadb" {
						column = "substr(hidden, 1, 3)" // only the database knows its value
					}
					must(t, db.Exec("CREATE UNIQUE INDEX hidden_"+table+" ON "+table+" ("+column+")").Error)
				}
				test(t, db)
			})
		}
	})
}

// checkReferences fails if a row refers to nothing.
func checkReferences(t *testing.T, db *gorm.DB, what string) {
	t.Helper()
	for _, query := range []string{
		"SELECT COUNT(*) FROM meals WHERE berth_id NOT IN (SELECT id FROM berths)",
		"SELECT COUNT(*) FROM berths WHERE passenger_id IS NOT NULL AND passenger_id NOT IN (SELECT id FROM passengers)",
		"SELECT COUNT(*) FROM passenger_perks WHERE passenger_id NOT IN (SELECT id FROM passengers) OR perk_id NOT IN (SELECT id FROM perks)",
		"SELECT COUNT(*) FROM berths WHERE id <= 0",
	} {
		var n int64
		if err := db.Raw(query).Scan(&n).Error; err != nil || n > 0 {
			t.Errorf("%s: %d rows by %s, %v", what, n, query, err)
		}
	}
	for _, table := range []string{"meals", "passenger_perks", "berths"} { // the next case begins anew
		must(t, db.Exec("DELETE FROM "+table).Error)
	}
}

// A collision in a unique index that the model does not declare is an error: no row may refer to a
// key that no row has.
func TestUndeclaredIndex(t *testing.T) {
	onPassengers(t, func(t *testing.T, db *gorm.DB) {
		id := []clause.Column{{Name: "id"}}
		moves := clause.AssignmentColumns([]string{"passenger_id"})
		for what, create := range map[string]func(berths []Berth) error{
			"children": func(berths []Berth) error { return db.Create(&Passenger{Email: "new", Berths: berths}).Error },
			"graph's children": func(berths []Berth) error {
				return graph.Create(t.Context(), db, &Passenger{Email: "new", Berths: berths})
			},
			"UpdateAll": func(berths []Berth) error {
				return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&berths).Error
			},
			"Save": func(berths []Berth) error { return db.Save(&berths).Error },
			"DoUpdates(id)": func(berths []Berth) error {
				return db.Clauses(clause.OnConflict{Columns: id, DoUpdates: moves}).Create(&berths).Error
			},
			"DoNothing(id)": func(berths []Berth) error {
				return db.Clauses(clause.OnConflict{Columns: id, DoNothing: true}).Create(&berths).Error
			},
			"DoNothing": func(berths []Berth) error {
				return db.Clauses(clause.OnConflict{DoNothing: true}).Create(&berths).Error
			},
		} {
			for _, key := range []sqltype.ID{0, 4711} {
				there := Berth{Hidden: new("h")}
				must(t, db.Create(&there).Error)
				berths := []Berth{{Hidden: new("a")}, {ID: key, Hidden: new("h"), Meals: []Meal{{}, {}}}, {Hidden: new("b")}}
				err := create(berths)
				if err == nil {
					t.Errorf("%s, key %d: no error: %+v", what, key, berths)
				}
				checkReferences(t, db, fmt.Sprintf("%s, key %d, error %v", what, key, err))
				must(t, db.Exec("DELETE FROM passengers").Error)
			}
		}
	})
}

// A row whose key is set and whose unique value is another row's was not written: if other rows refer
// to it, that is an error.
func TestKeyOfNoRow(t *testing.T) {
	onPassengers(t, func(t *testing.T, db *gorm.DB) {
		there := Passenger{Email: "ada", Perks: []Perk{{Word: "red"}}}
		must(t, db.Create(&there).Error)
		nothing := clause.OnConflict{DoNothing: true}
		taken := func() *Passenger { return &Passenger{ID: 4711, Email: "ada"} }
		with := func(p *Passenger) *Passenger { p.Berths = []Berth{{}}; return p }
		for what, value := range map[string]any{
			"a parent": &Berth{Passenger: taken()},
			"parents":  &[]Berth{{Passenger: taken()}, {Passenger: &Passenger{Email: "bob"}}},
			"a tag":    &Passenger{Email: "cy", Perks: []Perk{{ID: 4712, Word: "red"}, {Word: "blue"}}},
			"a root":   with(taken()),
			"roots":    &[]*Passenger{with(taken()), with(&Passenger{Email: "dan"})},
			"a child":  &Passenger{Email: "eve", Berths: []Berth{{ID: 4713, Hidden: new("c"), Meals: []Meal{{}}}}},
		} {
			for way, create := range map[string]func(value any) error{
				"Create": func(v any) error { return db.Clauses(nothing).Create(v).Error },
				"graph":  func(v any) error { return graph.Create(t.Context(), db.Clauses(nothing), v) },
				"Save":   func(v any) error { return db.Save(v).Error },
			} {
				if way == "Save" && what != "a child" && what != "roots" {
					continue
				}
				must(t, db.Create(&Berth{Hidden: new("c")}).Error)
				err := create(value)
				if err == nil {
					t.Errorf("%s of %s: no error", way, what)
				}
				checkReferences(t, db, fmt.Sprintf("%s of %s, error %v", way, what, err))
			}
		}
		// Nothing refers to it: as in gorm, it is skipped.
		must(t, db.Clauses(nothing).Create(taken()).Error)
		// A row that exists under its key is found.
		berth := Berth{Passenger: &Passenger{ID: there.ID, Email: "ada"}}
		if err := db.Create(&berth).Error; err != nil || berth.PassengerID.ID != there.ID {
			t.Errorf("%+v, %v", berth, err)
		}
	})
}

// An update that saves associations keeps what they refer to, as a create does.
func TestUpdateKeyOfNoRow(t *testing.T) {
	onPassengers(t, func(t *testing.T, db *gorm.DB) {
		there := Passenger{Email: "ada", Hidden: new("h"), Perks: []Perk{{Word: "red", Hidden: new("h")}}}
		must(t, db.Create(&there).Error)
		hidden := func() *Passenger { return &Passenger{Email: "eve", Hidden: new("h")} }
		perks := func() []Perk { return []Perk{{Word: "blue"}, {Word: "hidden", Hidden: new("h")}} }
		returned := db.Name() == "mysql" && slices.Contains(db.Callback().Create().Clauses, "RETURNING")
		for what, update := range map[string]func(berth *Berth, p *Passenger) error{
			"Save of an existing row": func(berth *Berth, _ *Passenger) error {
				berth.Passenger = &Passenger{ID: 4711, Email: "ada"}
				return db.Save(berth).Error
			},
			"Replace": func(berth *Berth, _ *Passenger) error {
				return db.Model(berth).Association("Passenger").Replace(&Passenger{ID: 4711, Email: "ada"})
			},
			"Append": func(_ *Berth, p *Passenger) error {
				return db.Model(p).Association("Perks").Append(&Perk{ID: 4712, Word: "red"})
			},
			"Save with a far side": func(_ *Berth, p *Passenger) error {
				p.Perks = []Perk{{ID: 4712, Word: "red"}}
				return db.Save(p).Error
			},
			// Only the database knows the row that these collide with, and few return it.
			"hidden, Create": func(*Berth, *Passenger) error { return db.Create(&Berth{Passenger: hidden()}).Error },
			"hidden, graph": func(*Berth, *Passenger) error {
				return graph.Create(t.Context(), db, &Berth{Passenger: hidden()})
			},
			"hidden, Save": func(berth *Berth, _ *Passenger) error { berth.Passenger = hidden(); return db.Save(berth).Error },
			"hidden, Append": func(berth *Berth, _ *Passenger) error {
				return db.Model(berth).Association("Passenger").Append(hidden())
			},
			"hidden far side": func(*Berth, *Passenger) error {
				return db.Create(&Passenger{Email: "dan", Perks: perks()}).Error
			},
			"hidden far side, Append": func(_ *Berth, p *Passenger) error {
				return db.Model(p).Association("Perks").Append(&perks()[1])
			},
			"hidden far side, graph": func(*Berth, *Passenger) error {
				return graph.Create(t.Context(), db, &Passenger{Email: "dan", Perks: perks()})
			},
		} {
			berth, p := Berth{}, Passenger{Email: "bob " + what}
			must(t, errors.Join(db.Create(&berth).Error, db.Create(&p).Error))
			err := update(&berth, &p)
			if err == nil && (!returned || !strings.HasPrefix(what, "hidden")) {
				t.Errorf("%s: no error", what)
			}
			if err != nil && strings.Contains(strings.ToLower(err.Error()), "foreign key constraint") {
				t.Errorf("%s: %v, which the database had to find", what, err)
			}
			checkReferences(t, db, fmt.Sprintf("%s, error %v", what, err))
		}
		var written int64
		must(t, db.Model(&Passenger{}).Where("email = ?", "dan").Count(&written).Error)
		if written > 0 && !returned {
			t.Errorf("%d passengers were written without their perks", written)
		}
		// A new one is linked, and its key is zero again if the update fails.
		berth, p := Berth{}, Passenger{Email: "cy"}
		must(t, errors.Join(db.Create(&berth).Error, db.Create(&p).Error))
		berth.Passenger, p.Perks = &Passenger{Email: "ada"}, []Perk{{Word: "red"}, {Word: "green"}}
		if err := errors.Join(db.Save(&berth).Error, db.Save(&p).Error); err != nil || berth.PassengerID.ID != there.ID || p.Perks[0].ID != there.Perks[0].ID || p.Perks[1].ID == 0 {
			t.Errorf("%+v, %+v, %v", berth, p, err)
		}
	})
}

// Receipt is known to others by its number. A number that the caller set gives way to the existing row's.
type (
	Receipt struct {
		ID    sqltype.ID
		No    int64  `gorm:"uniqueIndex;snowflake"`
		Email string `gorm:"size:40;uniqueIndex"`
	}
	Payment struct {
		ID        sqltype.ID
		ReceiptNo int64
		Receipt   *Receipt `gorm:"foreignKey:ReceiptNo;references:No"`
	}
)

func TestNumberOfNoRow(t *testing.T) {
	onFresh(t, []any{&Receipt{}, &Payment{}}, func(t *testing.T, db *gorm.DB) {
		there := Receipt{No: 2, Email: "a"}
		must(t, db.Create(&there).Error)
		for what, create := range map[string]func(p *Payment) error{
			"Create": func(p *Payment) error { return db.Create(p).Error },
			"graph":  func(p *Payment) error { return graph.Create(t.Context(), db, p) },
		} {
			payment := Payment{Receipt: &Receipt{No: 555, Email: "a"}}
			if err := create(&payment); err != nil || payment.ReceiptNo != 2 || payment.Receipt.ID != there.ID {
				t.Errorf("%s: %+v, %v", what, payment, err)
			}
		}
	})
}
