package core

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
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
	c, err := l.compile()
	if err != nil {
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

// String describes the layout in one line.
func (l Layout) String() string {
	l = l.WithDefaults()
	var widths []string
	for _, f := range l.fields() {
		widths = append(widths, fmt.Sprintf("%d %s", f.bits, f.name))
	}
	line := fmt.Sprintf("%s, ticks of %v since %s", strings.Join(widths, " | "), l.Tick, l.Epoch.Format("2006-01-02T15:04:05.999Z07:00"))
	if l.Unsigned {
		line += ", unsigned"
	}
	return line
}

type field struct {
	name string
	bits uint8
}

// fields lists the fields from high to low, without those of width 0 below the time.
func (l Layout) fields() []field {
	worker := "worker ID"
	if l.DatacenterBits > 0 {
		worker = "machine"
	}
	low := []field{{"roll-back", l.RollbackBits}, {"datacenter", l.DatacenterBits}, {worker, l.WorkerBits}, {"sequence", l.SequenceBits}}
	if l.SequenceFirst {
		low = []field{low[0], low[3], low[1], low[2]}
	}
	low = slices.DeleteFunc(low, func(f field) bool { return f.bits == 0 })
	return append([]field{{"time", l.TimeBits}}, low...)
}

// Diagram draws the fields and their bits as a table, from high to low. For an invalid layout
// it returns the error's message instead.
func (l Layout) Diagram() string {
	c, err := l.compile()
	if err != nil {
		return err.Error() + "\n"
	}
	var top, names, widths []string
	high := 63
	column := func(name string, bits uint8) {
		if bits == 0 {
			return
		}
		low := high - int(bits) + 1
		if bits == 1 {
			top, widths = append(top, fmt.Sprint(high)), append(widths, "1 bit")
		} else {
			top, widths = append(top, fmt.Sprintf("%d … %d", high, low)), append(widths, fmt.Sprintf("%d bits", bits))
		}
		names = append(names, name)
		high = low - 1
	}
	column("0", uint8(64-c.used))
	for _, f := range c.fields() {
		column(f.name, f.bits)
	}
	var b strings.Builder
	row := func(left, between, right string, cell func(i, width int) string) {
		cells := make([]string, len(names))
		for i := range names {
			cells[i] = cell(i, 2+max(utf8.RuneCountInString(top[i]), len(names[i]), len(widths[i])))
		}
		b.WriteString(strings.TrimRight(left+strings.Join(cells, between)+right, " ") + "\n")
	}
	padded := func(cells []string) func(i, width int) string {
		return func(i, width int) string {
			return " " + cells[i] + strings.Repeat(" ", width-1-utf8.RuneCountInString(cells[i]))
		}
	}
	rule := func(_, width int) string { return strings.Repeat("─", width) }
	row(" ", " ", "", padded(top))
	row("┌", "┬", "┐", rule)
	row("│", "│", "│", padded(names))
	row("│", "│", "│", padded(widths))
	row("└", "┴", "┘", rule)
	return b.String()
}

// Explain draws the bits of one id, with the value of each field below them. It returns the
// errors of [Layout.Decode].
func (l Layout) Explain(id int64) (string, error) {
	c, err := l.compile()
	if err != nil {
		return "", err
	}
	p, err := c.decode(id)
	if err != nil {
		return "", err
	}
	values := map[string]any{
		"time": p.Time.Format("2006-01-02T15:04:05.000Z"), "roll-back": p.Rollback,
		"datacenter": p.Datacenter, "machine": p.Worker, "worker ID": p.Worker, "sequence": p.Sequence,
	}
	digits := fmt.Sprintf("%064b", uint64(id))
	at := 64 - int(c.used)
	var groups []string
	if at > 0 {
		groups = append(groups, digits[:at])
	}
	fields := c.fields()
	var starts []int // the column at which each field begins
	for _, f := range fields {
		starts = append(starts, at+len(groups))
		groups = append(groups, digits[at:at+int(f.bits)])
		at += int(f.bits)
	}
	var b strings.Builder
	b.WriteString(strings.Join(groups, " ") + "\n")
	for i := len(fields) - 1; i >= 0; i-- {
		column := 0
		for _, start := range starts[:i] {
			b.WriteString(strings.Repeat(" ", start-column) + "│")
			column = start + 1
		}
		fmt.Fprintf(&b, "%s└ %s %v\n", strings.Repeat(" ", starts[i]-column), fields[i].name, values[fields[i].name])
	}
	return b.String(), nil
}

// MaxShards is the greatest number of shards of [Shard].
const MaxShards = 65536

// Shard returns the shard of an id among n shards: 0 to n-1. n is 1 to [MaxShards]; the error
// is a [*ConfigError]. Every int64 has a shard, 0 and negative ones too. Config.Shard of package
// ddl is the same function in SQL.
//
// Shard spreads ids evenly. An id modulo n does not: all ids of a generator that issues less than
// one id per tick end in the same bits, so most shards stay empty.
//
// The shard of an id depends on n, and is the same in all versions of this package. With 2n shards,
// the rows of shard s are in s and s+n; with any other number, almost all rows move. So begin with
// many more shards than servers, and move whole shards to new servers.
func Shard(id int64, n int) (int, error) {
	if n < 1 || n > MaxShards {
		return 0, configError(FieldError{"n", fmt.Sprint(n), fmt.Sprintf("must be 1 to %d", MaxShards)})
	}
	return int(idHash(id) % int64(n)), nil
}

// idHash hashes an id to a number from 0 to 4294967278. Rows are where it says, so it never changes.
//
// It uses only multiplication and the remainder of a division, and no product exceeds an
// int64. So every database computes it exactly, and MySQL allows it where it allows no function
// and no bit operation: after PARTITION BY. All moduli are primes. The first two remainders
// together determine the id, so their product depends on all of its bits. It is not linear, so
// no rate of ids is a bad one. The two steps after it break up patterns of the product.
func idHash(id int64) int64 {
	x := (id % 3863124193) * (id % 2387542127) % 4294967291
	x = x * 1640531527 % 3037000493
	return x * 2246822519 % 4294967279
}
