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

// Compose returns the id that has these parts. A Time within a tick counts as that tick. A
// field that exceeds its width, or a Time outside [Epoch, End), is a [RangeError]: values are
// never truncated.
func (l Layout) Compose(p Parts) (int64, error) {
	c, err := l.compile()
	if err != nil {
		return 0, err
	}
	if !c.contains(p.Time) {
		return 0, c.timeError("Time", p.Time)
	}
	id := c.tickOf(p.Time) << c.timeShift
	for _, f := range []struct {
		name  string
		value int64
		max   uint64
		shift uint
	}{
		{"Rollback", p.Rollback, c.rollbackMax, c.rollbackShift},
		{"Datacenter", p.Datacenter, c.datacenterMax, c.datacenterShift},
		{"Worker", p.Worker, c.workerMax, c.workerShift},
		{"Sequence", p.Sequence, c.sequenceMax, c.sequenceShift},
	} {
		if f.value < 0 || uint64(f.value) > f.max {
			return 0, &RangeError{f.name, fmt.Sprint(f.value), fmt.Sprintf("0 to %d fit", f.max)}
		}
		id |= uint64(f.value) << f.shift
	}
	return int64(id), nil
}

// Decode returns the parts of an id. An id that this layout cannot have produced, because it
// is negative or has bits above the layout's, is a [RangeError].
func (l Layout) Decode(id int64) (Parts, error) {
	var c compiledLayout
	if err := c.set(l); err != nil {
		return Parts{}, err
	}
	return c.decode(id)
}

func (c *compiledLayout) decode(id int64) (Parts, error) {
	u := uint64(id)
	if id < 0 && !c.Unsigned {
		return Parts{}, &RangeError{"id", fmt.Sprint(id), "it must not be negative"}
	}
	if c.used < 64 && u>>c.used != 0 {
		return Parts{}, &RangeError{"id", fmt.Sprint(u), fmt.Sprintf("only its lowest %d bits are in use", c.used)}
	}
	return Parts{
		Time:       c.startOf(u >> c.timeShift),
		Rollback:   int64(u >> c.rollbackShift & c.rollbackMax),
		Datacenter: int64(u >> c.datacenterShift & c.datacenterMax),
		Worker:     int64(u >> c.workerShift & c.workerMax),
		Sequence:   int64(u >> c.sequenceShift & c.sequenceMax),
	}, nil
}

// FirstAt returns the least id whose Time is t or later. It returns a [RangeError] if t is
// outside [Epoch, End), or after the beginning of the last tick.
func (l Layout) FirstAt(t time.Time) (int64, error) {
	c, err := l.compile()
	if err != nil {
		return 0, err
	}
	return c.firstAt("time", t)
}

func (c *compiledLayout) firstAt(name string, t time.Time) (int64, error) {
	if !c.contains(t) {
		return 0, c.timeError(name, t)
	}
	tick := c.tickFrom(t)
	if tick > c.tickMax {
		return 0, c.timeError(name, t)
	}
	return int64(tick << c.timeShift), nil
}

// Range returns the bounds of the ids whose Time is in [from, to), for use as
// WHERE id >= min AND id < max. Both times must be within [Epoch, End), and from must not be
// after to. In an Unsigned layout a range that contains positive and negative ids is an error:
// no comparison of signed numbers selects it.
func (l Layout) Range(from, to time.Time) (min, max int64, err error) {
	c, err := l.compile()
	if err != nil {
		return 0, 0, err
	}
	if to.Before(from) {
		return 0, 0, &RangeError{"from", formatTime(from), "it is after to, " + formatTime(to)}
	}
	if min, err = c.firstAt("from", from); err != nil {
		return 0, 0, err
	}
	if max, err = c.firstAt("to", to); err != nil {
		return 0, 0, err
	}
	if min >= 0 && max < 0 {
		return 0, 0, &RangeError{"to", formatTime(to), fmt.Sprintf("its ids exceed %d and turn negative, split the range there", int64(math.MaxInt64))}
	}
	return min, max, nil
}

func (c *compiledLayout) timeError(name string, t time.Time) error {
	return &RangeError{name, formatTime(t), "times from " + formatTime(c.Epoch) + " to before " + formatTime(c.end) + " fit"}
}
