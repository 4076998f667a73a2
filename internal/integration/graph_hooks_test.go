package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The hooks of these models record their calls, and do what Wish says.

type Farm struct {
	ID     sqltype.ID
	Name   string `gorm:"size:40"`
	Wish   string `gorm:"size:40"`
	AreaID *sqltype.ID
	Area   *Area
	Barns  []Barn
}

type Area struct {
	ID   sqltype.ID
	Name string `gorm:"size:40"`
}

type Barn struct {
	ID     sqltype.ID
	Name   string `gorm:"size:40"`
	Wish   string `gorm:"size:40"`
	FarmID sqltype.ID
	AreaID *sqltype.ID
	Area   *Area
	Cows   []Cow
}

type Cow struct {
	ID     sqltype.ID
	Name   string `gorm:"size:40"`
	BarnID sqltype.ID
}

var farmTables = []string{"cows", "barns", "farms", "areas"}

var errHook = errors.New("the hook refuses")

// note records a call, and what the hook finds in the database.
func note(tx *gorm.DB, what, name string, id sqltype.ID, parent any, parentID sqltype.ID) {
	v, ok := tx.Statement.Context.Value(callsKey{}).(*[]string)
	if !ok {
		return
	}
	line := what + " " + name
	if id == 0 {
		line += " WITHOUT KEY"
	}
	if parent != nil {
		var n int64
		if err := tx.Model(parent).Where("id = ?", parentID).Count(&n).Error; err != nil || n != 1 {
			line += fmt.Sprintf(" WITHOUT PARENT %v", err)
		}
	}
	*v = append(*v, line)
}

type (
	callsKey  struct{}
	cancelKey struct{}
)

func (f *Farm) BeforeCreate(tx *gorm.DB) error {
	note(tx, "before", f.Name, f.ID, nil, 0)
	switch f.Wish {
	case "another barn":
		f.Barns = append(f.Barns, Barn{Name: "added barn", Cows: []Cow{{Name: "added cow"}}})
	case "area":
		f.Area = &Area{Name: "added area"}
	case "rename area":
		f.Area.Name = "renamed"
	case "drop", "drop and refuse":
		f.Barns = slices.DeleteFunc(f.Barns, func(b Barn) bool { return b.Name == "drop" })
	case "column":
		tx.Statement.SetColumn("Name", f.Name+" by hook")
	case "refuse":
		return errHook
	case "panic":
		panic(errHook)
	case "ignore":
		tx.Statement.AddClause(clause.OnConflict{DoNothing: true})
	}
	return nil
}

func (f *Farm) AfterCreate(tx *gorm.DB) error {
	var barns int64
	tx.Model(&Barn{}).Where("farm_id = ?", f.ID).Count(&barns)
	note(tx, "after", fmt.Sprintf("%s, %d barns", f.Name, barns), f.ID, &Farm{}, f.ID)
	switch f.Wish {
	case "refuse after", "drop and refuse":
		return errHook
	case "cancel":
		tx.Statement.Context.Value(cancelKey{}).(context.CancelFunc)()
	case "panic after":
		panic(errHook)
	}
	return nil
}

func (b *Barn) BeforeSave(tx *gorm.DB) error {
	note(tx, "before", b.Name, b.ID, &Farm{}, b.FarmID)
	if b.Wish == "refuse" {
		return errHook
	}
	if b.Wish == "move" {
		var other Farm
		if err := tx.Take(&other, "name = ?", "other").Error; err != nil {
			return err
		}
		b.FarmID = other.ID
	}
	if b.Wish == "cow" {
		b.Cows = append(b.Cows, Cow{Name: "cow of " + b.Name})
	}
	return nil
}

func (b *Barn) AfterSave(tx *gorm.DB) error {
	note(tx, "after", b.Name, b.ID, &Farm{}, b.FarmID)
	return nil
}

func onFarms(t *testing.T, test func(t *testing.T, db *gorm.DB, calls *[]string)) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Area{}, &Farm{}, &Barn{}, &Cow{})
		var calls []string
		ctx := t.Context()
		db = db.Set("x", 1).Session(&gorm.Session{Context: contextWith(ctx, &calls)})
		test(t, db, &calls)
	})
}

func TestGraphHooks(t *testing.T) {
	farms := map[string]func() []*Farm{
		"plain": func() []*Farm {
			return []*Farm{{Name: "a", Area: &Area{Name: "hill"}, Barns: []Barn{{Name: "a1"}, {Name: "a2"}}}, {Name: "b", Barns: []Barn{{Name: "b1"}}}}
		},
		"a barn is added": func() []*Farm {
			return []*Farm{{Name: "a", Wish: "another barn", Barns: []Barn{{Name: "a1"}}}, {Name: "b"}}
		},
		"an area is added": func() []*Farm { return []*Farm{{Name: "a", Wish: "area"}, {Name: "b", Area: &Area{Name: "hill"}}} },
		"the area changes": func() []*Farm { return []*Farm{{Name: "a", Wish: "rename area", Area: &Area{Name: "hill"}}} },
		"a barn is dropped": func() []*Farm {
			return []*Farm{{Name: "a", Wish: "drop", Barns: []Barn{{Name: "a1"}, {Name: "drop"}, {Name: "a3", Cows: []Cow{{Name: "c"}}}}}}
		},
		"a column is set": func() []*Farm { return []*Farm{{Name: "a", Wish: "column"}, {Name: "b", Wish: "column"}} },
		"children add": func() []*Farm {
			return []*Farm{{Name: "a", Barns: []Barn{{Name: "a1", Wish: "cow"}, {Name: "a2", Wish: "cow"}}}}
		},
		"one area, farm and barn": func() []*Farm {
			hill := &Area{Name: "hill"}
			return []*Farm{{Name: "a", Area: hill, Barns: []Barn{{Name: "a1", Area: hill}}}}
		},
		"a clause is added": func() []*Farm { return []*Farm{{Name: "a", Wish: "ignore", Barns: []Barn{{Name: "a1"}}}} },
	}
	onFarms(t, func(t *testing.T, db *gorm.DB, calls *[]string) {
		for name, build := range farms {
			t.Run(name, func(t *testing.T) {
				for _, skip := range []bool{false, true} {
					what := fmt.Sprintf("%s, SkipHooks %v", name, skip)
					h := db.Session(&gorm.Session{SkipHooks: skip})
					run := func(create func(v any) error) (rows, called []string) {
						empty(t, db, farmTables...)
						*calls = nil
						v := build()
						if err := create(v); err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						checkGraph(t, db, v)
						rows, called = dump(t, db, farmTables...), slices.Clone(*calls)
						slices.Sort(called)
						return rows, called
					}
					theirs, theirCalls := run(func(v any) error { return h.Create(v).Error })
					ours, ourCalls := run(func(v any) error { return graph.Create(h.Statement.Context, h, v) })
					if !slices.Equal(ours, theirs) {
						t.Errorf("%s: Create wrote\n%s\ngorm\n%s", what, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
					}
					if !slices.Equal(ourCalls, theirCalls) {
						t.Errorf("%s: Create called\n%s\ngorm\n%s", what, strings.Join(ourCalls, "\n"), strings.Join(theirCalls, "\n"))
					}
					if skip != (len(ourCalls) == 0) {
						t.Errorf("%s: %d calls", what, len(ourCalls))
					}
				}
			})
		}
	})
}

func TestGraphHooksFail(t *testing.T) {
	onFarms(t, func(t *testing.T, db *gorm.DB, calls *[]string) {
		for name, build := range map[string]func() *Farm{
			"before": func() *Farm { return &Farm{Name: "a", Wish: "refuse", Area: &Area{Name: "x"}} },
			"after": func() *Farm {
				return &Farm{Name: "a", Wish: "refuse after", Area: &Area{Name: "x"}, Barns: []Barn{{Name: "b"}}}
			},
			"of a child":   func() *Farm { return &Farm{Name: "a", Barns: []Barn{{Name: "b"}, {Name: "c", Wish: "refuse"}}} },
			"panic":        func() *Farm { return &Farm{Name: "a", Wish: "panic", Barns: []Barn{{Name: "b"}}} },
			"panic, after": func() *Farm { return &Farm{Name: "a", Wish: "panic after", Barns: []Barn{{Name: "b"}}} },
		} {
			t.Run(name, func(t *testing.T) {
				f := build()
				var err error
				panicked := func() (p any) {
					defer func() { p = recover() }()
					err = graph.Create(db.Statement.Context, db, f)
					return nil
				}()
				if strings.HasPrefix(name, "panic") {
					if panicked != errHook {
						t.Errorf("%s: %v, %v", name, panicked, err)
					}
				} else if panicked != nil || !errors.Is(err, errHook) {
					t.Errorf("%s: %v, %v", name, panicked, err)
				}
				if rows := dump(t, db, farmTables...); len(rows) != 0 {
					t.Errorf("%s: rows are left: %v", name, rows)
				}
				if got, want := keysOf(f), keysOf(build()); got != want {
					t.Errorf("%s: keys are left: %s, want %s", name, got, want)
				}
				// The connection is back in the pool, and nothing is locked.
				if err := graph.Create(db.Statement.Context, db, &Farm{Name: "ok"}); err != nil {
					t.Errorf("%s: afterwards: %v", name, err)
				}
				empty(t, db, farmTables...)
			})
		}
	})
}

// A hook moved a row to where another's key was given: the undo leaves its own.
func TestGraphHookMovesRowsAndFails(t *testing.T) {
	onFarms(t, func(t *testing.T, db *gorm.DB, _ *[]string) {
		f := &Farm{Name: "a", Wish: "drop and refuse", Barns: []Barn{{Name: "a1"}, {Name: "drop"}, {Name: "a3", ID: 77}, {Name: "a4"}}}
		if err := graph.Create(t.Context(), db, f); !errors.Is(err, errHook) {
			t.Error(err)
		}
		if len(f.Barns) != 3 || f.ID != 0 || f.Barns[0].ID != 0 || f.Barns[1].ID != 77 || f.Barns[2].ID != 0 {
			t.Errorf("%+v", f.Barns)
		}
	})
}

// The context ends when all is written and COMMIT not yet sent: a plain failure.
func TestGraphCancelledBeforeCommit(t *testing.T) {
	onFarms(t, func(t *testing.T, db *gorm.DB, _ *[]string) {
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			f := &Farm{Name: "a", Wish: "cancel"}
			err := graph.Create(context.WithValue(ctx, cancelKey{}, cancel), db, f)
			if !errors.Is(err, context.Canceled) || errors.Is(err, graph.ErrOutcomeUnknown) || f.ID != 0 {
				t.Fatalf("%d, %v", f.ID, err)
			}
		}
		if rows := dump(t, db, farmTables...); len(rows) != 0 {
			t.Errorf("rows are left: %v", rows)
		}
	})
}

// A child's hook has the last word about its parent, as in gorm.
func TestGraphHookMovesChild(t *testing.T) {
	onFarms(t, func(t *testing.T, db *gorm.DB, _ *[]string) {
		run := func(create func(v any) error) []string {
			empty(t, db, farmTables...)
			if err := db.Create(&Farm{Name: "other"}).Error; err != nil {
				t.Fatal(err)
			}
			if err := create(&Farm{Name: "a", Area: &Area{Name: "x"}, Barns: []Barn{{Name: "moved", Wish: "move", Cows: []Cow{{Name: "c"}}}}}); err != nil {
				t.Fatal(err)
			}
			return dump(t, db, farmTables...)
		}
		theirs := run(func(v any) error { return db.Create(v).Error })
		ours := run(func(v any) error { return graph.Create(t.Context(), db, v) })
		if !slices.Equal(ours, theirs) || !strings.Contains(strings.Join(ours, ""), "farm_id=farms/other") {
			t.Errorf("Create wrote\n%s\ngorm\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
	})
}

// Hooks of more rows than one INSERT takes.
func TestGraphHooksInChunks(t *testing.T) {
	onFarms(t, func(t *testing.T, db *gorm.DB, calls *[]string) {
		var farms []Farm
		for i := range 250 {
			farms = append(farms, Farm{Name: fmt.Sprint(i), Wish: "rename area", Area: &Area{Name: "old"}, Barns: []Barn{{Name: fmt.Sprint("b", i), Wish: "cow"}}})
		}
		result, err := graph.CreateWith(db.Statement.Context, db, farms, graph.Config{BatchSize: 100})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(result), "{250 [{areas 3 250} {farms 3 250} {barns 3 250} {cows 3 250}] []}"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		checkGraph(t, db, farms)
		var n int64
		if db.Model(&Area{}).Where("name = ?", "renamed").Count(&n); n != 250 {
			t.Errorf("%d areas were renamed before they were written", n)
		}
		for _, call := range *calls {
			if strings.Contains(call, "WITHOUT") || strings.Contains(call, " 0 barns") {
				t.Fatal(call)
			}
		}
		if len(*calls) != 1000 {
			t.Errorf("%d calls", len(*calls))
		}
	})
}
