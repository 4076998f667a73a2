package ddl

import (
	"errors"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A Field is one of the fields of an id.
type Field string

// The fields, as in [core.Parts].
const (
	Time       Field = "time"
	Rollback   Field = "rollback"
	Datacenter Field = "datacenter"
	Worker     Field = "worker"
	Sequence   Field = "sequence"
)

// shape is what SQL has to know of a layout.
type shape struct {
	layout    core.Layout
	epoch     time.Time
	tickMs    int64
	timeShift uint
	below     map[Field]place
	max       int64 // the greatest id
}

// place is where a field below the time stands.
type place struct {
	shift, width uint
}

// shapeOf finds out a layout's places; its faults, those of core included, are added to f.
func shapeOf(f *faults, l core.Layout) *shape {
	if err := l.Validate(); err != nil {
		var config *core.ConfigError
		if errors.As(err, &config) {
			*f = append(*f, config.Fields...)
		} else {
			f.add("Layout", l.String(), "%v", err)
		}
		return nil
	}
	if l.Unsigned {
		f.add("Layout.Unsigned", "true", "a bigint has a sign and sorts by it; give the time one bit less and leave Unsigned out")
		return nil
	}
	l = l.WithDefaults()
	s := &shape{layout: l, epoch: l.Epoch.UTC(), tickMs: l.Tick.Milliseconds(), below: map[Field]place{}}
	rest := []struct {
		field Field
		width uint8
	}{{Sequence, l.SequenceBits}, {Worker, l.WorkerBits}, {Datacenter, l.DatacenterBits}}
	if l.SequenceFirst {
		rest = append(rest[1:], rest[0])
	}
	for _, r := range rest {
		s.below[r.field] = place{s.timeShift, uint(r.width)}
		s.timeShift += uint(r.width)
	}
	s.below[Rollback] = place{s.timeShift, uint(l.RollbackBits)}
	s.timeShift += uint(l.RollbackBits)
	s.max = int64(uint64(1)<<(s.timeShift+uint(l.TimeBits)) - 1)
	return s
}

// fields are those that have a function: time, worker and sequence always, the
// others where they have a width.
func (s *shape) fields() []Field {
	fields := []Field{Time, Worker, Sequence}
	for _, f := range []Field{Datacenter, Rollback} {
		if s.below[f].width > 0 {
			fields = append(fields, f)
		}
	}
	return fields
}

// lastBefore is the greatest id whose time lies before t, or the greatest of all.
func (s *shape) lastBefore(t time.Time) int64 {
	if !s.layout.End().After(t) {
		return s.max
	}
	first, err := s.layout.FirstAt(t)
	if err != nil { // t lies within the last tick, which begins before it
		return s.max
	}
	return first - 1
}

// firstID is the least id whose time is t or later, and 0 before the epoch.
func (s *shape) firstID(t time.Time) (int64, error) {
	if t.Before(s.epoch) {
		return 0, nil
	}
	return s.layout.FirstAt(t)
}

// endsBy reports whether all of the layout's times, as Unix seconds, lie within ± limit.
func (s *shape) endsBy(limit int64) bool {
	return s.layout.End().Unix() < limit && s.epoch.Unix() > -limit
}

// ceiling gives c and k with which (x + c) / n - k is x / n rounded up, for
// every whole x between ± reach, though the database's division cuts off.
func ceiling(n, reach int64) (c, k int64) {
	k = reach/n + 1
	return k*n + n - 1, k
}

var (
	postgresEnd = time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)
	otherEnd    = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // of MySQL's datetime and SQLite's strftime
)

// readable is the greatest id whose time the database can hold.
func (s *shape) readable(d Dialect) int64 {
	if d == Postgres {
		return s.lastBefore(postgresEnd)
	}
	return s.lastBefore(otherEnd)
}
