package ddl

import (
	"errors"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Field is a field of an ID.
type Field string

// The fields. The worker ID is the number that is leased, and that metrics and snow_lease have. Its
// parts are the datacenter and the machine, which [core.Parts] calls Datacenter and Worker.
const (
	Time       Field = "time"
	Rollback   Field = "rollback"
	WorkerID   Field = "worker_id"
	Datacenter Field = "datacenter"
	Machine    Field = "machine"
	Sequence   Field = "sequence"
)

// compiledLayout is a layout with what SQL needs of it.
type compiledLayout struct {
	core.Layout
	tickMs    int64
	timeShift uint
	below     map[Field]bits // below the time
	max       int64          // the greatest id
}

// bits are the position and the width of a field.
type bits struct {
	shift, width uint
}

// compile adds the errors of a layout, including those of core. In place of a wrong layout
// it compiles Twitter's, so that a caller finds its other errors as well.
func compile(wrong *fields.Errors, l core.Layout) compiledLayout {
	var config *core.ConfigError
	if err := l.Validate(); errors.As(err, &config) {
		*wrong = append(*wrong, config.Fields...)
		l = core.Twitter()
	}
	if l.Unsigned {
		wrong.Add("Layout.Unsigned", true, "a bigint is signed and sorts by its sign; give the time one bit less instead")
		l = core.Twitter()
	}
	l = l.WithDefaults()
	l.Epoch = l.Epoch.UTC()
	c := compiledLayout{Layout: l, tickMs: l.Tick.Milliseconds(), below: map[Field]bits{}}
	order := []Field{Sequence, Machine, Datacenter, Rollback}
	if l.SequenceFirst {
		order = []Field{Machine, Datacenter, Sequence, Rollback}
	}
	width := map[Field]uint8{Sequence: l.SequenceBits, Machine: l.WorkerBits, Datacenter: l.DatacenterBits, Rollback: l.RollbackBits}
	for _, field := range order {
		c.below[field] = bits{c.timeShift, uint(width[field])}
		c.timeShift += uint(width[field])
	}
	machine, datacenter := c.below[Machine], c.below[Datacenter] // the datacenter follows
	c.below[WorkerID] = bits{machine.shift, machine.width + datacenter.width}
	c.max = int64(uint64(1)<<(c.timeShift+uint(l.TimeBits)) - 1)
	return c
}

// fields returns the fields that have a function: time, worker ID and sequence always, the parts of
// the worker ID if there are datacenters, and rollback if it has a width.
func (c *compiledLayout) fields() []Field {
	fields := []Field{Time, WorkerID, Sequence}
	if c.below[Datacenter].width > 0 {
		fields = append(fields, Datacenter, Machine)
	}
	if c.below[Rollback].width > 0 {
		fields = append(fields, Rollback)
	}
	return fields
}

// lastBefore is the greatest id whose time is before t, or the greatest of all.
func (c *compiledLayout) lastBefore(t time.Time) int64 {
	if !c.End().After(t) {
		return c.max
	}
	first, err := c.FirstAt(t)
	if err != nil { // t is within the last tick, which begins before it
		return c.max
	}
	return first - 1
}

// firstID is the least id whose time is t or later, and 0 before the epoch.
func (c *compiledLayout) firstID(t time.Time) (int64, error) {
	if t.Before(c.Epoch) {
		return 0, nil
	}
	return c.FirstAt(t)
}

// within reports whether all of the layout's times, as Unix seconds, lie within ± limit.
func (c *compiledLayout) within(limit int64) bool {
	return c.End().Unix() < limit && c.Epoch.Unix() > -limit
}

// readable is the greatest id whose time the database can represent.
func (c *compiledLayout) readable(d Dialect) int64 {
	end := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // of MySQL's datetime and SQLite's strftime
	if d == Postgres {
		end = time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return c.lastBefore(end)
}
