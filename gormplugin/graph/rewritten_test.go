package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Branch and Chapter are trees whose hooks the context brings.
type Branch struct {
	ID       sqltype.ID
	Name     string `gorm:"size:20"`
	ParentID *sqltype.ID
	Parent   *Branch   // it may be the branch itself
	Branches []*Branch `gorm:"foreignKey:ParentID"`
}

type Chapter struct {
	ID        sqltype.ID
	Code      string `gorm:"size:20"`
	AboveCode *string
	Chapters  []*Chapter `gorm:"foreignKey:AboveCode;references:Code"`
}

// Rank is a tree with a column whose default the database makes, so that gorm reads it back.
type Rank struct {
	ID      sqltype.ID
	Name    string `gorm:"size:20"`
	Level   int    `gorm:"default:(1+1)"`
	AboveID *sqltype.ID
	Ranks   []*Rank `gorm:"foreignKey:AboveID"`
}

// Sprout is a child in another table.
type Sprout struct {
	ID       sqltype.ID
	BranchID sqltype.ID
	Branch   *Branch
}

type rewriteKey struct{}

// rewrite runs the hook of the context.
func rewrite(tx *gorm.DB, row any) error {
	if hook, ok := tx.Statement.Context.Value(rewriteKey{}).(func(any)); ok {
		hook(row)
	}
	return nil
}

func (b *Branch) BeforeCreate(tx *gorm.DB) error { return rewrite(tx, b) }
func (t *Chapter) BeforeSave(tx *gorm.DB) error  { return rewrite(tx, t) }

func rewritten(t *testing.T, d databases.Database) *gorm.DB {
	t.Helper()
	return graphHandle(t, d.Open(t), nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: true}, &Branch{}, &Chapter{}, &Rank{}, &Sprout{})
}

// Without constraints, a hook that sets the key of its row, or a column that children refer to,
// would leave rows of the same INSERT with references to nothing.
func TestHooksThatChangeKeys(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := rewritten(t, d)
		last := sqltype.ID(4000)
		ctx := context.WithValue(t.Context(), rewriteKey{}, func(row any) {
			switch row := row.(type) {
			case *Branch:
				last++
				row.ID = last
			case *Chapter:
				row.Code = strings.Repeat("x", 1+len(row.Chapters))
			}
		})
		own := &Branch{Name: "own"}
		own.Parent = own
		for what, c := range map[string]struct {
			value any
			want  string
		}{
			"a tree":    {&Branch{Branches: []*Branch{{Branches: []*Branch{{}}}, {}}}, "table branches: Branch.ParentID"},
			"itself":    {own, "table branches: Branch.ParentID"},
			"a column":  {&Chapter{Chapters: []*Chapter{{Chapters: []*Chapter{{}}}}}, "table chapters: Chapter.AboveCode"},
			"its value": {&Chapter{Code: "a", Chapters: []*Chapter{{Code: "b", Chapters: []*Chapter{{}}}}}, "table chapters: Chapter.AboveCode"},
		} {
			for _, size := range []int{0, 1} {
				before := fmt.Sprintf("%+v", c.value)
				_, err := graph.CreateWith(ctx, db, c.value, graph.Config{BatchSize: size})
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "before the create") {
					t.Errorf("%s, BatchSize %d: %v, want %q", what, size, err, c.want)
				}
				if after := fmt.Sprintf("%+v", c.value); after != before {
					t.Errorf("%s, BatchSize %d: it was %s, and is %s", what, size, before, after)
				}
				counts(t, db, "SELECT (SELECT COUNT(*) FROM branches) + (SELECT COUNT(*) FROM chapters)", nil, 0)
			}
		}
		// Rows of later batches get the key that was written.
		sprout := &Sprout{Branch: &Branch{Name: "a"}}
		if err := graph.Create(ctx, db, sprout); err != nil || sprout.BranchID != last || sprout.Branch.ID != last {
			t.Errorf("%+v, %v", sprout, err)
		}
		counts(t, db, "SELECT COUNT(*) FROM branches JOIN sprouts ON branches.id = branch_id", nil, 1)
		// A later reference to another row counts, as in gorm.
		a, b, c := &Branch{Name: "a"}, &Branch{Name: "b"}, &Branch{Name: "c"}
		a.Branches, b.Branches = []*Branch{c}, []*Branch{c}
		if err := graph.Create(t.Context(), db, []*Branch{a, b}); err != nil || *c.ParentID != b.ID {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// trigger makes a trigger that drops rows, or else changes their keys. It reports false where the
// database has no such trigger.
func trigger(t *testing.T, db *gorm.DB, table string, drops bool) bool {
	t.Helper()
	var list []string
	switch {
	case db.Name() == "postgres":
		body := "NEW.id := NEW.id + 1; RETURN NEW;"
		if drops {
			body = "IF NEW.name = 'drop' THEN RETURN NULL; END IF; RETURN NEW;"
		}
		list = []string{
			"CREATE OR REPLACE FUNCTION changes_" + table + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body + " END $$",
			"CREATE TRIGGER changes_" + table + " BEFORE INSERT ON " + table + " FOR EACH ROW EXECUTE FUNCTION changes_" + table + "()",
		}
	case db.Name() == "mysql" && !drops:
		list = []string{"CREATE TRIGGER changes_" + table + " BEFORE INSERT ON " + quoted(db, table) + " FOR EACH ROW SET NEW.id = NEW.id + 1"}
	case db.Name() == "sqlite" && drops:
		list = []string{"CREATE TRIGGER changes_" + table + " BEFORE INSERT ON " + table + " WHEN NEW.name = 'drop' BEGIN SELECT RAISE(IGNORE); END"}
	}
	for _, sql := range list {
		must(t, db.Exec(sql).Error)
	}
	return list != nil
}

// A trigger that drops a row would leave children of nothing.
func TestTriggersThatDropRows(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		for table, values := range map[string][]any{
			"branches": {&Branch{Name: "drop"}, &Branch{Branches: []*Branch{{}, {Name: "drop"}}}, &Sprout{Branch: &Branch{Name: "drop"}}},
			"ranks":    {&Rank{Name: "drop"}, &Rank{Name: "drop", Ranks: []*Rank{{}}}, &Rank{Ranks: []*Rank{{}, {Name: "drop"}, {}}}},
		} {
			db := rewritten(t, d)
			if !trigger(t, db, table, true) {
				return
			}
			for i, v := range values {
				before := fmt.Sprintf("%+v", v)
				err := graph.Create(t.Context(), db, v)
				if i != 2 || table != "branches" { // a parent that may exist has a conflict clause: its key is looked up
					if err == nil || !strings.Contains(err.Error(), "table "+table+": the database wrote") {
						t.Errorf("%s %d: %v", table, i, err)
					}
				}
				if after := fmt.Sprintf("%+v", v); err == nil || after != before {
					t.Errorf("%s %d: it was %s, and is %s: %v", table, i, before, after, err)
				}
				counts(t, db, "SELECT (SELECT COUNT(*) FROM branches) + (SELECT COUNT(*) FROM ranks) + (SELECT COUNT(*) FROM sprouts)", nil, 0)
			}
		}
	})
}

// A trigger that changes a key is seen where gorm reads columns back.
func TestTriggersThatChangeKeys(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := rewritten(t, d)
		version := "" // MySQL has no RETURNING
		if db.Name() == "mysql" {
			must(t, db.Raw("SELECT version()").Scan(&version).Error)
		}
		if !trigger(t, db, "ranks", false) || strings.Contains(t.Name(), "no_returning") || version != "" && !strings.Contains(version, "MariaDB") {
			return
		}
		for what, v := range map[string]*Rank{"one": {}, "a tree": {Ranks: []*Rank{{}, {}}}, "a given key": {ID: 50}} {
			before := fmt.Sprintf("%+v", v)
			err := graph.Create(t.Context(), db, v)
			if err == nil || !strings.Contains(err.Error(), "table ranks: ") || !strings.Contains(err.Error(), "Rank.ID") {
				t.Errorf("%s: %v", what, err)
			}
			if after := fmt.Sprintf("%+v", v); after != before {
				t.Errorf("%s: it was %s, and is %s", what, before, after)
			}
			counts(t, db, "SELECT COUNT(*) FROM ranks", nil, 0)
		}
	})
}

// Columns with defaults are read back with the keys, and all is in its row.
func TestReturnedDefaults(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := rewritten(t, d)
		ranks := []*Rank{{Name: "a", Ranks: []*Rank{{Name: "b"}, {Name: "c"}}}, {ID: 77, Name: "d"}}
		set := &Rank{Name: "e", Level: 9}
		must(t, errors.Join(graph.Create(t.Context(), db, ranks), graph.Create(t.Context(), db, set)))
		if r := ranks[0].Ranks; set.Level != 9 || ranks[1].ID != 77 || db.Name() != "mysql" && (r[0].Level != 2 || ranks[1].Level != 2) {
			t.Errorf("%+v, %+v, %+v", r[0], r[1], ranks[1])
		}
		counts(t, db, "SELECT COUNT(*) FROM ranks c JOIN ranks p ON c.above_id = p.id WHERE p.name = 'a' AND c.level = 2", nil, 2)
	})
}
