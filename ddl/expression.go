package ddl

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Expression returns the SQL of one field of the id in a column, in parentheses. The column
// is a name, a table and a column, or a schema, a table and a column.
//
// The time is a timestamptz in PostgreSQL, a datetime in UTC in MySQL, and a string like
// 2026-11-21T08:00:00.000Z in SQLite; the other fields are bigints. All are exact. A
// field of zero bits is 0. The result is NULL for an id that is negative or has bits
// above the layout's, and for one whose time the database cannot represent: after the year
// 294276 in PostgreSQL, 9999 in the others.
//
// It may be part of an index, a generated column, a view and a CHECK. To select by time,
// compare the id itself with the results of [core.Layout.Range], [Config.Min] or the
// function snowflake_min: that uses the index and the partitions of the key.
func (c Config) Expression(field Field, column ...string) (string, error) {
	b := c.builder()
	b.checkField(field)
	return result(b, b.field(field, b.Dialect.path(&b.wrong, "column", column)))
}

// Min returns the SQL of the least id with the time in a column, or a later one:
// [core.Layout.FirstAt] in the database. The column is a timestamptz in PostgreSQL, a
// datetime in UTC in MySQL, and whatever strftime accepts in SQLite, which
// rounds time to milliseconds.
//
// Unlike FirstAt it has a result outside the layout too, so comparisons stay correct: it is
// negative before the epoch, and above all ids after the layout's end. A result beyond
// a bigint is an out-of-range error in PostgreSQL and MySQL, and in SQLite a real,
// which compares correctly. In Twitter's layout that happens after 2080 and before
// 1941, 69 years on either side of the epoch.
func (c Config) Min(column ...string) (string, error) {
	b := c.builder()
	return result(b, b.least(b.Dialect.path(&b.wrong, "column", column)))
}

// MinNow is Min for the server's current time, less a duration: with 90 days, the ids below
// it were generated more than 90 days ago. The query skips partitions without such ids.
func (c Config) MinNow(ago time.Duration) (string, error) {
	b := c.builder()
	micros := ago.Microseconds()
	switch c.Dialect {
	case Postgres:
		return result(b, b.least("(now() - "+postgresInterval(micros)+")"))
	case MySQL:
		return result(b, b.least(fmt.Sprintf("(UTC_TIMESTAMP(6) - INTERVAL %d MICROSECOND)", micros)))
	}
	return result(b, b.ceilTicks(unixMillis("'now'")+minus(ago.Milliseconds()), b.layout.tickMs, b.layout.Epoch.UnixMilli(), "/"))
}

// postgresInterval is an interval in hours, because PostgreSQL up to 14 reads at most 2³¹
// microseconds.
func postgresInterval(micros int64) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	const second, minute, hour = 1e6, 60 * 1e6, 3600 * 1e6
	return fmt.Sprintf("interval '%s%d:%02d:%02d.%06d'", sign, micros/hour, micros%hour/minute, micros%minute/second, micros%second)
}

func (b *builder) checkField(field Field) {
	if !slices.Contains([]Field{Time, Rollback, WorkerID, Datacenter, Machine, Sequence}, field) {
		b.wrong.Add("field", string(field), "must be time, rollback, worker_id, datacenter, machine or sequence")
	}
}

// field is the SQL of a field of id, which is SQL.
func (b *builder) field(field Field, id string) string {
	value, last := b.Dialect.number(b.layout.below[field], id), b.layout.max
	if field == Time {
		value, last = b.time(id), b.layout.readable(b.Dialect)
	}
	inside := id + " >= 0"
	if last < math.MaxInt64 {
		inside = fmt.Sprintf("%s BETWEEN 0 AND %d", id, last)
	}
	return "(CASE WHEN " + inside + " THEN " + value + " END)"
}

func (d Dialect) number(p bits, id string) string {
	mask := int64(1)<<p.width - 1
	switch {
	case p.width == 0 && d == Postgres:
		return "0::bigint"
	case p.width == 0:
		return "0"
	case d == MySQL: // its shifts and masks are unsigned, and so are results computed with them
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

// doubleReach is the Unix time up to which a double is exact to half a millisecond in all
// that to_timestamp computes: the year 71654.
const doubleReach = 1 << 41

func (b *builder) time(id string) string {
	l := &b.layout
	ticks := b.Dialect.shifted(id, l.timeShift)
	if b.Dialect == MySQL {
		// Microseconds: otherwise the type may be one of whole seconds.
		return fmt.Sprintf("(%s + INTERVAL %s MICROSECOND)", mysqlTime(l.Epoch), times(ticks, l.tickMs*1000))
	}
	millis := "(" + times(ticks, l.tickMs) + plus(l.Epoch.UnixMilli()) + ")"
	switch {
	case b.Dialect == SQLite:
		return sqliteTime(l.Epoch, millis)
	case l.within(doubleReach):
		// All of it is immutable, so PostgreSQL inlines it.
		return fmt.Sprintf("to_timestamp(%s::float8 / 1000)::timestamptz(3)", millis)
	}
	return fmt.Sprintf("((timestamp '1970-01-01 00:00:00' + (%s / 86400000) * interval '1 day'"+
		" + (%[1]s %% 86400000) * interval '1 millisecond') AT TIME ZONE 'UTC')", millis)
}

// sqliteTime uses integers only, because strftime rounds a fraction.
func sqliteTime(epoch time.Time, millis string) string {
	seconds, rest := fmt.Sprintf("%s / 1000", millis), fmt.Sprintf("%s %% 1000", millis)
	if epoch.UnixMilli() < 0 { // division truncates: shift to where that rounds down
		away := -epoch.Unix()
		seconds = fmt.Sprintf("(%s + %d) / 1000 - %d", millis, away*1000, away)
		rest = fmt.Sprintf("(%s + %d) %% 1000", millis, away*1000)
	}
	return fmt.Sprintf("(strftime('%%Y-%%m-%%dT%%H:%%M:%%S', %s, 'unixepoch') || printf('.%%03dZ', %s))", seconds, rest)
}

// least is the SQL of the least id of a time, which is SQL.
func (b *builder) least(at string) string {
	l := &b.layout
	switch b.Dialect {
	case Postgres:
		// The seconds are a numeric, so exact, and immutable because the timestamp has no zone.
		return b.ceilTicks(fmt.Sprintf("ceil(extract(epoch FROM %s AT TIME ZONE 'UTC') * 1000)::bigint", at),
			l.tickMs, l.Epoch.UnixMilli(), "/")
	case MySQL:
		return b.ceilTicks(fmt.Sprintf("TIMESTAMPDIFF(MICROSECOND, %s, %s)", mysqlTime(l.Epoch), at), l.tickMs*1000, 0, "DIV")
	}
	return b.ceilTicks(unixMillis(at), l.tickMs, l.Epoch.UnixMilli(), "/")
}

// reach exceeds the distance of any database's times from any epoch, in milliseconds for
// PostgreSQL, in microseconds for MySQL.
const reach = 1e18

// ceilTicks is the first id of the first tick at or after x, with x and tick in one unit.
// It multiplies, because a shift drops bits that do not fit silently.
func (b *builder) ceilTicks(x string, tick, epoch int64, divide string) string {
	per := int64(1) << b.layout.timeShift
	if tick == 1 {
		return "(" + times("("+x+minus(epoch)+")", per) + ")"
	}
	c, k := ceiling(tick, reach)
	return "(" + times(fmt.Sprintf("((%s%s) %s %d - %d)", x, plus(c-epoch), divide, tick, k), per) + ")"
}

// ceiling returns c and k for which (x + c) / n - k is x / n rounded up, for every integer x
// within ± reach, although the database's division truncates.
func ceiling(n, reach int64) (c, k int64) {
	k = reach/n + 1
	return k*n + n - 1, k
}

func mysqlTime(t time.Time) string {
	return "TIMESTAMP'" + t.Format("2006-01-02 15:04:05.000") + "'"
}

// unixMillis is SQLite's time in Unix milliseconds. Both calls round in the same way.
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
