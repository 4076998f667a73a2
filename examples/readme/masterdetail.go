package readme

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Invoice struct {
	ID    sqltype.ID
	Items []Item
}

type Item struct{ ID, InvoiceID sqltype.ID }

// assign gives invoices and items their keys, and items their invoice's, from
// one reservation. Nothing is written yet.
func assign(ctx context.Context, gen *core.Generator, invoices []Invoice) error {
	return sqltype.Assign(ctx, gen, invoices,
		func(i *Invoice) *sqltype.ID { return &i.ID },
		sqltype.Children(
			func(i *Invoice) []Item { return i.Items },
			func(it *Item) *sqltype.ID { return &it.ID },
			func(it *Item) *sqltype.ID { return &it.InvoiceID },
		))
}
