package keys

import (
	"context"
	"fmt"
	"slices"
)

// Need is how many ids a column needs, and, after TakeIDs, these ids.
type Need struct {
	Column *Column
	N      int
	Rows   []int // which rows get the ids, for the caller
	IDs    []int64
}

// TakeIDs takes the ids of a create, before a row is changed, with one call for each source. Sources are
// distinguished by name, because comparing the sources themselves may panic. If a source fails, the
// error names its first column.
func TakeIDs(ctx context.Context, needs []Need) error {
	for k := range needs {
		c, n := needs[k].Column, 0
		if needs[k].IDs != nil {
			continue
		}
		for _, need := range needs[k:] {
			if need.Column.SourceName == c.SourceName {
				n += need.N
			}
		}
		var err error
		ids := make([]int64, n)
		if n == 1 {
			ids[0], err = c.Source.Next(ctx)
		} else if err = c.Source.Fill(ctx, ids); err != nil {
			err = fmt.Errorf("%d ids: %w", n, err) // for this column and others
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if least := slices.Min(ids); least <= 0 {
			return fmt.Errorf("%s: the source returned %d, and ids are positive", c.Name, least)
		}
		for j := k; j < len(needs); j++ {
			if need := &needs[j]; need.Column.SourceName == c.SourceName {
				need.IDs, ids = ids[:need.N:need.N], ids[need.N:]
			}
		}
	}
	return nil
}
