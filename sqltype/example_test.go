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
	err = json.Unmarshal([]byte(`{"id": "1996573624012345677", "parent_id": 12}`), &order)
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

// The short forms have a fixed width, and sort byte by byte as the ids do.
func ExampleID_Base32() {
	id := sqltype.ID(1996573624012345677)
	fmt.Println(id.Base32(), id.Bitcoin58(), id.Base62(), sqltype.ID(42).Base32())
	fmt.Println(string(id.AppendBase32([]byte("order-"))))
	// Output:
	// 1QDA147XJQ4AD 5doYnWboBWc 2NUKMIAa421 000000000001A
	// order-1QDA147XJQ4AD
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

// The same text is another id in each of the two alphabets.
func ExampleParseBwmarrin58() {
	for _, parse := range []func(string) (sqltype.ID, error){sqltype.ParseBwmarrin58, sqltype.ParseBitcoin58} {
		id, err := parse("5CNxMvANbvB")
		fmt.Println(id, err)
	}
	// Output:
	// 1996573624012345677 <nil>
	// 1807732633845834060 <nil>
}

func ExampleID_Compare() {
	ids := []sqltype.ID{30, 4, 100}
	slices.SortFunc(ids, sqltype.ID.Compare)
	fmt.Println(ids)
	// Output: [4 30 100]
}

func ExampleID_UnmarshalJSON() {
	var ids []sqltype.ID
	fmt.Println(json.Unmarshal([]byte(`["42", 43]`), &ids), ids)
	fmt.Println(json.Unmarshal([]byte(`[1e3]`), &ids))
	// Output:
	// <nil> [42 43]
	// sqltype: parse JSON "1e3": not a decimal id
}

// A client that rounds numbers gets an error instead of another row.
func ExampleExact() {
	type row struct{ ID sqltype.ID }
	doc := []byte(`[{"ID": 1996573624012345677}]`)
	var rows []row
	fmt.Println(json.Unmarshal(doc, &rows))
	var made sqltype.Exact[[]row] // of json_agg
	fmt.Println(json.Unmarshal(doc, &made), made.V[0].ID)
	// Output:
	// sqltype: parse JSON "1996573624012345677": a JSON number above 2^53 may have been rounded: send the id as a string
	// <nil> 1996573624012345677
}

func ExampleQuoteNumbers() {
	row, _ := json.Marshal(map[string]any{"id": int64(1996573624012345677), "lines": 2}) // of pgx.RowToMap
	fmt.Println(string(sqltype.QuoteNumbers(row)))
	// Output: {"id":"1996573624012345677","lines":2}
}

func ExampleID_Scan() {
	var id sqltype.ID
	fmt.Println(id.Scan(int64(42)), id)
	fmt.Println(id.Scan(nil))
	// Output:
	// <nil> 42
	// sqltype: Scan: cannot scan NULL into an ID or a Key: use a sqltype.NullID, a sqltype.NullKey or a pointer
}

func ExampleNullID() {
	var parent sqltype.NullID
	fmt.Println(parent, parent.Valid)
	err := parent.Scan(int64(42))
	fmt.Println(parent, parent.Valid, err)
	text, err := json.Marshal([]sqltype.NullID{{ID: 42, Valid: true}, {}})
	fmt.Println(string(text), err)
	// Output:
	// NULL false
	// 42 true <nil>
	// ["42",null] <nil>
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
