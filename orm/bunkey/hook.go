package bunkey

import (
	"context"
	"fmt"
	"reflect"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Hook fills the primary key of a model that embeds it, if that is one column, a sqltype.ID or a
// sqltype.Key, and zero. It has no columns. A model with a BeforeInsert of its own calls that of Hook
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
	dialect, ok := query.DB().Dialect().(interface{ keys() sqltype.Filler })
	if !ok {
		return fmt.Errorf("bunkey: %s: no source of keys: make the DB with bunkey.Dialect", table.TypeName)
	}
	var keys []*int64
	for row := range rows(reflect.ValueOf(model.Value())) {
		keys = append(keys, key.Value(row).Addr().Convert(reflect.TypeFor[*int64]()).Interface().(*int64))
	}
	if err := sqltype.Assign(ctx, dialect.keys(), keys, func(key **int64) *int64 { return *key }); err != nil {
		return fmt.Errorf("bunkey: %s: %w", table.TypeName, err)
	}
	return nil
}

// rows yields the structs of a pointer to a struct, or to a slice of structs or of pointers. bun
// reports nil ones.
func rows(v reflect.Value) func(yield func(reflect.Value) bool) {
	return func(yield func(reflect.Value) bool) {
		switch v = reflect.Indirect(v); v.Kind() {
		case reflect.Struct:
			yield(v)
		case reflect.Slice:
			for i := range v.Len() {
				if row := reflect.Indirect(v.Index(i)); row.Kind() == reflect.Struct && !yield(row) {
					return
				}
			}
		}
	}
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
