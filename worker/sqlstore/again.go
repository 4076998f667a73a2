package sqlstore

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// again returns a claim whose first answer was lost. Reading its row is not enough. If the
// client gives up while its commit waits for a standby, the primary shows the row although
// no standby has it, and a promoted standby may lack it. So again writes to the row: a write
// is acknowledged only after everything that was committed before it.
func (s *Store) again(ctx context.Context, st *statements, r driver.Request, row driver.Record) (c driver.Claim, ok bool, err error) {
	ok, err = s.exec(ctx, st, st.confirm, r.Namespace, row.Worker, row.FencingToken, r.ClaimID)
	if err != nil {
		return c, false, fmt.Errorf("sqlstore: confirm number %d of space %q: %w", row.Worker, r.Namespace, err)
	}
	return r.Replay(row), ok, nil
}
