package integration

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Models whose only key is filled with integers, with all kinds of types and tags.
type (
	liteNote struct {
		ID   sqltype.ID
		Text string
	}
	liteSoft struct {
		gormplugin.Model
		Text string `gorm:"index"`
	}
	liteTagged struct {
		ID   int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Text string
	}
	liteTyped struct {
		ID   uint64 `gorm:"primaryKey;autoIncrement:false;type:bigint;snowflake"`
		Text string
	}
	litePointer struct {
		ID   *sqltype.ID
		Text string
	}
	liteNamed struct {
		Key  sqltype.ID `gorm:"primaryKey;column:order"`
		Text string
	}
	liteWide struct {
		ID   sqltype.ID
		Text string
		Body []byte
	}
	liteShared struct { // the key is that of its owner
		ID    sqltype.ID
		Text  string
		Owner liteNamed `gorm:"foreignKey:ID;references:Key"`
	}
)

func liteModels() map[string]any {
	return map[string]any{
		"lite_notes": &liteNote{}, "lite_softs": &liteSoft{}, "lite_taggeds": &liteTagged{}, "lite_typeds": &liteTyped{},
		"lite_pointers": &litePointer{}, "lite_nameds": &liteNamed{}, "lite_wides": &liteWide{}, "lite_shareds": &liteShared{},
	}
}

// onSQLite opens a file with foreign keys on. Several handles may open the same file.
func onSQLite(t *testing.T) database {
	t.Helper()
	file := "file:" + filepath.Join(t.TempDir(), "key.sqlite") + "?_pragma=foreign_keys(1)&_pragma=busy_timeout(60000)&_pragma=synchronous(0)"
	return database{name: "sqlite", open: func(*testing.T) gorm.Dialector { return sqlite.Open(file) }}
}

func liteHandle(t *testing.T, d database, models ...any) *gorm.DB {
	t.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gen.Close)
	db := fillHandle(t, d, fillPlugin(t, gen, models...))
	if err := db.AutoMigrate(models...); err != nil {
		t.Fatal(err)
	}
	return db
}

func liteScan[T any](t *testing.T, db *gorm.DB, query string, args ...any) (v T) {
	t.Helper()
	if err := db.Raw(query, args...).Scan(&v).Error; err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func liteTable(t *testing.T, db *gorm.DB, table string) (text string, withoutRowid bool) {
	t.Helper()
	return liteScan[string](t, db, "SELECT sql FROM sqlite_master WHERE name = ?", table), liteScan[bool](t, db, "SELECT wr FROM pragma_table_list WHERE name = ?", table)
}

// checkRefused sees a row without a key refused, by whichever way it comes, where there are
// rows with snowflakes already.
func checkRefused(t *testing.T, db *gorm.DB, table, key string) {
	t.Helper()
	rows := liteScan[int](t, db, "SELECT count(*) FROM "+table)
	if rows == 0 {
		t.Fatalf("%s has no rows", table)
	}
	for _, statement := range []string{
		"INSERT INTO $table (text) VALUES ('x')",
		"INSERT INTO $table DEFAULT VALUES",
		"INSERT INTO $table ($key, text) VALUES (NULL, 'x')",
		"INSERT INTO $table ($key, text) VALUES (0, 'x')",
		"INSERT INTO $table ($key, text) VALUES (-1, 'x')",
		"INSERT INTO $table ($key, text) VALUES (7, 'x'), (NULL, 'x')",
		"INSERT OR REPLACE INTO $table (text) VALUES ('x')",
		"INSERT INTO $table (text) VALUES ('x') ON CONFLICT DO NOTHING",
		"INSERT INTO $table (text) SELECT text FROM $table",
		"UPDATE $table SET $key = NULL",
	} {
		statement = strings.NewReplacer("$table", table, "$key", `"`+key+`"`).Replace(statement)
		if err := db.Exec(statement).Error; err == nil || !strings.Contains(err.Error(), "constraint failed") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if n := liteScan[int](t, db, "SELECT count(*) FROM "+table); n != rows {
		t.Errorf("%s has %d rows, had %d", table, n, rows)
	}
}

// A forgotten key is an error, in a table that holds snowflakes already: in plain SQL, and
// by gorm where the plugin is not installed. A rowid would be max+1.
func TestSQLiteForgottenKey(t *testing.T) {
	d := onSQLite(t)
	db, plain := liteHandle(t, d, &liteNote{}, &liteSoft{}, &liteTagged{}, &liteTyped{}, &litePointer{}, &liteNamed{}, &liteWide{}, &liteShared{}), fillHandle(t, d)
	for _, row := range []any{
		&[]liteNote{{}, {}}, &[]liteSoft{{}, {}}, &[]liteTagged{{}, {}}, &[]liteTyped{{}, {}}, &[]litePointer{{}, {}}, &[]liteNamed{{}, {}}, &[]liteWide{{}, {}}, &liteShared{Owner: liteNamed{Text: "owner"}},
	} {
		if err := db.Create(row).Error; err != nil {
			t.Fatalf("%T: %v", row, err)
		}
	}
	for table, model := range liteModels() {
		t.Run(table, func(t *testing.T) {
			key := "id"
			if table == "lite_nameds" {
				key = "order"
			}
			checkRefused(t, plain, table, key)
			create := plain.Session(&gorm.Session{}).Omit(clause.Associations)
			if err := create.Create(model).Error; err == nil {
				t.Errorf("without the plugin %+v was written", model)
			}
			if err := create.Model(model).Create(map[string]any{"text": "x"}).Error; err == nil {
				t.Error("without the plugin a map without a key was written")
			}
			if _, without := liteTable(t, plain, table); without == (table == "lite_wides") {
				t.Errorf("WITHOUT ROWID: %v", without)
			}
		})
	}
}

type (
	liteOrder struct {
		ID       sqltype.ID
		Note     string `gorm:"size:40;index"`
		ParentID *sqltype.ID
		Parent   *liteOrder
		Children []liteOrder `gorm:"foreignKey:ParentID"`
		Lines    []liteLine  `gorm:"foreignKey:OrderID;constraint:OnDelete:CASCADE"`
		Tags     []liteTag   `gorm:"many2many:lite_order_tags"`
	}
	liteLine struct {
		ID      sqltype.ID
		OrderID sqltype.ID `gorm:"index"`
		Cents   int        `gorm:"check:cents_positive,cents >= 0"`
	}
	liteTag struct {
		ID   sqltype.ID
		Word string `gorm:"unique"`
	}
	liteComposite struct {
		ID     sqltype.ID `gorm:"primaryKey;snowflake"`
		Region int        `gorm:"primaryKey;autoIncrement:false"`
	}
	liteText struct {
		ID string `gorm:"primaryKey;size:11;snowflake:base62"`
	}
	liteNever struct {
		ID sqltype.ID `gorm:"snowflake:-"`
	}
	liteRowid struct {
		ID sqltype.ID `gorm:"type:integer"`
	}
	liteAuto struct {
		ID    int64 `gorm:"snowflake:-"`
		Other sqltype.ID
	}
	liteBigText struct {
		ID   sqltype.ID
		Body string `gorm:"type:text"`
	}
	liteDefault struct {
		ID sqltype.ID `gorm:"default:(unixepoch())"`
	}
	liteLong struct {
		ID   sqltype.ID
		Body string `gorm:"size:201"`
	}
	liteSized struct {
		ID   sqltype.ID
		Hash []byte `gorm:"size:32"`
	}
)

// What is no sole key of integers keeps the type that gorm gives it, and AutoMigrate sends
// nothing when it is run again.
func TestSQLiteKeyTypes(t *testing.T) {
	all := []any{
		&liteOrder{}, &liteLine{}, &liteTag{}, &liteComposite{}, &liteText{}, &liteNever{}, &liteRowid{}, &liteAuto{}, &liteBigText{}, &liteSized{}, &liteDefault{}, &liteLong{},
		&liteNote{}, &liteSoft{}, &liteTagged{}, &liteTyped{}, &litePointer{}, &liteNamed{}, &liteWide{}, &liteShared{},
	}
	d := onSQLite(t)
	db := liteHandle(t, d, all...)
	const checked = "`id` bigint NOT NULL CHECK (`id` > 0),"
	for table, want := range map[string]struct {
		text    string
		without bool
	}{
		"lite_orders":     {checked + "`note` text,`parent_id` bigint,", true},
		"lite_lines":      {checked + "`order_id` bigint,", true},
		"lite_tags":       {checked, true},
		"lite_order_tags": {"(`lite_order_id` bigint,`lite_tag_id` bigint,PRIMARY KEY (`lite_order_id`,`lite_tag_id`)", false},
		"lite_composites": {"(`id` bigint,`region` integer,PRIMARY KEY (`id`,`region`)", false},
		"lite_texts":      {"(`id` text,", false},
		"lite_nevers":     {"(`id` bigint,", false},
		"lite_rowids":     {"(`id` integer,", false},
		"lite_autos":      {"(`id` integer PRIMARY KEY AUTOINCREMENT,`other` bigint)", false},
		"lite_big_texts":  {checked, false},
		"lite_sizeds":     {checked, true},
		"lite_longs":      {checked, false},
		"lite_defaults":   {strings.TrimSuffix(checked, ",") + " DEFAULT (unixepoch()),", true},
		"lite_softs":      {checked, true},
	} {
		t.Run(table, func(t *testing.T) {
			if text, without := liteTable(t, db, table); without != want.without || !strings.Contains(text, want.text) {
				t.Errorf("%s is %s\nWITHOUT ROWID %v, want %v, and %s", table, text, without, want.without, want.text)
			}
		})
	}
	for i := range 2 {
		again, sent := record(db)
		if i == 1 {
			again, sent = record(fillHandle(t, d)) // without the plugin
		}
		if err := again.AutoMigrate(all...); err != nil {
			t.Fatal(err)
		}
		for _, sql := range sent.sql {
			if !strings.HasPrefix(sql, "SELECT") && !strings.HasPrefix(sql, "PRAGMA") {
				t.Errorf("migrating again sent %s", sql)
			}
		}
	}
	order := liteOrder{Note: "a", Lines: []liteLine{{Cents: 1}}, Children: []liteOrder{{Note: "b"}}, Tags: []liteTag{{Word: "red"}}}
	if err := db.Create(&order).Error; err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Create(&liteComposite{Region: 1}).Error, db.Create(&liteAuto{}).Error, db.Create(&liteText{}).Error, db.Create(&liteRowid{}).Error); err != nil {
		t.Error(err)
	}
	var back liteOrder
	if err := db.Preload(clause.Associations).First(&back, order.ID).Error; err != nil || len(back.Lines)+len(back.Children)+len(back.Tags) != 3 {
		t.Errorf("%+v, %v", back, err)
	}
}

// The caller's options come first, and another name of a table is as good as its own.
func TestSQLiteKeyOptions(t *testing.T) {
	db := liteHandle(t, onSQLite(t))
	if err := db.Set("gorm:table_options", "").AutoMigrate(&liteNote{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Set("gorm:table_options", " WITHOUT ROWID").AutoMigrate(&liteWide{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Table("notes_2026").AutoMigrate(&liteNote{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Transaction(func(tx *gorm.DB) error { return tx.Migrator().CreateTable(&liteLine{}, &liteOrder{}) }); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]bool{"lite_notes": false, "lite_wides": true, "notes_2026": true, "lite_orders": true, "lite_lines": true} {
		t.Run(table, func(t *testing.T) {
			if text, without := liteTable(t, db, table); without != want || !strings.Contains(text, "CHECK (`id` > 0)") {
				t.Errorf("%s: %s", table, text)
			}
		})
	}
	if err := db.Table("notes_2026").Create(&liteNote{}).Error; err != nil {
		t.Fatal(err)
	}
	checkRefused(t, db, "notes_2026", "id")
}

// gorm alters a table of SQLite by parsing its SQL and making it again: the constraint
// stays, and so does WITHOUT ROWID, or its absence.
func TestSQLiteKeyStays(t *testing.T) {
	type changed struct {
		ID    sqltype.ID
		Text  string `gorm:"size:40;not null;default:x"`
		Added int
	}
	for _, options := range []string{"", " "} {
		db := liteHandle(t, onSQLite(t), &liteTag{})
		if options != "" {
			db = db.Set("gorm:table_options", options).Session(&gorm.Session{})
		}
		if err := db.AutoMigrate(&liteOrder{}, &liteLine{}); err != nil {
			t.Fatal(err)
		}
		if err := db.Exec("CREATE TABLE plain (id integer PRIMARY KEY, text text); INSERT INTO plain (text) VALUES ('x')").Error; err != nil {
			t.Fatal(err)
		}
		order := liteOrder{Note: "a", Lines: []liteLine{{Cents: 1}}}
		if err := db.Create(&order).Error; err != nil {
			t.Fatal(err)
		}
		if err := db.Table("lite_orders").AutoMigrate(&changed{}); err != nil { // AddColumn
			t.Fatal(err)
		}
		// The lines' table is rebuilt: gorm would drop a parent table together with its children.
		m := db.Migrator()
		for _, step := range []struct {
			name  string
			alter func() error
		}{
			{"AlterColumn", func() error { return m.AlterColumn(&liteLine{}, "Cents") }},
			{"AlterColumn of the key", func() error { return m.AlterColumn(&liteLine{}, "ID") }},
			{"CreateConstraint of another", func() error { return m.CreateConstraint(&liteOrder{}, "Lines") }},
			{"DropConstraint", func() error { return m.DropConstraint(&liteLine{}, "cents_positive") }},
			{"DropColumn", func() error { return m.DropColumn(&liteLine{}, "cents") }},
			{"AddColumn", func() error { return m.AddColumn(&liteLine{}, "Cents") }},
			{"CreateConstraint", func() error { return m.CreateConstraint(&liteLine{}, "cents_positive") }},
		} {
			t.Run(step.name, func(t *testing.T) {
				if err := step.alter(); err != nil {
					t.Errorf("%s: %v", step.name, err)
				}
				text, without := liteTable(t, db, "lite_lines")
				if without != (options == "") || !strings.Contains(text, "`id` bigint NOT NULL CHECK (`id` > 0)") {
					t.Errorf("after %s: %s", step.name, text)
				}
			})
		}
		if err := errors.Join(m.RenameTable("lite_lines", "renamed"), m.RenameColumn("renamed", "order_id", "text")); err != nil {
			t.Error(err)
		}
		if text, without := liteTable(t, db, "renamed"); without != (options == "") || !strings.Contains(text, "CHECK (`id` > 0)") {
			t.Error(text)
		}
		checkRefused(t, db, "renamed", "id")
		types, err := m.ColumnTypes(&liteOrder{})
		if err != nil || len(types) != 5 || !m.HasTable(&liteOrder{}) {
			t.Fatal(len(types), err)
		}
		if nullable, _ := types[0].Nullable(); nullable || types[0].DatabaseTypeName() != "bigint" {
			t.Errorf("the key is %s, nullable %v", types[0].DatabaseTypeName(), nullable)
		}
		if types, err = m.ColumnTypes("plain"); err != nil || len(types) != 2 {
			t.Error(types, err)
		}
	}
}

// The dialector that wraps SQLite's has all its interfaces.
func TestSQLiteDialector(t *testing.T) {
	d := onSQLite(t)
	db := liteHandle(t, d, &liteTag{})
	db.TranslateError = true
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(&liteTag{Word: "red"}).Error; err != nil {
			return err
		}
		if err := tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&liteTag{Word: "red"}).Error }); !errors.Is(err, gorm.ErrDuplicatedKey) {
			t.Errorf("not translated: %v", err)
		}
		return tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&liteTag{Word: "blue"}).Error }) // a savepoint
	})
	if n := liteScan[int](t, db, "SELECT count(*) FROM lite_tags"); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	// A second Open with the same configuration installs the plugin again.
	second, err := gorm.Open(nil, db.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.AutoMigrate(&liteNote{}); err != nil {
		t.Error(err)
	}
	if text, without := liteTable(t, db, "lite_notes"); !without {
		t.Error(text)
	}
	var pool *sql.DB
	if pool, err = second.DB(); err != nil || pool.Close() != nil {
		t.Error(err)
	}
}
