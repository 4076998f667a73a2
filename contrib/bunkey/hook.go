package bunkey

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Hook fills the primary key of a model that embeds it, if that is one column, a sqltype.ID or a
// sqltype.Key, and zero. It has no columns. A model with its own BeforeInsert calls that of Hook
// in it.
type Hook struct{}

var _ bun.BeforeInsertHook = Hook{}

// BeforeInsert sets the keys of all rows of the query. On an error none is set: those of
// sqltype.Assign, and one if the database was not opened with [Dialect].
func (Hook) BeforeInsert(ctx context.Context, query *bun.InsertQuery) error {
	model, ok := query.GetModel().(bun.TableModel)
	if !ok {
		return nil
	}
	table := model.Table()
	key := keyOf(table)
	if key == nil {
		return nil
	}
	dialect, ok := query.DB().Dialect().(interface{ keys() sqltype.Source })
	if !ok {
		return fmt.Errorf("bunkey: %s: no source of keys: pass bunkey.Dialect to bun.NewDB", table.TypeName)
	}
	keys, err := keysOf(reflect.ValueOf(model.Value()), key)
	if err == nil {
		err = sqltype.Assign(ctx, dialect.keys(), keys, func(key **int64) *int64 { return *key })
	}
	if err != nil {
		return fmt.Errorf("bunkey: %s: %w", table.TypeName, err)
	}
	return nil
}

// keysOf returns the addresses of the keys of a pointer to a struct, or to a slice of structs or of
// pointers.
func keysOf(model reflect.Value, key *schema.Field) (keys []*int64, err error) {
	add := func(row reflect.Value) {
		keys = append(keys, key.Value(row).Addr().Convert(reflect.TypeFor[*int64]()).Interface().(*int64))
	}
	switch model = reflect.Indirect(model); model.Kind() {
	case reflect.Invalid:
		return nil, errors.New("the model is nil") // bun would panic
	case reflect.Slice:
		for i := range model.Len() {
			row := reflect.Indirect(model.Index(i))
			if !row.IsValid() {
				return nil, fmt.Errorf("row %d is nil", i) // the same
			}
			add(row)
		}
	default:
		add(model)
	}
	return keys, nil
}

// keyOf returns the primary key if it is to be filled, or nil.
func keyOf(table *schema.Table) *schema.Field {
	if len(table.PKs) == 1 && !table.PKs[0].IsPtr && isKey(table.PKs[0].IndirectType) {
		return table.PKs[0]
	}
	return nil
}

var (
	idType     = reflect.TypeFor[sqltype.ID]()
	nullIDType = reflect.TypeFor[sqltype.NullID]()
	anyKeyType = reflect.TypeFor[sqltype.AnyKey]()
)

// isKey reports whether the type is a sqltype.ID or a sqltype.Key.
func isKey(t reflect.Type) bool {
	return t == idType || t.Kind() == reflect.Int64 && t.Implements(anyKeyType)
}

// isNullKey reports whether the type is a sqltype.NullID or a sqltype.NullKey.
func isNullKey(t reflect.Type) bool {
	return t == nullIDType || t.Kind() == reflect.Struct && t.Implements(anyKeyType)
}
