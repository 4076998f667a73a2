package readme

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.AfterConnect = pgxtype.AfterConnect // registers a codec for ids and slices of ids
	return pgxpool.NewWithConfig(ctx, cfg)
}

func loadInvoices(ctx context.Context, db pgxload.Beginner, input []Invoice) error {
	_, err := pgxload.Load(ctx, db, func(w *pgxload.Writer) error {
		invoices := w.Table("invoices", "id", "note")
		items := w.Table("items", "id", "invoice_id", "article")
		for i := range input {
			invoice := &input[i]
			invoices.Row(&invoice.ID, &invoice.Note)
			for j := range invoice.Items {
				item := &invoice.Items[j]
				items.Row(&item.ID, &item.InvoiceID, &item.Article)
			}
		}
		return nil
	})
	return err
}

func retryInvoices(ctx context.Context, pool *pgxpool.Pool, input []Invoice) error {
	return pgxload.Retry(ctx, pool, func(tx pgx.Tx) error { return loadInvoices(ctx, tx, input) })
}
