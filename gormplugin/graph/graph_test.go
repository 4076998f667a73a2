package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Order = gormtest.Order
	Line  = gormtest.Line
	Item  = gormtest.Item
	Price = gormtest.Price
)

// Twig is a tree with references upwards, downwards and across.
type Twig struct {
	ID       sqltype.ID
	Name     string
	ParentID *sqltype.ID
	Parent   *Twig
	Twigs    []*Twig `gorm:"foreignKey:ParentID"`
	Leaves   []Leaf
	Birds    []*Bird `gorm:"many2many:twig_birds"`
	NestID   *sqltype.ID
	Nest     *Nest
	Bark     Bark
}

type Leaf struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	TwigID sqltype.ID
}

type Bird struct{ ID sqltype.ID }

type Nest struct {
	ID sqltype.ID `gorm:"primaryKey;snowflake:nests"`
}

type Bark struct {
	TwigID sqltype.ID `gorm:"primaryKey"`
	Colour string
}

func twig() *Twig {
	bird := &Bird{}
	t := &Twig{
		Name: "a", Nest: &Nest{}, Parent: &Twig{Name: "p"}, Bark: Bark{Colour: "brown"},
		Leaves: []Leaf{{}, {ID: 77}}, Birds: []*Bird{bird, {}},
		Twigs: []*Twig{{Name: "b", Birds: []*Bird{bird}, Twigs: []*Twig{{Name: "c"}}}},
	}
	t.Parent.Twigs = []*Twig{t} // a circle of pointers
	return t
}

func TestAssignOrderAndReservation(t *testing.T) {
	for range 5 {
		src, nests := &gormtest.Counter{}, &gormtest.Counter{Last: 1000}
		db := gormtest.Dry(t, gormplugin.Config{Source: src, Named: map[string]sqltype.Source{"nests": nests}})
		w := twig()
		w.Leaves[1].TwigID = 4
		must(t, graph.Assign(t.Context(), db, []*Twig{w, w}))
		got := fmt.Sprint(w.Parent.ID, w.ID, *w.ParentID, *w.NestID, w.Leaves, w.Birds[0].ID, w.Birds[1].ID, w.Twigs[0].ID, *w.Twigs[0].ParentID, w.Twigs[0].Twigs[0].ID, w.Bark)
		if want := "1 2 1 1001 [{6 2} {77 2}] 5 7 3 2 4 {2 brown}"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if src.Calls != 1 || nests.Calls != 1 || src.Last != 7 || nests.Last != 1001 {
			t.Errorf("%d and %d reservations, %d keys", src.Calls, nests.Calls, src.Last)
		}
		before := fmt.Sprintf("%+v", *w)
		if err := graph.Assign(t.Context(), db, w); err != nil || src.Calls != 1 || fmt.Sprintf("%+v", *w) != before {
			t.Errorf("again: %d reservations, %v", src.Calls, err)
		}
	}
}

// A foreign key behind a pointer gets a new pointer: the old one may be another row's.
func TestAssignDoesNotWriteThroughPointers(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}, Named: map[string]sqltype.Source{"nests": &gormtest.Counter{}}})
	other := &Twig{ID: 50}
	w := &Twig{ParentID: &other.ID, Parent: &Twig{}}
	must(t, graph.Assign(t.Context(), db, w))
	if other.ID != 50 || *w.ParentID != w.Parent.ID || w.ParentID == &w.Parent.ID {
		t.Errorf("the other is %d, the reference %d", other.ID, *w.ParentID)
	}
}

func TestGraphRefuses(t *testing.T) {
	boom := errors.New("no worker number")
	var none *Twig
	for name, c := range map[string]struct {
		src   *gormtest.Counter
		value any
		want  string
		is    error
	}{
		"nil":                 {&gormtest.Counter{}, nil, "is nil", gorm.ErrInvalidValue},
		"a nil pointer":       {&gormtest.Counter{}, none, "nil *graph_test.Twig", gorm.ErrInvalidValue},
		"a nil row":           {&gormtest.Counter{}, []*Twig{{}, nil}, "row 1 is a nil", gorm.ErrInvalidValue},
		"a nil child":         {&gormtest.Counter{}, &Twig{Twigs: []*Twig{{}, nil}}, "Twig.Twigs[1] is nil", gorm.ErrInvalidData},
		"a nil far side":      {&gormtest.Counter{}, &Twig{Birds: []*Bird{nil}}, "Twig.Birds[0] is nil", gorm.ErrInvalidData},
		"by value":            {&gormtest.Counter{}, Twig{}, "by value: give a pointer", nil},
		"an array by value":   {&gormtest.Counter{}, [1]Twig{}, "by value: give a pointer", nil},
		"a map":               {&gormtest.Counter{}, map[string]any{"name": "a"}, "not a model", gorm.ErrInvalidValue},
		"a number":            {&gormtest.Counter{}, new(int), "not a model", gorm.ErrInvalidValue},
		"the source fails":    {&gormtest.Counter{Err: boom}, &Twig{Leaves: []Leaf{{}}}, "graph: table twigs: Twig.ID: 2 ids: no worker number", boom},
		"the source gives 0":  {&gormtest.Counter{Last: -1}, &Twig{}, "returned 0", nil},
		"a key in two halves": {&gormtest.Counter{Last: -3}, &Twig{Leaves: []Leaf{{}, {}, {}, {}}}, "returned -2", nil},
	} {
		for verb, do := range map[string]func(context.Context, *gorm.DB, any) error{"Assign": graph.Assign, "Create": graph.Create} {
			db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{Last: c.src.Last, Err: c.src.Err}, Named: map[string]sqltype.Source{"nests": &gormtest.Counter{}}})
			err := do(t.Context(), db, c.value)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s, %s: %v, want %q", verb, name, err, c.want)
			}
			if w, ok := c.value.(*Twig); ok && w != nil && (w.ID != 0 || len(w.Leaves) > 0 && (w.Leaves[0].ID != 0 || w.Leaves[0].TwigID != 0)) {
				t.Errorf("%s, %s: a key is left: %+v", verb, name, w)
			}
		}
	}
	plain, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
	must(t, err)
	for what, err := range map[string]error{
		"no plugin":     graph.Assign(t.Context(), plain, &Twig{}),
		"a nil handle":  graph.Create(t.Context(), nil, &Twig{}),
		"a dead handle": graph.Create(t.Context(), &gorm.DB{Config: plain.Config, Statement: plain.Statement, Error: boom}, &Twig{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	if err := graph.Create(t.Context(), db, []Order{}); !errors.Is(err, gorm.ErrEmptySlice) {
		t.Errorf("an empty slice: %v", err)
	}
	if err := graph.Assign(t.Context(), db, &[]Order{}); err != nil {
		t.Errorf("an empty slice has nothing to assign: %v", err)
	}
	if _, err := graph.CreateWith(t.Context(), db, &Order{}, graph.Config{BatchSize: -1, Attempts: -2}); err == nil || !strings.Contains(err.Error(), "BatchSize -1") || !strings.Contains(err.Error(), "Attempts -2") {
		t.Errorf("faults of the Config: %v", err)
	}
}

// statements are the exact statements of a dialect: the key is a parameter like any other, and nothing
// is read back.
var statements = map[string]struct {
	insertItem   string
	insertItems  string // two
	upsertPrices string // two
	thirdPrice   string // its parameters
}{
	"postgres": {
		insertItem:  `INSERT INTO "items" ("id","name") VALUES ($1,$2)`,
		insertItems: `INSERT INTO "items" ("id","name") VALUES ($1,$2),($3,$4)`,
		upsertPrices: `INSERT INTO "prices" ("id","item_id","cents") VALUES ($1,$2,$3),($4,$5,$6)` +
			` ON CONFLICT ("id") DO UPDATE SET "item_id"="excluded"."item_id"`,
		thirdPrice: `,($7,$8,$9)`,
	},
	"mysql": {
		insertItem:  "INSERT INTO `items` (`id`,`name`) VALUES (?,?)",
		insertItems: "INSERT INTO `items` (`id`,`name`) VALUES (?,?),(?,?)",
		upsertPrices: "INSERT INTO `prices` (`id`,`item_id`,`cents`) VALUES (?,?,?),(?,?,?)" +
			" ON DUPLICATE KEY UPDATE `item_id`=VALUES(`item_id`)",
		thirdPrice: ",(?,?,?)",
	},
}

// The exact statements, on two dialects: parents first, one INSERT a
// table, and nothing of ON CONFLICT for rows with new keys.
func TestCreateExactSQL(t *testing.T) {
	for _, d := range gormtest.Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			sent := statements[d.Name]
			db, mock := d.Mock(t, &gormtest.Counter{Last: 41})
			mock.ExpectBegin()
			mock.ExpectExec(sent.insertItems).WithArgs(42, "a", 45, "b").WillReturnResult(sqlmock.NewResult(0, 2))
			three := strings.Split(sent.upsertPrices, " ON ")[0] + sent.thirdPrice
			mock.ExpectExec(three).WithArgs(43, 42, 1, 44, 42, 2, 46, 45, 3).WillReturnResult(sqlmock.NewResult(0, 3))
			mock.ExpectCommit()
			items := []Item{{Name: "a", Prices: []Price{{Cents: 1}, {Cents: 2}}}, {Name: "b", Prices: []Price{{Cents: 3}}}}
			result, err := graph.CreateWith(t.Context(), db, items, graph.Config{})
			if err != nil || items[1].Prices[0].ItemID != 45 {
				t.Fatalf("%+v, %v", items, err)
			}
			if got := fmt.Sprint(result); got != "{2 [{items 1 2} {prices 1 3}] []}" {
				t.Error(got)
			}

			// Children that exist move to the new parent, as in gorm.
			mock.ExpectBegin()
			mock.ExpectExec(sent.insertItem).WithArgs(47, "c").WillReturnResult(sqlmock.NewResult(0, 1))
			mock.ExpectExec(sent.upsertPrices).WithArgs(7, 47, 1, 8, 47, 2).WillReturnResult(sqlmock.NewResult(0, 2))
			mock.ExpectCommit()
			must(t, graph.Create(t.Context(), db, &Item{Name: "c", Prices: []Price{{ID: 7, Cents: 1}, {ID: 8, Cents: 2}}}))

			// A failure between parent and child.
			refused := errors.New("disk full")
			mock.ExpectBegin()
			mock.ExpectExec(sent.insertItem).WithArgs(48, "d").WillReturnResult(sqlmock.NewResult(0, 1))
			mock.ExpectExec(sent.upsertPrices).WillReturnError(refused)
			mock.ExpectRollback()
			item := &Item{Name: "d", Prices: []Price{{ID: 7}, {ID: 8}}}
			if err := graph.Create(t.Context(), db, item); !errors.Is(err, refused) || item.ID != 0 || item.Prices[0].ItemID != 0 || item.Prices[0].ID != 7 {
				t.Errorf("%+v, %v", item, err)
			}
			must(t, mock.ExpectationsWereMet())
		})
	}
}

// stateError is an error as PostgreSQL's drivers have it.
type stateError string

func (e stateError) Error() string    { return "state " + string(e) }
func (e stateError) SQLState() string { return string(e) }

// If COMMIT fails, only the server's refusal says that nothing was written.
func TestCommitErrors(t *testing.T) {
	for _, d := range gormtest.Dialects() {
		for err, unknown := range map[error]bool{
			stateError("23503"): false, stateError("40001"): false, stateError("08006"): true, stateError("57P01"): true, stateError("40003"): true,
			stateError(""): true, errors.New("unexpected EOF"): true, context.DeadlineExceeded: true,
		} {
			db, mock := d.Mock(t, &gormtest.Counter{})
			mock.ExpectBegin()
			mock.ExpectExec(statements[d.Name].insertItem).WillReturnResult(sqlmock.NewResult(0, 1))
			mock.ExpectCommit().WillReturnError(err)
			item := &Item{Name: "a"}
			_, got := graph.CreateWith(t.Context(), db, item, graph.Config{Attempts: 1})
			if !errors.Is(got, err) || errors.Is(got, sqltype.ErrOutcomeUnknown) != unknown || (item.ID != 0) != unknown {
				t.Errorf("%s, %v: %v, key %d", d.Name, err, got, item.ID)
			}
		}
	}
}

// Config.Tables names the key of a table that the handle names.
func TestGraphOfATable(t *testing.T) {
	type Kid struct {
		ID       sqltype.ID
		LegacyID int64
	}
	type Legacy struct {
		ID   int64
		Kids []Kid
	}
	db := gormtest.SQLite(t, gormplugin.Config{Source: &gormtest.Counter{}, Tables: map[string]gormplugin.Table{"old": {Column: "id"}}}, &Kid{})
	must(t, db.Table("old").AutoMigrate(&Legacy{}))
	assigned, created := Legacy{Kids: []Kid{{}}}, Legacy{Kids: []Kid{{}, {}}}
	must(t, errors.Join(graph.Assign(t.Context(), db.Table("old"), &assigned), graph.Create(t.Context(), db.Table("old"), &created)))
	for _, row := range []Legacy{assigned, created} {
		if row.ID == 0 || row.Kids[0].LegacyID != row.ID || row.Kids[0].ID == 0 {
			t.Errorf("%+v", row)
		}
	}
}
