package describe

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestJavaScript(t *testing.T) {
	for id, want := range map[int64]JavaScript{
		1996573624012345677: {false, false, "1996573624012345600"},
		1<<53 - 1:           {true, true, "9007199254740991"},
		1 << 53:             {false, true, "9007199254740992"},
		1<<53 + 1:           {false, false, "9007199254740992"},
		math.MaxInt64:       {false, false, "9223372036854776000"},
		math.MinInt64:       {false, true, "-9223372036854776000"},
		0:                   {true, true, "0"},
		-1:                  {true, true, "-1"},
	} {
		if got := NewJavaScript(strconv.FormatInt(id, 10)); got != want {
			t.Errorf("%d: %+v, want %+v", id, got, want)
		}
	}
	if got, want := NewJavaScript("18446744073709551615"), (JavaScript{false, false, "18446744073709552000"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// randomLayout is a valid layout of more than 53 bits.
func randomLayout(r *rand.Rand) core.Layout {
	for {
		l := core.Layout{
			Epoch: time.UnixMilli(r.Int64N(1_700_000_000_000)), Tick: time.Duration(1+r.Int64N(20)) * time.Millisecond,
			TimeBits: uint8(1 + r.IntN(50)), RollbackBits: uint8(r.IntN(4)), DatacenterBits: uint8(r.IntN(8)), WorkerBits: uint8(r.IntN(12)), SequenceBits: uint8(r.IntN(24)),
			Unsigned: r.IntN(4) == 0,
		}
		if l.Validate() == nil && NewLayout(l, time.Now()).Bits > 53 {
			return l
		}
	}
}

// From unsafe on, and not before, there are IDs above 2^53-1.
func TestUnsafeFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		l := randomLayout(r)
		from := unsafeFrom(l)
		greatest := func(at time.Time) int64 {
			id, err := l.FirstAt(at)
			if err != nil {
				t.Fatalf("%v: %v", l, err)
			}
			return id | int64(1)<<lowBits(l) - 1
		}
		if id := greatest(from); id >= 0 && id <= 1<<53-1 {
			t.Errorf("%v: at %v the greatest id is %d", l, from, id)
		}
		if from.After(l.Epoch) {
			if id := greatest(from.Add(-l.Tick)); id > 1<<53-1 || id < 0 {
				t.Errorf("%v: before %v the greatest id is %d already", l, from, id)
			}
		}
	}
}
