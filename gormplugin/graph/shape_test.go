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

// Folder has a key that the database makes.
type Folder struct {
	ID       uint `gorm:"snowflake:-"`
	Name     string
	ParentID *uint
	Folders  []Folder `gorm:"foreignKey:ParentID"`
	Files    []File
	SelfID   *uint
	Self     *Folder
}

type File struct {
	ID       sqltype.ID
	FolderID uint
}

func TestAutoIncrement(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Folder{}, &File{})
	root := []*Folder{{Name: "a", Files: make([]File, 1), Folders: []Folder{{Name: "b", Folders: []Folder{{Name: "c", Files: make([]File, 2)}}}}}}
	if err := graph.Assign(t.Context(), db, root); err != nil || root[0].ID != 0 || root[0].Files[0].FolderID != 0 || root[0].Files[0].ID == 0 {
		t.Errorf("Assign: %+v, %v", root[0], err)
	}
	result, err := graph.CreateWith(t.Context(), db, root, graph.Config{})
	if c := root[0].Folders[0].Folders[0]; err != nil || root[0].ID == 0 || *c.ParentID != root[0].Folders[0].ID || c.Files[1].FolderID != c.ID || root[0].Files[0].FolderID != root[0].ID {
		t.Errorf("%+v, %v", root[0], err)
	}
	if fmt.Sprint(result.Tables) != "[{folders 3 3} {files 1 3}]" {
		t.Error(result.Tables)
	}
	if n := count(t, db.Joins("JOIN folders ON folders.id = files.folder_id"), "files"); n != 3 {
		t.Errorf("%d files in folders", n)
	}
	self := &Folder{Name: "self"}
	self.Self = self
	var cycle *graph.CycleError
	if err := graph.Create(t.Context(), db, self); !errors.As(err, &cycle) || strings.Join(cycle.Tables, " ") != "folders folders" || self.SelfID != nil {
		t.Errorf("%v, %+v", err, self)
	}
}

// Team and Worker refer to each other.
type Team struct {
	ID     sqltype.ID
	Name   string
	LeadID *sqltype.ID
	Lead   *Worker `gorm:"foreignKey:LeadID"`
}

type Worker struct {
	ID     sqltype.ID
	Name   string
	TeamID *sqltype.ID
	Team   *Team
	BossID *sqltype.ID
	Boss   *Worker
}

// Tables may refer to each other as long as their rows are in no cycle.
func TestCycles(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Team{}, &Worker{})
	boss := &Worker{Name: "boss"}
	top := &Team{Name: "top", Lead: boss}
	mid := &Worker{Name: "mid", Team: top, Boss: boss}
	sub := &Team{Name: "sub", Lead: mid}
	own := &Worker{Name: "own"} // its own boss
	own.Boss = own
	workers := []*Worker{{Name: "w1", Team: sub, Boss: mid}, {Name: "w2", Team: top, Boss: boss}, own}
	must(t, graph.Create(t.Context(), db, workers))
	var back Worker
	if err := db.Preload("Boss.Boss").Preload("Team.Lead.Team.Lead").Take(&back, workers[0].ID).Error; err != nil || back.Boss.Boss.Name != "boss" || back.Team.Lead.Team.Lead.Name != "boss" {
		t.Errorf("%+v, %v", back, err)
	}
	if count(t, db, "workers") != 5 || *own.BossID != own.ID {
		t.Errorf("%d workers, %+v", count(t, db, "workers"), own)
	}
	a, b := &Worker{Name: "a"}, &Worker{Name: "b"}
	a.Boss, b.Team = b, &Team{Name: "x", Lead: a}
	for range 2 {
		var cycle *graph.CycleError
		err := graph.Create(t.Context(), db, []*Worker{{Name: "none", Team: top}, a})
		if !errors.As(err, &cycle) || strings.Join(cycle.Tables, " ") != "teams workers workers teams" || !strings.Contains(err.Error(), "by an update after the create") {
			t.Error(err)
		}
	}
	if count(t, db, "workers") != 5 || a.ID != 0 || b.TeamID != nil {
		t.Errorf("%+v, %+v", a, b)
	}
	if err := graph.Assign(t.Context(), db, a); err != nil || *b.TeamID != b.Team.ID || *b.Team.LeadID != a.ID || *a.BossID != b.ID {
		t.Errorf("%v, %+v", err, a)
	}
	// Without one of the references they can be written. It is set afterwards.
	b.Team.Lead, b.Team.LeadID = nil, nil
	must(t, graph.Create(t.Context(), db, a))
	must(t, db.Model(b.Team).Update("lead_id", a.ID).Error)
}

// Driver and Car are joined by a model with its own key.
type Driver struct {
	ID   sqltype.ID
	Cars []*Car `gorm:"many2many:drives"`
}

type Car struct {
	ID   sqltype.ID
	Name string `gorm:"unique"`
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

func TestManyToMany(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}})
	must(t, errors.Join(db.SetupJoinTable(&Driver{}, "Cars", &Drive{}), db.AutoMigrate(&Car{}, &Driver{}, &Drive{}), db.Create(&Car{ID: 500, Name: "old"}).Error))
	shared := &Car{Name: "shared"}
	people := []Driver{{Cars: []*Car{shared, {Name: "own"}, shared}}, {Cars: []*Car{shared, {Name: "old"}}}, {Cars: []*Car{{ID: 500, Name: "ignored"}}}}
	must(t, graph.Create(t.Context(), db, &people))
	var drives []Drive
	if err := db.Order("id").Find(&drives).Error; err != nil || len(drives) != 5 || drives[0].Since != 2020 || people[1].Cars[1].ID != 500 {
		t.Errorf("%+v, %v, %+v", drives, err, people[1].Cars[1])
	}
	// Only the join rows are written.
	only := db.Omit("Cars.*")
	if err := graph.Create(t.Context(), only, &Driver{Cars: []*Car{{ID: 500, Name: "other"}}}); err != nil || count(t, db, "cars") != 3 {
		t.Errorf("%d cars, %v", count(t, db, "cars"), err)
	}
	if err := graph.Create(t.Context(), only, &Driver{Cars: []*Car{{Name: "new"}}}); err == nil || !strings.Contains(err.Error(), "Car.ID is zero") {
		t.Error(err)
	}
}

// Outer, Middle and Inner have one key, and so have Lowest, Lower and Base, from below.
type Outer struct {
	ID     sqltype.ID
	Middle *Middle `gorm:"foreignKey:ID;references:ID"`
}

type Middle struct {
	ID    sqltype.ID
	Inner *Inner `gorm:"foreignKey:ID;references:ID"`
}

type Inner struct{ ID sqltype.ID }

type Lowest struct {
	ID    sqltype.ID
	Lower *Lower `gorm:"belongsTo;foreignKey:ID;references:ID"`
}

type Lower struct {
	ID   sqltype.ID
	Base *Base `gorm:"belongsTo;foreignKey:ID;references:ID"`
}

type Base struct{ ID sqltype.ID }

func TestSharedKeys(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Outer{}, &Middle{}, &Inner{}, &Base{}, &Lower{}, &Lowest{})
	for what, do := range map[string]func(context.Context, *gorm.DB, any) error{"Create": graph.Create, "Assign": graph.Assign} {
		outer, lowest := []*Outer{{Middle: &Middle{Inner: &Inner{}}}, {Middle: &Middle{Inner: &Inner{}}}}, &Lowest{Lower: &Lower{Base: &Base{}}}
		if err := errors.Join(do(t.Context(), db, outer), do(t.Context(), db, lowest)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if o := outer[1]; o.ID == 0 || o.Middle.ID != o.ID || o.Middle.Inner.ID != o.ID || lowest.ID == 0 || lowest.Lower.Base.ID != lowest.ID {
			t.Errorf("%s: %+v, %+v", what, o, lowest)
		}
		if err := do(t.Context(), db, &Lowest{}); err == nil || !strings.Contains(err.Error(), "Lowest.ID") {
			t.Errorf("%s without it: %v", what, err)
		}
	}
}

// Contract has a key of two columns, and so have the references to it.
type Contract struct {
	Tenant  int64       `gorm:"primaryKey;autoIncrement:false"`
	ID      sqltype.ID  `gorm:"primaryKey;snowflake"`
	Clauses []Paragraph `gorm:"foreignKey:Tenant,ContractID;references:Tenant,ID"`
}

type Paragraph struct {
	ID         sqltype.ID
	Tenant     int64
	ContractID sqltype.ID
}

// Parcel keeps its key and its relations in embedded structs behind pointers.
type Parcel struct {
	*Tagged
	Name string
	Sender
	*Receiver
	Twins []Twin
}

type Tagged struct{ *Numbered }

type Numbered struct {
	ID string `gorm:"primaryKey;snowflake"`
}

type Sender struct {
	FromID *sqltype.ID
	From   *Address
}

type Receiver struct {
	ToID *sqltype.ID
	To   *Address
}

type Address struct {
	ID   sqltype.ID
	Town string `gorm:"uniqueIndex"`
}

type Twin struct {
	*Tagged
	ParcelID *string
}

func TestCompositeAndEmbedded(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Contract{}, &Paragraph{}, &Address{}, &Parcel{}, &Twin{})
	contracts := []*Contract{{Tenant: 1, Clauses: make([]Paragraph, 2)}, {Tenant: 2, ID: 77, Clauses: make([]Paragraph, 1)}}
	must(t, graph.Create(t.Context(), db, contracts))
	if n := count(t, db.Joins("JOIN contracts c ON c.tenant = paragraphs.tenant AND c.id = contract_id"), "paragraphs"); n != 3 || contracts[0].ID == 0 {
		t.Errorf("%d paragraphs of %+v", n, contracts)
	}
	same, was := &Address{Town: "a"}, "was"
	build := func() []*Parcel {
		return []*Parcel{
			{Sender: Sender{From: same}, Receiver: &Receiver{To: &Address{Town: "b"}}, Twins: []Twin{{}, {Tagged: &Tagged{&Numbered{}}, ParcelID: &was}}},
			{Tagged: &Tagged{}, Sender: Sender{From: same}},
		}
	}
	parcels := build()
	if err := graph.Create(t.Context(), db, append(parcels, &Parcel{Tagged: &Tagged{&Numbered{ID: "1"}}}, &Parcel{Tagged: &Tagged{&Numbered{ID: "1"}}})); err == nil {
		t.Error("a key is there twice")
	}
	nothing(t, db, "a failure", parcels, build(), "parcels", "addresses", "twins")
	must(t, graph.Create(t.Context(), db, parcels))
	p, q := parcels[0], parcels[1]
	if q.Receiver != nil || *p.FromID != same.ID || *p.ToID != p.To.ID || *q.FromID != same.ID || p.ID == "" || p.ID == q.ID || *p.Twins[1].ParcelID != p.ID || was != "was" {
		t.Errorf("%+v, %+v", p, q)
	}
	// Rows that share the struct that holds their key would have one key.
	shared := &Numbered{}
	if err := graph.Assign(t.Context(), db, []*Parcel{{Tagged: &Tagged{shared}, Twins: []Twin{{Tagged: &Tagged{shared}}}}}); !errors.Is(err, gorm.ErrInvalidData) || shared.ID != "" {
		t.Errorf("%v, %+v", err, shared)
	}
}

// Album is referred to by other types than its key's.
type Album struct {
	ID     sqltype.ID
	Prints []Print
	Songs  []Song
}

type Print struct {
	ID      sqltype.ID
	AlbumID sqltype.NullID
}

type Song struct {
	ID      sqltype.ID
	AlbumID *uint64
}

// Gallery has a key that a hook sets, which gorm would cut.
type Gallery struct {
	ID     int64 `gorm:"snowflake:-;autoIncrement:false"`
	Rooms  []Room
	Guides []Guide
}

func (g *Gallery) BeforeCreate(*gorm.DB) error { g.ID = 1 << 40; return nil }

type Room struct {
	ID        sqltype.ID
	GalleryID int32
}

type Guide struct {
	ID        sqltype.ID
	GalleryID string
}

func TestForeignKeysOfOtherTypes(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Album{}, &Print{}, &Song{}, &Gallery{}, &Room{}, &Guide{})
	album := &Album{Prints: make([]Print, 1), Songs: make([]Song, 1)}
	if err := graph.Create(t.Context(), db, album); err != nil || album.Prints[0].AlbumID.ID != album.ID || *album.Songs[0].AlbumID != uint64(album.ID) {
		t.Errorf("%v, %+v", err, album)
	}
	cut := &Gallery{Rooms: []Room{{GalleryID: 3}}}
	if err := graph.Create(t.Context(), db, cut); err == nil || !strings.Contains(err.Error(), "Room.GalleryID: the type int32 cannot hold Gallery.ID of type int64") || cut.Rooms[0].GalleryID != 3 {
		t.Errorf("%v, %+v", err, cut)
	}
	guided := &Gallery{Guides: make([]Guide, 1)}
	if err := graph.Create(t.Context(), db, guided); err != nil || guided.Guides[0].GalleryID != fmt.Sprint(1<<40) {
		t.Errorf("%v, %+v", err, guided)
	}
}

// Rows with one key are one row, as in gorm, wherever the key is.
type Crate struct {
	ID      sqltype.ID
	Bottles []*Bottle
	Thread  *Thread `gorm:"foreignKey:CrateID"`
}

type Bottle struct {
	ID      *string `gorm:"primaryKey;snowflake:-"`
	Label   string
	CrateID sqltype.ID
}

// Thread is one list of any length.
type Thread struct {
	ID      sqltype.ID
	CrateID *sqltype.ID
	ReplyID *sqltype.ID
	Next    *Thread   `gorm:"foreignKey:ReplyID;belongsTo"`
	Replies []*Thread `gorm:"foreignKey:ReplyID"`
}

func TestRepeatedAndDeepRows(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Crate{}, &Bottle{}, &Thread{})
	a, b, c := "5", "5", "6"
	crate := &Crate{Bottles: []*Bottle{{ID: &a, Label: "first"}, {ID: &b}, {ID: &c}}}
	result, err := graph.CreateWith(t.Context(), db, crate, graph.Config{})
	if err != nil || fmt.Sprint(result.Tables) != "[{crates 1 1} {bottles 1 2}]" || count(t, db.Where("label = 'first'"), "bottles") != 1 {
		t.Errorf("%+v, %d bottles, %v", result, count(t, db, "bottles"), err)
	}
	crate = &Crate{Bottles: crate.Bottles[2:]} // it moves, and nothing else of it changes
	if err := graph.Create(t.Context(), db, crate); err != nil || count(t, db.Where("crate_id = ?", crate.ID), "bottles") != 1 {
		t.Errorf("%+v, %v", crate, err)
	}
	crate.Bottles[0].Label = "new"
	if err := graph.Create(t.Context(), db.Session(&gorm.Session{FullSaveAssociations: true}), &Crate{Bottles: crate.Bottles}); err != nil || count(t, db.Where("label = 'new'"), "bottles") != 1 {
		t.Errorf("%+v, %v", crate, err)
	}
	const depth = 5000
	first := &Thread{}
	for n, i := first, 1; i < depth; i++ { // downwards, one INSERT takes as many as are fast
		n.Replies = []*Thread{{}}
		n = n.Replies[0]
	}
	result, err = graph.CreateWith(t.Context(), db, first, graph.Config{})
	if err != nil || fmt.Sprint(result.Tables) != "[{threads 17 5000}]" {
		t.Errorf("%+v, %v", result, err)
	}
	up := &Thread{Next: &Thread{Next: &Thread{Next: &Thread{}}}} // upwards, each may turn out to be an existing row
	if result, err := graph.CreateWith(t.Context(), db, up, graph.Config{}); err != nil || fmt.Sprint(result.Tables) != "[{threads 4 4}]" {
		t.Errorf("%+v, %v", result, err)
	}
}

// The time for a chain whose keys are known only after each INSERT grows with its length, not with
// the square of it.
func TestLongChain(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	run := func(rows int) time.Duration {
		best := time.Hour
		for range 3 {
			up := &Thread{}
			for range rows - 1 {
				up = &Thread{Next: up}
			}
			begin := time.Now()
			if result, err := graph.CreateWith(t.Context(), db, up, graph.Config{}); err != nil || len(result.Statements) != rows {
				t.Fatalf("%d statements, %v", len(result.Statements), err)
			}
			best = min(best, time.Since(begin))
		}
		return best
	}
	if short, long := run(1000), run(16_000); long > 60*short { // the square is 256
		t.Errorf("%v for 1,000 rows, %v for 16,000", short, long)
	} else {
		t.Logf("%v for 1,000 rows, %v for 16,000", short, long)
	}
	// A cycle of as many rows is found as fast.
	last := &Thread{}
	first := last
	for range 20_000 {
		first = &Thread{Next: first}
	}
	last.Next = first
	var cycle *graph.CycleError
	if err := graph.Create(t.Context(), db, first); !errors.As(err, &cycle) || len(cycle.Tables) != 20_002 {
		t.Errorf("%T, %d tables", err, len(cycle.Tables))
	}
}

// Clauses of the handle apply to the given rows.
func TestHandle(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Address{}, &Crate{}, &Bottle{}, &Thread{})
	must(t, db.Table("old_crates").AutoMigrate(&Crate{}))
	result, err := graph.CreateWith(t.Context(), db.Table("old_crates"), &Crate{}, graph.Config{})
	if err != nil || fmt.Sprint(result) != "{1 [{old_crates 1 1}] []}" || count(t, db, "crates") != 0 {
		t.Errorf("%v, %v", result, err)
	}
	both := []*Address{{Town: "a"}, {Town: "b"}}
	if err := graph.Create(t.Context(), db.Clauses(clause.Returning{}), both); err != nil || both[0].ID == 0 || both[0].Town != "a" {
		t.Errorf("%+v, %v", both, err)
	}
	again := []*Address{{Town: "b"}, {Town: "c"}}
	if err := graph.Create(t.Context(), db.Clauses(clause.OnConflict{DoNothing: true}), again); err != nil || again[0].ID != both[1].ID || again[1].ID == 0 {
		t.Errorf("%+v, %v", again, err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for what, do := range map[string]func() error{
		"Bottles.ID":           func() error { return graph.Create(t.Context(), db.Select("Bottles.ID"), &Crate{}) },
		"Crate.ID is left out": func() error { return graph.Create(t.Context(), db.Omit("ID"), &Crate{}) },
		"context canceled":     func() error { return errors.Join(graph.Create(done, db, &Crate{}), graph.Assign(done, db, &Crate{})) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), what) || count(t, db, "crates") > 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // the argument replaces the context of the handle
	must(t, graph.Create(t.Context(), db.WithContext(ended), &Crate{}))
	if crate := (&Crate{Bottles: []*Bottle{{}}}); graph.Create(t.Context(), db.Select("ID", "Thread"), crate) != nil || count(t, db, "bottles") != 0 {
		t.Error("a relation is written that Select does not name")
	}
}

// Shared rows are written in one order.
func TestSharedRowsAreSorted(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	result, err := graph.CreateWith(t.Context(), db, &Driver{Cars: []*Car{{Name: "red"}, {Name: "Blue"}, {Name: "green"}}}, graph.Config{})
	if err != nil || len(result.Statements) != 3 {
		t.Fatalf("%+v, %v", result, err)
	}
	var names []any
	for _, v := range result.Statements[1].Vars {
		if reflect.TypeOf(v).Kind() == reflect.String {
			names = append(names, v)
		}
	}
	if !slices.Equal(names, []any{"Blue", "green", "red"}) {
		t.Errorf("%v", result.Statements[1])
	}
}

// A DryRun handle builds the statements, and leaves the rows as they were.
func TestDryRunLeavesRows(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}, Named: map[string]sqltype.Source{"nests": &gormtest.Counter{}}})
	got, want := twig(), twig()
	result, err := graph.CreateWith(t.Context(), db, got, graph.Config{})
	if err != nil || len(result.Statements) < 6 || len(result.Statements[0].Vars) == 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it is %+v, and was %+v", got, want)
	}
}

type (
	Mailbox struct {
		ID       sqltype.ID
		Sent     []*Mail `gorm:"foreignKey:SenderID"`
		Received []*Mail `gorm:"foreignKey:ReceiverID"`
	}
	Mail struct {
		ID                   sqltype.ID
		SenderID, ReceiverID sqltype.NullID
	}
)

// A child that exists moves by each relation in which it is.
func TestMoveByTwoRelations(t *testing.T) {
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}}, &Mailbox{}, &Mail{})
	for _, mails := range [][2]int{{1, 1}, {1, 0}, {0, 1}} { // how many are sent, and received
		mail := &Mail{}
		old := &Mailbox{Sent: []*Mail{mail}, Received: []*Mail{mail}}
		must(t, graph.Create(t.Context(), db, old))
		list := []*Mail{mail}
		box := &Mailbox{Sent: list[:mails[0]], Received: list[:mails[1]]}
		must(t, graph.Create(t.Context(), db, box))
		var got Mail
		must(t, db.Take(&got, "id = ?", mail.ID).Error)
		if got != *mail || (got.SenderID.ID == box.ID) != (mails[0] > 0) || (got.ReceiverID.ID == box.ID) != (mails[1] > 0) {
			t.Errorf("%v: the table has %+v, the struct %+v, and the mailbox is %d", mails, got, *mail, box.ID)
		}
	}
}
