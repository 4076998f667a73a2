package sqltype_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Customer struct {
	ID sqltype.Key[Customer] `json:"id"`
}

func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }

type Invoice struct {
	ID         sqltype.Key[Invoice]     `json:"id"`
	CustomerID sqltype.Key[Customer]    `json:"customer_id"`
	ReplacesID sqltype.NullKey[Invoice] `json:"replaces_id"`
	Items      []Item                   `json:"items,omitempty"`
}

// Keys of invoices were in decimal before, and links with such keys are still read.
func (*Invoice) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "inv", Old: invoiceForms} }

var invoiceForms = []sqltype.Form{{}}

type Item struct {
	ID        sqltype.Key[Item]    // without a KeyForm: decimal
	InvoiceID sqltype.Key[Invoice] // a Key[Customer] would not compile
	Name      string
}

func ExampleKey() {
	customer := Customer{ID: 1996573624012345677}
	invoice := Invoice{ID: 1996573624012345678, CustomerID: customer.ID}
	// invoice.ID = customer.ID does not compile.
	b, err := json.Marshal(invoice)
	fmt.Println(string(b), err)

	v, err := invoice.ID.Value() // of the bigint column
	fmt.Println(v, err)
	fmt.Println(invoice.ID.ID() == sqltype.ID(invoice.ID), sqltype.Key[Invoice](42))
	// Output:
	// {"id":"inv_1qda147xjq4ae","customer_id":"cus_1qda147xjq4ad","replaces_id":null} <nil>
	// 1996573624012345678 <nil>
	// true inv_000000000001a
}

func ExampleNextKey() {
	key, err := sqltype.NextKey[Invoice](context.Background(), &sequence{last: 41})
	fmt.Println(key, err)
	// Output: inv_000000000001a <nil>
}

func ExampleParseKey() {
	for _, s := range []string{"inv_000000000001a", "INV_000000000001A", "42", "cus_000000000001a", "inv_1a"} {
		key, err := sqltype.ParseKey[Invoice](s)
		fmt.Println(key.Int64(), errors.Is(err, sqltype.ErrPrefix), err)
	}
	// Output:
	// 42 false <nil>
	// 42 false <nil>
	// 42 false <nil>
	// 0 true sqltype: parse "cus_000000000001a": not a key of this type, want "inv_" and 13 digits of base 32
	// 0 false sqltype: parse "inv_1a": want "inv_" and 13 digits of base 32
}

// KeyForm of Invoice is shown above: a prefix, and decimal texts are read as well.
func ExampleForm() {
	var invoice Invoice
	err := json.Unmarshal([]byte(`{"id": 42, "customer_id": "cus_000000000001a", "replaces_id": "41"}`), &invoice)
	fmt.Println(invoice.ID, invoice.CustomerID, invoice.ReplacesID, err)
	err = json.Unmarshal([]byte(`{"customer_id": 42}`), &invoice)
	fmt.Println(err)
	// Output:
	// inv_000000000001a cus_000000000001a inv_0000000000019 <nil>
	// sqltype: parse JSON "42": a number, but a sqltype.Key[github.com/seed-299c1d6b/snowkey/sqltype_test.Customer] has a Form, want "cus_" and 13 digits of base 32: read the number into a sqltype.Exact[sqltype.ID] and convert it, or list the zero Form in Form.Old
}

// Call it in a test of each form.
func ExampleForm_Check() {
	fmt.Println((*Invoice)(nil).KeyForm().Check())
	fmt.Println(sqltype.Form{Prefix: "Inv", Old: []sqltype.Form{{Prefix: "invoice1"}}}.Check())
	// Output:
	// <nil>
	// sqltype: wrong Form: Prefix "Inv" is not 1 to 63 of a-z and _ that begin and end with a letter; Old[0].Prefix "invoice1" is not 1 to 63 of a-z and _ that begin and end with a letter
}

func ExampleAssign_keys() {
	invoices := []Invoice{{Items: []Item{{Name: "tea"}, {Name: "cup"}}}}
	err := sqltype.Assign(context.Background(), &sequence{last: 100}, invoices,
		func(i *Invoice) *sqltype.Key[Invoice] { return &i.ID },
		sqltype.Children(
			func(i *Invoice) []Item { return i.Items },
			func(i *Item) *sqltype.Key[Item] { return &i.ID },
			func(i *Item) *sqltype.Key[Invoice] { return &i.InvoiceID }))
	fmt.Println(invoices[0].Items, err)
	// Output: [{102 inv_0000000000035 tea} {103 inv_0000000000035 cup}] <nil>
}

func ExampleNullKey() {
	var replaces sqltype.NullKey[Invoice]
	fmt.Println(replaces, replaces.Valid)
	replaces = sqltype.NullKey[Invoice]{Key: 42, Valid: true}
	fmt.Println(replaces, replaces.Valid)
	fmt.Println(replaces.Scan(nil), replaces)
	// Output:
	// NULL false
	// inv_000000000001a true
	// <nil> NULL
}
