package readme

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

func load(ctx context.Context, pool *pgxpool.Pool, invoices []Invoice) error {
	return pgxtype.Retry(ctx, pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
		_, err := pgxtype.Load(ctx, tx, pgxtype.Seq(slices.Values(invoices)), pgxtype.LoadConfig[Invoice]{
			Tables: []pgxtype.Table[Invoice]{ // parents first
				pgxtype.ParentTable(pgx.Identifier{"invoices"}, []string{"id"},
					func(i *Invoice, row []any) []any { return append(row, &i.ID) }),
				pgxtype.ChildTable(pgx.Identifier{"items"}, []string{"id", "invoice_id"},
					func(i *Invoice) []Item { return i.Items },
					func(it *Item, row []any) []any { return append(row, &it.ID, &it.InvoiceID) }),
			},
		})
		return err
	})
}
