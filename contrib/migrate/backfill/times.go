package backfill

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// timeColumn reads the times of rows, whatever the driver makes of timestamps and the session
// of time zones.
type timeColumn struct {
	expr  string   // selects the time, or NULL if there is none
	order []string // what rows are ordered by
	parse func(text string) (time.Time, error)
}

// precision matches the precision of a type, such as the (3) of timestamp(3).
var precision = regexp.MustCompile(`\(\d+\)`)

// timesOf finds out how to read CreatedAt.
func (db database) timesOf(ctx context.Context, cfg *Config, t *table) (timeColumn, error) {
	c := t.column(cfg.CreatedAt)
	if c == nil {
		return timeColumn{}, live.Error("backfill", "CreatedAt", cfg.CreatedAt, "%s has no such column", t)
	}
	name := db.quote(c.name)
	typ := precision.ReplaceAllString(c.typ, "")
	if db.dialect == ddl.SQLite { // where a column may hold anything
		kinds, err := query(ctx, db, scanName, "SELECT DISTINCT typeof("+name+") FROM "+t.of(db)+" WHERE "+name+" IS NOT NULL")
		switch {
		case err != nil:
			return timeColumn{}, fmt.Errorf("backfill: inspect the creation times of %s: %w", t, err)
		case len(kinds) > 1:
			return timeColumn{}, live.Error("backfill", "CreatedAt", cfg.CreatedAt, "has values of several types: %s", strings.Join(kinds, ", "))
		case len(kinds) == 1:
			typ = kinds[0]
		default:
			typ = "text" // there is no row
		}
	}
	micros := timeColumn{order: []string{name}, parse: parseUnix(time.Microsecond)}
	wall := timeColumn{order: []string{name}, parse: parseWallClock(cfg.Location)}
	integers := slices.Contains([]string{"bigint", "int", "integer"}, strings.TrimSuffix(typ, " unsigned"))
	switch {
	case integers && cfg.Unit == 0:
		return timeColumn{}, live.Error("backfill", "Unit", cfg.Unit, "is required, because %s is an integer", c.name)
	case integers:
		return timeColumn{expr: name, order: []string{name}, parse: parseUnix(cfg.Unit)}, nil
	case cfg.Unit != 0:
		return timeColumn{}, live.Error("backfill", "Unit", cfg.Unit, "must be 0: %s has the type %s, not an integer type", c.name, typ)
	case db.dialect == ddl.Postgres:
		micros.expr = "CASE WHEN isfinite(" + name + ") THEN CAST(EXTRACT(EPOCH FROM " + name + ") * 1000000 AS bigint) END"
		wall.expr = micros.expr
		switch typ {
		case "timestamp with time zone":
			return micros, nil
		case "timestamp without time zone", "date":
			return wall, nil
		}
	case db.dialect == ddl.MySQL:
		micros.expr = "CAST(UNIX_TIMESTAMP(" + name + ") * 1000000 AS SIGNED)"
		wall.expr = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + name + ")"
		switch typ {
		case "timestamp":
			return micros, nil
		case "datetime", "date":
			return wall, nil
		}
	case typ == "text":
		return timeColumn{expr: "CAST(" + name + " AS TEXT)", order: []string{"julianday(" + name + ")", name}, parse: parseWritten(cfg.Location)}, nil
	}
	return timeColumn{}, live.Error("backfill", "CreatedAt", cfg.CreatedAt, "has the type %s: must be a timestamp, a date or an integer", typ)
}

// parseUnix parses a number of units since 1970.
func parseUnix(unit time.Duration) func(string) (time.Time, error) {
	perSecond := int64(time.Second / unit)
	return func(text string) (time.Time, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return time.Time{}, err
		}
		t := time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC()
		if unit == time.Second && (n > math.MaxInt32*1000 || n < -math.MaxInt32*1000) {
			return time.Time{}, fmt.Errorf("%d seconds are more than 60,000 years", n)
		}
		return t, nil
	}
}

// parseWallClock parses the microseconds since 1970 that a clock on the wall shows there.
func parseWallClock(loc *time.Location) func(string) (time.Time, error) {
	parse := parseUnix(time.Microsecond)
	return func(text string) (time.Time, error) {
		t, err := parse(text)
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc), err
	}
}

// timeForms returns the forms in which drivers and SQLite write times. Fractions of a second are read
// with all of them.
func timeForms() []string {
	return []string{
		"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04Z07:00",
		"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02", "2006-01-02 15:04:05 -0700 MST", "2006-01-02 15:04:05 -0700",
	}
}

// parseWritten parses a time that was written as a string.
func parseWritten(loc *time.Location) func(string) (time.Time, error) {
	return func(text string) (time.Time, error) {
		plain, _, _ := strings.Cut(text, " m=") // the monotonic clock that Go's String shows
		for _, form := range timeForms() {
			if t, err := time.ParseInLocation(form, plain, loc); err == nil {
				return t, nil
			}
		}
		return time.Time{}, fmt.Errorf("%s is not a date and time", live.Quote(text))
	}
}
