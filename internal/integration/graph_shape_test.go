package integration

import (
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

// Team and Worker refer to each other.
type Team struct {
	ID     sqltype.ID
	Name   string `gorm:"size:20"`
	LeadID *sqltype.ID
	Lead   *Worker `gorm:"foreignKey:LeadID"`
}

type Worker struct {
	ID     sqltype.ID
	Name   string `gorm:"size:20"`
	TeamID *sqltype.ID
	Team   *Team
	BossID *sqltype.ID
	Boss   *Worker
}

// Folder has a key that the database makes.
type Folder struct {
	ID       uint   `gorm:"snowflake:-"`
	Name     string `gorm:"size:20"`
	ParentID *uint
	Folders  []Folder `gorm:"foreignKey:ParentID"`
	Files    []File
}

type File struct {
	ID       sqltype.ID
	Name     string `gorm:"size:20"`
	FolderID uint
}

// Driver and Car are joined by a model with a key of its own.
type Driver struct {
	ID   sqltype.ID
	Name string `gorm:"size:20"`
	Cars []*Car `gorm:"many2many:drives"`
}

type Car struct {
	ID   sqltype.ID
	Name string `gorm:"size:20"`
}

type Drive struct {
	ID       sqltype.ID
	DriverID sqltype.ID `gorm:"uniqueIndex:pair"`
	CarID    sqltype.ID `gorm:"uniqueIndex:pair"`
	Since    int        `gorm:"default:2020"`
}

func (d *Drive) BeforeCreate(*gorm.DB) error {
	if d.ID == 0 || d.DriverID == 0 || d.CarID == 0 {
		return fmt.Errorf("a join row without keys: %+v", d)
	}
	return nil
}

// Outer, Middle and Inner have one key.
type Outer struct {
	ID     sqltype.ID
	Middle *Middle `gorm:"foreignKey:ID;references:ID"`
}

type Middle struct {
	ID    sqltype.ID
	Inner *Inner `gorm:"foreignKey:ID;references:ID"`
}

type Inner struct{ ID sqltype.ID }

// Thread is one list of any length.
type Thread struct {
	ID      sqltype.ID
	ReplyID *sqltype.ID
	Next    *Thread `gorm:"foreignKey:ReplyID"`
}

// Tables that refer to each other are no cycle as long as the rows are none.
func TestGraphCycles(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: true}, &Team{}, &Worker{})
		for _, sql := range []string{
			"ALTER TABLE teams ADD CONSTRAINT l FOREIGN KEY (lead_id) REFERENCES workers(id)",
			"ALTER TABLE workers ADD CONSTRAINT t FOREIGN KEY (team_id) REFERENCES teams(id)",
			"ALTER TABLE workers ADD CONSTRAINT b FOREIGN KEY (boss_id) REFERENCES workers(id)",
		} {
			if db.Name() != "sqlite" {
				if err := db.Exec(sql).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
		boss := &Worker{Name: "boss"}
		top := &Team{Name: "top", Lead: boss}
		mid := &Worker{Name: "mid", Team: top, Boss: boss}
		sub := &Team{Name: "sub", Lead: mid}
		workers := []*Worker{{Name: "w1", Team: sub, Boss: mid}, {Name: "w2", Team: top, Boss: boss}}
		if err := graph.Create(t.Context(), db, workers); err != nil {
			t.Fatal(err)
		}
		checkGraph(t, db, workers)
		var rows int64
		if db.Model(&Worker{}).Count(&rows); rows != 4 {
			t.Errorf("%d workers", rows)
		}

		a, b := &Worker{Name: "a"}, &Worker{Name: "b"}
		a.Team, b.Team = &Team{Name: "x", Lead: b}, &Team{Name: "y", Lead: a}
		if err := graph.Assign(t.Context(), db, a); err != nil { // the keys of a circle can be given, whether it can be written or not
			t.Error(err)
		}
		checkGraph(t, db, a)
		c, e := &Worker{Name: "c"}, &Worker{Name: "e"}
		c.Boss, e.Boss = e, c
		for _, v := range []*Worker{a, c} {
			if err := graph.Create(t.Context(), db, v); err != nil { // more of it in TestGraphBreaksCycles
				t.Error(err)
			}
			checkGraph(t, db, v)
		}
		own := &Worker{Name: "own"} // its own boss: one row, which may refer to itself
		own.Boss = own
		if err := graph.Create(t.Context(), db, own); err != nil || own.BossID == nil || *own.BossID != own.ID {
			t.Errorf("%+v, %v", own, err)
		}
	})
}

// The database makes a key in the middle of the graph.
func TestGraphAutoIncrement(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Folder{}, &File{})
		root := []*Folder{{Name: "a", Files: []File{{Name: "f1"}}, Folders: []Folder{{Name: "b", Folders: []Folder{{Name: "c", Files: []File{{Name: "f2"}, {Name: "f3"}}}}}}}}
		if err := graph.Create(t.Context(), db, root); err != nil {
			t.Fatal(err)
		}
		c := root[0].Folders[0].Folders[0]
		if root[0].ID == 0 || c.ID == 0 || *c.ParentID != root[0].Folders[0].ID || c.Files[1].FolderID != c.ID || root[0].Files[0].FolderID != root[0].ID {
			t.Errorf("%+v", root[0])
		}
		seen, spy := spyOn(db)
		spy.at = func(_ int, what string) error {
			if strings.HasPrefix(what, "INSERT") && strings.Contains(what, "files") {
				return errInjected
			}
			return nil
		}
		bad := &Folder{Name: "x", Folders: []Folder{{Name: "y", Files: []File{{Name: "z"}}}}}
		if err := graph.Create(t.Context(), seen, bad); !errors.Is(err, errInjected) {
			t.Error(err)
		}
		if b := bad.Folders[0]; bad.ID != 0 || b.ID != 0 || b.ParentID != nil || b.Files[0].ID != 0 || b.Files[0].FolderID != 0 {
			t.Errorf("keys are left: %+v", bad)
		}
		var n int64
		if db.Table("files").Joins("JOIN folders ON folders.id = files.folder_id").Count(&n); n != 3 {
			t.Errorf("%d files in folders", n)
		}
	})
}

func TestGraphJoinModel(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		src := &tally{}
		db := graphHandle(t, d.open(t), src, nil)
		if err := db.SetupJoinTable(&Driver{}, "Cars", &Drive{}); err != nil {
			t.Fatal(err)
		}
		if err := db.AutoMigrate(&Car{}, &Driver{}, &Drive{}); err != nil {
			t.Fatal(err)
		}
		car := &Car{Name: "shared"}
		people := []Driver{{Name: "a", Cars: []*Car{car, {Name: "own"}, car}}, {Name: "b", Cars: []*Car{car}}}
		if err := graph.Create(t.Context(), db, &people); err != nil {
			t.Fatal(err)
		}
		var drives []Drive
		if err := db.Order("id").Find(&drives).Error; err != nil || len(drives) != 3 {
			t.Fatalf("%+v, %v", drives, err)
		}
		for _, drive := range drives {
			if drive.ID == 0 || drive.Since != 2020 {
				t.Errorf("%+v", drive)
			}
		}
		if src.calls != 1 || src.last != 7 {
			t.Errorf("%d reservations of %d keys, want one of 7", src.calls, src.last)
		}
	})
}

func TestGraphSharedKeys(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Outer{}, &Middle{}, &Inner{})
		values := []*Outer{{Middle: &Middle{Inner: &Inner{}}}, {Middle: &Middle{Inner: &Inner{}}}}
		if err := graph.Create(t.Context(), db, values); err != nil {
			t.Fatal(err)
		}
		for _, o := range values {
			if o.ID == 0 || o.Middle.ID != o.ID || o.Middle.Inner.ID != o.ID {
				t.Errorf("%d, %d, %d", o.ID, o.Middle.ID, o.Middle.Inner.ID)
			}
		}
		for what, err := range map[string]error{"Create": graph.Create(t.Context(), db, &Inner{}), "Assign": graph.Assign(t.Context(), db, &Middle{})} {
			if err == nil || !strings.Contains(err.Error(), "key of another row") {
				t.Errorf("%s without it: %v", what, err)
			}
		}
	})
}

// Any depth, in as few INSERTs as for rows that do not refer to each other, parents first.
func TestGraphDeep(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Thread{})
		depth := d.size(20_000, 2000)
		first := &Thread{}
		for n, i := first, 1; i < depth; i++ {
			n.Next = &Thread{}
			n = n.Next
		}
		result, err := graph.CreateWith(t.Context(), db, first, graph.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(result.Tables); got != fmt.Sprintf("[{threads %d %d}]", 1+insertsOf(db, depth-1, 2), depth) { // the one that was given is inserted, the others may be there
			t.Error(got)
		}
		var orphans int64
		if db.Table("threads t").Where("reply_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM threads p WHERE p.id = t.reply_id)").Count(&orphans); orphans != 0 {
			t.Errorf("%d refer to nothing", orphans)
		}
	})
}

// 100,000 children of one parent.
func TestGraphWide(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, graphModels()...)
		rows := d.size(100_000, 5000)
		p := &Purchase{Name: "wide", Items: make([]Item, rows)}
		for i := range p.Items {
			p.Items[i].Name = "i"
		}
		result, err := graph.CreateWith(t.Context(), db, p, graph.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(result); got != fmt.Sprintf("{1 [{purchases 1 1} {items %d %d}] []}", insertsOf(db, rows, 3), rows) {
			t.Error(got)
		}
		var n int64
		if db.Model(&Item{}).Where("purchase_id = ?", p.ID).Count(&n); n != int64(rows) {
			t.Errorf("%d items", n)
		}
		if !slices.IsSortedFunc(p.Items, func(a, b Item) int { return a.ID.Compare(b.ID) }) || int64(p.Items[0].ID) < p.ID {
			t.Error("the keys do not ascend in the order of the rows")
		}
	})
}

func TestGraphSelectAndOmit(t *testing.T) {
	handles := map[string]func(db *gorm.DB) *gorm.DB{
		"all":                  func(db *gorm.DB) *gorm.DB { return db },
		"Omit(Associations)":   func(db *gorm.DB) *gorm.DB { return db.Omit(clause.Associations) },
		"Omit(relation)":       func(db *gorm.DB) *gorm.DB { return db.Omit("Items", "Buyer") },
		"Omit(column)":         func(db *gorm.DB) *gorm.DB { return db.Omit("State", "Place") },
		"Omit(nested)":         func(db *gorm.DB) *gorm.DB { return db.Omit("Items.Notes", "Parts.Labels") },
		"Omit(nested column)":  func(db *gorm.DB) *gorm.DB { return db.Omit("Parcels.Name") },
		"Select(columns)":      func(db *gorm.DB) *gorm.DB { return db.Select("Name") },
		"Select(relation)":     func(db *gorm.DB) *gorm.DB { return db.Select("Name", "Receipt", "Parts") },
		"Select(nested)":       func(db *gorm.DB) *gorm.DB { return db.Select("Name", "Parcels", "Parcels.ID", "Parcels.PurchaseID") },
		"Select(Associations)": func(db *gorm.DB) *gorm.DB { return db.Select("Name", clause.Associations) },
		"Select(*)":            func(db *gorm.DB) *gorm.DB { return db.Select("*") },
		"Model":                func(db *gorm.DB) *gorm.DB { return db.Model(&Purchase{}) },
		"Unscoped":             func(db *gorm.DB) *gorm.DB { return db.Unscoped() },
		"Scopes": func(db *gorm.DB) *gorm.DB {
			return db.Scopes(func(tx *gorm.DB) *gorm.DB { return tx.Clauses(clause.OnConflict{DoNothing: true}) })
		},
		"Set": func(db *gorm.DB) *gorm.DB { return db.Set("a", 1).Set("b", 2) },
	}
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		for name, handle := range handles {
			t.Run(name, func(t *testing.T) {
				run := func(create func(v any) error) []string {
					empty(t, db, graphTables...)
					p := everything("a")
					p.Items[1].Purchase = nil // by the circle gorm writes a second time what was left out
					if err := create(p); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					return dump(t, db, graphTables...)
				}
				theirs := run(func(v any) error { return handle(db).Create(v).Error })
				h := handle(db)
				ours := run(func(v any) error { return graph.Create(t.Context(), h, v) })
				if !slices.Equal(ours, theirs) {
					t.Errorf("%s: Create wrote\n%s\ngorm\n%s", name, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
				}
				if len(theirs) == 0 {
					t.Errorf("%s: nothing was written", name)
				}
			})
		}
		empty(t, db, graphTables...)
		p := everything("a")
		if err := graph.Create(t.Context(), db.Omit("ID"), p); err == nil || !strings.Contains(err.Error(), "Purchase.ID is left out") {
			t.Errorf("Omit(ID): %v", err)
		}
		bare(t, db.Session(&gorm.Session{NewDB: true}), "Omit(ID)", p, everything("a"))

		for name, scope := range map[string]func(tx *gorm.DB) *gorm.DB{
			"Omit":   func(tx *gorm.DB) *gorm.DB { return tx.Omit("Items") },
			"Select": func(tx *gorm.DB) *gorm.DB { return tx.Select("Name") },
		} {
			p := everything("a")
			if err := graph.Create(t.Context(), db.Scopes(scope), p); err == nil || !strings.Contains(err.Error(), "scope") {
				t.Errorf("%s in a scope: %v", name, err)
			}
			bare(t, db, name+" in a scope", p, everything("a"))
		}

		// The far side is there already, or it is an error.
		label := &Label{Name: "l"}
		if err := db.Create(label).Error; err != nil {
			t.Fatal(err)
		}
		if err := graph.Create(t.Context(), db.Omit("Labels.*"), &Purchase{Name: "a", Labels: []*Label{{ID: label.ID}}}); err != nil {
			t.Error(err)
		}
		if rows := dump(t, db, graphTables...); len(rows) != 3 {
			t.Errorf("%v", rows)
		}
		if err := graph.Create(t.Context(), db.Omit("Labels.*"), &Purchase{Name: "a", Labels: []*Label{{Name: "new"}}}); err == nil || !strings.Contains(err.Error(), "Label.ID is zero") {
			t.Errorf("%v", err)
		}
	})
}
