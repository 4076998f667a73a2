package core

import "math/rand/v2"

// SequenceStart says with which number the sequence begins in a new tick.
// Ids of an idle generator are mostly the first of their tick: with Zero they
// are then all even, and id modulo a number of shards falls on few of them.
type SequenceStart uint8

// Where the sequence begins. Carry and Random begin in the lower half of its
// range, so that every tick still bears at least half of its ids.
const (
	SequenceZero   SequenceStart = iota // at 0
	SequenceCarry                       // where the last tick's ended
	SequenceRandom                      // anywhere
)

// String is the constant's name.
func (s SequenceStart) String() string {
	switch s {
	case SequenceZero:
		return "Zero"
	case SequenceCarry:
		return "Carry"
	case SequenceRandom:
		return "Random"
	}
	return "SequenceStart out of range"
}

// first is the number to begin a tick with, when the run's next place was word.
func (s SequenceStart) first(word, seqMax uint64) uint64 {
	switch s {
	case SequenceCarry:
		return word & (seqMax >> 1)
	case SequenceRandom:
		return rand.Uint64() & (seqMax >> 1)
	}
	return 0
}
