// Package peers holds the generators of ids that ours is measured beside, each
// behind one function, and says what is unlike about each.
package peers

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	guaik "github.com/GUAIK-ORG/go-snowflake/snowflake"
	bwmarrin "github.com/bwmarrin/snowflake"
	"github.com/edwingeng/slog"
	"github.com/edwingeng/wuid/callback/wuid"
	godruoyi "github.com/godruoyi/go-snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	"github.com/google/uuid"
	"github.com/holdno/snowFlakeByGo"
	influx "github.com/influxdata/influxdb/pkg/snowflake"
	gonanoid "github.com/matoous/go-nanoid/v2"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"
	sonyflake2 "github.com/sony/sonyflake/v2"
	"github.com/yitter/idgenerator-go/idgen"
	"go.jetify.com/typeid"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Next makes one id and throws it away; what it costs to keep it is the
// caller's affair. It may be called by several goroutines.
type Next func() error

// Peer is one generator. Make gives a new one, or one on the library's global
// state where it has nothing else.
type Peer struct {
	Name string
	Make func(tb testing.TB) Next
}

// Wide bears 2^20 ids a millisecond, more than one process can draw, so that
// what is measured is the generator and not its layout.
func Wide() core.Layout { return core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 20} }

// Generator is a new one of ours that is closed at the end.
func Generator(tb testing.TB, layout core.Layout) *core.Generator {
	tb.Helper()
	g, err := core.New(core.Config{Layout: layout, Worker: core.Fixed(1)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = g.Close() })
	return g
}

func ours(layout core.Layout) func(testing.TB) Next {
	return func(tb testing.TB) Next {
		g, ctx := Generator(tb, layout), context.Background()
		return func() error { _, err := g.Next(ctx); return err }
	}
}

// Capped are snowflakes with the layout they come with: 12 bits of sequence a
// millisecond, so none that keeps to its layout can take less than 244.1 ns an id.
//
//   - yitter has 6 bits, but runs ahead of the clock for up to two seconds and
//     then stands still, so its figure depends on how long it is measured.
//   - influx runs ahead of the clock without a bound, so its figure is no cap.
//   - godruoyi has one generator for the process, and leaves out the last number
//     of each millisecond.
//   - bwmarrin, holdno, guaik and godruoyi spin on the clock while they wait; ours
//     sleeps. The figure cpu-% stands beside theirs.
//   - holdno and guaik have no error: when the clock goes back, they duplicate.
func Capped() []Peer {
	return []Peer{
		{"snowkey", ours(core.Twitter())},
		{"bwmarrin", func(tb testing.TB) Next { return bwmarrinNext(tb, 10, 12) }},
		{"holdno", func(tb testing.TB) Next {
			w, err := snowFlakeByGo.NewWorker(1)
			if err != nil {
				tb.Fatal(err)
			}
			return func() error { w.GetId(); return nil }
		}},
		{"godruoyi", func(testing.TB) Next { return func() error { _, err := godruoyi.NextID(); return err } }},
		{"guaik", func(tb testing.TB) Next {
			s, err := guaik.NewSnowflake(1, 1)
			if err != nil {
				tb.Fatal(err)
			}
			return func() error { s.NextVal(); return nil }
		}},
		{"influx", func(testing.TB) Next {
			g := influx.New(1)
			return func() error { g.Next(); return nil }
		}},
		{"yitter", func(testing.TB) Next {
			g := idgen.NewDefaultIdGenerator(idgen.NewIdGeneratorOptions(1))
			return func() error { g.NewLong(); return nil }
		}},
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

// Uncapped are generators that no layout holds back: snowflakes whose library
// lets the sequence be widened to 20 bits, and keys of other kinds, which have no
// sequence or a random one.
//
//   - bwmarrin: the widths are global variables, set while the node is made.
//   - yitter: 16 bits are the most beside its worker number, which is lost by a
//     shift in 16 bits; that makes it neither faster nor slower.
//   - wuid: a counter in memory under a number from a store; here from a
//     function. It reads no clock, so its ids tell no time.
//   - xid, ksuid, ulid, typeid and the UUIDs are 12, 20, 16, 16 and 16 bytes;
//     nanoid is 21 characters of text. They need no worker number.
//   - google-uuid4-pool: with the pool of random bytes that google/uuid offers.
//   - ulid: Make, whose source of randomness is for the whole process.
func Uncapped() []Peer {
	return append([]Peer{
		{"snowkey", ours(Wide())},
		{"bwmarrin", func(tb testing.TB) Next { return bwmarrinNext(tb, 2, 20) }},
		{"sonyflake2", func(tb testing.TB) Next {
			return sonyflake2Next(tb, sonyflake2.Settings{BitsSequence: 20, BitsMachineID: 2, TimeUnit: 1e6})
		}},
		{"yitter", func(testing.TB) Next {
			options := idgen.NewIdGeneratorOptions(1)
			options.WorkerIdBitLength, options.SeqBitLength = 6, 16
			g := idgen.NewDefaultIdGenerator(options)
			return func() error { g.NewLong(); return nil }
		}},
		{"wuid", func(tb testing.TB) Next {
			w := wuid.NewWUID("bench", slog.NewDumbLogger())
			if err := w.LoadH28WithCallback(func() (int64, func(), error) { return 1, nil, nil }); err != nil {
				tb.Fatal(err)
			}
			return func() error { w.Next(); return nil }
		}},
	}, Others()...)
}

// Floors are what an id cannot cost less than: a reading of the clock, a swap,
// both, and a counter alone.
func Floors() []Peer {
	return []Peer{
		{"floor-clock", func(testing.TB) Next {
			start, last := time.Now(), new(atomic.Int64)
			return func() error {
				if time.Since(start) < 0 {
					last.Add(1) // so that the reading is not left out
				}
				return nil
			}
		}},
		{"floor-clock-and-swap", func(testing.TB) Next {
			start, word := time.Now(), new(atomic.Int64)
			return func() error {
				for {
					old := word.Load()
					if word.CompareAndSwap(old, max(old+1, int64(time.Since(start))>>40)) {
						return nil
					}
				}
			}
		}},
		{"floor-add", func(testing.TB) Next {
			word := new(atomic.Int64)
			return func() error { word.Add(1); return nil }
		}},
	}
}

// Others are keys of other kinds than snowflakes.
func Others() []Peer {
	plain := func(next Next) func(testing.TB) Next { return func(testing.TB) Next { return next } }
	return []Peer{
		{"google-uuid4", plain(func() error { _, err := uuid.NewRandom(); return err })},
		{"google-uuid4-pool", func(tb testing.TB) Next {
			uuid.EnableRandPool() // process-wide; other rows must not see it
			tb.Cleanup(uuid.DisableRandPool)
			return func() error { _, err := uuid.NewRandom(); return err }
		}},
		{"google-uuid7", plain(func() error { _, err := uuid.NewV7(); return err })},
		{"gofrs-uuid4", plain(func() error { _, err := gofrs.NewV4(); return err })},
		{"gofrs-uuid7", plain(func() error { _, err := gofrs.NewV7(); return err })},
		{"ulid", plain(func() error { ulid.Make(); return nil })},
		{"xid", plain(func() error { xid.New(); return nil })},
		{"ksuid", plain(func() error { _, err := ksuid.NewRandom(); return err })},
		{"typeid", plain(func() error { _, err := typeid.WithPrefix("row"); return err })},
		{"nanoid", plain(func() error { _, err := gonanoid.New(); return err })},
	}
}

// bwmarrinNext is a node with other widths than the library's. They are global
// there, so they are put back at once; the node keeps what it was made with.
func bwmarrinNext(tb testing.TB, nodeBits, stepBits uint8) Next {
	tb.Helper()
	node, step := bwmarrin.NodeBits, bwmarrin.StepBits
	bwmarrin.NodeBits, bwmarrin.StepBits = nodeBits, stepBits
	defer func() { bwmarrin.NodeBits, bwmarrin.StepBits = node, step }()
	n, err := bwmarrin.NewNode(1)
	if err != nil {
		tb.Fatal(err)
	}
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
