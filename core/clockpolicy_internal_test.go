package core

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestUnusedSlots(t *testing.T) {
	u := newUnusedSlots(1 << 20)
	want := func(from, oldest, place uint64, ok bool) {
		t.Helper()
		if got, found := u.take(from, oldest); got != place || found != ok {
			t.Errorf("take(%d, %d) = %d, %v; want %d, %v", from, oldest, got, found, place, ok)
		}
	}
	u.add(40, 50, 45)
	want(0, 45, 45, true) // what was too old when it was added
	u.add(30, 31, 0)
	u.add(10, 11, 0) // by a goroutine that comes late
	u.add(20, 21, 0)
	for _, from := range []uint64{10, 20, 30} {
		want(0, 0, from, true)
	}
	for i := range uint64(2*maxRanges + 10) {
		u.add(100+2*i, 101+2*i, 0)
	}
	if n := len(u.ranges); n < maxRanges/4*3 || n > maxRanges {
		t.Errorf("%d ranges are kept", n)
	}
	u.close()
	u.add(1<<30, 1<<30+5, 0)
	want(0, 0, 0, false) // closed for good
}

// What was passed over is given out once each, the nearest first, whatever is
// asked in between: against a model that is a plain set.
func TestUnusedSlotsAgainstASet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		u := newUnusedSlots(1000) // more than the model ever holds
		left := map[uint64]bool{}
		drop := func(oldest uint64) { maps.DeleteFunc(left, func(p uint64, _ bool) bool { return p < oldest }) }
		next := uint64(1)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			oldest := next - min(next, rapid.Uint64Range(0, 300).Draw(rt, "window"))
			if rapid.Bool().Draw(rt, "add") {
				from := next + rapid.Uint64Range(0, 3).Draw(rt, "gap")
				next = from + rapid.Uint64Range(0, 9).Draw(rt, "length")
				u.add(from, next, oldest)
				for p := from; p < next; p++ {
					left[p] = true
				}
				drop(oldest)
				continue
			}
			from := rapid.Uint64Range(0, next).Draw(rt, "from")
			drop(oldest)
			places := slices.Sorted(maps.Keys(left))
			i, _ := slices.BinarySearch(places, from) // the least that is not below from, or else the greatest
			want, found := uint64(0), len(places) > 0
			if found {
				want = places[min(i, len(places)-1)]
			}
			if got, ok := u.take(from, oldest); ok != found || ok && got != want {
				rt.Fatalf("take(%d, %d) = %d, %v; want %d, %v", from, oldest, got, ok, want, found)
			}
			delete(left, want)
		}
	})
}

// When there are more ranges than there is room for, the oldest are forgotten,
// and nothing is allocated.
func TestUnusedSlotsDoNotGrow(t *testing.T) {
	u := newUnusedSlots(4)
	next := uint64(0)
	if n := testing.AllocsPerRun(10_000, func() {
		u.add(next, next+3, 0)
		u.take(next+1, 0)
		next += 10
		if cap(u.ranges) > len(u.buf) {
			t.Fatalf("%d ranges have left the room of %d", cap(u.ranges), len(u.buf))
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got, ok := u.take(next-10, 0); !ok || got != next-10 {
		t.Errorf("the newest: %d, %v; want %d", got, ok, next-10)
	}
	if got, ok := u.take(0, 0); !ok || got == 0 {
		t.Errorf("the oldest is still there: %d, %v", got, ok)
	}
}
