// Package peers holds the generators of ids that ours is compared with, each behind one
// function, and documents how each differs.
package peers

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	bwmarrin "github.com/bwmarrin/snowflake"
	"github.com/edwingeng/slog"
	"github.com/edwingeng/wuid/callback/wuid"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"
	sonyflake2 "github.com/sony/sonyflake/v2"
	"go.jetify.com/typeid/v2"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Next makes one id and discards it. It may be called by several goroutines.
type Next func() error

// Peer is one generator. Make returns a new one, or the library's global one if it has no
// other.
type Peer struct {
	Name string
	Make func(tb testing.TB) Next
}

// Wide has 2^20 ids a millisecond, more than one process can draw, so the generator is
// measured and not its layout.
func Wide() core.Layout { return core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 20} }

// Generator returns a new one of ours, which is closed after the benchmark.
func Generator(tb testing.TB, layout core.Layout) *core.Generator {
	tb.Helper()
	g, err := core.New(core.Config{Layout: layout, Worker: core.Fixed(1)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(g.Close)
	return g
}

func ours(layout core.Layout) func(testing.TB) Next {
	return func(tb testing.TB) Next {
		g, ctx := Generator(tb, layout), context.Background()
		return func() error { _, err := g.Next(ctx); return err }
	}
}

// Capped are snowflakes with 12 bits of sequence a millisecond, so a generator that respects its
// layout needs at least 244.1 ns an id. bwmarrin spins on the clock while it waits; ours sleeps.
func Capped() []Peer {
	return []Peer{
		{"snowkey", ours(core.Twitter())},
		{"bwmarrin", func(tb testing.TB) Next { return bwmarrinNext(tb, 10, 12) }},
	}
}

// CappedSonyflake are generators with Sonyflake's layout, 256 ids in 10 ms, so
// 39,062 ns an id. Sonyflake itself sleeps under its lock.
func CappedSonyflake() []Peer {
	return []Peer{
		{"snowkey", ours(core.Sonyflake())},
		{"sonyflake", func(tb testing.TB) Next {
			s := sonyflake.NewSonyflake(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
			if s == nil {
				tb.Fatal("sonyflake gives no generator")
			}
			return func() error { _, err := s.NextID(); return err }
		}},
		{"sonyflake2", func(tb testing.TB) Next { return sonyflake2Next(tb, sonyflake2.Settings{}) }},
	}
}

// Uncapped are generators that no layout limits: snowflakes whose library allows a sequence of 20
// bits, and keys of other kinds, which have no sequence or a random one.
//
//   - bwmarrin: the widths are global variables, set while the node is made.
//   - wuid: a counter in memory under a number from a store; here from a function. It reads no
//     clock, so its ids hold no time.
//   - xid, ksuid, ulid and the UUIDs are 12, 20, 16 and 16 bytes. They need no worker ID.
//   - typeid2: a UUID of version 7 as text, with a prefix.
//   - ulid: Make, whose source of randomness is process-wide.
func Uncapped() []Peer {
	plain := func(next Next) func(testing.TB) Next { return func(testing.TB) Next { return next } }
	return append([]Peer{
		{"snowkey", ours(Wide())},
		{"bwmarrin", func(tb testing.TB) Next { return bwmarrinNext(tb, 2, 20) }},
		{"sonyflake2", func(tb testing.TB) Next {
			return sonyflake2Next(tb, sonyflake2.Settings{BitsSequence: 20, BitsMachineID: 2, TimeUnit: 1e6})
		}},
		{"wuid", func(tb testing.TB) Next {
			w := wuid.NewWUID("bench", slog.NewDumbLogger())
			if err := w.LoadH28WithCallback(func() (int64, func(), error) { return 1, nil, nil }); err != nil {
				tb.Fatal(err)
			}
			return func() error { w.Next(); return nil }
		}},
		{"google-uuid4", plain(func() error { _, err := uuid.NewRandom(); return err })},
		{"google-uuid7", plain(func() error { _, err := uuid.NewV7(); return err })},
		{"typeid2", plain(func() error { _, err := typeid.Generate("order"); return err })},
		{"ulid", plain(func() error { ulid.Make(); return nil })},
		{"xid", plain(func() error { xid.New(); return nil })},
		{"ksuid", plain(func() error { _, err := ksuid.NewRandom(); return err })},
	}, standard()...)
}

// Floors are lower bounds of the cost of an id: a reading of the clock.
func Floors() []Peer {
	return []Peer{{"floor-clock", func(testing.TB) Next {
		start, last := time.Now(), new(atomic.Int64)
		return func() error {
			if time.Since(start) < 0 {
				last.Add(1) // so that the compiler keeps the reading
			}
			return nil
		}
	}}}
}

// Bwmarrin returns a node with its own widths. They are global variables, which are restored at
// once; the node keeps those that it was made with.
func Bwmarrin(tb testing.TB, nodeBits, stepBits uint8) *bwmarrin.Node {
	tb.Helper()
	node, step := bwmarrin.NodeBits, bwmarrin.StepBits
	bwmarrin.NodeBits, bwmarrin.StepBits = nodeBits, stepBits
	defer func() { bwmarrin.NodeBits, bwmarrin.StepBits = node, step }()
	n, err := bwmarrin.NewNode(1)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func bwmarrinNext(tb testing.TB, nodeBits, stepBits uint8) Next {
	n := Bwmarrin(tb, nodeBits, stepBits)
	return func() error { n.Generate(); return nil }
}

func sonyflake2Next(tb testing.TB, settings sonyflake2.Settings) Next {
	tb.Helper()
	settings.MachineID = func() (int, error) { return 1, nil }
	s, err := sonyflake2.New(settings)
	if err != nil {
		tb.Fatal(fmt.Errorf("sonyflake v2: %w", err))
	}
	return func() error { _, err := s.NextID(); return err }
}
