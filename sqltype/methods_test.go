package sqltype_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// nullV2 are the methods of a NullID and a NullKey for encoding/json/v2.
var nullV2 []string

// The methods are the contract: one more (MarshalJSON, LogValue, MarshalBinary)
// changes what encoders do, one less breaks a user. An ID must not have MarshalJSONTo and
// UnmarshalJSONFrom: encoding/json/v2 is faster without them.
func TestMethodSet(t *testing.T) {
	id := []string{
		"String", "Format", "AppendText", "MarshalText", "IsZero", "Compare", "Int64", "Value", "GormDataType",
		"Base32", "Base58", "Base62", "AppendBase32", "AppendBase58", "AppendBase62",
		"MarshalGQLContext",
	}
	null := []string{
		"String", "Format", "AppendText", "MarshalText", "MarshalJSON", "IsZero", "Value", "GormDataType",
		"MarshalGQLContext",
	}
	null = append(null, nullV2...)
	decode := []string{
		"UnmarshalText", "UnmarshalJSON", "UnmarshalParam", "Bind", "Scan",
		"UnmarshalGQLContext",
		"MarshalXMLAttr", // of pointers, for a nil one
	}
	for _, tt := range []struct {
		typ  reflect.Type
		want []string
	}{
		{reflect.TypeFor[sqltype.ID](), id},
		{reflect.TypeFor[*sqltype.ID](), slices.Concat(id, decode)},
		{reflect.TypeFor[sqltype.NullID](), null},
		{reflect.TypeFor[*sqltype.NullID](), slices.Concat(null, decode)},
		{reflect.TypeFor[sqltype.Key[box]](), append([]string{"ID"}, id...)},
		{reflect.TypeFor[*sqltype.Key[box]](), slices.Concat([]string{"ID"}, id, decode)},
		{reflect.TypeFor[sqltype.NullKey[box]](), null},
		{reflect.TypeFor[*sqltype.NullKey[box]](), slices.Concat(null, decode)},
	} {
		t.Run(fmt.Sprint(tt.typ), func(t *testing.T) {
			var got []string
			for i := range tt.typ.NumMethod() {
				got = append(got, tt.typ.Method(i).Name)
			}
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v has %q, want %q", tt.typ, got, tt.want)
			}
		})
	}
	if kind := reflect.TypeFor[sqltype.ID]().Kind(); kind != reflect.Int64 {
		t.Errorf("an ID is a %v: binders that go by the kind would pass over it", kind)
	}
}

type box struct {
	ID    sqltype.ID
	Items []item
}

type item struct{ ID, BoxID sqltype.ID }

// One generator, many goroutines, New and Assign in turns: no id twice, and every
// item has its box's key.
func TestNoDuplicates(t *testing.T) {
	const goroutines, rounds = 4, 200
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	items := sqltype.Children(func(b *box) []item { return b.Items },
		func(i *item) *sqltype.ID { return &i.ID }, func(i *item) *sqltype.ID { return &i.BoxID })
	taken := make([][]sqltype.ID, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for range rounds {
				id, err := sqltype.NextID(context.Background(), gen)
				boxes := []box{{Items: make([]item, 3)}, {Items: make([]item, 2)}}
				if err == nil {
					err = sqltype.Assign(context.Background(), gen, boxes, func(b *box) *sqltype.ID { return &b.ID }, items)
				}
				if err != nil {
					t.Error(err)
					return
				}
				taken[g] = append(taken[g], id)
				for _, b := range boxes {
					taken[g] = append(taken[g], b.ID)
					for _, i := range b.Items {
						taken[g] = append(taken[g], i.ID)
						if i.BoxID != b.ID {
							t.Errorf("an item of box %d has the foreign key %d", b.ID, i.BoxID)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	all := slices.Concat(taken...)
	if len(all) != goroutines*rounds*8 {
		t.Fatalf("%d ids", len(all))
	}
	slices.Sort(all)
	if unique := slices.Compact(slices.Clone(all)); len(unique) != len(all) || unique[0] <= 0 {
		t.Errorf("%d ids, %d of them different, the least %d", len(all), len(unique), unique[0])
	}
}
