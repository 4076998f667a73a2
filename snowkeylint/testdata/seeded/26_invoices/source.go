package invoices

import (
	"context"
	"sync/atomic"
)

// source makes ids.
type source interface {
	Next(ctx context.Context) (int64, error)
}

// counting counts the ids of another source.
type counting struct {
	next source
	n    atomic.Uint64
}

func (c *counting) Next(ctx context.Context) (int64, error) {
	c.n.Add(1)
	return c.next.Next(ctx) // OK 63: both results are returned
}

// Drafts gives drafts their numbers.
type Drafts struct {
	ids  source
	open map[int64]*Invoice
}

// Open begins a draft and returns its number.
func (d *Drafts) Open(ctx context.Context) int64 {
	id := must(d.ids.Next(ctx)) // FAULT 082 snowerr: the helper drops the error, so drafts share the number 0; bwmarrin/snowflake#68
	d.open[id] = &Invoice{}
	return id
}

func must(id int64, _ error) int64 { // ALSO 082: here
	return id
}
