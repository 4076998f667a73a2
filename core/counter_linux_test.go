//go:build linux && (amd64 || arm64) && !purego

package core

import (
	"testing"
	"time"
)

// The counter of this processor advances with time.
func TestReadCounter(t *testing.T) {
	if !mayReadCounter() {
		t.Fatal("this thread may not read the counter")
	}
	last, began := readCounter(), time.Now()
	for range 10 {
		time.Sleep(time.Millisecond)
		count := readCounter()
		if rate := float64(count-last) / float64(time.Since(began)); rate < lowestRate/2 || rate > highestRate {
			t.Errorf("from %d to %d in %v", last, count, time.Since(began))
		}
		last, began = count, time.Now()
	}
}
