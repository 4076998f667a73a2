package snowkeytest

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Config configures New. The zero value is ready for use.
type Config struct {
	// Seed changes the ids of a test. Two generators with the same Config in one test issue the same
	// ids.
	Seed uint64
	// Start is the earliest time of the ids. The first id is of a tick in the minute after it; the
	// name of the test and Seed determine the tick and the worker ID. Zero: 2024-01-01T00:00:00Z.
	Start time.Time
	// Layout of the ids. Zero: core.Twitter.
	Layout core.Layout

	// Clock is the generator's clock: ids carry the times that the test sets. Start must then be
	// zero. Nil: the clock is frozen, and ids advance to the next tick only when a tick is full.
	Clock *Clock
	// ClockPolicy determines what happens when Clock is set back. It requires a Clock. Nil:
	// core.Logical.
	ClockPolicy core.ClockPolicy
}

// spread is the time within which the first ids of all tests with one Start lie.
const spread = time.Minute

func defaultStart() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }

// New returns a generator that issues the same ids in each run. It is closed when the test ends. An
// invalid Config fails the test at once.
func New(t testing.TB, cfg Config) *core.Generator {
	t.Helper()
	gen, err := cfg.generator(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gen.Close)
	return gen
}

func (cfg Config) generator(name string) (*core.Generator, error) {
	if err := cfg.Layout.Validate(); err != nil {
		return nil, err
	}
	l, sum := cfg.Layout.WithDefaults(), cfg.hash(name)
	config := core.Config{Layout: l, ClockPolicy: cfg.ClockPolicy, NoCounter: true, MaxJump: math.MaxInt64}
	var from time.Time // of the grant; with a Clock, which may be set to any time, the epoch
	if cfg.Clock != nil {
		config.Now = cfg.Clock.Now
	} else {
		if from = cfg.Start; from.IsZero() {
			from = defaultStart()
		}
		from = from.Truncate(time.Millisecond).Add(time.Duration(sum>>32) * time.Millisecond % spread)
		config.Now = func() time.Time { return from }
		config.ClockPolicy = core.Logical{Detached: true}
	}
	if err := cfg.check(l, config.Now()); err != nil {
		return nil, err
	}
	grant, err := core.NewGrant(l, int64(sum%uint64(l.WorkerIDs())), from, l.End()) //nolint:gosec // it is below the number of worker IDs
	if err != nil {
		return nil, err
	}
	config.Worker = source{grant}
	return core.New(config)
}

// hash is never changed: it decides the ids of all tests.
func (cfg Config) hash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, cfg.Seed)) // it never fails
	_, _ = h.Write([]byte(name))
	// The low bits of FNV mix badly.
	sum := h.Sum64()
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	return sum ^ sum>>33
}

func (cfg Config) check(l core.Layout, now time.Time) error {
	var wrong fields.Errors
	if cfg.Clock != nil && !cfg.Start.IsZero() {
		wrong.Add("Start", cfg.Start.Format(time.RFC3339), "must be zero if Clock is set, because the Clock determines the time")
	}
	if cfg.Clock == nil && cfg.ClockPolicy != nil {
		wrong.Add("ClockPolicy", cfg.ClockPolicy, "requires a Clock")
	}
	if now.Before(l.Epoch) || !now.Before(l.End()) {
		field := "Start"
		if cfg.Clock != nil {
			field = "Clock"
		}
		wrong.Add(field, now.Format(time.RFC3339), "must be within the layout's time, %s to %s", l.Epoch.UTC().Format(time.RFC3339), l.End().UTC().Format(time.RFC3339))
	}
	return wrong.Err("snowkeytest")
}

// source gives its one grant to one generator.
type source struct{ grant *core.Grant }

func (s source) Grant(_ context.Context, prev *core.Grant) (*core.Grant, error) {
	if prev != nil { // its fence is the end of the layout
		return nil, core.ErrTimestampExhausted
	}
	return s.grant, nil
}
