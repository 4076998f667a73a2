package gormplugin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Crate  struct{ ID sqltype.Key[Crate] }
	Moved  struct{ ID sqltype.Key[Moved] }
	Sealed struct{ ID sqltype.Key[Sealed] }
	Truck  struct {
		ID       sqltype.Key[Truck]
		CrateID  sqltype.Key[Crate]
		SpareID  *sqltype.Key[Crate]
		TicketID sqltype.Key[Ticket]
	}
	Marked struct {
		ID    sqltype.ID
		First sqltype.NullKey[mark]
	}
	mark   struct{}
	sealer struct{}
)

func (Crate) KeyForm() sqltype.Form   { return sqltype.Form{Prefix: "Crate"} }
func (*Moved) KeyForm() sqltype.Form  { return sqltype.Form{Old: []sqltype.Form{{Prefix: "Moved"}}} }
func (*Sealed) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "sealed", Sealer: sealer{}} }
func (*mark) KeyForm() sqltype.Form   { return sqltype.Form{Sealer: (*sealer)(nil)} }

func (sealer) AppendSeal(b []byte, _ sqltype.ID) ([]byte, error) { return b, errors.New("no key yet") }
func (sealer) Unseal(string) (sqltype.ID, error)                 { return 0, errors.New("no key yet") }

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

// gorm copies a key of one type to a foreign key of another.
func TestValidateFindsMixedUpKeys(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	want := []string{
		"Ship.HarborID: its type is sqltype.Key[gormplugin_test.Ship], and it refers to Harbor.ID of type sqltype.Key[gormplugin_test.Harbor]: make the types the same",
		"Ship.LastID: its type is sqltype.NullKey[gormplugin_test.Pilot], and it refers to Harbor.ID of type",
	}
	for name, models := range map[string][]any{"child first": {&Ship{}, &Harbor{}}, "parent first": {&Harbor{}, &Ship{}, &Flag{}, &Pilot{}}} {
		t.Run(name, func(t *testing.T) {
			err := gormplugin.Validate(db, models...)
			if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(err.Error(), want[1]) || strings.Count(err.Error(), "it refers to") != 2 {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// Each Form is reported once, at the first field of its type.
func TestValidateFindsWrongForms(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	for _, c := range []struct {
		name   string
		models []any
		want   string
	}{
		{"prefix", []any{&Crate{}, &Truck{}}, `Crate.ID: sqltype: wrong Form: Prefix "Crate" is not 1 to 63 of a-z and _`},
		{"of a foreign key", []any{&Truck{}, &Crate{}}, `gormplugin_test.Crate]: wrong Form: Prefix "Crate"`},
		{"old prefix", []any{&Moved{}}, `Moved.ID: sqltype: wrong Form: Old[0].Prefix "Moved"`},
		{"of no model", []any{&Marked{}}, "gormplugin_test.mark]: wrong Form: Sealer is a nil *gormplugin_test.sealer"},
		{"right", []any{&Ticket{}, &Sealed{}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := gormplugin.Validate(db, c.models...)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, sqltype.ErrForm) || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "wrong Form") != 1 {
				t.Errorf("%v, want %q once", err, c.want)
			}
		})
	}
}
