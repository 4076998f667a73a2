package worker

import (
	"context"
	"time"
)

// AcquireStepped is Acquire for a test that does itself what is due: step does,
// and says when something will be.
func AcquireStepped(ctx context.Context, s Store, cfg Config, rand func() float64) (l *Lease, step func() time.Duration, err error) {
	cfg.rand = rand
	l, err = acquire(ctx, s, cfg)
	if err != nil {
		return nil, nil, err
	}
	return l, l.step, nil
}
