package shard

import (
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/idhash"
)

// MaxBits is the greatest number of bits of a [Scatter].
const MaxBits = 10

// A Scatter maps the ids of a layout to keys that spread over 2^bits ranges, and keys back to ids. A
// key has as many bits as an id. Its highest bits are the prefix, which determines the range. The
// prefix is the lowest bits of the id plus a hash of the other bits. The other bits follow, so the
// keys with one prefix ascend with time:
//
//	id    time · worker · sequence, without its lowest bits   lowest bits
//	key   prefix   time · worker · sequence, without its lowest bits
//
// The key of 0 is 0, and every other id has a key above 0. The zero Scatter returns errors; make
// one with [NewScatter]. A Scatter is safe for concurrent use.
type Scatter struct {
	bits  uint  // of the prefix
	rest  uint  // the other bits of a key
	limit int64 // the greatest id and key
}

// NewScatter returns a Scatter for the ids of a layout; the zero Layout is Twitter's. bits is 1 to
// [MaxBits], and less than the number of bits of an id; 4 bits make 16 ranges. Never change the
// layout or the bits of a table. The error is a [*core.ConfigError] with all invalid values. An
// Unsigned layout is invalid, because its keys would sort correctly only as uint64.
func NewScatter(l core.Layout, bits int) (Scatter, error) {
	var wrong fields.Errors
	if config := new(core.ConfigError); errors.As(l.Validate(), &config) {
		wrong = append(wrong, config.Fields...)
	}
	if l.Unsigned {
		wrong.Add("Layout.Unsigned", true, "must be false: the keys would sort only as uint64; use one time bit less instead")
	}
	l = l.WithDefaults()
	width := int(l.TimeBits) + int(l.RollbackBits) + int(l.DatacenterBits) + int(l.WorkerBits) + int(l.SequenceBits)
	switch {
	case bits < 1 || bits > MaxBits:
		wrong.Add("bits", bits, "must be 1 to %d", MaxBits)
	case wrong == nil && bits >= width:
		wrong.Add("bits", bits, "must be less than %d, the bits of an id", width)
	}
	if err := wrong.Err("shard"); err != nil {
		return Scatter{}, err
	}
	return Scatter{bits: uint(bits), rest: uint(width - bits), limit: int64(uint64(1)<<width - 1)}, nil
}

// Key returns the key of an id. It fails if the layout cannot have produced the id.
func (s Scatter) Key(id int64) (int64, error) {
	if err := s.check("id", id); err != nil {
		return 0, err
	}
	high := id >> s.bits
	prefix := (id%(1<<s.bits) + idhash.Of(high)) % (1 << s.bits)
	return prefix<<s.rest | high, nil
}

// ID returns the id of a key. It fails if Key cannot have returned the key.
func (s Scatter) ID(key int64) (int64, error) {
	if err := s.check("key", key); err != nil {
		return 0, err
	}
	return s.id(key>>s.rest, key&(1<<s.rest-1)), nil
}

// id joins the prefix and the other bits of a key.
func (s Scatter) id(prefix, high int64) int64 {
	return high<<s.bits | (prefix-idhash.Of(high))&(1<<s.bits-1)
}

func (s Scatter) check(name string, value int64) error {
	switch {
	case s.bits == 0:
		return errors.New("shard: the zero Scatter has no keys; make one with NewScatter")
	case value < 0 || value > s.limit:
		return fmt.Errorf("shard: %s %d is outside the layout: 0 to %d fit", name, value, s.limit)
	}
	return nil
}

// A Range holds the keys from First to Last, both included, for WHERE key BETWEEN first AND
// last.
type Range struct {
	First, Last int64
}

// Ranges returns the ranges of the keys of all ids from min to before max, as
// [core.Layout.Range] returns them, and of no other id. There is at most one range for each
// prefix, and they ascend. Without such ids there are no ranges. Ranges fails if min or max is not
// an id of the layout; max may also be one more than the greatest id.
func (s Scatter) Ranges(min, max int64) ([]Range, error) {
	if err := s.check("min", min); err != nil {
		return nil, err
	}
	if max <= min {
		return nil, s.check("max", max)
	}
	if err := s.check("max", max-1); err != nil {
		return nil, s.check("max", max)
	}
	ranges := make([]Range, 0, 1<<s.bits)
	for prefix := range int64(1) << s.bits {
		// Only the ids at the ends may be outside.
		first, last := min>>s.bits, (max-1)>>s.bits
		if s.id(prefix, first) < min {
			first++
		}
		if s.id(prefix, last) >= max {
			last--
		}
		if first <= last {
			ranges = append(ranges, Range{prefix<<s.rest | first, prefix<<s.rest | last})
		}
	}
	return ranges, nil
}
