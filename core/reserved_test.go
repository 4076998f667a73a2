package core

import (
	"testing"
	"testing/synctest"
	"time"
)

// reservedAllocator returns an allocator that has issued a tick of four slots and reserved two of the next.
func reservedAllocator(t *testing.T) (a *allocator, r reservation) {
	a = bubbleGenerator(t, Fixed(0)).current.Load()
	now, _ := a.limits()
	if !a.reserve(&r, a.position(now).next, 9) || r.n != 2 {
		t.Fatalf("reserved %+v", r)
	}
	return a, r
}

// A reserved slot is issued when its tick has come, and not before; then it is the last id.
func TestReservedSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := reservedAllocator(t)
		if a.takeReserved(r.gap) {
			t.Error("issued before its time")
		}
		time.Sleep(10 * time.Millisecond)
		before := a.position(0)
		if !a.takeReserved(r.gap) {
			t.Error("not issued in its time")
		}
		if after := a.position(0); after.lastIssued != before.lastIssued+1 || after.unissued != 0 || before.unissued != 2 || a.close() != after.lastIssued+1 {
			t.Errorf("%+v, then %+v", before, after)
		}
	})
}

// After the end no reserved slot is issued, and the end is above the last id, not above the reservation.
func TestReservedSlotsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := reservedAllocator(t)
		tick := r.from >> a.layout.SequenceBits
		time.Sleep(10 * time.Millisecond)
		if unused := a.close(); unused != tick {
			t.Errorf("unused from tick %d on, want %d", unused, tick)
		}
		if a.takeReserved(r.gap) {
			t.Error("issued after the end")
		}
		a.giveBack(r.gap)
		if a.reserve(&r, r.from, 1) || a.close() != tick {
			t.Error("reserved after the end")
		}
	})
}

// What is given back is reserved once more, before the slots behind; and not below an id that was issued since.
func TestGivenBackSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, first := reservedAllocator(t)
		var second, third reservation
		now, _ := a.limits()
		if !a.reserve(&second, a.position(now).next, 1) || second.from != first.from+2 {
			t.Fatalf("%+v behind %+v", second, first)
		}
		a.giveBack(first.gap)
		if next := a.position(now).next; next != first.from || !a.reserve(&third, next, 1) || third.gap != (gap{next, 1}) {
			t.Fatalf("%+v, %d after %+v", third, next, first)
		}
		time.Sleep(10 * time.Millisecond)
		if next := a.position(now).next; next != first.from+1 {
			t.Errorf("next %d", next)
		}
		if !a.takeReserved(second.gap) {
			t.Fatal("not issued")
		}
		if next := a.position(now).next; next != second.from+1 {
			t.Errorf("next %d is below the last id, %d", next, second.from)
		}
	})
}
