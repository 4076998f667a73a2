package keys

import (
	"context"
	"fmt"
	"slices"
)

// Reservation takes the ids of a create from its sources, before a row is changed: Need counts them,
// Take gets them, and IDs returns them. The zero value needs none.
type Reservation struct{ requests []request }

// request is for the ids of one source. Sources are distinguished by name, because comparing the
// sources themselves may panic.
type request struct {
	column *Column // the first that needs ids
	n      int
	ids    []int64
}

func (r *Reservation) requestFor(c *Column) int {
	return slices.IndexFunc(r.requests, func(q request) bool { return q.column.SourceName == c.SourceName })
}

// Need adds n ids from the column's source.
func (r *Reservation) Need(c *Column, n int) {
	k := r.requestFor(c)
	if k < 0 {
		k = len(r.requests)
		r.requests = append(r.requests, request{column: c})
	}
	r.requests[k].n += n
}

// Take gets the ids, with one call for each source. If a source fails, the error names its
// first column.
func (r *Reservation) Take(ctx context.Context) error {
	for k := range r.requests {
		q := &r.requests[k]
		q.ids = make([]int64, q.n)
		var err error
		if q.n == 1 {
			q.ids[0], err = q.column.Source.Next(ctx)
		} else {
			err = q.column.Source.Fill(ctx, q.ids)
		}
		switch {
		case err != nil && q.n > 1: // for this column and others
			return fmt.Errorf("%s (%d ids): %w", q.column.Name, q.n, err)
		case err != nil:
			return fmt.Errorf("%s: %w", q.column.Name, err)
		}
		if least := slices.Min(q.ids); least <= 0 {
			return fmt.Errorf("%s: the source returned %d, and ids are positive", q.column.Name, least)
		}
	}
	return nil
}

// IDs returns the next n ids for the column. It returns each id once.
func (r *Reservation) IDs(c *Column, n int) []int64 {
	q := &r.requests[r.requestFor(c)]
	ids := q.ids[:n]
	q.ids = q.ids[n:]
	return ids
}
