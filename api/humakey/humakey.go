// Package humakey makes ids and keys parameters of danielgtaylor/huma, and describes those that may
// be null.
//
//	humakey.Nullable[sqltype.NullID](api.OpenAPI().Components.Schemas)
//	huma.Get(api, "/orders/{id}", func(ctx context.Context, in *struct {
//		ID humakey.Param[sqltype.Key[Order]] `path:"id"`
//	}) (*Reply, error) {
//		return find(ctx, in.ID.Value)
//	})
//
// Bodies need nothing else: in them an id is a string, and huma refuses a number.
package humakey

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Param is a path, query, header or cookie parameter. K is a sqltype.ID, NullID, Key or NullKey. The
// zero value is that of a parameter that was not sent.
//
// Without it huma refuses every id, because it reads the parameter as a number, and then wants a
// string.
type Param[K any] struct{ Value K }

var (
	_ huma.SchemaProvider      = Param[sqltype.ID]{}
	_ encoding.TextUnmarshaler = (*Param[sqltype.ID])(nil)
)

// UnmarshalText reads what that of K reads, with the same errors. On an error p is unchanged.
func (p *Param[K]) UnmarshalText(text []byte) error {
	if p == nil {
		return fmt.Errorf("humakey: destination is %w", sqltype.ErrNil)
	}
	value, ok := any(&p.Value).(encoding.TextUnmarshaler)
	if !ok {
		return errors.New("humakey: " + reflect.TypeFor[K]().String() + " is no type of package sqltype")
	}
	return value.UnmarshalText(text)
}

// Schema is a string.
func (Param[K]) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// Nullable makes the schema of K, a sqltype.NullID or NullKey, a string or null: without it huma
// refuses null in a body. Call it before the operations with K are added.
func Nullable[K any](registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[K](), reflect.TypeFor[nullable]())
}

// nullable has the schema of an id that may be null.
type nullable struct{}

func (nullable) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}
