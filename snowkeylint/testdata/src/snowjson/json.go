// Package snowjson has ids that JSON writes as numbers.
package snowjson

import (
	"context"
	"encoding/json"
	"io"

	"fixtures/src/odd/shop"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Tagged struct {
	ID    int64 `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id"` // want `the id ID is a number in JSON`
	Count int64 `json:"count"`
}

type Child struct {
	ID       sqltype.ID `json:"id"`
	TaggedID int64      `json:"tagged_id,omitempty"` // want `the id TaggedID is a number in JSON`
	Parent   *Tagged    `json:"parent"`
	ParentID uint64     `json:"parent_id"` // want `the id ParentID is a number in JSON`
}

// View is filled from an Order.
type View struct {
	ID       int64            `json:"id"`           // want `the id ID is a number in JSON`
	Customer *int64           `json:"customer"`     // want `the id Customer is a number in JSON`
	Lines    []int64          `json:"lines,string"` // want `the ids in Lines are numbers in JSON`
	Made     map[string]int64 `json:"made"`         // want `the ids in Made are numbers in JSON`
	Quoted   int64            `json:"quoted,string"`
	Hidden   int64            `json:"-"`
	Total    int64            `json:"total"`
	hidden   int64
}

type Order struct {
	ID    sqltype.ID `json:"id"`
	Total int64      `json:"total"`
}

func view(o *Order, names []string) View {
	customer := int64(o.ID)
	v := View{ID: o.ID.Int64(), Customer: &customer, Quoted: int64(o.ID), Hidden: int64(o.ID), Total: o.Total, Made: map[string]int64{}}
	v.Lines = append(v.Lines, int64(o.ID))
	for _, name := range names {
		v.Made[name] = int64(o.ID)
	}
	v.hidden = v.ID
	return v
}

// Untagged is written all the same.
type Untagged struct {
	ID int64 // want `the id ID is a number in JSON`
}

// Kept is not written.
type Kept struct {
	ID int64
}

func write(ctx context.Context, w io.Writer, gen *core.Generator) error {
	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	_ = Kept{ID: id}
	body := map[string]any{
		"id":    id, // want `the id id is a number in JSON`
		"typed": sqltype.ID(id),
		"count": int64(len(body())),
	}
	body["again"] = id // want `the id id is a number in JSON`
	if err := json.NewEncoder(w).Encode(body); err != nil {
		return err
	}
	if err := reply(w, Untagged{ID: id}); err != nil {
		return err
	}
	return reply(w, id) // want `the id id is a number in JSON`
}

func body() []byte { return nil }

func reply(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// Stored is a map for a database, not for JSON.
func stored(ctx context.Context, gen *core.Generator, update func(map[string]any)) error {
	id, err := gen.Next(ctx)
	update(map[string]any{"id": id})
	return err
}

// Wrapped writes itself.
type Wrapped struct {
	ID int64 `json:"id"`
}

func (w Wrapped) MarshalJSON() ([]byte, error) { return json.Marshal(sqltype.ID(w.ID)) }

func wrapped(o *Order) Wrapped { return Wrapped{ID: int64(o.ID)} }

// Copied is filled from the model of another package, and from a function of this one.
type Copied struct {
	ID    int64 `json:"id"`    // want `the id ID is a number in JSON`
	Other int64 `json:"other"` // want `the id Other is a number in JSON`
	Buyer int64 `json:"buyer"`
}

func copied(ctx context.Context, gen *core.Generator, o *shop.Order) (Copied, error) {
	other, err := newID(ctx, gen)
	return Copied{ID: o.ID, Other: other, Buyer: o.Buyer}, err
}

func newID(ctx context.Context, gen *core.Generator) (int64, error) { return gen.Next(ctx) }

// framework has the methods of a library's context.
type framework interface {
	JSON(status int, v any) error
	BindJSON(v any) error
	Log(v any)
}

func handle(ctx context.Context, c framework, gen *core.Generator) error {
	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	c.Log(map[string]any{"id": id})
	if err := c.BindJSON(&id); err != nil {
		return err
	}
	return c.JSON(200, map[string]any{"id": id}) // want `the id id is a number in JSON`
}

// Nested is written in a struct without a name.
type Nested struct {
	ID int64 // want `the id ID is a number in JSON`
}

func nested(w io.Writer, o *Order) error {
	return reply(w, struct{ Rows []Nested }{[]Nested{{ID: int64(o.ID)}}})
}
