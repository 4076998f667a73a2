package ddl

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

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
		Epoch:         time.UnixMilli(rapid.Int64Range(-1<<42, 1<<42).Draw(t, "epoch")),
	}
	if l.Validate() != nil {
		l.TimeBits = min(l.TimeBits, 41)
	}
	return l
}

// Each field has the bits that core gives it.
func TestCompiledLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t)
		var wrong fields.Errors
		s := compile(&wrong, l)
		if wrong != nil {
			t.Fatal(wrong.Err("ddl"))
		}
		if _, err := l.Decode(s.max); err != nil {
			t.Fatalf("the greatest id: %v", err)
		}
		if s.max < math.MaxInt64 {
			if _, err := l.Decode(s.max + 1); err == nil {
				t.Fatalf("%d is not the greatest id", s.max)
			}
		}
		id := rapid.Int64Range(0, s.max).Draw(t, "id")
		p, err := l.Decode(id)
		if err != nil {
			t.Fatal(err)
		}
		for field, want := range map[Field]int64{WorkerID: p.Datacenter<<l.WorkerBits | p.Worker, Machine: p.Worker, Sequence: p.Sequence, Datacenter: p.Datacenter, Rollback: p.Rollback} {
			at := s.below[field]
			if got := id >> at.shift & (1<<at.width - 1); got != want {
				t.Fatalf("%s of %d: %d, want %d", field, id, got, want)
			}
		}
		ms := new(big.Int).Mul(big.NewInt(id>>s.timeShift), big.NewInt(s.tickMs))
		ms.Add(ms, big.NewInt(s.Epoch.UnixMilli()))
		want := new(big.Int).Mul(big.NewInt(p.Time.Unix()), big.NewInt(1000))
		want.Add(want, big.NewInt(int64(p.Time.Nanosecond()/1e6)))
		if ms.Cmp(want) != 0 {
			t.Fatalf("time of %d: %v, want %v", id, ms, want)
		}
		at := time.Date(rapid.IntRange(1600, 12000).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		last := s.lastBefore(at)
		if at.After(s.Epoch) {
			if p, err := l.Decode(last); err != nil || !p.Time.Before(at) {
				t.Fatalf("the last before %v: %d, of %v, %v", at, last, p.Time, err)
			}
			if p, err := l.Decode(last + 1); last < s.max && (err != nil || p.Time.Before(at)) {
				t.Fatalf("the first from %v: %d, of %v, %v", at, last+1, p.Time, err)
			}
		}
	})
}

// Rounding up by the database's arithmetic: every constant and every value fits.
func TestCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, math.MaxInt64/1000).Draw(t, "n")
		x := rapid.Int64Range(-reach, reach).Draw(t, "x")
		c, k := ceiling(n, reach)
		if c < 0 || x > math.MaxInt64-c || x+c < 0 {
			t.Fatalf("%d + %d is no positive bigint", x, c)
		}
		want, rest := new(big.Int).DivMod(big.NewInt(x), big.NewInt(n), new(big.Int))
		if rest.Sign() > 0 {
			want.Add(want, big.NewInt(1))
		}
		if got := (x+c)/n - k; got != want.Int64() {
			t.Fatalf("%d / %d: %d, want %v", x, n, got, want)
		}
	})
}
