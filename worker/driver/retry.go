package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/backoff"
)

// maxRaces is how often a record may be changed by others before Retry gives up.
const maxRaces = 200

// Retry calls a compare-and-set until it has swapped or fails. It has not swapped, and has
// written nothing, if another client changed the record after it was read. Between calls,
// Retry waits 2 to 20 ms, at random; after 200 calls it gives up. If ctx ends during a wait,
// Retry returns its error. It is for stores whose clients have no lock and no conditional
// write over all records of a namespace, such as those of SQL and etcd.
func Retry(ctx context.Context, swap func() (swapped bool, err error)) error {
	races := 0
	return backoff.Backoff{Min: 2 * time.Millisecond, Max: 20 * time.Millisecond}.Retry(ctx, func() (done bool, err error) {
		swapped, err := swap()
		if races++; !swapped && err == nil && races == maxRaces {
			err = fmt.Errorf("gave up after other clients changed the record %d times", races)
		}
		return swapped, err
	})
}
