package readme

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// bwmarrin is the layout of github.com/bwmarrin/snowflake with its defaults.
func bwmarrin() core.Layout {
	epoch := time.UnixMilli(1288834974657)
	return core.Layout{Epoch: epoch, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
}

// sonyflakeV1 is the layout of github.com/sony/sonyflake with the given Settings.StartTime.
// The default there is 2014-09-01 in UTC, which is core.Sonyflake().
func sonyflakeV1(start time.Time) core.Layout {
	l := core.Sonyflake()
	l.Epoch = start
	return l
}

// backfill returns keys for rows in the order of their creation. They cannot equal ids of a
// generator, which makes ids from now on only.
func backfill(l core.Layout, made []time.Time) ([]sqltype.ID, error) {
	keys := make([]sqltype.ID, len(made))
	var last time.Time
	var sequence int64
	for i, at := range made {
		at = at.Truncate(time.Millisecond)
		switch {
		case at.Before(last):
			return nil, fmt.Errorf("row %d was made at %v, before the one above: sort them first", i, at)
		case at.Equal(last):
			sequence++
		default:
			last, sequence = at, 0
		}
		id, err := l.Compose(core.Parts{Time: at, Worker: sequence / 4096, Sequence: sequence % 4096})
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		keys[i] = sqltype.ID(id)
	}
	return keys, nil
}
