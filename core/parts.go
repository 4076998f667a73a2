package core

import (
	"fmt"
	"math"
	"time"
)

// Parts are the fields of one id. Time is the beginning of its tick, in UTC.
type Parts struct {
	Time       time.Time
	Rollback   int64
	Datacenter int64
	Worker     int64
	Sequence   int64
}

// Compose puts an id together. Each field is checked against its width and Time
// against [Epoch, End): what does not fit is a [RangeError], never a wrapped
// value. A Time within a tick counts as that tick.
func (l Layout) Compose(p Parts) (int64, error) {
	s, err := l.shape()
	if err != nil {
		return 0, err
	}
	if !s.contains(p.Time) {
		return 0, s.timeError("Time", p.Time)
	}
	id := s.tickOf(p.Time) << s.timeShift
	for _, f := range []struct {
		name  string
		value int64
		max   uint64
		shift uint
	}{
		{"Rollback", p.Rollback, s.rollbackMax, s.rollbackShift},
		{"Datacenter", p.Datacenter, s.dcMax, s.dcShift},
		{"Worker", p.Worker, s.workMax, s.workerShift},
		{"Sequence", p.Sequence, s.seqMax, s.seqShift},
	} {
		if f.value < 0 || uint64(f.value) > f.max {
			return 0, &RangeError{f.name, fmt.Sprint(f.value), fmt.Sprintf("0 to %d fit", f.max)}
		}
		id |= uint64(f.value) << f.shift
	}
	return int64(id), nil
}

// Decode takes an id apart. An id that this layout cannot have made, because
// it is negative or has bits above the layout's, is a [RangeError].
func (l Layout) Decode(id int64) (Parts, error) {
	s, err := l.shape()
	if err != nil {
		return Parts{}, err
	}
	return s.decompose(id)
}

func (s *shape) decompose(id int64) (Parts, error) {
	u := uint64(id)
	if id < 0 && !s.layout.Unsigned {
		return Parts{}, &RangeError{"id", fmt.Sprint(id), "it must not be negative"}
	}
	if s.total < 64 && u>>s.total != 0 {
		return Parts{}, &RangeError{"id", fmt.Sprint(u), fmt.Sprintf("only its lowest %d bits are in use", s.total)}
	}
	return Parts{
		Time:       s.startOf(u >> s.timeShift),
		Rollback:   int64(u >> s.rollbackShift & s.rollbackMax),
		Datacenter: int64(u >> s.dcShift & s.dcMax),
		Worker:     int64(u >> s.workerShift & s.workMax),
		Sequence:   int64(u >> s.seqShift & s.seqMax),
	}, nil
}

// FirstAt is the least id whose Time is t or later. Unless t lies within
// [Epoch, End) and a tick of the layout begins at it or after it, the answer is
// a [RangeError].
func (l Layout) FirstAt(t time.Time) (int64, error) {
	s, err := l.shape()
	if err != nil {
		return 0, err
	}
	return s.firstAt("time", t)
}

func (s *shape) firstAt(name string, t time.Time) (int64, error) {
	if !s.contains(t) {
		return 0, s.timeError(name, t)
	}
	tick := s.tickFrom(t)
	if tick > s.tickMax {
		return 0, s.timeError(name, t)
	}
	return int64(tick << s.timeShift), nil
}

// Range gives the bounds of the ids whose Time lies in [from, to), to be used
// as WHERE id >= min AND id < max. Both times must lie within [Epoch, End), and
// from not after to. In an Unsigned layout a range whose ids have either sign
// is an error, since no comparison of signed numbers selects it.
func (l Layout) Range(from, to time.Time) (min, max int64, err error) {
	s, err := l.shape()
	if err != nil {
		return 0, 0, err
	}
	if to.Before(from) {
		return 0, 0, &RangeError{"from", format(from), "it lies after to, " + format(to)}
	}
	if min, err = s.firstAt("from", from); err != nil {
		return 0, 0, err
	}
	if max, err = s.firstAt("to", to); err != nil {
		return 0, 0, err
	}
	if min >= 0 && max < 0 {
		return 0, 0, &RangeError{"to", format(to), fmt.Sprintf("its ids pass %d and turn negative, split the range there", int64(math.MaxInt64))}
	}
	return min, max, nil
}

func (s *shape) timeError(name string, t time.Time) error {
	return &RangeError{name, format(t), "times from " + format(s.layout.Epoch) + " to before " + format(s.end) + " fit"}
}

func format(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
