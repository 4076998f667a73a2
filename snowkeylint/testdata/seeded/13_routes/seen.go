package routes

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Seen remembers which posts a reader has seen.
type Seen struct {
	bits  map[int]struct{}
	locks [64]chan struct{}
}

func (s *Seen) Mark(p Post) {
	lock := s.locks[int(p.ID%64)] // OK 43: the remainder fits into any int
	lock <- struct{}{}
	defer func() { <-lock }()
	s.bits[slot(p.ID)] = struct{}{}
}

func (s *Seen) Has(p Post) bool {
	_, ok := s.bits[slot(p.ID)]
	return ok
}

func slot(id sqltype.ID) int {
	return int(id) // FAULT 054 snownarrow: an int has 32 bits on some machines, so two posts share a slot; tucnak/telebot#314
}

// Bucket is the place of a post in a hash table.
func Bucket(id sqltype.ID, size int) int {
	h := uint64(id) * 0x9e3779b97f4a7c15
	return int(h>>33) % size // OK 44: 31 bits of a hash
}
