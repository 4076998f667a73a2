package core_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Ids whose parts are known from their makers, or from the textbook's formula.
func TestKnownIDs(t *testing.T) {
	for _, c := range []struct {
		name   string
		layout core.Layout
		id     int64
		time   string
		parts  core.Parts
	}{
		{"formula", core.Layout{}, 910499571847892992, "2017-09-20T13:43:08.849Z", core.Parts{Datacenter: 17, Worker: 25}},
		{"twitter", core.Twitter(), 1541815603606036480, "2022-06-28T16:07:40.105Z", core.Parts{Datacenter: 11, Worker: 26}},
		{"discord", core.Discord(), 175928847299117063, "2016-04-30T11:18:25.796Z", core.Parts{Datacenter: 1, Sequence: 7}},
		{"sonyflake", core.Sonyflake(), 100<<24 | 7<<16 | 300, "2014-09-01T00:00:01Z", core.Parts{Worker: 300, Sequence: 7}},
		{"sonyflake last", core.Sonyflake(), 1<<63 - 1, "2188-11-16T03:28:58.87Z", core.Parts{Worker: 65535, Sequence: 255}},
		{"mastodon", core.Mastodon(), 1505914988849<<16 | 4711, "2017-09-20T13:43:08.849Z", core.Parts{Sequence: 4711}},
		{"instagram", core.Instagram(), (1505914988849-1314220021721)<<23 | 341<<10 | 5, "2017-09-20T13:43:08.849Z", core.Parts{Worker: 341, Sequence: 5}},
		// From the READMEs of hypersistence-tsid, and of pgEdge's extension, whose get_epoch is 1704996539.845.
		{"tsid", core.TSID(), 38352658567418872, "2020-04-15T19:59:46.36Z", core.Parts{Worker: 421, Sequence: 1016}},
		{"pgedge", core.PgEdge(), 136169504773242881, "2024-01-11T18:08:59.845Z", core.Parts{Worker: 1}},
		{"classic 2015", core.Classic2015(), (1505914988849-1420041600000)<<22 | 3<<17 | 4<<12 | 5, "2017-09-20T13:43:08.849Z", core.Parts{Datacenter: 3, Worker: 4, Sequence: 5}},
		{"seconds", core.Seconds(), 86400<<31 | 7<<21 | 9, "2020-01-02T00:00:00Z", core.Parts{Worker: 7, Sequence: 9}},
		{"many workers", core.ManyWorkers(), (1505914988849-1288834974657)<<22 | 40000<<6 | 5, "2017-09-20T13:43:08.849Z", core.Parts{Worker: 40000, Sequence: 5}},
		{"many workers last", core.ManyWorkers(), 1<<63 - 1, "2080-07-10T17:30:30.208Z", core.Parts{Worker: 65535, Sequence: 63}},
		{"javascript", core.JavaScriptSafe(), 1<<53 - 1, "2089-09-06T15:47:35.551Z", core.Parts{Worker: 63, Sequence: 63}},
		{"first", core.Twitter(), 0, "2010-11-04T01:42:54.657Z", core.Parts{}},
		{"last", core.Twitter(), 1<<63 - 1, "2080-07-10T17:30:30.208Z", core.Parts{Datacenter: 31, Worker: 31, Sequence: 4095}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, c.time)
			must(t, err)
			c.parts.Time = at
			got, err := c.layout.Decode(c.id)
			if err != nil || got != c.parts {
				t.Errorf("Decode(%d) = %+v, %v; want %+v", c.id, got, err, c.parts)
			}
			id, err := c.layout.Compose(c.parts)
			if err != nil || id != c.id {
				t.Errorf("Compose(%+v) = %d, %v; want %d", c.parts, id, err, c.id)
			}
		})
	}
}

func TestOutsideTheLayout(t *testing.T) {
	l := core.Twitter()
	good := core.Parts{Time: l.Epoch}
	for name, change := range map[string]func(*core.Parts){
		"Time":       func(p *core.Parts) { p.Time = l.Epoch.Add(-1) },
		"Time late":  func(p *core.Parts) { p.Time = l.End() },
		"Time zero":  func(p *core.Parts) { p.Time = time.Time{} },
		"Rollback":   func(p *core.Parts) { p.Rollback = 1 },
		"Datacenter": func(p *core.Parts) { p.Datacenter = 32 },
		"Worker":     func(p *core.Parts) { p.Worker = -1 },
		"Sequence":   func(p *core.Parts) { p.Sequence = 4096 },
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			change(&p)
			id, err := l.Compose(p)
			var re *core.RangeError
			if !errors.As(err, &re) || re.Field != strings.Fields(name)[0] {
				t.Errorf("Compose(%+v) = %d, %v; want a RangeError", p, id, err)
			}
		})
	}
	if _, err := l.Decode(-1); err == nil {
		t.Error("a negative id was decoded")
	}
	small := core.Layout{TimeBits: 40, SequenceBits: 10}
	if _, err := small.Decode(1 << 50); err == nil {
		t.Error("an id with bits above the layout's was decoded")
	}
	if p, err := (core.Layout{TimeBits: 42, SequenceBits: 22, Unsigned: true}).Decode(-1); err != nil || p.Sequence != 1<<22-1 {
		t.Errorf("unsigned Decode(-1) = %+v, %v", p, err)
	}
}

// anyLayout draws valid layouts of all kinds.
func anyLayout(t *rapid.T) core.Layout {
	left := uint8(63)
	width := func(name string, least uint8) uint8 {
		n := rapid.Uint8Range(least, max(least, left)).Draw(t, name)
		left -= n
		return n
	}
	l := core.Layout{
		TimeBits: width("time", 1), RollbackBits: width("rollback", 0), DatacenterBits: width("dc", 0),
		WorkerBits: width("worker", 0), SequenceBits: width("sequence", 0),
		SequenceFirst: rapid.Bool().Draw(t, "sequenceFirst"),
		Tick:          time.Duration(rapid.Int64Range(1, 5000).Draw(t, "tick")) * time.Millisecond,
		Epoch:         time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "epoch")),
	}
	if l.Validate() != nil {
		l.TimeBits = min(l.TimeBits, 41) // the widest time with the longest ticks is too long
	}
	return l
}

func TestComposeAndDecodeAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t)
		total := l.TimeBits + l.RollbackBits + l.DatacenterBits + l.WorkerBits + l.SequenceBits
		id := rapid.Int64Range(0, 1<<total-1).Draw(t, "id")
		p, err := l.Decode(id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Explain(id); err != nil {
			t.Fatal(err)
		}
		if back, err := l.Compose(p); err != nil || back != id {
			t.Fatalf("%v: Compose(Decode(%d)) = %d, %v; parts %+v", l, id, back, err, p)
		}
	})
}

// Range must select exactly the ids whose Time lies in [from, to), to the nanosecond.
func TestRangeSelectsByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t)
		l.TimeBits = min(l.TimeBits, 40)
		span := int64(min(uint64(1)<<l.TimeBits, 1<<20)) * int64(l.Tick)
		from := l.Epoch.Add(time.Duration(rapid.Int64Range(0, span).Draw(t, "from")))
		to := from.Add(time.Duration(rapid.Int64Range(0, 3*int64(l.Tick)).Draw(t, "length")))
		lo, hi, err := l.Range(from, to)
		if err != nil {
			if last := l.End().Add(-l.Tick); !to.After(last) {
				t.Fatalf("Range(%v, %v): %v", from, to, err)
			}
			t.Skip("beyond the end")
		}
		for _, id := range []int64{lo - 1, lo, hi - 1, hi} {
			p, err := l.Decode(id)
			if err != nil {
				continue
			}
			inside := !p.Time.Before(from) && p.Time.Before(to)
			if inside != (id >= lo && id < hi) {
				t.Fatalf("id %d of %v, range [%v, %v) gave [%d, %d)", id, p.Time, from, to, lo, hi)
			}
		}
	})
}

func TestRangeRefuses(t *testing.T) {
	l := core.Twitter()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string][2]time.Time{
		"order":  {day.Add(1), day},
		"before": {l.Epoch.Add(-1), day},
		"after":  {day, l.End()},
	} {
		t.Run(name, func(t *testing.T) {
			if lo, hi, err := l.Range(c[0], c[1]); err == nil {
				t.Errorf("Range = [%d, %d)", lo, hi)
			}
		})
	}
	u := core.Layout{TimeBits: 42, SequenceBits: 22, Unsigned: true}
	middle := l.Epoch.Add(time.Duration(1<<41) * time.Millisecond)
	if lo, hi, err := u.Range(middle.Add(-time.Hour), middle.Add(time.Hour)); err == nil {
		t.Errorf("a range across the sign is [%d, %d)", lo, hi)
	}
	if lo, hi, err := u.Range(middle, middle.Add(time.Hour)); err != nil || lo >= hi {
		t.Errorf("a range beyond the sign is [%d, %d), %v", lo, hi, err)
	}
}

// Rows are where these numbers say, so they never change.
func TestShardVectors(t *testing.T) {
	for _, c := range []struct {
		id   int64
		want [4]int // among 2, 16, 1000 and 65536 shards
	}{
		{0, [4]int{0, 0, 0, 0}},
		{1, [4]int{0, 0, 432, 37408}},
		{2, [4]int{1, 7, 351, 62551}},
		{-1, [4]int{0, 0, 432, 37408}},
		{4194304, [4]int{0, 12, 268, 39404}},
		{2123984215105536000, [4]int{1, 15, 287, 14767}},
		{2123984215105536001, [4]int{0, 12, 876, 51628}},
		{2123984219299840000, [4]int{0, 12, 532, 44780}},
		{4611686018427387904, [4]int{0, 8, 824, 26072}},
		{math.MaxInt64, [4]int{0, 14, 126, 14670}},
		{math.MinInt64, [4]int{1, 15, 751, 46895}},
	} {
		t.Run(fmt.Sprint(c.id), func(t *testing.T) {
			for i, n := range []int{2, 16, 1000, 65536} {
				if got, err := core.Shard(c.id, n); err != nil || got != c.want[i] {
					t.Errorf("Shard(%d, %d) = %d, %v, want %d", c.id, n, got, err, c.want[i])
				}
			}
			if got, err := core.Shard(c.id, 1); got != 0 || err != nil {
				t.Errorf("Shard(%d, 1) = %d, %v", c.id, got, err)
			}
			for _, n := range []int{0, -1, core.MaxShards + 1, math.MinInt, math.MaxInt} {
				if got, err := core.Shard(c.id, n); got != 0 || err == nil {
					t.Errorf("Shard(%d, %d) = %d", c.id, n, got)
				}
			}
		})
	}
}

// A doubled number of shards splits each shard into itself and one new one.
func TestTwiceTheShards(t *testing.T) {
	for range 10_000 {
		id, n := rand.Int64(), rand.IntN(core.MaxShards/2)+1
		one, err := core.Shard(id, n)
		must(t, err)
		if two, err := core.Shard(id, 2*n); err != nil || two != one && two != one+n {
			t.Fatalf("id %d is in shard %d of %d and in %d of %d, %v", id, one, n, two, 2*n, err)
		}
	}
}
