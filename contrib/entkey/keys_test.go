package entkey_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"entgo.io/ent"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type customer struct{}

// mutation is what ent generates for a row with a key of type K.
type mutation[K any] struct {
	ent.Mutation
	op  ent.Op
	key *K
}

func (m *mutation[K]) Op() ent.Op   { return m.op }
func (m *mutation[K]) Type() string { return "Customer" }
func (m *mutation[K]) SetID(key K)  { m.key = &key }

// String is the key, or -1.
func (m *mutation[K]) String() string {
	if m.key == nil {
		return "-1"
	}
	return fmt.Sprintf("%d", any(*m.key))
}

func (m *mutation[K]) ID() (key K, set bool) {
	if m.key == nil {
		return key, false
	}
	return *m.key, true
}

// counted is a row whose key the database counts: it cannot be set.
type counted struct{ ent.Mutation }

func (counted) Op() ent.Op   { return ent.OpCreate }
func (counted) Type() string { return "Setting" }

type source func() (int64, error)

func (s source) Next(context.Context) (int64, error) { return s() }

func (source) Fill(context.Context, []int64) error { return errors.ErrUnsupported }

var errNoIDs = errors.New("no ids")

func TestKeys(t *testing.T) {
	seven := source(func() (int64, error) { return 7, nil })
	none := source(func() (int64, error) { return 0, errNoIDs })
	for name, c := range map[string]struct {
		row  ent.Mutation
		src  sqltype.Source
		want int64 // -1 is no key
		err  error
	}{
		"an ID":             {&mutation[sqltype.ID]{op: ent.OpCreate}, seven, 7, nil},
		"a Key":             {&mutation[sqltype.Key[customer]]{op: ent.OpCreate}, seven, 7, nil},
		"an ID of zero":     {&mutation[sqltype.ID]{op: ent.OpCreate, key: new(sqltype.ID)}, seven, 7, nil},
		"a Key of zero":     {&mutation[sqltype.Key[customer]]{op: ent.OpCreate, key: new(sqltype.Key[customer])}, seven, 7, nil},
		"an ID that is set": {&mutation[sqltype.ID]{op: ent.OpCreate, key: new(sqltype.ID(5))}, none, 5, nil},
		"a Key that is set": {&mutation[sqltype.Key[customer]]{op: ent.OpCreate, key: new(sqltype.Key[customer](5))}, none, 5, nil},
		"an update":         {&mutation[sqltype.ID]{op: ent.OpUpdateOne}, none, -1, nil},
		"an int64":          {&mutation[int64]{op: ent.OpCreate}, none, -1, nil},
		"a text":            {&mutation[string]{op: ent.OpCreate}, none, -1, nil},
		"a counted row":     {counted{}, none, -1, nil},
		"no more ids":       {&mutation[sqltype.ID]{op: ent.OpCreate}, none, -1, errNoIDs},
		"no more keys":      {&mutation[sqltype.Key[customer]]{op: ent.OpCreate}, none, -1, errNoIDs},
		"no source":         {&mutation[sqltype.ID]{op: ent.OpCreate}, nil, -1, sqltype.ErrNil},
	} {
		t.Run(name, func(t *testing.T) {
			written := false
			hook := entkey.Keys(c.src)(ent.MutateFunc(func(context.Context, ent.Mutation) (ent.Value, error) {
				written = true
				return nil, nil
			}))
			_, err := hook.Mutate(t.Context(), c.row)
			if !errors.Is(err, c.err) || written != (c.err == nil) || err != nil && !strings.HasPrefix(err.Error(), "entkey: Customer: ") {
				t.Errorf("%v, written: %t", err, written)
			}
			got := "-1"
			if row, ok := c.row.(fmt.Stringer); ok {
				got = row.String()
			}
			if got != fmt.Sprint(c.want) {
				t.Errorf("%s, want %d", got, c.want)
			}
		})
	}
}
