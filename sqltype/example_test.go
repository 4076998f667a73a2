package sqltype_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// sequence replaces a generator of package core.
type sequence struct{ last int64 }

func (s *sequence) Next(context.Context) (int64, error) {
	s.last++
	return s.last, nil
}

func (s *sequence) Fill(_ context.Context, ids []int64) error {
	for i := range ids {
		s.last++
		ids[i] = s.last
	}
	return nil
}

func Example() {
	type Order struct {
		ID       sqltype.ID     `json:"id"`
		ParentID sqltype.NullID `json:"parent_id"`
	}
	id, err := sqltype.NextID(context.Background(), &sequence{last: 1996573624012345676})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := json.Marshal(Order{ID: id})
	fmt.Println(string(b))

	var order Order
	err = json.Unmarshal([]byte(`{"id": 1996573624012345677, "parent_id": "12"}`), &order)
	fmt.Println(order.ID == id, order.ParentID, err)
	// Output:
	// {"id":"1996573624012345677","parent_id":null}
	// true 12 <nil>
}

func ExampleNextID() {
	id, err := sqltype.NextID(context.Background(), &sequence{last: 41})
	fmt.Println(id, err)
	// Output: 42 <nil>
}

func ExampleParse() {
	id, err := sqltype.Parse("1996573624012345677")
	fmt.Println(id, err)
	_, err = sqltype.Parse("007")
	fmt.Println(err, errors.Is(err, sqltype.ErrSyntax))
	// Output:
	// 1996573624012345677 <nil>
	// sqltype: parse "007": not a decimal id true
}

func ExampleParseBase32() {
	// Read as people write it: in any case, and with letters for digits.
	for _, s := range []string{"1QDA147XJQ4AD", "lqda147xjq4ad", "1QDA-147X-JQ4AD"} {
		id, err := sqltype.ParseBase32(s)
		fmt.Println(id, err)
	}
	// Output:
	// 1996573624012345677 <nil>
	// 1996573624012345677 <nil>
	// 0 sqltype: parse base 32 "1QDA-147X-JQ4AD": not an id in base 32, which has 13 digits
}

func ExampleParseBase58() {
	id, err := sqltype.ParseBase58("5doYnWboBWc")
	fmt.Println(id, err)
	_, err = sqltype.ParseBase58("5doYnWboBW0")
	fmt.Println(err, errors.Is(err, sqltype.ErrSyntax))
	// Output:
	// 1996573624012345677 <nil>
	// sqltype: parse base 58 "5doYnWboBW0": not an id in base 58: byte 11 is no digit of it true
}

func ExampleParseBase62() {
	id, err := sqltype.ParseBase62("2NUKMIAa421")
	fmt.Println(id, err)
	_, err = sqltype.ParseBase62("zzzzzzzzzzz")
	fmt.Println(err, errors.Is(err, sqltype.ErrRange))
	// Output:
	// 1996573624012345677 <nil>
	// sqltype: parse base 62 "zzzzzzzzzzz": above the largest id, 9223372036854775807 true
}

func ExampleID_Base32() {
	fmt.Println(sqltype.ID(1996573624012345677).Base32(), sqltype.ID(42).Base32())
	// Output: 1QDA147XJQ4AD 000000000001A
}

func ExampleID_Base58() {
	fmt.Println(sqltype.ID(1996573624012345677).Base58(), sqltype.ID(42).Base58())
	// Output: 5doYnWboBWc 1111111111j
}

func ExampleID_Base62() {
	fmt.Println(sqltype.ID(1996573624012345677).Base62(), sqltype.ID(42).Base62())
	// Output: 2NUKMIAa421 0000000000g
}

func ExampleID_AppendBase32() {
	fmt.Println(string(sqltype.ID(42).AppendBase32([]byte("order-"))))
	// Output: order-000000000001A
}

func ExampleID_AppendBase58() {
	fmt.Println(string(sqltype.ID(42).AppendBase58([]byte("order-"))))
	// Output: order-1111111111j
}

func ExampleID_AppendBase62() {
	fmt.Println(string(sqltype.ID(42).AppendBase62([]byte("order-"))))
	// Output: order-0000000000g
}

func ExampleID_Int64() {
	id := sqltype.ID(42)
	fmt.Printf("%T\n", id.Int64())
	// Output: int64
}

func ExampleID_IsZero() {
	fmt.Println(sqltype.ID(0).IsZero(), sqltype.ID(42).IsZero())
	// Output: true false
}

func ExampleID_Compare() {
	ids := []sqltype.ID{30, 4, 100}
	slices.SortFunc(ids, sqltype.ID.Compare)
	fmt.Println(ids)
	// Output: [4 30 100]
}

func ExampleID_String() {
	fmt.Println("/orders/" + sqltype.ID(42).String())
	// Output: /orders/42
}

func ExampleID_Format() {
	id := sqltype.ID(1200)
	fmt.Printf("%v %d %s %q %x [%8d]\n", id, id, id, id, id, id)
	// Output: 1200 1200 1200 "1200" 4b0 [    1200]
}

func ExampleID_AppendText() {
	b, err := sqltype.ID(42).AppendText([]byte("order:"))
	fmt.Println(string(b), err)
	// Output: order:42 <nil>
}

func ExampleID_MarshalText() {
	_, err := sqltype.ID(-1).MarshalText()
	fmt.Println(err)
	// Output: sqltype: encode -1: an id is never negative
}

func ExampleID_UnmarshalText() {
	var id sqltype.ID
	fmt.Println(id.UnmarshalText([]byte("42")), id)
	// Output: <nil> 42
}

func ExampleID_UnmarshalJSON() {
	var ids []sqltype.ID
	fmt.Println(json.Unmarshal([]byte(`["42", 43]`), &ids), ids)
	fmt.Println(json.Unmarshal([]byte(`[1e3]`), &ids))
	// Output:
	// <nil> [42 43]
	// sqltype: parse JSON "1e3": not a decimal id
}

func ExampleID_UnmarshalParam() {
	var id sqltype.ID
	fmt.Println(id.UnmarshalParam("42"), id)
	fmt.Println(id.UnmarshalParam("42; drop table orders"))
	// Output:
	// <nil> 42
	// sqltype: parse "42; drop table orders": not a decimal id
}

func ExampleID_Value() {
	v, err := sqltype.ID(42).Value()
	fmt.Printf("%T %v %v\n", v, v, err)
	// Output: int64 42 <nil>
}

func ExampleID_Scan() {
	var id sqltype.ID
	fmt.Println(id.Scan(int64(42)), id)
	fmt.Println(id.Scan(nil))
	// Output:
	// <nil> 42
	// sqltype: Scan: NULL fits no ID and no Key: use a sqltype.NullID, a sqltype.NullKey or a pointer
}

func ExampleID_GormDataType() {
	fmt.Println(sqltype.ID(0).GormDataType())
	// Output: bigint
}

func ExampleNullID() {
	var parent sqltype.NullID
	fmt.Println(parent, parent.Valid)
	parent = sqltype.NullID{ID: 42, Valid: true}
	fmt.Println(parent, parent.Valid)
	// Output:
	// NULL false
	// 42 true
}

func ExampleNullID_Scan() {
	var n sqltype.NullID
	fmt.Println(n.Scan(int64(42)), n)
	fmt.Println(n.Scan(nil), n)
	// Output:
	// <nil> 42
	// <nil> NULL
}

func ExampleNullID_Value() {
	v, err := sqltype.NullID{}.Value()
	fmt.Println(v, err)
	// Output: <nil> <nil>
}

func ExampleNullID_MarshalJSON() {
	b, err := json.Marshal([]sqltype.NullID{{ID: 42, Valid: true}, {}})
	fmt.Println(string(b), err)
	// Output: ["42",null] <nil>
}

func ExampleNullID_UnmarshalJSON() {
	var ids []sqltype.NullID
	fmt.Println(json.Unmarshal([]byte(`["42", 43, null]`), &ids), ids)
	// Output: <nil> [42 43 NULL]
}

func ExampleNullID_IsZero() {
	b, _ := json.Marshal(struct {
		Parent sqltype.NullID `json:"parent,omitzero"`
	}{})
	fmt.Println(string(b))
	// Output: {}
}

func ExampleNullID_UnmarshalText() {
	n := sqltype.NullID{ID: 42, Valid: true}
	fmt.Println(n.UnmarshalText(nil), n)
	// Output: <nil> NULL
}

func ExampleNullID_UnmarshalParam() {
	var n sqltype.NullID
	fmt.Println(n.UnmarshalParam("42"), n)
	fmt.Println(n.UnmarshalParam(""), n)
	// Output:
	// <nil> 42
	// <nil> NULL
}

func ExampleNullID_MarshalText() {
	b, err := sqltype.NullID{}.MarshalText()
	fmt.Printf("%q %v\n", b, err)
	// Output: "" <nil>
}

func ExampleNullID_AppendText() {
	b, err := sqltype.NullID{ID: 42, Valid: true}.AppendText([]byte("parent="))
	fmt.Println(string(b), err)
	// Output: parent=42 <nil>
}

func ExampleNullID_String() {
	fmt.Println(sqltype.NullID{}.String())
	// Output: NULL
}

func ExampleNullID_GormDataType() {
	fmt.Println(sqltype.NullID{}.GormDataType())
	// Output: bigint
}

type Line struct {
	ID, OrderID sqltype.ID
	Item        string
}

type Order struct {
	ID    sqltype.ID
	Lines []Line
}

func ExampleAssign() {
	orders := []Order{
		{Lines: []Line{{Item: "tea"}, {Item: "cup"}}},
		{Lines: []Line{{Item: "pen"}}},
	}
	lines := sqltype.Children(
		func(o *Order) []Line { return o.Lines },
		func(l *Line) *sqltype.ID { return &l.ID },
		func(l *Line) *sqltype.ID { return &l.OrderID },
	)
	err := sqltype.Assign(context.Background(), &sequence{last: 100}, orders,
		func(o *Order) *sqltype.ID { return &o.ID }, lines)
	for _, o := range orders {
		fmt.Println("order", o.ID)
		for _, l := range o.Lines {
			fmt.Println("  line", l.ID, "of", l.OrderID, l.Item)
		}
	}
	fmt.Println(err)
	// Output:
	// order 101
	//   line 102 of 101 tea
	//   line 103 of 101 cup
	// order 104
	//   line 105 of 104 pen
	// <nil>
}

func ExampleChildren() {
	lines := sqltype.Children(
		func(o *Order) []Line { return o.Lines },
		func(l *Line) *sqltype.ID { return &l.ID },
		func(l *Line) *sqltype.ID { return &l.OrderID },
	)
	// An order that is in the database already gets one more line.
	orders := []Order{{ID: 7, Lines: []Line{{Item: "ink"}}}}
	err := sqltype.Assign(context.Background(), &sequence{last: 100}, orders,
		func(o *Order) *sqltype.ID { return &o.ID }, lines)
	fmt.Println(orders[0].ID, orders[0].Lines[0].ID, orders[0].Lines[0].OrderID, err)
	// Output: 7 101 7 <nil>
}

// Children of children take a second call: the lines of the first are the parents
// of the second, whose keys are set and stay.
func ExampleAssign_nested() {
	type Part struct{ ID, LineID sqltype.ID }
	type Line struct {
		ID, OrderID sqltype.ID
		Parts       []Part
	}
	type Order struct {
		ID    sqltype.ID
		Lines []Line
	}
	ctx, src := context.Background(), &sequence{last: 100}
	orders := []Order{
		{Lines: []Line{{Parts: make([]Part, 2)}, {}}},
		{Lines: []Line{{Parts: make([]Part, 1)}}},
	}
	err := sqltype.Assign(ctx, src, orders, func(o *Order) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *Order) []Line { return o.Lines },
		func(l *Line) *sqltype.ID { return &l.ID },
		func(l *Line) *sqltype.ID { return &l.OrderID },
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	var lines []*Line // of all orders, for one reservation
	for i := range orders {
		for j := range orders[i].Lines {
			lines = append(lines, &orders[i].Lines[j])
		}
	}
	err = sqltype.Assign(ctx, src, lines, func(l **Line) *sqltype.ID { return &(*l).ID }, sqltype.Children(
		func(l **Line) []Part { return (*l).Parts },
		func(p *Part) *sqltype.ID { return &p.ID },
		func(p *Part) *sqltype.ID { return &p.LineID },
	))
	for _, o := range orders {
		fmt.Println(o)
	}
	fmt.Println(err)
	// Output:
	// {101 [{102 101 [{106 102} {107 102}]} {103 101 []}]}
	// {104 [{105 104 [{108 105}]}]}
	// <nil>
}
