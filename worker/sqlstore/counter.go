package sqlstore

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Count implements worker.Counter. Nothing lowers the counter but you.
func (s *Store) Count(ctx context.Context, name string) (int64, error) {
	if err := driver.CheckNamespace(name); err != nil {
		return 0, err
	}
	return bound(ctx, s, fmt.Sprintf("count %q", name), func() (int64, error) { return s.countOn(ctx, name) })
}

func (s *Store) countOn(ctx context.Context, name string) (int64, error) {
	st, err := s.prepareTables(ctx, counterTable)
	if err != nil {
		return 0, err
	}
	if _, err := s.exec(ctx, st, st.addCount, name); err != nil {
		return 0, fmt.Errorf("sqlstore: add counter %q: %w", name, err)
	}
	var value int64
	err = repeat(ctx, func() (raised bool, err error) {
		if err := s.row(ctx, st, st.count, name)(&value); err != nil {
			return false, fmt.Errorf("sqlstore: read counter %q: %w", name, err)
		}
		if raised, err = s.exec(ctx, st, st.raiseCount, name, value); err != nil {
			return false, fmt.Errorf("sqlstore: raise counter %q: %w", name, err)
		}
		return raised, nil
	})
	return value, err
}
