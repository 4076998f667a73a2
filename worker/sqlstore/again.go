package sqlstore

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// again gives a claim whose first answer was lost. To have read its row is not enough: where
// a commit waits for a standby and that wait is cancelled, as when the client gives up, the
// primary shows the row although no standby has it, and a standby that is promoted may lack
// it. A write to the row is acknowledged after everything that was committed before it.
func (s *Store) again(ctx context.Context, st *statements, r worker.Request, row worker.Row) (c worker.Claim, ok bool, err error) {
	ok, err = s.exec(ctx, st, st.confirm, r.Space, row.Worker, row.Epoch, r.Token)
	if err != nil {
		return c, false, fmt.Errorf("sqlstore: confirm number %d of space %q: %w", row.Worker, r.Space, err)
	}
	return r.Again(row), ok, nil
}
