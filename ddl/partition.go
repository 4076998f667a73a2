package ddl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Partitioning configures how a table is partitioned by the time in its ids. Dialect, Table
// and By are required. Each method validates it; the error is a [*core.ConfigError]
// with all that is wrong. SQLite has no partitions: an [errors.ErrUnsupported].
//
// The bounds are ids, so WHERE id >= … AND id < … selects partitions, and
// old rows are dropped without a DELETE. The database refuses an id for which there is
// no partition, so create partitions some time ahead.
type Partitioning struct {
	Dialect  Dialect        // required; SQLite has no partitions
	Layout   core.Layout    // zero: Twitter's
	Schema   string         // of the table and its partitions; zero: the connection's own
	Table    string         // required
	Column   string         // zero: id
	By       Period         // required: Day, Week or Month
	Location *time.Location // whose midnights begin the days; zero: UTC
}

// MaxPartitions is how many partitions one call may create, as many as MySQL allows in a table.
const MaxPartitions = 8192

// A Partition holds the ids from Min to before Max.
type Partition struct {
	Name     string    // orders_p20261121, orders_p2026w47 or orders_p202611; in MySQL p20261121 and so on
	Schema   string    // of a partition in PostgreSQL; zero: the Partitioning's
	From, To time.Time // of the ids' times, To exclusive; zero where a bound is no time of the layout
	Min, Max int64     // Max exclusive; math.MinInt64 and math.MaxInt64 where a partition has no such bound
	Default  bool      // PostgreSQL's default partition, for ids that no other partition takes; it has no bounds
}

// check validates the fields and fills in the defaults.
func (p *Partitioning) check() (l compiledLayout, err error) {
	var wrong fields.Errors
	p.Dialect.check(&wrong)
	l = compile(&wrong, p.Layout)
	p.Dialect.ident(&wrong, "Table", p.Table)
	if p.Schema != "" {
		p.Dialect.ident(&wrong, "Schema", p.Schema)
	}
	p.Column = cmp.Or(p.Column, "id")
	p.Dialect.ident(&wrong, "Column", p.Column)
	if !slices.Contains([]Period{Day, Week, Month}, p.By) {
		wrong.Add("By", string(p.By), "must be day, week or month")
	}
	p.Location = cmp.Or(p.Location, time.UTC)
	if err := wrong.Err("ddl"); err != nil {
		return l, err
	}
	if p.Dialect == SQLite {
		return l, SQLite.unsupported("partitions")
	}
	return l, nil
}

// table is the quoted name of the table.
func (p *Partitioning) table() string { return p.Dialect.qualify(p.Schema, p.Table) }

// Bounds returns the partitions for all times in [from, to). They are whole periods without
// a gap, so the first may begin before from and the last end after to. A from before the
// epoch counts as the epoch, and the first partition of the layout begins with id 0. A
// period in which no tick begins has no partition. If to is not after the epoch, or a
// period extends beyond the layout's end, the error wraps a [*core.RangeError]. More
// than MaxPartitions are an error.
func (p Partitioning) Bounds(from, to time.Time) ([]Partition, error) {
	l, err := p.check()
	if err != nil {
		return nil, err
	}
	if !from.Before(to) {
		return nil, fields.Error("ddl", "to", to.Format(time.RFC3339Nano), "must be after from, %s", from.Format(time.RFC3339Nano))
	}
	if from.Before(l.Epoch) && to.After(l.Epoch) {
		from = l.Epoch
	}
	if _, err := l.FirstAt(from); err != nil {
		return nil, p.wrap(fmt.Errorf("from: %w", err))
	}
	// If clocks change at midnight, the calendar may place from in the period before or after its own.
	at := p.By.dateOf(from.In(p.Location))
	for at.starts(p.Location).After(from) {
		at = p.By.move(at, -1)
	}
	for next := p.By.move(at, 1); !next.starts(p.Location).After(from); next = p.By.move(at, 1) {
		at = next
	}
	var parts []Partition
	for count := 0; at.starts(p.Location).Before(to); count++ {
		if count == MaxPartitions {
			return nil, fields.Error("ddl", "to", to.Format(time.RFC3339Nano), "makes more than %d partitions, one a %s from %s", MaxPartitions, p.By, from.Format(time.RFC3339Nano))
		}
		next := p.By.move(at, 1)
		part := Partition{Name: p.name(at), From: at.starts(p.Location), To: next.starts(p.Location)}
		if part.Min, err = l.firstID(part.From); err == nil {
			part.Max, err = l.firstID(part.To)
		}
		if err != nil {
			return nil, p.wrap(fmt.Errorf("%s: %w", part.Name, err))
		}
		if part.Min < part.Max {
			parts = append(parts, part)
		}
		at = next
	}
	return parts, nil
}

// name is the name of a period's partition. PostgreSQL's partitions are tables, so theirs begins with the table's.
func (p *Partitioning) name(at date) string {
	if p.Dialect == Postgres {
		return p.Table + "_p" + p.By.label(at)
	}
	return "p" + p.By.label(at)
}

// wrap adds the table to an error.
func (p *Partitioning) wrap(err error) error {
	return fmt.Errorf("ddl: partitions of %q: %w", p.Table, err)
}

// Before returns the partitions whose ids are all from before t. They may be dropped
// when older rows are no longer needed. If t is before the epoch, there are none. If t is
// after the layout's end, it returns all. It never returns a default
// partition, or one without an upper bound.
func (p Partitioning) Before(have []Partition, t time.Time) ([]Partition, error) {
	l, err := p.check()
	if err != nil {
		return nil, err
	}
	if t.Before(l.Epoch) {
		return nil, nil
	}
	last := l.lastBefore(t)
	return slices.DeleteFunc(slices.Clone(have), func(h Partition) bool {
		return h.Default || h.Max == math.MaxInt64 || last < l.max && h.Max > last+1
	}), nil
}

// Period is the time that one partition spans.
type Period string

// The periods. A week begins on Monday and is named as ISO 8601 counts it.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// date is a day of the calendar, stored as its midnight in UTC.
type date time.Time

// dateOf is the first date of the period that contains t, in t's location.
func (p Period) dateOf(t time.Time) date {
	y, m, d := t.Date()
	switch p {
	case Week:
		d -= (int(t.Weekday()) + 6) % 7
	case Month:
		d = 1
	}
	return date(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
}

// move is n periods later.
func (p Period) move(d date, n int) date {
	switch p {
	case Week:
		return date(time.Time(d).AddDate(0, 0, 7*n))
	case Month:
		return date(time.Time(d).AddDate(0, n, 0))
	}
	return date(time.Time(d).AddDate(0, 0, n))
}

// starts is the first instant of the date in a location, or the next instant if clocks skip
// the date. If midnight occurs twice it is the first, so the repeated time of the day before
// belongs to the date.
func (d date) starts(l *time.Location) time.Time {
	y, m, day := time.Time(d).Date()
	t := time.Date(y, m, day, 0, 0, 0, 0, l)
	y, m, day = t.Date()
	reached := time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	begin, end := t.ZoneBounds()
	switch reached.Compare(time.Time(d)) {
	case -1: // before clocks skip midnight
		return end
	case 1: // after it
		return begin
	}
	_, offset := t.Add(-26 * time.Hour).Zone()
	earlier := time.Time(d).Add(-time.Duration(offset) * time.Second).In(l)
	if _, still := earlier.Zone(); still == offset && earlier.Before(t) {
		return earlier
	}
	return t
}

// label is the period's part of a partition's name.
func (p Period) label(d date) string {
	t := time.Time(d)
	switch p {
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04dw%02d", year, week)
	case Month:
		return fmt.Sprintf("%04d%02d", t.Year(), t.Month())
	}
	return fmt.Sprintf("%04d%02d%02d", t.Year(), t.Month(), t.Day())
}
