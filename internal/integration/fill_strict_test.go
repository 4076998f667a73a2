package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Forgetful has a key that the plugin does not fill, and a line that refers to it.
type Forgetful struct {
	ID    int64
	Text  string `gorm:"size:20"`
	Lines []ForgetfulLine
}

type ForgetfulLine struct {
	ID          sqltype.ID
	ForgetfulID int64
}

// A strict plugin writes no row with a key from the database, however it is created.
func TestStrictWritesNoOtherKey(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(gen.Close)
		for _, exempt := range [][]any{nil, {&Forgetful{}}, {"forgetfuls"}} {
			db := fillHandle(t, d, gormplugin.New(gormplugin.Config{Source: gen, Strict: true, Exempt: exempt}))
			for _, model := range []any{&ForgetfulLine{}, &Forgetful{}} {
				if err := db.Migrator().DropTable(model); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.AutoMigrate(&Forgetful{}, &ForgetfulLine{}); err != nil {
				t.Fatal(err)
			}
			row := func() *Forgetful { return &Forgetful{Text: "x", Lines: []ForgetfulLine{{}}} }
			for name, err := range map[string]error{
				"Create": db.Create(row()).Error,
				"slice":  db.Create([]*Forgetful{row(), row()}).Error,
				"Save":   db.Save(row()).Error,
				"map":    db.Model(&Forgetful{}).Create(map[string]any{"text": "x"}).Error,
				"graph":  graph.Create(t.Context(), db, row()),
			} {
				t.Run(name, func(t *testing.T) {
					if refused := err != nil && strings.Contains(err.Error(), "Forgetful.ID is zero, so the database makes the key"); refused != (exempt == nil) || err != nil && !refused {
						t.Errorf("%s, exempt %v: %v", name, exempt, err)
					}
				})
			}
			var rows, lines int64
			db.Model(&Forgetful{}).Count(&rows)
			db.Model(&ForgetfulLine{}).Where("forgetful_id > 0").Count(&lines)
			if exempt == nil && rows+lines != 0 || exempt != nil && (rows != 6 || lines != 5) {
				t.Errorf("exempt %v: %d rows, %d lines", exempt, rows, lines)
			}
		}
	})
}

// warnings keeps what gorm's logger is told.
type warnings struct {
	logger.Interface
	list []string
}

func (w *warnings) LogMode(logger.LogLevel) logger.Interface { return w }

func (w *warnings) Warn(_ context.Context, text string, args ...any) {
	w.list = append(w.list, fmt.Sprintf(text, args...))
}

// A plugin that is not strict leaves an old table as it is, and says once that the database makes
// its keys, unless it is exempt.
func TestOldTable(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		plain := fillHandle(t, d)
		if err := plain.AutoMigrate(&Forgetful{}, &ForgetfulLine{}); err != nil {
			t.Fatal(err)
		}
		for i, exempt := range [][]any{nil, {"forgetfuls"}} {
			w := &warnings{Interface: logger.Discard}
			db := fillHandle(t, d, gormplugin.New(gormplugin.Config{Source: &tally{}, Exempt: exempt})).Session(&gorm.Session{Logger: w})
			for range 3 {
				row := Forgetful{Text: "x"}
				if err := db.Create(&row).Error; err != nil || row.ID < 1 || row.ID > 6 {
					t.Errorf("%+v, %v", row, err)
				}
			}
			if len(w.list) != 1-i || i == 0 && !strings.Contains(w.list[0], "forgetfuls: Forgetful.ID is zero, so the database makes the key") {
				t.Errorf("exempt %v: %q", exempt, w.list)
			}
		}
	})
}

// Tenanted has a part of its key set by a hook, Regional by a default.
type (
	Tenanted struct {
		Tenant sqltype.ID `gorm:"primaryKey"`
		ID     sqltype.ID `gorm:"primaryKey;snowflake"`
		Hooked sqltype.ID `gorm:"-"`
	}
	Regional struct {
		Region sqltype.ID `gorm:"primaryKey;default:5"`
		ID     sqltype.ID `gorm:"primaryKey;snowflake"`
	}
)

func (r *Tenanted) BeforeCreate(*gorm.DB) error {
	r.Tenant = r.Hooked
	return nil
}

// A part of a composite key may be set by a hook or by a default.
func TestPartsOfKeysSetLater(t *testing.T) {
	onFresh(t, []any{&Tenanted{}, &Regional{}}, func(t *testing.T, db *gorm.DB) {
		rows := []Tenanted{{Hooked: 7}, {Hooked: 8}}
		if err := db.Create(&rows).Error; err != nil || rows[0].Tenant != 7 || rows[1].ID == 0 {
			t.Errorf("a hook: %+v, %v", rows, err)
		}
		region := Regional{}
		if err := db.Create(&region).Error; err != nil || region.Region != 5 || region.ID == 0 {
			t.Errorf("a default: %+v, %v", region, err)
		}
		region = Regional{}
		if err := graph.Create(t.Context(), db, &region); err != nil || region.Region != 5 || region.ID == 0 {
			t.Errorf("a default in a graph: %+v, %v", region, err)
		}
		for name, db := range map[string]*gorm.DB{"a hook that sets nothing": db, "no hook": db.Session(&gorm.Session{SkipHooks: true})} {
			if err := db.Create(&[]Tenanted{{Hooked: 9}, {}}).Error; err == nil || !strings.Contains(err.Error(), "Tenanted.Tenant is a part of the key, and is zero") {
				t.Errorf("%s: %v", name, err)
			}
		}
		var n int64
		if err := db.Model(&Tenanted{}).Count(&n).Error; err != nil || n != 2 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}
