package graph_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The hooks of farms and barns do what the context says.

type Farm struct {
	ID        sqltype.ID
	Name      string
	AreaID    *sqltype.ID
	Area      *Area
	Barns     []Barn
	CreatedAt time.Time
}

type Area struct {
	ID   sqltype.ID
	Name string
}

type Barn struct {
	ID     sqltype.ID
	Name   string
	FarmID sqltype.ID
}

type hook struct{}

// call runs the hook of the context. when is "before farm", "after barn" and so on.
func call(tx *gorm.DB, when string, row any) error {
	if f, ok := tx.Statement.Context.Value(hook{}).(func(*gorm.DB, string, any) error); ok {
		return f(tx, when, row)
	}
	return nil
}

func (f *Farm) BeforeCreate(tx *gorm.DB) error { return call(tx, "before farm", f) }
func (f *Farm) AfterCreate(tx *gorm.DB) error  { return call(tx, "after farm", f) }
func (b *Barn) BeforeSave(tx *gorm.DB) error   { return call(tx, "before barn", b) }
func (b *Barn) AfterSave(tx *gorm.DB) error    { return call(tx, "after barn", b) }

func farms(t *testing.T) *gorm.DB {
	return gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Area{}, &Farm{}, &Barn{})
}

func with(t *testing.T, f func(tx *gorm.DB, when string, row any) error) context.Context {
	return context.WithValue(t.Context(), hook{}, f)
}

func count(t *testing.T, db *gorm.DB, table string) (n int64) {
	t.Helper()
	must(t, db.Table(table).Count(&n).Error)
	return n
}

// nothing fails the test if a create left a row, or has changed the structs.
func nothing(t *testing.T, db *gorm.DB, what string, got, want any, tables ...string) {
	t.Helper()
	for _, table := range tables {
		if n := count(t, db, table); n != 0 {
			t.Errorf("%s: %d rows in %s", what, n, table)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: the structs are %+v, and were %+v", what, got, want)
	}
}

func farm() *Farm {
	return &Farm{Name: "a", Area: &Area{Name: "hill"}, Barns: []Barn{{Name: "b"}, {ID: 77, Name: "c"}}}
}

// Hooks run with the INSERT of their rows, and see the keys of their parents, which are written.
func TestHooks(t *testing.T) {
	db := farms(t)
	var calls []string
	ctx := with(t, func(tx *gorm.DB, when string, row any) error {
		line := when
		switch v := row.(type) {
		case *Farm:
			line += fmt.Sprint(v.ID != 0 && *v.AreaID == v.Area.ID, count(t, tx, "areas"), count(t, tx, "farms"), count(t, tx, "barns"))
		case *Barn:
			line += fmt.Sprint(v.ID != 0 && v.FarmID != 0, count(t, tx, "areas"), count(t, tx, "farms"), count(t, tx, "barns"))
		}
		calls = append(calls, line)
		return nil
	})
	want := []string{"before farmtrue 1 0 0", "after farmtrue 1 1 0", "before barntrue 1 1 0", "after barntrue 1 1 1", "before barntrue 1 1 1", "after barntrue 1 1 2"}
	if _, err := graph.CreateWith(ctx, db, farm(), graph.Config{BatchSize: 1}); err != nil || !slices.Equal(calls, want) {
		t.Errorf("%v, the hooks saw %q, want %q", err, calls, want)
	}
	calls = nil
	if err := graph.Create(ctx, db.Session(&gorm.Session{SkipHooks: true}), &Farm{}); err != nil || len(calls) > 0 {
		t.Errorf("SkipHooks: %v, %v", err, calls)
	}
}

// What a hook does to the associated rows would not be written: it is an error, and nothing stays.
func TestHooksThatChangeTheGraph(t *testing.T) {
	db := farms(t)
	for what, change := range map[string]func(tx *gorm.DB, f *Farm){
		"a barn is added":     func(_ *gorm.DB, f *Farm) { f.Barns = append(f.Barns, Barn{Name: "more"}) },
		"a barn is dropped":   func(_ *gorm.DB, f *Farm) { f.Barns = slices.Delete(f.Barns, 0, 1) },
		"another area":        func(_ *gorm.DB, f *Farm) { f.Area = &Area{Name: "another"} },
		"no area":             func(_ *gorm.DB, f *Farm) { f.Area = nil },
		"a conflict clause":   func(tx *gorm.DB, _ *Farm) { tx.Statement.AddClause(clause.OnConflict{DoNothing: true}) },
		"a column is omitted": func(tx *gorm.DB, _ *Farm) { tx.Statement.Omits = append(tx.Statement.Omits, "Name") },
	} {
		for _, when := range []string{"before farm", "after farm"} {
			ctx := with(t, func(tx *gorm.DB, at string, row any) error {
				if at == when {
					change(tx, row.(*Farm))
				}
				return nil
			})
			f := farm()
			if err := graph.Create(ctx, db, f); err == nil || !strings.Contains(err.Error(), "a hook") {
				t.Errorf("%s, %s: %v", when, what, err)
			}
			nothing(t, db, when+", "+what, f, farm(), "areas", "farms", "barns")
		}
	}
	// Columns are for hooks to set, and a child may choose another parent.
	other := &Farm{Name: "other"}
	must(t, graph.Create(t.Context(), db, other))
	f := farm()
	if err := graph.Create(with(t, func(tx *gorm.DB, when string, row any) error {
		switch when {
		case "before farm":
			tx.Statement.SetColumn("Name", "by hook")
		case "before barn":
			row.(*Barn).FarmID = other.ID
		}
		return nil
	}), db, f); err != nil || f.Name != "by hook" {
		t.Errorf("%v, %+v", err, f)
	}
	var moved []Barn
	if err := db.Find(&moved, "farm_id = ?", other.ID).Error; err != nil || len(moved) != 2 {
		t.Errorf("%+v, %v", moved, err)
	}
}

// A hook that fails, or panics, leaves neither rows nor keys, and no connection in use.
func TestHooksThatFail(t *testing.T) {
	db := farms(t)
	refused := errors.New("the hook refuses")
	for _, when := range []string{"before farm", "after farm", "before barn", "after barn"} {
		for _, panics := range []bool{false, true} {
			f := farm()
			func() {
				defer func() {
					if p := recover(); panics && p != refused {
						t.Errorf("%s: it panics with %v", when, p)
					}
				}()
				err := graph.Create(with(t, func(_ *gorm.DB, at string, _ any) error {
					if at != when {
						return nil
					}
					if panics {
						panic(refused)
					}
					return refused
				}), db, f)
				if !errors.Is(err, refused) {
					t.Errorf("%s: %v", when, err)
				}
			}()
			nothing(t, db, fmt.Sprint(when, ", panics ", panics), f, farm(), "areas", "farms", "barns")
		}
	}
}

// After a conflict, hooks run again, on the rows as they were before the first attempt.
func TestHooksRunAgain(t *testing.T) {
	db := farms(t)
	attempts := 0
	f := farm()
	err := graph.Create(with(t, func(tx *gorm.DB, when string, row any) error {
		switch v := row.(type) {
		case *Farm:
			v.Name += " by hook"
			if when == "before farm" {
				attempts++
			}
		case *Barn:
			if attempts < 3 && v.ID == 77 {
				return errors.New("database is locked")
			}
		}
		return nil
	}), db, f)
	if err != nil || attempts != 3 || f.Name != "a by hook by hook" || count(t, db, "barns") != 2 || count(t, db, "farms") != 1 {
		t.Errorf("%v, %d attempts, %+v", err, attempts, f)
	}
}

// Outing creates a graph in its hook: in the transaction of the outer one.
type Outing struct {
	ID   sqltype.ID
	Name string
}

func (o *Outing) BeforeCreate(tx *gorm.DB) error {
	if o.Name == "inner" || o.Name == "bad" {
		return nil
	}
	if err := graph.Create(tx.Statement.Context, tx, &Outing{Name: "bad"}); err == nil {
		return errors.New("it succeeds")
	}
	return graph.Create(tx.Statement.Context, tx, []*Outing{{Name: "inner"}, {Name: "inner"}})
}

func (o *Outing) AfterCreate(tx *gorm.DB) error {
	if _, err := tx.DB(); err != nil {
		return err
	}
	if o.Name == "fail" || o.Name == "bad" {
		return errors.New("the hook refuses")
	}
	return tx.Transaction(func(tx *gorm.DB) error { return tx.Session(&gorm.Session{NewDB: true}).Take(&Outing{}, o.ID).Error })
}

func TestCreateInHook(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Outing{})
	for _, prepared := range []bool{false, true} {
		h := db.Session(&gorm.Session{PrepareStmt: prepared})
		if err := graph.Create(t.Context(), h, []Outing{{Name: "a"}, {Name: "b"}}); err != nil {
			t.Fatalf("prepared %v: %v", prepared, err)
		}
		if err := graph.Create(t.Context(), h, &Outing{Name: "fail"}); err == nil {
			t.Error("no error")
		}
		if n := count(t, db, "outings"); n != 6 {
			t.Errorf("prepared %v: %d rows, want 6", prepared, n)
		}
		db.Exec("DELETE FROM outings")
	}
}
