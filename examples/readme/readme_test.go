package readme

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func Example_gorm() {
	db, err := gorm.Open(sqlite.Open(":memory:"), &gorm.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := useSnowkey(db, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	if err := db.AutoMigrate(&Order{}, &OrderLine{}); err != nil {
		fmt.Println(err)
		return
	}
	order := Order{Note: "two teas", Lines: []OrderLine{{SKU: "TEA-1"}, {SKU: "TEA-2"}}}
	if err := db.Create(&order).Error; err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(order)
	if err != nil {
		fmt.Println(err)
		return
	}
	var browser map[string]any
	err = json.Unmarshal(text, &browser)
	fmt.Println(order.ID > 0, order.Lines[1].OrderID == order.ID, browser["id"] == order.ID.String(), err)
	// Output: true true true <nil>
}

func Example_core() {
	ctx := context.Background()
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	id, err := gen.Next(ctx)                   // one
	block := make([]int64, 1000)               // or a block,
	errFill := gen.Fill(ctx, block)            // ascending, all or none
	parts, errParts := gen.Layout().Decode(id) // and back

	fmt.Println(err, errFill, errParts, parts.Worker)
	// Output: <nil> <nil> <nil> 3
}

func Example_masterDetail() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	invoices := []Invoice{{Items: make([]Item, 2)}, {Items: make([]Item, 3)}}
	err = assign(context.Background(), gen, invoices)
	fmt.Println(invoices[1].Items[2].InvoiceID == invoices[1].ID, gen.Stats().Issued, err)
	// Output: true 7 <nil>
}

func TestPgx(t *testing.T) {
	pool, err := connect(t.Context(), testserver.Postgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var ids []sqltype.ID
	want := []sqltype.ID{910499571847892992, 1}
	if err := pool.QueryRow(t.Context(), "SELECT $1::bigint[]", want).Scan(&ids); err != nil || len(ids) != 2 || ids[0] != want[0] {
		t.Errorf("%v, %v", ids, err)
	}
}
