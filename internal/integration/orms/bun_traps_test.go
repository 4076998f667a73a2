package orms

import (
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/seed-299c1d6b/snowkey/contrib/bunkey"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// bunNote is a model whose hook was forgotten, and whose key the database is to count.
type bunNote struct {
	bun.BaseModel `bun:"table:notes"`
	ID            sqltype.ID `bun:",pk,autoincrement"`
	Text          string     `bun:"type:varchar(40)"`
	Next          sqltype.NullID
}

// bunBlank is one that nothing counts.
type bunBlank struct {
	bun.BaseModel `bun:"table:blanks"`
	ID            sqltype.ID `bun:",pk"`
	Text          string     `bun:"type:varchar(40)"`
}

// Without the dialect a forgotten key is 0 or 1, and nothing says so. With it, it is an error of the
// database. On MySQL and MariaDB bun makes no table with a NullID that has no type.
func TestBunForgottenKeys(t *testing.T) {
	for _, kind := range all {
		t.Run(kind, func(t *testing.T) {
			gen, err := core.New(core.Config{Worker: core.Fixed(1)})
			if err != nil {
				t.Fatal(err)
			}
			on := open(t, kind, servers(t, kind)[0])
			plain := bun.NewDB(on.pool, bunDialect(kind))
			if _, err := plain.NewCreateTable().Model((*bunBlank)(nil)).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := plain.NewInsert().Model(&bunBlank{Text: "a"}).Exec(t.Context()); err != nil {
				t.Error(err)
			}
			if got := on.ints(t, "SELECT id FROM blanks"); len(got) != 1 || got[0] != 0 {
				t.Errorf("without the dialect the key is %d; the documents say 0", got)
			}
			keyed := bun.NewDB(on.pool, bunkey.Dialect(bunDialect(kind), gen))
			if _, err := keyed.NewInsert().Model(&bunBlank{Text: "b"}).Exec(t.Context()); kind != "sqlite" && (err == nil || !strings.Contains(err.Error(), "id")) {
				t.Errorf("in a table that exists: %v", err)
			}
			if _, err := keyed.NewCreateTable().Model((*bunNote)(nil)).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, model := range []any{&bunNote{Text: "a"}, &[]bunNote{{Text: "a"}, {Text: "b"}}} {
				if _, err := keyed.NewInsert().Model(model).Exec(t.Context()); err == nil || !strings.Contains(err.Error(), "id") {
					t.Errorf("%T with the dialect: %v", model, err)
				}
			}
			if got := on.ints(t, "SELECT id FROM notes"); len(got) != 0 {
				t.Errorf("with the dialect the key is %d", got)
			}
			note := bunNote{ID: 7, Next: sqltype.NullID{ID: 8, Valid: true}}
			var back bunNote
			if _, err := keyed.NewInsert().Model(&note).Exec(t.Context()); err != nil {
				t.Error(err)
			}
			if err := keyed.NewSelect().Model(&back).Where("next = ?", 8).Scan(t.Context()); err != nil || back.ID != 7 {
				t.Errorf("%+v, %v", back, err)
			}
		})
	}
}
