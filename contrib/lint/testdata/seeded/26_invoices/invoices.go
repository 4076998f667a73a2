// Package invoices writes invoices with database/sql.
package invoices

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Repository writes invoices. Its methods may be called by many goroutines.
type Repository struct {
	db  *sql.DB
	gen *core.Generator
	ids source
	log *slog.Logger
}

type Invoice struct {
	ID       sqltype.Key[Invoice] `json:"id"`
	Customer sqltype.ID           `json:"customer"`
	Cents    int64                `json:"cents"`
}

// New returns a repository. The caller keeps and closes the generator.
func New(db *sql.DB, gen *core.Generator, log *slog.Logger) *Repository {
	return &Repository{db: db, gen: gen, ids: &counting{next: gen}, log: log}
}

// Create writes an invoice.
func (r *Repository) Create(ctx context.Context, inv *Invoice) error {
	key, _ := sqltype.NextKey[Invoice](ctx, r.gen) // FAULT 078 snowerr: the error of NextKey is dropped, the key is then 0; apache/eventmesh#1803
	inv.ID = key
	return r.insert(ctx, inv)
}

// Copy writes an invoice once more.
func (r *Repository) Copy(ctx context.Context, inv Invoice) (Invoice, error) {
	id, err := r.gen.Next(ctx)
	if err != nil { // FAULT 079 snowerr: logged, then the function continues with the id 0, as after a step of the clock; twitter-archive/snowflake#6
		r.log.ErrorContext(ctx, "no id", slog.Any("err", err))
	}
	inv.ID = sqltype.Key[Invoice](id)
	return inv, r.insert(ctx, &inv)
}

// Reserve returns the keys of n invoices.
func (r *Repository) Reserve(ctx context.Context, n int) []int64 {
	ids := make([]int64, n)
	r.gen.Fill(ctx, ids) // FAULT 080 snowerr: the error of Fill is not read, the ids are then all 0
	return ids
}

// Log records what happened to an invoice.
func (r *Repository) Log(ctx context.Context, inv *Invoice, what string) error {
	id, err := r.gen.Next(ctx) // FAULT 081 snowerr: err is overwritten before it is read
	_, err = r.db.ExecContext(ctx, "INSERT INTO invoice_log (id, invoice_id, what) VALUES (?, ?, ?)", id, inv.ID, what)
	return err
}

// Remind records reminders, and reports all errors together.
func (r *Repository) Remind(ctx context.Context, list []Invoice) error {
	var errs []error
	for i := range list {
		id, err := r.gen.Next(ctx)
		if err == nil { // OK 59: the id is used without an error only
			_, err = r.db.ExecContext(ctx, "INSERT INTO reminders (id, invoice_id) VALUES (?, ?)", id, list[i].ID)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Queue sends ids with their errors to another goroutine.
func (r *Repository) Queue(ctx context.Context, out chan<- Result) {
	var res Result
	res.ID, res.Err = r.ids.Next(ctx) // OK 60: the receiver reads the error
	out <- res
}

// Result is an id or an error.
type Result struct {
	ID  int64
	Err error
}

// Touch makes an id only to see whether ids can be made.
func (r *Repository) Touch(ctx context.Context) error {
	_, err := r.gen.Next(ctx) // OK 61: the error is all that is wanted
	return err
}

// Retry makes an id in spite of short outages.
func (r *Repository) Retry(ctx context.Context) (id int64, err error) {
	for range 3 {
		if id, err = r.gen.Next(ctx); !errors.Is(err, core.ErrFenced) { // OK 62: the last error is returned
			break
		}
		time.Sleep(time.Second)
	}
	return id, err
}

func (r *Repository) insert(ctx context.Context, inv *Invoice) error {
	_, err := r.db.ExecContext(ctx, "INSERT INTO invoices (id, customer_id, cents) VALUES (?, ?, ?)", inv.ID, inv.Customer, inv.Cents)
	if err != nil {
		return fmt.Errorf("invoice %v: %w", inv.ID, err)
	}
	return nil
}
