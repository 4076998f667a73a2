package keys

import (
	"context"
	"fmt"
	"slices"
)

// Reservation takes the ids of a create from its sources, before a row is changed: Need counts them,
// Take gets them with one call for each source, and IDs returns them. The zero value needs none.
type Reservation struct{ requests []request }

// request is for the ids of one source. Sources are distinguished by name, because comparing the
// sources themselves may panic.
type request struct {
	column *Column // the first that needs ids
	n      int
	ids    []int64
	one    [1]int64 // ids of a single row, which take no other allocation
	next   int
}

func (r *Reservation) of(c *Column) int {
	return slices.IndexFunc(r.requests, func(q request) bool { return q.column.SourceName == c.SourceName })
}

// Need adds n ids from the column's source.
func (r *Reservation) Need(c *Column, n int) {
	if n == 0 {
		return
	}
	k := r.of(c)
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
		var err error
		if q.n == 1 {
			q.ids = q.one[:]
			q.ids[0], err = q.column.Source.Next(ctx)
		} else {
			q.ids = make([]int64, q.n)
			err = q.column.Source.Fill(ctx, q.ids)
		}
		if err != nil {
			name := q.column.Name
			if q.n > 1 { // for this column and others
				name = fmt.Sprintf("%s (%d ids)", name, q.n)
			}
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, id := range q.ids {
			if id <= 0 {
				return fmt.Errorf("%s: the source returned %d, and ids are positive", q.column.Name, id)
			}
		}
	}
	return nil
}

// IDs returns the next n ids for the column. It returns each id once.
func (r *Reservation) IDs(c *Column, n int) []int64 {
	if n == 0 {
		return nil
	}
	q := &r.requests[r.of(c)]
	q.next += n
	return q.ids[q.next-n : q.next]
}

// All returns all ids, in one list for each source.
func (r *Reservation) All() [][]int64 {
	all := make([][]int64, len(r.requests))
	for k := range r.requests {
		all[k] = r.requests[k].ids
	}
	return all
}
