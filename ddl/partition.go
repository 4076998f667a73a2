package ddl

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Partitioning says how a table is divided by the time in its ids. Like [Config], it is
// checked by each of its methods.
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
	Location *time.Location // where the days begin at midnight; zero: UTC
}

// MaxPartitions is the most that are made at once, as many as a table of MySQL can have.
const MaxPartitions = 8192

// A Partition holds the ids from Min to before Max.
type Partition struct {
	Name     string    // orders_p20261121, orders_p2026w47 or orders_p202611; in MySQL p20261121 and so on
	Schema   string    // of PostgreSQL's partition, where it is not in that of the Partitioning; zero: it is
	From, To time.Time // of the ids' times, To exclusive; zero where a bound is no time of the layout
	Min, Max int64     // Max exclusive; math.MinInt64 and math.MaxInt64 where a partition has no such bound
	Default  bool      // PostgreSQL's default partition, for ids that no other partition takes; it has no bounds
}

// Partitions creates the partitions of a table for all times in [from, to), as
// one text. The table must be there, and partitioned: see [Partitioning.Clause].
func Partitions(p Partitioning, from, to time.Time) (string, error) {
	parts, err := p.Bounds(from, to)
	if err != nil {
		return "", err
	}
	script, err := p.Create(parts)
	return script.String(), err
}

// begin checks the fields and puts the defaults in their place.
func (p *Partitioning) begin(f *faults) (s *shape, table string) {
	if !p.Dialect.known() {
		*f = append(*f, p.Dialect.fault())
	}
	s = shapeOf(f, p.Layout)
	table = p.Dialect.object(f, p.Schema, "Table", p.Table)
	if p.Column == "" {
		p.Column = "id"
	}
	p.Dialect.ident(f, "Column", p.Column)
	if !slices.Contains([]Period{Day, Week, Month}, p.By) {
		f.add("By", fmt.Sprintf("%q", string(p.By)), "must be day, week or month")
	}
	if p.Location == nil {
		p.Location = time.UTC
	}
	return s, table
}

// ready is begin with its errors, of which a database without partitions is one.
func (p *Partitioning) ready() (s *shape, table string, err error) {
	var f faults
	s, table = p.begin(&f)
	if err := f.err(); err != nil {
		return nil, "", err
	}
	if p.Dialect == SQLite {
		return nil, "", unsupported(SQLite, "partitions")
	}
	return s, table, nil
}

// Bounds reckons the partitions for all times in [from, to): whole periods, so
// the first may begin before from and the last end after to. They follow one
// another without a gap. A from before the epoch counts as the epoch, for there
// are no ids of earlier times, and the first partition that the layout has begins
// with id 0. A to that is not after the epoch, or a period that passes the layout's
// end, is an error that holds a [*core.RangeError]; more than MaxPartitions are an
// error as well. A period in which no tick begins has no partition.
func (p Partitioning) Bounds(from, to time.Time) ([]Partition, error) {
	s, _, err := p.ready()
	if err != nil {
		return nil, err
	}
	if !from.Before(to) {
		f := faults{}
		f.add("to", to.Format(time.RFC3339Nano), "must lie after from, %s", from.Format(time.RFC3339Nano))
		return nil, f.err()
	}
	if from.Before(s.epoch) && to.After(s.epoch) {
		from = s.epoch
	}
	if _, err := s.layout.FirstAt(from); err != nil {
		return nil, p.wrap(fmt.Errorf("from: %w", err))
	}
	// By the calendar from may seem to lie in the period beside its own, where the clocks leap at midnight.
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
			f := faults{}
			f.add("to", to.Format(time.RFC3339Nano), "makes more than %d partitions, one a %s from %s", MaxPartitions, p.By, from.Format(time.RFC3339Nano))
			return nil, f.err()
		}
		next := p.By.move(at, 1)
		part := Partition{Name: p.name(at), From: at.starts(p.Location), To: next.starts(p.Location)}
		if part.Min, err = s.firstID(part.From); err == nil {
			part.Max, err = s.firstID(part.To)
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

// name is the name of a period's partition. PostgreSQL's are tables beside others.
func (p *Partitioning) name(at date) string {
	if p.Dialect == Postgres {
		return p.Table + "_p" + p.By.label(at)
	}
	return "p" + p.By.label(at)
}

// wrap says which table an error is about.
func (p *Partitioning) wrap(err error) error {
	return fmt.Errorf("ddl: partitions of %q: %w", p.Table, err)
}

// Missing returns the partitions of Bounds(from, to) that the table lacks. have are its
// partitions, as [Partitioning.Read] returns them. It is an error if the table has
// partitions for some ids of a period but not for all, or if a last partition without
// an end takes them: [Partitioning.Extend] splits that one. The limits of from and to are
// those of Bounds.
//
// In MySQL partitions can only be added after the last one, and each begins where
// the one before it ends. So Missing also returns the periods between the last
// partition and from, and no period before the last partition.
func (p Partitioning) Missing(have []Partition, from, to time.Time) ([]Partition, error) {
	l, err := p.lacking(have, from, to)
	if err != nil {
		return nil, err
	}
	if len(l.split) > 0 {
		return nil, p.wrap(fmt.Errorf("%s takes all ids from %d on, so %s cannot be added; Extend splits it", l.open.Name, l.open.Min, l.split[0].Name))
	}
	return l.missing, nil
}

// Before returns the partitions whose ids are all from before t. They may be dropped
// when older rows are no longer needed. If t is before the epoch, there are none. If t is
// after the layout's end, it returns all. It never returns a default
// partition, or one without an upper bound.
func (p Partitioning) Before(have []Partition, t time.Time) ([]Partition, error) {
	s, _, err := p.ready()
	if err != nil {
		return nil, err
	}
	if t.Before(s.epoch) {
		return nil, nil
	}
	last := s.lastBefore(t)
	return slices.DeleteFunc(slices.Clone(have), func(h Partition) bool {
		return h.Default || h.Max == math.MaxInt64 || last < s.max && h.Max > last+1
	}), nil
}
