package graph_test

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Guild's key may become that of the row that is there, and its members have hooks.
type Guild struct {
	ID      sqltype.ID
	Town    string `gorm:"size:20;uniqueIndex"`
	Members []Member
	Owners  []Owner
}

type Member struct {
	ID      sqltype.ID
	GuildID sqltype.ID
	Seen    sqltype.ID // the parent as the hook saw it
}

func (m *Member) BeforeCreate(*gorm.DB) error { m.Seen = m.GuildID; return nil }

// Owner is a child and belongs to the guild too.
type Owner struct {
	ID      sqltype.ID
	GuildID sqltype.ID
	Guild   *Guild
}

func (*Owner) BeforeSave(*gorm.DB) error { return nil }

// League is a guild with its own hooks.
type League struct {
	ID      sqltype.ID
	Town    string `gorm:"size:20;uniqueIndex"`
	Players []Player
}

func (*League) BeforeCreate(*gorm.DB) error { return nil }

type Player struct {
	ID       sqltype.ID
	LeagueID sqltype.ID
}

func (*Player) BeforeCreate(*gorm.DB) error { return nil }

// Shelf has a key that the database makes.
type Shelf struct {
	ID    int64  `gorm:"snowflake:-"`
	Name  string `gorm:"size:20"`
	Books []Book
}

type Book struct {
	ID      sqltype.ID
	ShelfID int64
	Seen    int64
	Pages   []Page
}

func (b *Book) BeforeSave(*gorm.DB) error { b.Seen = b.ShelfID; return nil }

type Page struct {
	ID     sqltype.ID
	BookID sqltype.ID
}

func (*Page) BeforeCreate(*gorm.DB) error { return nil }

// A parent's key changes when it is written: its children get the new one, and
// their hooks see it. Without constraints, for those would hide a wrong one.
func TestGraphParentMovesUnderHooks(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := graphHandle(t, d.Open(t), nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: true},
			&Guild{}, &Member{}, &Owner{}, &League{}, &Player{}, &Shelf{}, &Book{}, &Page{})
		guild, league := &Guild{Town: "x"}, &League{Town: "x"}
		for _, v := range []any{guild, league} {
			must(t, db.Create(v).Error)
		}
		town := []clause.Column{{Name: "town"}}
		for name, on := range map[string]clause.OnConflict{
			"nothing":   {DoNothing: true},
			"named":     {Columns: town, DoNothing: true},
			"DoUpdates": {Columns: town, DoUpdates: clause.AssignmentColumns([]string{"town"})},
			"UpdateAll": {Columns: town, UpdateAll: true},
		} {
			t.Run(name, func(t *testing.T) {
				handle := db.Clauses(on)
				c := &Guild{Town: "x", Members: make([]Member, 2), Owners: make([]Owner, 2)}
				c.Owners[0].Guild = c
				if err := graph.Create(t.Context(), handle, c); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var back Guild
				if err := db.Preload("Members", "id IN ?", []sqltype.ID{c.Members[0].ID, c.Members[1].ID}).
					Preload("Owners", "id IN ?", []sqltype.ID{c.Owners[0].ID, c.Owners[1].ID}).Take(&back, guild.ID).Error; err != nil {
					t.Fatal(err)
				}
				if c.ID != guild.ID || len(back.Members) != 2 || back.Members[1].Seen != guild.ID || len(back.Owners) != 2 || c.Members[0].GuildID != guild.ID || c.Owners[1].GuildID != guild.ID {
					t.Errorf("%s: %+v, the database has %+v", name, c, back)
				}
				l := &League{Town: "x", Players: make([]Player, 2)}
				if err := graph.Create(t.Context(), handle, l); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var n int64
				if db.Model(&Player{}).Where("league_id = ?", league.ID).Where("id IN ?", []sqltype.ID{l.Players[0].ID, l.Players[1].ID}).Count(&n); n != 2 || l.Players[0].LeagueID != league.ID {
					t.Errorf("%s: %+v, %d players in the database", name, l, n)
				}
			})
		}
		shelves := []*Shelf{{Name: "a", Books: []Book{{}, {Pages: make([]Page, 1)}}}, {Name: "b", Books: make([]Book, 1)}}
		must(t, graph.Create(t.Context(), db, shelves))
		for _, s := range shelves {
			var n int64
			if db.Model(&Book{}).Where("shelf_id = ? AND seen = ?", s.ID, s.ID).Count(&n); s.ID == 0 || n != int64(len(s.Books)) || s.Books[0].ShelfID != s.ID {
				t.Errorf("%+v, %d in the database", s, n)
			}
		}
		if p := shelves[0].Books[1]; p.Pages[0].BookID != p.ID {
			t.Errorf("%+v", p)
		}
	})
}
