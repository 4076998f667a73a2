package readme

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// bwmarrin is the layout of github.com/bwmarrin/snowflake with its defaults.
func bwmarrin() core.Layout {
	epoch := time.UnixMilli(1288834974657)
	return core.Layout{Epoch: epoch, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
}
