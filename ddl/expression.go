package ddl

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Expression is the SQL of one field of the id in a column: a name, or a table
// and a column, or schema, table and column. It is in parentheses.
//
// The time is a timestamptz in PostgreSQL, a datetime in UTC in MySQL, and in
// SQLite a text like 2026-11-21T08:00:00.000Z; the other fields are bigints. All
// are exact. An id that the layout cannot have made, because it is negative or
// has bits above the layout's, gives NULL, and so does one whose time the
// database cannot hold: after the year 294276 in PostgreSQL, 9999 in the others.
// A field of no width is 0.
//
// It may stand in an index, a generated column, a view and a CHECK. To select
// by time compare the id itself, with what [core.Layout.Range], [Config.Min] or
// the function snowflake_min gives: that uses the key's index and its partitions.
func (c Config) Expression(field Field, column ...string) (string, error) {
	var f faults
	s := c.begin(&f)
	checkField(&f, field)
	id := c.Dialect.path(&f, "column", column)
	if err := f.err(); err != nil {
		return "", err
	}
	return c.Dialect.field(s, field, id), nil
}

// Min is the SQL of the least id whose time is that of a column or later, which
// is [core.Layout.FirstAt] in the database. The column is a timestamptz in
// PostgreSQL, a datetime in UTC in MySQL and whatever strftime takes in SQLite,
// which counts time in milliseconds and rounds what is finer.
//
// Unlike FirstAt it goes on outside the layout, so that a comparison stays right:
// before the epoch it is negative, and after the layout's end it is above all
// ids. Where no bigint is, it is an error for a number out of range in PostgreSQL
// and MySQL, and in SQLite a real, which still compares rightly. In Twitter's
// layout that is from 2080 on and before 1941, 69 years on either side of the epoch.
func (c Config) Min(column ...string) (string, error) {
	var f faults
	s := c.begin(&f)
	at := c.Dialect.path(&f, "column", column)
	if err := f.err(); err != nil {
		return "", err
	}
	return c.Dialect.least(s, at), nil
}

// MinNow is the same for the server's time, less some: with 90 days, the ids
// below it are those made more than 90 days ago. Every partition that cannot
// have such ids is left out of the query.
func (c Config) MinNow(ago time.Duration) (string, error) {
	var f faults
	s := c.begin(&f)
	if err := f.err(); err != nil {
		return "", err
	}
	micros := ago.Microseconds()
	switch c.Dialect {
	case Postgres:
		return c.Dialect.least(s, "(now() - "+postgresInterval(micros)+")"), nil
	case MySQL:
		return c.Dialect.least(s, fmt.Sprintf("(UTC_TIMESTAMP(6) - INTERVAL %d MICROSECOND)", micros)), nil
	default:
		return ceilTicks(s, unixMillis("'now'")+minus(ago.Milliseconds()), s.tickMs, s.epoch.UnixMilli(), "/"), nil
	}
}

// postgresInterval is an interval in hours: of microseconds, PostgreSQL up to 14 reads
// no more than 2³¹.
func postgresInterval(micros int64) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	const second, minute, hour = 1e6, 60 * 1e6, 3600 * 1e6
	return fmt.Sprintf("interval '%s%d:%02d:%02d.%06d'", sign, micros/hour, micros%hour/minute, micros%minute/second, micros%second)
}

func checkField(f *faults, field Field) {
	if !slices.Contains([]Field{Time, Rollback, Datacenter, Worker, Sequence}, field) {
		f.add("field", fmt.Sprintf("%q", string(field)), "must be time, rollback, datacenter, worker or sequence")
	}
}

// field is a field of id, which is SQL.
func (d Dialect) field(s *shape, field Field, id string) string {
	value, last := d.number(s.below[field], id), s.max
	if field == Time {
		value, last = d.time(s, id), s.readable(d)
	}
	inside := id + " >= 0"
	if last < math.MaxInt64 {
		inside = fmt.Sprintf("%s BETWEEN 0 AND %d", id, last)
	}
	return "(CASE WHEN " + inside + " THEN " + value + " END)"
}

func (d Dialect) number(p place, id string) string {
	mask := int64(1)<<p.width - 1
	switch {
	case p.width == 0 && d == Postgres:
		return "0::bigint"
	case p.width == 0:
		return "0"
	case d == MySQL: // whose shifts and masks are unsigned, and make what is reckoned with them so
		return fmt.Sprintf("(%s %% %d)", d.shifted(id, p.shift), mask+1)
	}
	return fmt.Sprintf("(%s & %d)", d.shifted(id, p.shift), mask)
}

func (d Dialect) shifted(id string, by uint) string {
	switch {
	case by == 0:
		return id
	case d == MySQL:
		return fmt.Sprintf("(%s DIV %d)", id, int64(1)<<by)
	}
	return fmt.Sprintf("(%s >> %d)", id, by)
}

// The Unix seconds up to which a double of them is nearer than half a
// millisecond, with all that to_timestamp reckons: the year 71654.
const doubleReach = 1 << 41

func (d Dialect) time(s *shape, id string) string {
	ticks := d.shifted(id, s.timeShift)
	if d == MySQL {
		// Microseconds, for less would give a type of whole seconds where it can.
		return fmt.Sprintf("(%s + INTERVAL %s MICROSECOND)", mysqlTime(s.epoch), times(ticks, s.tickMs*1000))
	}
	millis := "(" + times(ticks, s.tickMs) + plus(s.epoch.UnixMilli()) + ")"
	switch {
	case d == SQLite:
		return sqliteTime(s, millis)
	case s.endsBy(doubleReach):
		// All of it is immutable, so PostgreSQL puts it in the place of the call.
		return fmt.Sprintf("to_timestamp(%s::float8 / 1000)::timestamptz(3)", millis)
	}
	return fmt.Sprintf("((timestamp '1970-01-01 00:00:00' + (%s / 86400000) * interval '1 day'"+
		" + (%[1]s %% 86400000) * interval '1 millisecond') AT TIME ZONE 'UTC')", millis)
}

// sqliteTime keeps to whole numbers, for strftime would round a fraction.
func sqliteTime(s *shape, millis string) string {
	seconds, rest := fmt.Sprintf("%s / 1000", millis), fmt.Sprintf("%s %% 1000", millis)
	if s.epoch.UnixMilli() < 0 { // division cuts off towards zero: move to where that is downwards
		away := -s.epoch.Unix()
		seconds = fmt.Sprintf("(%s + %d) / 1000 - %d", millis, away*1000, away)
		rest = fmt.Sprintf("(%s + %d) %% 1000", millis, away*1000)
	}
	return fmt.Sprintf("(strftime('%%Y-%%m-%%dT%%H:%%M:%%S', %s, 'unixepoch') || printf('.%%03dZ', %s))", seconds, rest)
}

// least is the least id of a time, which is SQL.
func (d Dialect) least(s *shape, at string) string {
	switch d {
	case Postgres:
		// The seconds are a numeric, so exact, and immutable since they are of a timestamp without zone.
		return ceilTicks(s, fmt.Sprintf("ceil(extract(epoch FROM %s AT TIME ZONE 'UTC') * 1000)::bigint", at),
			s.tickMs, s.epoch.UnixMilli(), "/")
	case MySQL:
		return ceilTicks(s, fmt.Sprintf("TIMESTAMPDIFF(MICROSECOND, %s, %s)", mysqlTime(s.epoch), at), s.tickMs*1000, 0, "DIV")
	}
	return ceilTicks(s, unixMillis(at), s.tickMs, s.epoch.UnixMilli(), "/")
}

// More than any database's times are away from any epoch: in milliseconds for
// PostgreSQL, in microseconds for MySQL.
const reach = 1e18

// ceilTicks is the first id of the first tick at or after x, with x and tick in one unit.
// It multiplies, for a shift would drop the bits that do not fit without a word.
func ceilTicks(s *shape, x string, tick, epoch int64, divide string) string {
	per := int64(1) << s.timeShift
	if tick == 1 {
		return "(" + times("("+x+minus(epoch)+")", per) + ")"
	}
	c, k := ceiling(tick, reach)
	return "(" + times(fmt.Sprintf("((%s%s) %s %d - %d)", x, plus(c-epoch), divide, tick, k), per) + ")"
}

func mysqlTime(t time.Time) string {
	return "TIMESTAMP'" + t.Format("2006-01-02 15:04:05.000") + "'"
}

// unixMillis is SQLite's time in Unix milliseconds. Both calls round alike.
func unixMillis(at string) string {
	return fmt.Sprintf("CAST(strftime('%%s', %s) AS INTEGER) * 1000 + CAST(substr(strftime('%%f', %[1]s), 4) AS INTEGER)", at)
}

func times(x string, n int64) string {
	if n == 1 {
		return x
	}
	return fmt.Sprintf("%s * %d", x, n)
}

func plus(n int64) string {
	switch {
	case n > 0:
		return fmt.Sprintf(" + %d", n)
	case n < 0:
		return fmt.Sprintf(" - %d", -n)
	}
	return ""
}

func minus(n int64) string { return plus(-n) }
