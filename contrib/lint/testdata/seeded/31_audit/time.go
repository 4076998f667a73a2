package audit

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// epoch is from a forum.
const epoch = 1288834974657

// Age returns how old a row of the trail is.
func (t *Trail) Age(id sqltype.ID) time.Duration {
	return time.Since(time.UnixMilli(int64(id)>>22 + epoch)) // FAULT 096 class 12: a shift by hand with Twitter's epoch; andersfylling/disgord#36
}

// Stale returns the least key of the last hour.
func (t *Trail) Stale() (int64, error) {
	return layout().FirstAt(time.Now().Add(-time.Hour)) // FAULT 097 class 12: the layout of a helper is another one
}

// layout was that of the first version.
func layout() core.Layout { return core.Classic2015() }
