package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// A window has two ticks, however long they are.
func TestLongTicks(t *testing.T) {
	const day = 24 * time.Hour
	for tick, ok := range map[time.Duration]bool{30 * day: true, 120 * day: true, 183 * day: true, 184 * day: false, 100 * 365 * day: false, 150 * 365 * day: false, 250 * 365 * day: false} {
		t.Run(tick.String(), func(t *testing.T) {
			cfg := worker.Config{Layout: core.Layout{Tick: tick, TimeBits: 10, WorkerBits: 4, SequenceBits: 10}, ClaimWait: -1}
			if err := cfg.Layout.Validate(); err != nil {
				t.Logf("%v: %v", tick, err)
				ok = false
			}
			lease, err := worker.Acquire(t.Context(), memstore.New(memstore.Config{}), cfg)
			if lease != nil {
				_ = lease.Close()
			}
			var config *core.ConfigError
			if ok && err != nil || !ok && !errors.As(err, &config) {
				t.Errorf("%v: %v", tick, err)
			}
		})
	}
}
