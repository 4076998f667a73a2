package gormplugin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// Models of a service with old tables.
type (
	OldLine struct {
		ID    uint
		OldID *int64
	}
	Old struct {
		ID    int64
		Text  string `gorm:"uniqueIndex"`
		Lines []OldLine
		Tags  []Tag `gorm:"many2many:old_tags"`
	}
	OldSmall struct {
		ID int32
	}
	Pair struct {
		A, B int64 `gorm:"primaryKey;autoIncrement:false"`
	}
	Deleted struct { // a serial number next to a key that is set
		UUID string `gorm:"primaryKey"`
		No   int64
	}
)

// warnings keeps the lines that are logged.
type warnings struct {
	logger.Interface
	lines []string
}

func (w *warnings) LogMode(logger.LogLevel) logger.Interface { return w }

func (w *warnings) Warn(_ context.Context, format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

const oldText = `Old.ID is zero, so the database makes the key; to have it filled, use sqltype.ID or sqltype.Key itself, or add autoIncrement:false;snowflake to its gorm tag; ` +
	`to leave it so, add "olds" to Exempt in gormplugin.Config`

// operations are what a service does. Those that are refused insert a row whose sole integer key is zero.
var operations = []struct {
	name    string
	do      func(db *gorm.DB) error
	refused string // by Strict, as the start of the text
}{
	{"Create", func(db *gorm.DB) error { return db.Create(&Old{Text: "a"}).Error }, oldText},
	{"slice", func(db *gorm.DB) error { return db.Create([]*Old{{ID: 100, Text: "b"}, {Text: "c"}}).Error }, oldText},
	{"map", func(db *gorm.DB) error { return db.Model(&Old{}).Create(map[string]any{"text": "d"}).Error }, oldText},
	{"Save", func(db *gorm.DB) error { return db.Save(&Old{Text: "e"}).Error }, oldText},
	{"FirstOrCreate", func(db *gorm.DB) error { return db.FirstOrCreate(&Old{}, Old{Text: "f"}).Error }, oldText},
	{"another table", func(db *gorm.DB) error { return db.Table("archive").Create(&Old{Text: "g"}).Error }, strings.Replace(oldText, `"olds"`, `"archive"`, 1)},
	{"generics", func(db *gorm.DB) error { return gorm.G[Old](db).Create(context.Background(), &Old{Text: "h"}) }, oldText},
	{"an unsigned key", func(db *gorm.DB) error { return db.Create(&OldLine{}).Error }, "OldLine.ID is zero"},
	{"a key next to a number", func(db *gorm.DB) error { return db.Create(&OldNumbered{}).Error }, "OldNumbered.ID is zero"},
	{"a small key", func(db *gorm.DB) error { return db.Create(&OldSmall{}).Error }, "OldSmall.ID is zero, so the database makes the key; to have it filled, use sqltype.ID, since its type int32 cannot hold a Snowflake id;"},
	{"a set key", func(db *gorm.DB) error { return db.Create(&Old{ID: 200, Text: "i"}).Error }, ""},
	{"a set key in a map", func(db *gorm.DB) error { return db.Model(&Old{}).Create(map[string]any{"ID": 300, "text": "j"}).Error }, ""},
	{"a text key", func(db *gorm.DB) error { return db.Create(&Country{Code: "de"}).Error }, ""},
	{"a text key that is empty", func(db *gorm.DB) error { return db.Create(&Deleted{}).Error }, ""},
	{"a composite key", func(db *gorm.DB) error { return db.Create(&Pair{A: 1}).Error }, ""},
	{"no key", func(db *gorm.DB) error { return db.Create(&Keyless{}).Error }, ""},
	{"snowflake:-", func(db *gorm.DB) error { return db.Create(&Serial{}).Error }, ""},
	{"a table without a model", func(db *gorm.DB) error { return db.Table("archive").Create(map[string]any{"text": "k"}).Error }, ""},
	{"ON CONFLICT", func(db *gorm.DB) error {
		return db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Old{Text: "l"}).Error
	}, ""},
	{"Save of a slice", func(db *gorm.DB) error { return db.Save([]*Old{{Text: "m"}}).Error }, ""},
	{"associations", func(db *gorm.DB) error {
		return db.Create(&Old{ID: 400, Text: "n", Lines: []OldLine{{}, {}}, Tags: []Tag{{}}}).Error
	}, ""},
	{"update with associations", func(db *gorm.DB) error {
		return db.Session(&gorm.Session{FullSaveAssociations: true}).Updates(&Old{ID: 400, Text: "o", Lines: []OldLine{{}}}).Error
	}, ""},
	{"Append", func(db *gorm.DB) error { return db.Model(&Old{ID: 400}).Association("Lines").Append(&OldLine{}) }, ""},
	{"many to many", func(db *gorm.DB) error { return db.Model(&Old{ID: 400}).Association("Tags").Append(&Tag{}) }, ""},
	{"Update", func(db *gorm.DB) error {
		return db.Model(&Old{ID: 400}).Updates(map[string]any{"id": 400, "text": "p"}).Error
	}, ""},
}

// The default changes nothing, and says once for each model what it does not fill. Strict refuses
// INSERTs with a sole integer key that is zero, and nothing else. Both leave out what is exempt.
func TestStrict(t *testing.T) {
	for name, cfg := range map[string]gormplugin.Config{
		"default": {}, "strict": {Strict: true},
		"exempt":                 {Exempt: []any{&Old{}, []OldLine{}, "archive", &OldSmall{}, OldNumbered{}}},
		"strict, exempt":         {Strict: true, Exempt: []any{"olds", OldLine{}, "archive", OldSmall{}, "old_numbereds"}},
		"strict, exempt, models": {Strict: true, Exempt: []any{&Old{}, OldLine{}, &OldSmall{}, &OldNumbered{}}, Models: []any{&Old{}, &OldLine{}}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Source = &gormtest.Counter{}
			db := gormtest.SQLite(t, cfg, &Old{}, &OldLine{}, &OldSmall{}, &OldNumbered{}, &Tag{}, &Country{}, &Deleted{}, &Pair{}, &Keyless{}, &Serial{})
			must(t, db.Exec("CREATE TABLE archive (id integer PRIMARY KEY, text text)").Error)
			log := &warnings{Interface: logger.Discard}
			db.Logger = log
			for _, op := range operations {
				err, refused := op.do(db), cfg.Strict && cfg.Exempt == nil && op.refused != ""
				if (err != nil) != refused || refused && !strings.Contains(err.Error(), ": "+op.refused) {
					t.Errorf("%s: %v", op.name, err)
				}
			}
			zero := 0
			for _, table := range []string{"olds", "old_lines", "archive", "old_smalls"} {
				for _, id := range stored(t, db, table, "id") {
					if id == 0 {
						zero++
					}
				}
			}
			if zero > 0 {
				t.Errorf("%d rows have the key 0", zero)
			}
			lines := strings.Join(log.lines, "\n")
			switch {
			case cfg.Exempt != nil && lines != "":
				t.Error(lines)
			case name == "default" && (len(log.lines) != 4 || !strings.Contains(lines, "snowkey: table olds: "+oldText) || !strings.Contains(lines, "OldLine.ID")):
				t.Errorf("%d lines: %s", len(log.lines), lines)
			}
		})
	}
}

type (
	OldNumbered struct {
		ID     uint
		Number int64 `gorm:"snowflake"`
	}
)

// Where MySQL would cut keys and write 0 without an error, the log says so.
func TestModeIsNotStrict(t *testing.T) {
	for _, server := range testserver.MySQLs(t) {
		for mode, want := range map[string]int{"''": 1, "'STRICT_ALL_TABLES'": 0, "'TRADITIONAL'": 0} {
			cfg := databases.FreshMySQL(t, server.DSN)
			cfg.Params = map[string]string{"sql_mode": mode}
			log := &warnings{Interface: logger.Discard}
			databases.HandleOf(t, gormmysql.New(gormmysql.Config{DSNConfig: cfg}), &gorm.Config{Logger: log}, gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 1)}))
			if len(log.lines) != want || want > 0 && !strings.Contains(log.lines[0], "sql_mode is not strict") {
				t.Errorf("sql_mode %s: %q", mode, log.lines)
			}
		}
	}
}
