package readme

import (
	"context"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Invoice struct {
	ID    sqltype.ID
	Note  string
	Items []Item
}

type Item struct {
	ID, InvoiceID sqltype.ID
	Article       string
}

func assign(ctx context.Context, gen sqltype.Source, invoices []Invoice) error {
	return sqltype.Assign(ctx, gen, invoices,
		func(i *Invoice) *sqltype.ID { return &i.ID },
		sqltype.Children(
			func(i *Invoice) []Item { return i.Items },
			func(it *Item) *sqltype.ID { return &it.ID },
			func(it *Item) *sqltype.ID { return &it.InvoiceID },
		))
}
