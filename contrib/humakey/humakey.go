// Package humakey lets ids and keys be parameters in danielgtaylor/huma, and gives nullable ids a
// schema.
//
//	humakey.Nullable[sqltype.NullID](api.OpenAPI().Components.Schemas)
//	huma.Get(api, "/orders/{id}", func(ctx context.Context, in *struct {
//		ID humakey.Param[sqltype.Key[Order]] `path:"id"`
//	}) (*Reply, error) {
//		return find(ctx, in.ID.Value)
//	})
//
// In bodies, ids and keys need nothing else: they are strings, and huma rejects a number.
package humakey

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Param is a path, query, header or cookie parameter. K is a sqltype.ID, NullID, Key or NullKey. If
// the parameter was not sent, Value is zero.
//
// Without Param, huma rejects every id: it parses the parameter as a number, and its schema then
// requires a string.
type Param[K any] struct{ Value K }

var (
	_ huma.SchemaProvider      = Param[sqltype.ID]{}
	_ encoding.TextUnmarshaler = (*Param[sqltype.ID])(nil)
)

// UnmarshalText parses text as the UnmarshalText method of K does, with the same errors. On an error
// p is unchanged.
func (p *Param[K]) UnmarshalText(text []byte) error {
	if p == nil {
		return fmt.Errorf("humakey: destination is %w", sqltype.ErrNil)
	}
	value, ok := any(&p.Value).(encoding.TextUnmarshaler)
	if !ok {
		return errors.New("humakey: " + reflect.TypeFor[K]().String() + " is not a type of package sqltype")
	}
	return value.UnmarshalText(text)
}

// Schema returns the schema of a string.
func (Param[K]) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// Nullable makes the schema of K, a sqltype.NullID or NullKey, "string or null". Without it huma
// rejects null in a body. Call it before you add operations that use K.
func Nullable[K any](registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[K](), reflect.TypeFor[nullable]())
}

// nullable has the schema of an id that may be null.
type nullable struct{}

func (nullable) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}
