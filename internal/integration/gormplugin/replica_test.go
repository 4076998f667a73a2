package gormplugin

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A visit belongs to a user that is found or made, and a guild has children that belong to it.
type (
	User struct {
		ID      sqltype.ID
		Email   string `gorm:"size:60;uniqueIndex"`
		Realm   string `gorm:"size:20"`
		Devices []Device
	}
	Device struct {
		ID     sqltype.ID
		Name   string     `gorm:"size:20"`
		UserID sqltype.ID `gorm:"not null"`
		User   *User
	}
	Visit struct {
		ID     sqltype.ID
		Name   string `gorm:"size:20"`
		UserID sqltype.ID
		User   *User
		Tags   []Keyword `gorm:"many2many:visit_keywords"`
	}
	Keyword struct {
		ID   sqltype.ID
		Word string `gorm:"size:20;unique"`
	}
	Guild struct {
		ID      sqltype.ID
		Town    string `gorm:"size:20;uniqueIndex"`
		Members []Member
		Owners  []Owner
	}
	Member struct {
		ID      sqltype.ID
		GuildID sqltype.ID
	}
	Owner struct {
		ID      sqltype.ID
		GuildID sqltype.ID
		Guild   *Guild
	}
	Shelf struct {
		ID   sqltype.ID
		Name string `gorm:"size:20"`
	}
)

// The replica lags: it has the tables, and none of the rows. Queries that decide about rows go
// to the primary.
func TestReplicaThatLags(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		for _, foreignKeys := range []bool{true, false} {
			for _, resolverFirst := range []bool{true, false} {
				if !d.Usual && resolverFirst != foreignKeys {
					continue // the usual modes have all four combinations
				}
				t.Run(fmt.Sprintf("foreign keys %v, resolver first %v", foreignKeys, resolverFirst), func(t *testing.T) {
					db := replicated(t, d, foreignKeys, resolverFirst)
					for what, create := range map[string]func(v any) error{
						"gorm":             func(v any) error { return db.Create(v).Error },
						"skip transaction": func(v any) error { return db.Session(&gorm.Session{SkipDefaultTransaction: true}).Create(v).Error },
						"graph":            func(v any) error { return graph.Create(t.Context(), db, v) },
					} {
						checkReplicated(t, db, what, create)
					}
				})
			}
		}
	})
}

func replicated(t *testing.T, d databases.Database, foreignKeys, resolverFirst bool) *gorm.DB {
	t.Helper()
	tables := []any{&User{}, &Device{}, &Keyword{}, &Visit{}}
	open := func(dialector gorm.Dialector) *gorm.DB {
		return databases.HandleOf(t, dialector, &gorm.Config{Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: !foreignKeys})
	}
	for _, dialector := range []gorm.Dialector{d.Open(t), d.Replica(t)} {
		db := open(dialector)
		must(t, db.Migrator().DropTable(append([]any{"visit_keywords"}, tables...)...))
		must(t, db.AutoMigrate(tables...))
	}
	gen := databases.Generator(t, 1)
	plugins := []gorm.Plugin{gormplugin.New(gormplugin.Config{Source: gen, Models: tables}), dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{d.Replica(t)}})}
	if resolverFirst {
		plugins[0], plugins[1] = plugins[1], plugins[0]
	}
	db := open(d.Open(t))
	for _, p := range plugins {
		must(t, db.Use(p))
	}
	return db
}

// checkReplicated writes rows that collide with others, and checks that each refers to a row.
func checkReplicated(t *testing.T, db *gorm.DB, what string, create func(v any) error) {
	t.Helper()
	writer := func() *gorm.DB { return db.Clauses(dbresolver.Write) }
	red := &Keyword{Word: "red " + what}
	ada := &User{Email: "ada " + what}
	for _, v := range []any{red, ada} {
		must(t, create(v))
	}
	visit := &Visit{
		Name: what,
		User: &User{Email: ada.Email, Devices: []Device{{Name: "phone"}}},
		Tags: []Keyword{{Word: red.Word}, {Word: "new " + what}},
	}
	if err := create(visit); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var row Visit
	must(t, writer().Take(&row, visit.ID).Error)
	if visit.Tags[0].ID != red.ID || visit.Tags[1].ID == 0 || visit.UserID != ada.ID || row.UserID != ada.ID || visit.User.Devices[0].UserID != ada.ID {
		t.Errorf("%s: the structs have %+v", what, visit)
	}
	for query, table := range map[string]string{
		"SELECT COUNT(*) FROM visit_keywords WHERE keyword_id NOT IN (SELECT id FROM keywords) OR visit_id NOT IN (SELECT id FROM visits)": "visit_keywords",
		"SELECT COUNT(*) FROM visits WHERE user_id NOT IN (SELECT id FROM users)":                                                          "visits",
		"SELECT COUNT(*) FROM devices WHERE user_id NOT IN (SELECT id FROM users)":                                                         "devices",
	} {
		var dangling int64
		if err := writer().Raw(query).Scan(&dangling).Error; err != nil || dangling > 0 {
			t.Errorf("%s: %d rows of %s refer to nothing, %v", what, dangling, table, err)
		}
	}
	user := &User{Email: ada.Email, Realm: what}
	on := clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}
	if err := db.Clauses(on).Create(user).Error; err != nil || user.ID != ada.ID {
		t.Errorf("%s: the struct has %d, the row %d: %v", what, user.ID, ada.ID, err)
	}
}

// Tables may be routed to a source: the graph is written there, and is refused before anything is
// written if its tables are in several.
func TestRoutedTables(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		models := []any{&Guild{}, &Member{}, &Owner{}, &Shelf{}}
		open := func(d gorm.Dialector, prepared bool) *gorm.DB {
			cfg := &gorm.Config{Logger: logger.Discard, PrepareStmt: prepared}
			db := databases.HandleOf(t, d, cfg, gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 5), Models: models}))
			must(t, db.AutoMigrate(models...))
			return db
		}
		counts := func(db *gorm.DB, want int, query string, args ...any) {
			t.Helper()
			var n int
			if err := db.Raw(query, args...).Scan(&n).Error; err != nil || n != want {
				t.Errorf("%s: %d, %v; want %d", query, n, err, want)
			}
		}
		routed := open(d.Replica(t), false)
		for _, c := range []struct {
			sources, tables int
			prepared        bool
		}{{1, 3, false}, {1, 3, true}, {2, 3, false}, {1, 0, false}, {1, 2, false}} {
			what := fmt.Sprintf("%+v", c)
			db := open(d.Open(t), c.prepared)
			var sources []gorm.Dialector
			for range c.sources {
				sources = append(sources, d.Replica(t))
			}
			tables := []any{"guilds", &Member{}, "owners"}[:c.tables] // none: all tables
			must(t, db.Use(dbresolver.Register(dbresolver.Config{Sources: sources}, tables...)))
			for i := range 10 {
				town := fmt.Sprintf("%s %d", what[:4], i)
				guild := &Guild{Town: town, Members: make([]Member, 2), Owners: make([]Owner, 1)}
				err := graph.Create(t.Context(), db, guild)
				if c.tables == 2 {
					if err == nil || !strings.Contains(err.Error(), "guilds") || !strings.Contains(err.Error(), "owners") || guild.ID != 0 {
						t.Errorf("%s: %v, %+v", what, err, guild)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				counts(routed, 2, "SELECT COUNT(*) FROM guilds JOIN members ON guild_id = guilds.id WHERE town = ?", town)
				if c.tables > 0 {
					if err := graph.Create(t.Context(), db, &Shelf{Name: "a"}); err != nil {
						t.Error(err)
					}
				}
			}
			for _, table := range []string{"members", "owners", "guilds"} {
				must(t, routed.Exec("DELETE FROM "+table).Error)
			}
			primary := databases.HandleOf(t, d.Open(t), &gorm.Config{Logger: logger.Discard})
			counts(primary, 0, "SELECT (SELECT COUNT(*) FROM guilds) + (SELECT COUNT(*) FROM members) + (SELECT COUNT(*) FROM owners)")
			counts(routed, 0, "SELECT COUNT(*) FROM shelves")
		}
	})
}

type Badge struct {
	ID  sqltype.ID
	No  int64  `gorm:"uniqueIndex;snowflake"`
	Ref string `gorm:"size:20"`
}

// A plugin that leases fills rows of the sources of dbresolver, which are not its own pool, in each order
// of db.Use. The handles that dbresolver opens with a copy of the gorm.Config are no other databases.
func TestLeasedWithResolver(t *testing.T) {
	for name, resolverFirst := range map[string]bool{"the plugin first": false, "dbresolver first": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			open := func(name string) gorm.Dialector {
				return sqlite.Open("file:" + filepath.Join(dir, name) + "?_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
			}
			for _, name := range []string{"main", "source", "replica"} {
				db := databases.HandleOf(t, open(name), &gorm.Config{Logger: logger.Discard})
				must(t, db.AutoMigrate(&Badge{}))
			}
			plugin := new(gormplugin.Plugin)
			resolver := dbresolver.Register(dbresolver.Config{Sources: []gorm.Dialector{open("source")}, Replicas: []gorm.Dialector{open("replica")}}, &Badge{})
			plugins := []gorm.Plugin{plugin, resolver}
			if resolverFirst {
				plugins[0], plugins[1] = plugins[1], plugins[0]
			}
			db := databases.HandleOf(t, open("main"), &gorm.Config{Logger: logger.Discard}, plugins...)
			for what, create := range map[string]func(b *Badge) error{
				"Create": func(b *Badge) error { return db.Create(b).Error },
				"graph":  func(b *Badge) error { return graph.Create(t.Context(), db, b) },
				"prepared": func(b *Badge) error {
					return db.Session(&gorm.Session{PrepareStmt: true}).Create(b).Error
				},
			} {
				badge := Badge{Ref: what}
				if err := create(&badge); err != nil || badge.ID == 0 || badge.No == 0 {
					t.Errorf("%s: %+v, %v", what, badge, err)
				}
			}
			var n int64
			if err := databases.HandleOf(t, open("source"), &gorm.Config{}).Model(&Badge{}).Count(&n).Error; err != nil || n != 3 {
				t.Errorf("%d rows in the source, %v", n, err)
			}
			if err := plugin.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
