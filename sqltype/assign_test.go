package sqltype

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

type line struct {
	ID, OrderID ID
	Ref         *ID
}

type note struct{ ID, OrderID ID }

type order struct {
	ID    ID
	Lines []line
	Notes []note
}

func orderKey(o *order) *ID { return &o.ID }

var (
	lineKind = Children(func(o *order) []line { return o.Lines },
		func(l *line) *ID { return &l.ID }, func(l *line) *ID { return &l.OrderID })
	noteKind = Children(func(o *order) []note { return o.Notes },
		func(n *note) *ID { return &n.ID }, func(n *note) *ID { return &n.OrderID })
)

// counter is a Source that counts up by one, as a generator's Fill ascends.
type counter struct {
	last  int64
	calls []int // lengths asked for
	err   error
	bad   map[int64]int64 // id → what is given in its place
}

func (c *counter) Fill(_ context.Context, ids []int64) error {
	c.calls = append(c.calls, len(ids))
	for i := range ids {
		c.last++
		ids[i] = c.last
		if n, ok := c.bad[c.last]; ok {
			ids[i] = n
		}
	}
	return c.err
}

func (c *counter) Next(ctx context.Context) (int64, error) {
	var ids [1]int64
	err := c.Fill(ctx, ids[:])
	return ids[0], err
}

func TestAssignSharedKey(t *testing.T) {
	type profile struct{ UserID ID }
	type user struct {
		ID      ID
		Profile [1]profile
	}
	kind := Children(func(u *user) []profile { return u.Profile[:] },
		func(p *profile) *ID { return &p.UserID }, func(p *profile) *ID { return &p.UserID })
	users := make([]user, 2)
	src := &counter{}
	if err := Assign(t.Context(), src, users, func(u *user) *ID { return &u.ID }, kind); err != nil {
		t.Fatal(err)
	}
	if want := []user{{1, [1]profile{{1}}}, {2, [1]profile{{2}}}}; !reflect.DeepEqual(users, want) || src.last != 2 {
		t.Errorf("%+v, %d ids", users, src.last)
	}
}

func TestAssignErrors(t *testing.T) {
	fault := errors.New("store is away")
	nilKey := func(*order) *ID { return nil }
	nilLine := func(*line) *ID { return nil }
	lines := func(o *order) []line { return o.Lines }
	var noList func(*order) []line
	var noKey func(*line) *ID
	id := func(l *line) *ID { return &l.ID }
	orderID := func(l *line) *ID { return &l.OrderID }
	for _, tt := range []struct {
		name  string
		src   Source
		key   func(*order) *ID
		kind  Child[order, ID]
		want  error
		shows string
	}{
		{"nil source", nil, orderKey, lineKind, ErrNil, "source"},
		{"nil pointer", (*counter)(nil), orderKey, lineKind, ErrNil, "source"},
		{"nil key", &counter{}, nil, lineKind, ErrNil, "function key"},
		{"zero Child", &counter{}, orderKey, Child[order, ID]{}, ErrNil, "kinds[1]"},
		{"nil list", &counter{}, orderKey, Children(noList, id, orderID), ErrNil, "kinds[1]: function list"},
		{"nil child key", &counter{}, orderKey, Children(lines, noKey, orderID), ErrNil, "function key"},
		{"nil foreignKey", &counter{}, orderKey, Children(lines, id, noKey), ErrNil, "function foreignKey"},
		{"key returns nil", &counter{}, nilKey, lineKind, ErrNil, "parents[0]: key returned nil"},
		{"child key returns nil", &counter{}, orderKey, Children(lines, nilLine, orderID), ErrNil,
			"parents[1]: kinds[1]: children[0]: key returned nil"},
		{"foreignKey returns nil", &counter{}, orderKey, Children(lines, id, func(l *line) *ID { return l.Ref }), ErrNil,
			"parents[1]: kinds[1]: children[0]: foreignKey returned nil"},
		{"source fails", &counter{err: fault}, orderKey, lineKind, fault, "4 ids"},
		{"source gives a negative id", &counter{bad: map[int64]int64{4: -9}}, orderKey, lineKind, ErrSource, "-9 as id 4 of 4"},
		{"source gives zero", &counter{bad: map[int64]int64{1: 0}}, orderKey, lineKind, ErrSource, "0 as id 1 of 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fresh := func() []order {
				return []order{{Notes: make([]note, 1)}, {Lines: []line{{OrderID: 3}}}}
			}
			orders := fresh()
			err := Assign(t.Context(), tt.src, orders, tt.key, noteKind, tt.kind)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.shows) {
				t.Errorf("error %v, want %v with %q", err, tt.want, tt.shows)
			}
			if !reflect.DeepEqual(orders, fresh()) {
				t.Errorf("changed to %+v", orders)
			}
		})
	}
	for name, orders := range map[string][]order{
		"parents[1]: key -3":                        {{}, {ID: -3}},
		"parents[0]: kinds[0]: children[1]: key -4": {{Lines: []line{{}, {ID: -4}}}},
	} {
		src := &counter{}
		err := Assign(t.Context(), src, orders, orderKey, lineKind)
		if !errors.Is(err, ErrNegative) || !strings.Contains(err.Error(), name) || len(src.calls) > 0 || orders[0].ID != 0 {
			t.Errorf("%s: %v, calls %v", name, err, src.calls)
		}
	}
	// Nil functions are told even where there is nothing to do.
	if err := Assign(t.Context(), &counter{}, nil, orderKey, Children(noList, id, orderID)); !errors.Is(err, ErrNil) {
		t.Errorf("no parents: %v", err)
	}
}

// The properties of Assign, on random graphs with random keys already set.
func TestAssignProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		missing, set := 0, map[*ID]ID{}
		key := func(id *ID) {
			if rng.IntN(3) == 0 {
				*id = ID(1 + rng.IntN(1000))
				set[id] = *id
			} else {
				missing++
			}
		}
		orders := make([]order, rng.IntN(5))
		for i := range orders {
			o := &orders[i]
			o.Lines, o.Notes = make([]line, rng.IntN(4)), make([]note, rng.IntN(4))
			key(&o.ID)
			for j := range o.Lines {
				key(&o.Lines[j].ID)
				o.Lines[j].OrderID = ID(rng.IntN(3) - 1) // is overwritten
			}
			for j := range o.Notes {
				key(&o.Notes[j].ID)
			}
		}
		src := &counter{last: 10_000}
		if err := Assign(t.Context(), src, orders, orderKey, lineKind, noteKind); err != nil {
			t.Fatal(err)
		}
		if missing == 0 && len(src.calls) != 0 || missing > 0 && !reflect.DeepEqual(src.calls, []int{missing}) {
			t.Fatalf("round %d: %d missing, calls %v", round, missing, src.calls)
		}
		last, seen := ID(10_000), 0
		check := func(name string, id *ID) {
			if before, ok := set[id]; ok {
				if *id != before {
					t.Fatalf("round %d: %s changed from %d to %d", round, name, before, *id)
				}
				return
			}
			if *id != last+1 {
				t.Fatalf("round %d: %s is %d after %d", round, name, *id, last)
			}
			last = *id
			seen++
		}
		for i := range orders {
			o := &orders[i]
			check(fmt.Sprint("order ", i), &o.ID)
			for j := range o.Lines {
				check(fmt.Sprint("line ", i, j), &o.Lines[j].ID)
				if o.Lines[j].OrderID != o.ID {
					t.Fatalf("line %d of %d: foreign key %d", j, o.ID, o.Lines[j].OrderID)
				}
			}
			for j := range o.Notes {
				check(fmt.Sprint("note ", i, j), &o.Notes[j].ID)
				if o.Notes[j].OrderID != o.ID {
					t.Fatalf("note %d of %d: foreign key %d", j, o.ID, o.Notes[j].OrderID)
				}
			}
		}
		if seen != missing {
			t.Fatalf("round %d: %d set of %d", round, seen, missing)
		}
	}
}

// One row that is there twice takes no more ids than once, in document order.
func TestAssignTwice(t *testing.T) {
	a, b := &order{Lines: make([]line, 2)}, &order{Lines: make([]line, 1)}
	kind := Children(func(o **order) []line { return (*o).Lines }, func(l *line) *ID { return &l.ID }, func(l *line) *ID { return &l.OrderID })
	key := func(o **order) *ID { return &(*o).ID }
	src := &counter{err: errors.New("none left")}
	if err := Assign(t.Context(), src, []*order{a, b, a}, key, kind); !errors.Is(err, src.err) || a.ID != 0 || b.ID != 0 || a.Lines[1] != (line{}) {
		t.Errorf("%v: %+v, %+v", err, a, b)
	}
	src = &counter{}
	if err := Assign(t.Context(), src, []*order{a, b, a, b}, key, kind); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(src.calls, []int{5}) {
		t.Errorf("asked for %v ids, want 5", src.calls)
	}
	want := []order{{ID: 1, Lines: []line{{ID: 2, OrderID: 1}, {ID: 3, OrderID: 1}}}, {ID: 4, Lines: []line{{ID: 5, OrderID: 4}}}}
	if got := []order{*a, *b}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
