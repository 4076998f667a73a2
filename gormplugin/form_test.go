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
