package pgxload_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// offline is a pool whose server cannot be reached.
type offline struct{}

var errOffline = errors.New("no server here")

func (offline) Begin(context.Context) (pgx.Tx, error) { return nil, errOffline }

func (offline) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) { return nil, errOffline }

type (
	Invoice struct {
		ID    sqltype.ID
		Note  string
		Items []Item
	}
	Item struct {
		ID, InvoiceID sqltype.ID
		Article       string
	}
)

func ExampleLoad() {
	var pool offline // a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx
	input := []Invoice{{ID: 1, Note: "two teas", Items: []Item{{2, 1, "TEA-1"}, {3, 1, "TEA-2"}}}}

	loaded, err := pgxload.Load(context.Background(), pool, func(w *pgxload.Writer) error {
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

	var at *pgxload.LoadError
	switch {
	case err == nil:
		fmt.Println(loaded.Rows, "rows,", loaded.Tables[0], "of them invoices")
	case errors.As(err, &at):
		fmt.Println("row", at.Row, "of", at.Table, "is at fault:", at.Err)
	case errors.Is(err, sqltype.ErrOutcomeUnknown):
		fmt.Println("are they there? look for", input[0].ID)
	default:
		fmt.Println(err)
	}
	// Output: pgxload: begin: no server here
}

func ExampleLoadWith() {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	cfg := pgxload.Config{
		Source: gen,            // of NextID
		Method: pgxload.Unnest, // for a table with row-level security
	}

	_, err = pgxload.LoadWith(context.Background(), offline{}, cfg, func(w *pgxload.Writer) error {
		invoices := w.Table("shop.invoices", "id", "note")
		items := w.Table("shop.items", "id", "invoice_id", "article")
		for n := 0; n < 1_000_000 && w.Err() == nil; n++ { // Load returns the error
			id := w.NextID()
			invoices.Row(id, "two teas")
			items.Row(w.NextID(), id, "TEA-1")
			items.Row(w.NextID(), id, "TEA-2")
		}
		return nil
	})
	fmt.Println(err)
	// Output: pgxload: begin: no server here
}

func ExampleTable_OnConflict() {
	// A file is loaded again: existing invoices take the new note.
	_, err := pgxload.Load(context.Background(), offline{}, func(w *pgxload.Writer) error {
		invoices := w.Table("invoices", "id", "note").OnConflict(pgxload.Conflict{Key: []string{"id"}, Update: []string{"note"}})
		invoices.Row(sqltype.ID(1), "three teas")
		return nil
	})

	fmt.Println(err)
	// Output: pgxload: begin: no server here
}

func ExampleRetry() {
	ctx := context.Background()
	var pool offline            // a *pgxpool.Pool or a *pgx.Conn
	input := []Invoice{{ID: 1}} // the keys are assigned before, so each attempt writes the same rows

	err := pgxload.Retry(ctx, pool, func(tx pgx.Tx) error {
		_, err := pgxload.Load(ctx, tx, func(w *pgxload.Writer) error {
			invoices := w.Table("invoices", "id", "note")
			for _, invoice := range input {
				invoices.Row(invoice.ID, invoice.Note)
			}
			return nil
		})
		return err
	})

	fmt.Println(err)
	// Output: pgxload: Retry: attempt 1 of 5: begin: no server here
}

func ExampleRetryWith() {
	ctx := context.Background()
	var pool offline
	cfg := pgxload.RetryConfig{Tx: pgx.TxOptions{IsoLevel: pgx.Serializable}}

	err := pgxload.RetryWith(ctx, pool, cfg, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE stock SET pieces = pieces - 1 WHERE id = 7`)
		return err
	})
	fmt.Println(err)
	// Output: pgxload: Retry: attempt 1 of 5: begin: no server here
}
