package graph

import (
	"net"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// SnowParent and SnowChild are no more than a key each, a reference and a text.
type SnowParent struct {
	ID       sqltype.ID
	Name     string      `gorm:"size:40"`
	Children []SnowChild `gorm:"foreignKey:ParentID"`
}

type SnowChild struct {
	ID       sqltype.ID
	ParentID sqltype.ID `gorm:"index"`
	Position int
	Text     string `gorm:"size:40"`
}

// turns returns the round trips of f.
func turns(link *network.Link, f func()) int {
	before := link.Turns()
	f()
	return int(link.Turns() - before)
}

// The round trips for parents and children: Create, gorm's create of the slice, and row by row.
func TestGraphRoundTrips(t *testing.T) {
	modes := map[string]func(t *testing.T) (gorm.Dialector, *network.Link){}
	for name, mode := range map[string]pgx.QueryExecMode{"postgres/extended": pgx.QueryExecModeCacheStatement, "postgres/simple": pgx.QueryExecModeSimpleProtocol} {
		modes[name] = func(t *testing.T) (gorm.Dialector, *network.Link) {
			server := testserver.Postgres(t)
			cfg := databases.FreshPostgres(t, server.DSN)
			link := network.LinkTo(t, server.Addr)
			at, err := net.ResolveTCPAddr("tcp", link.Addr)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Host, cfg.Port = "127.0.0.1", uint16(at.Port)
			cfg.DefaultQueryExecMode = mode
			pool := stdlib.OpenDB(*cfg)
			pool.SetMaxOpenConns(1)
			return postgres.New(postgres.Config{Conn: pool}), link
		}
	}
	for name, interpolate := range map[string]bool{"mariadb/prepared": false, "mariadb/interpolate": true} {
		modes[name] = func(t *testing.T) (gorm.Dialector, *network.Link) {
			server := testserver.MariaDB(t)
			cfg := databases.FreshMySQL(t, server.DSN)
			link := network.LinkTo(t, server.Addr)
			cfg.Addr, cfg.InterpolateParams = link.Addr, interpolate
			return mysql.New(mysql.Config{DSNConfig: cfg}), link
		}
	}
	build := func(parents, children int) []SnowParent {
		rows := make([]SnowParent, parents)
		for i := range rows {
			rows[i].Children = make([]SnowChild, children)
		}
		return rows
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			d, link := mode(t)
			db := graphHandle(t, d, nil, nil, &SnowParent{}, &SnowChild{})
			pool, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			pool.SetMaxOpenConns(1)
			seen, s := spyOn(db)
			for _, size := range [][2]int{{1, 100}, {1000, 10}} {
				ways := map[string]func(rows []SnowParent) error{
					"Create": func(rows []SnowParent) error { return graph.Create(t.Context(), seen, rows) },
					"gorm":   func(rows []SnowParent) error { return seen.Create(&rows).Error },
					"row by row": func(rows []SnowParent) error {
						return seen.Transaction(func(tx *gorm.DB) error {
							for i := range rows {
								if err := tx.Omit(clause.Associations).Create(&rows[i]).Error; err != nil {
									return err
								}
								for k := range rows[i].Children {
									rows[i].Children[k].ParentID = rows[i].ID
									if err := tx.Create(&rows[i].Children[k]).Error; err != nil {
										return err
									}
								}
							}
							return nil
						})
					},
				}
				if size[0] > 1 {
					delete(ways, "row by row") // it would be 11,000 statements
				}
				got := map[string][2]int{}
				for way, create := range ways {
					rows := build(size[0], size[1])
					s.reset()
					trips := turns(link, func() {
						if err := create(rows); err != nil {
							t.Fatal(err)
						}
					})
					sent := verbs(s.reset())
					inserts := len(slices.DeleteFunc(sent, func(v string) bool { return v == "BEGIN" || v == "COMMIT" }))
					got[way] = [2]int{inserts, trips}
				}
				t.Logf("%d x %d, statements and round trips: Create %v, gorm %v, row by row %v", size[0], size[1], got["Create"], got["gorm"], got["row by row"])
				wantInserts := 1 + insertsOf(db, size[0]*size[1], 4)
				if c := got["Create"]; c[0] != wantInserts || c[1] > 2*c[0]+4 {
					t.Errorf("%v: Create took %d statements in %d round trips, want %d", size, c[0], c[1], wantInserts)
				}
				if row, ok := got["row by row"]; ok && row[1] < 10*got["Create"][1] {
					t.Errorf("%v: row by row took %d round trips only: is the count right?", size, row[1])
				}
				empty(t, db, "snow_children", "snow_parents")
			}
		})
	}
}
