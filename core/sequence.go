package core

import "math/rand/v2"

// SequenceStart says with which sequence number a new tick begins. It matters if rows are
// sharded by id modulo the number of shards. The ids of a generator that is seldom used are
// mostly the first of their tick. With SequenceZero these are all even, and reach only a few
// shards. [Shard] does not depend on it.
type SequenceStart uint8

// Where the sequence begins. SequenceCarry and SequenceRandom begin in the lower half of the
// range, so that every tick keeps at least half of its ids.
const (
	SequenceZero   SequenceStart = iota // at 0
	SequenceCarry                       // where the last tick ended
	SequenceRandom                      // at a random number
)

// String returns "Zero", "Carry" or "Random".
func (s SequenceStart) String() string {
	if s > SequenceRandom {
		return "SequenceStart out of range"
	}
	return [...]string{"Zero", "Carry", "Random"}[s]
}

// first returns the sequence number that begins a tick.
func (s SequenceStart) first(cursor, sequenceMax uint64) uint64 {
	switch s {
	case SequenceCarry:
		return cursor & (sequenceMax >> 1)
	case SequenceRandom:
		return rand.Uint64() & (sequenceMax >> 1)
	}
	return 0
}
