package entkey

import (
	"context"
	"fmt"
	"reflect"

	"entgo.io/ent"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Keys returns a hook that sets the key of each new row to the next id of src, unless it is set. Add
// it to a client once, before hooks that read the key. It ignores rows whose key is neither a
// sqltype.ID nor a sqltype.Key.
//
// If src fails or is nil, the create fails with the error of sqltype.NextID. ent calls hooks row by
// row, so a bulk create takes its ids one by one. To take them in one reservation, set the keys with
// sqltype.Assign and SetID.
func Keys(src sqltype.Source) ent.Hook {
	return func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, row ent.Mutation) (ent.Value, error) {
			if row.Op().Is(ent.OpCreate) {
				if err := setKey(ctx, src, row); err != nil {
					return nil, fmt.Errorf("entkey: %s: %w", row.Type(), err)
				}
			}
			return next.Mutate(ctx, row)
		})
	}
}

// keyed are the methods of a mutation that ent generates for a key of type K.
type keyed[K any] interface {
	ID() (key K, set bool)
	SetID(K)
}

func setKey(ctx context.Context, src sqltype.Source, row ent.Mutation) error {
	if row, ok := row.(keyed[sqltype.ID]); ok {
		if key, _ := row.ID(); key != 0 {
			return nil
		}
		id, err := sqltype.NextID(ctx, src)
		if err == nil {
			row.SetID(id)
		}
		return err
	}
	// The type of the key is known only to the generated code.
	get, set := reflect.ValueOf(row).MethodByName("ID"), reflect.ValueOf(row).MethodByName("SetID")
	if !get.IsValid() || !set.IsValid() {
		return nil
	}
	key := set.Type().In(0)
	if key.Kind() != reflect.Int64 || !key.Implements(reflect.TypeFor[sqltype.AnyKey]()) || get.Call(nil)[0].Int() != 0 {
		return nil
	}
	id, err := sqltype.NextID(ctx, src)
	if err == nil {
		set.Call([]reflect.Value{reflect.ValueOf(id).Convert(key)})
	}
	return err
}
