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

// Parcelled keeps its relations in embedded structs, one behind a pointer.
type Parcelled struct {
	ID sqltype.ID
	Sender
	*Receiver
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
	Town string `gorm:"size:20"`
}

func TestGraphCompositeAndEmbedded(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Contract{}, &Paragraph{}, &Address{}, &Parcelled{})
		contracts := []*Contract{{Tenant: 1, Clauses: make([]Paragraph, 2)}, {Tenant: 2, ID: 77, Clauses: make([]Paragraph, 1)}}
		if err := graph.Create(t.Context(), db, contracts); err != nil {
			t.Fatal(err)
		}
		for _, c := range contracts {
			for _, p := range c.Clauses {
				if c.ID == 0 || p.Tenant != c.Tenant || p.ContractID != c.ID || p.ID == 0 {
					t.Errorf("%+v of %+v", p, c)
				}
			}
		}
		var n int64
		if db.Table("paragraphs p").Joins("JOIN contracts c ON c.tenant = p.tenant AND c.id = p.contract_id").Count(&n); n != 3 {
			t.Errorf("%d paragraphs of contracts", n)
		}

		same := &Address{Town: "a"}
		parcels := []*Parcelled{{Sender: Sender{From: same}, Receiver: &Receiver{To: &Address{Town: "b"}}}, {Sender: Sender{From: same}}}
		if err := graph.Create(t.Context(), db, parcels); err != nil {
			t.Fatal(err)
		}
		if parcels[1].Receiver != nil || *parcels[0].FromID != same.ID || *parcels[0].ToID != parcels[0].To.ID || *parcels[1].FromID != same.ID {
			t.Errorf("%+v, %+v", parcels[0], parcels[1])
		}
		if db.Model(&Address{}).Count(&n); n != 2 {
			t.Errorf("%d addresses", n)
		}
	})
}

// FullSaveAssociations overwrites what exists, as in gorm.
func TestGraphFullSave(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		full := db.Session(&gorm.Session{FullSaveAssociations: true})
		run := func(create func(v any) error) []string {
			empty(t, db, graphTables...)
			if err := db.Create(&Purchase{ID: 905, Name: "old", Items: []Item{{ID: 906, Name: "old item"}}, Buyer: &Buyer{ID: 901, Name: "old buyer"}, Labels: []*Label{{ID: 903, Name: "old label"}}}).Error; err != nil {
				t.Fatal(err)
			}
			if err := create(&Purchase{Name: "a", Items: []Item{{ID: 906, Name: "new item"}, {Name: "fresh"}}, Buyer: &Buyer{ID: 901, Name: "new buyer"}, Labels: []*Label{{ID: 903, Name: "new label"}}}); err != nil {
				t.Fatal(err)
			}
			return dump(t, db, graphTables...)
		}
		theirs := run(func(v any) error { return full.Create(v).Error })
		ours := run(func(v any) error { return graph.Create(t.Context(), full, v) })
		if !slices.Equal(ours, theirs) || !strings.Contains(strings.Join(ours, ""), "new buyer") {
			t.Errorf("Create wrote\n%s\ngorm\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
	})
}

// A row was found by its unique index, and then something fails: its key is
// taken back as well.
func TestGraphFailsAfterUpsert(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		if err := db.Create(&User{Email: "a@x"}).Error; err != nil {
			t.Fatal(err)
		}
		seen, s := spyOn(db)
		s.at = func(_ int, what string) error {
			if strings.HasPrefix(what, "INSERT") && strings.Contains(what, "visits") {
				return errInjected
			}
			return nil
		}
		build := func() *Visit { return &Visit{Name: "v", User: &User{Email: "a@x"}} }
		v := build()
		if err := graph.Create(t.Context(), seen, v); !errors.Is(err, errInjected) {
			t.Error(err)
		}
		if got, want := keysOf(v), keysOf(build()); got != want {
			t.Errorf("keys are left: %s, want %s", got, want)
		}
		// Also where the statement itself returned the key, to rows with a new and with a set one.
		s.at = func(_ int, what string) error {
			if strings.HasPrefix(what, "INSERT") && strings.Contains(what, "devices") {
				return errInjected
			}
			return nil
		}
		for name, on := range map[string]clause.OnConflict{
			"DoUpdates": {Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"visits"})},
			"DoNothing": {Columns: []clause.Column{{Name: "email"}}, DoNothing: true},
		} {
			users := func() []*User {
				return []*User{{Email: "a@x", Devices: []Device{{Name: "d"}}}, {Email: "new@x", Devices: []Device{{Name: "d"}}}, {ID: 5, Email: "set@x"}}
			}
			u := users()
			if err := graph.Create(t.Context(), seen.Clauses(on), u); !errors.Is(err, errInjected) {
				t.Errorf("%s: %v", name, err)
			}
			if got, want := keysOf(u), keysOf(users()); got != want {
				t.Errorf("%s: keys are left: %s, want %s", name, got, want)
			}
		}
		// A key that the caller set is restored too.
		s.at = func(_ int, what string) error {
			if what == "COMMIT" {
				return errors.Join(stateError("40001"))
			}
			return nil
		}
		set := &User{ID: 5, Email: "a@x"}
		on := clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoNothing: true}
		if err := graph.Create(t.Context(), seen.Clauses(on), set); err == nil || errors.Is(err, graph.ErrOutcomeUnknown) || set.ID != 5 {
			t.Errorf("%d, %v", set.ID, err)
		}
	})
}

type stateError string

func (e stateError) Error() string    { return "state " + string(e) }
func (e stateError) SQLState() string { return string(e) }

// A hook may create a graph itself: in the transaction of the outer one.
type Outing struct {
	ID   sqltype.ID
	Name string `gorm:"size:20"`
}

func (o *Outing) BeforeCreate(tx *gorm.DB) error {
	if o.Name == "inner" {
		return nil
	}
	return graph.Create(tx.Statement.Context, tx, []*Outing{{Name: "inner"}, {Name: "inner"}})
}

func (o *Outing) AfterCreate(tx *gorm.DB) error {
	if o.Name == "fail" {
		return errHook
	}
	return nil
}

func TestGraphInHook(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Outing{})
		if err := graph.Create(t.Context(), db, &[]Outing{{Name: "a"}, {Name: "b"}}); err != nil {
			t.Fatal(err)
		}
		if err := graph.Create(t.Context(), db, &Outing{Name: "fail"}); !errors.Is(err, errHook) {
			t.Error(err)
		}
		var n int64
		if db.Model(&Outing{}).Count(&n); n != 6 {
			t.Errorf("%d rows, want 6", n)
		}
	})
}

// The chunks keep to the parameters that the database takes, whatever the size: one is
// as full as can be, and the next has what did not go into it.
func TestGraphParameterLimit(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		rows := 5100 // of 13 columns
		if db.Name() == "sqlite" {
			rows = 2600 // its driver takes time by the square of their parameters
		}
		purchases := make([]Purchase, rows)
		for i := range purchases {
			purchases[i].Name = fmt.Sprint(i)
		}
		result, err := graph.CreateWith(t.Context(), db, purchases, graph.Config{BatchSize: rows})
		if err != nil {
			t.Fatal(err)
		}
		if result.RowsAffected != int64(rows) || result.Tables[0].Inserts != 2 {
			t.Errorf("%+v", result)
		}
	})
}

// The table of the handle is that of the rows given, and of no other.
func TestGraphOfAnotherTable(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		if err := db.Table("old_buyers").AutoMigrate(&Shop{}); err != nil { // an id and a name
			t.Fatal(err)
		}
		if err := db.Exec("ALTER TABLE old_buyers ADD COLUMN email VARCHAR(60)").Error; err != nil {
			t.Fatal(err)
		}
		result, err := graph.CreateWith(t.Context(), db.Table("old_buyers"), &Buyer{Name: "b"}, graph.Config{})
		if err != nil || fmt.Sprint(result) != "{1 [{old_buyers 1 1}] []}" {
			t.Errorf("%v, %v", result, err)
		}
		if rows := dump(t, db, "old_buyers", "buyers"); len(rows) != 1 || !strings.HasPrefix(rows[0], "old_buyers") {
			t.Error(rows)
		}
	})
}

// Lowest, Lower and Base share one key too, set from below.
type Lowest struct {
	ID    sqltype.ID
	Lower *Lower `gorm:"belongsTo;foreignKey:ID;references:ID"`
}

type Lower struct {
	ID   sqltype.ID
	Base *Base `gorm:"belongsTo;foreignKey:ID;references:ID"`
}

type Base struct{ ID sqltype.ID }

func TestGraphSharedKeysFromBelow(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Base{}, &Lower{}, &Lowest{})
		l := &Lowest{Lower: &Lower{Base: &Base{}}}
		if err := graph.Create(t.Context(), db, []*Lowest{l}); err != nil {
			t.Fatal(err)
		}
		if l.ID == 0 || l.ID != l.Lower.ID || l.ID != l.Lower.Base.ID {
			t.Errorf("%d, %d, %d", l.ID, l.Lower.ID, l.Lower.Base.ID)
		}
	})
}

// gorm's own CreateBatchSize is the size of the chunks.
func TestGraphCreateBatchSize(t *testing.T) {
	onFarms(t, func(t *testing.T, db *gorm.DB, calls *[]string) {
		h := db.Session(&gorm.Session{CreateBatchSize: 7})
		farms := make([]Farm, 20)
		for i := range farms {
			farms[i] = Farm{Name: fmt.Sprint(i), Area: &Area{Name: "a"}}
		}
		result, err := graph.CreateWith(h.Statement.Context, h, farms, graph.Config{})
		if err != nil || fmt.Sprint(result) != "{20 [{areas 3 20} {farms 3 20}] []}" || len(*calls) != 40 {
			t.Errorf("%v, %d calls, %v", result, len(*calls), err)
		}
	})
}

// RETURNING * reaches the structs that were given, whose children are not lost.
func TestGraphReturning(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		users := []*User{{Email: "a@x", Devices: []Device{{Name: "d"}}}, {Email: "b@x", Rank: 9}}
		devices := users[0].Devices
		if err := graph.Create(t.Context(), db.Clauses(clause.Returning{}), users); err != nil {
			t.Fatal(err)
		}
		stored(t, db, "returning", users)
		if len(users[0].Devices) != 1 || &users[0].Devices[0] != &devices[0] || devices[0].UserID != users[0].ID || users[1].Rank != 9 {
			t.Errorf("%+v, %+v", users[0], users[1])
		}
		if returns := slices.Contains(db.Callback().Create().Clauses, "RETURNING"); returns && users[1].Token != "ABC" {
			t.Errorf("%+v", users[1])
		}
	})
}
