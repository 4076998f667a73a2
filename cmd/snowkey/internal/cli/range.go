package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

const rangeAbout = `Print the IDs of a time range, FROM inclusive and TO exclusive, to select rows by
time with the index of the primary key. "before" is not an ID of the range: compare
with >= and <, because BETWEEN includes it.

A time is one of:

  2006-01-02, 2006-01-02T15:04:05     in the zone of --tz
  2006-01-02T15:04:05+01:00, or Z     with a zone of its own
  now, today, yesterday, tomorrow     a day starts in the zone of --tz
  now-24h, now+7d, +7d                relative to now, in w, d, h, m, s and ms
  @UNIXSECONDS, UNIXMILLISECONDS

If the clocks of the zone show a time twice, the first counts. If they skip it, the
instant of the change counts.`

func dialects() []ddl.Dialect { return []ddl.Dialect{ddl.Postgres, ddl.MySQL, ddl.SQLite} }

// dialect parses the value of a flag.
func dialect(s string) (ddl.Dialect, error) {
	d, err := ddl.ParseDialect(s)
	if err != nil {
		return "", errors.New("must be postgres, mysql, mariadb or sqlite")
	}
	return d, nil
}

func (a *app) rangeCommand() *cobra.Command {
	var column string
	quote := ddl.Postgres
	zone := time.UTC
	var l core.Layout
	cmd := &cobra.Command{
		Use:     "range FROM TO",
		Short:   "print the IDs of a time range",
		Long:    rangeAbout,
		Example: "  snowkey range yesterday today --tz Europe/Vienna\n  snowkey range now-24h now --sql id\n  snowkey range 2026-11-01 2026-12-01 --sql o.id --dialect mysql",
		Args:    arguments(2, 2, "two times, FROM and TO"),
		RunE: a.action(func(_ *cobra.Command, args []string) error {
			return a.ranges(l, zone, args[0], args[1], column, quote)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&column, "sql", "", "print a condition on this `COLUMN` for WHERE; may include the table's name")
	f.Var(flagval.New(&quote, "DIALECT", "postgres", dialect), "dialect", "SQL dialect of the condition: postgres, mysql, mariadb or sqlite")
	f.Var(flagval.New(&zone, "ZONE", "UTC", flagval.Zone), "tz", "time zone of times without one, such as Europe/Vienna or local")
	a.jsonFlag(cmd, "one object")
	addLayout(cmd, &l)
	completeWith(cmd, "dialect", dialects())
	return cmd
}

func (a *app) ranges(l core.Layout, zone *time.Location, fromText, toText, column string, d ddl.Dialect) error {
	now := a.now()
	from, err := timetext.Parse(fromText, now, zone)
	if err != nil {
		return wrong("FROM", fromText, err)
	}
	to, err := timetext.Parse(toText, now, zone)
	if err != nil {
		return wrong("TO", toText, err)
	}
	shownFrom, shownTo := from.In(zone).Format(timetext.Stamp), to.In(zone).Format(timetext.Stamp)
	if to.Before(from) {
		return usage("FROM %s is after TO %s", shownFrom, shownTo)
	}
	low, high, err := l.Range(from, to)
	if err != nil {
		return outsideLayout(err)
	}
	if column != "" {
		name, err := d.Quote(strings.Split(column, ".")...)
		if err != nil {
			return wrong("--sql", column, errors.New("must be a column, table.column or schema.table.column of SQL names"))
		}
		column = name
	}
	switch r := describe.NewRange(shownFrom, shownTo, low, high, column); {
	case a.json:
		return a.object(r)
	case column != "":
		fmt.Fprintf(a.out, "WHERE %s\n", r.Where)
	default:
		fmt.Fprintf(a.out, "min     %s  %s\n", idtext.Decimal.Text(low, l.Unsigned), a.style.faint("from "+shownFrom))
		fmt.Fprintf(a.out, "before  %s  %s\n", idtext.Decimal.Text(high, l.Unsigned), a.style.faint("before "+shownTo))
	}
	return nil
}

// outsideLayout reports a time that the layout does not cover as a usage error.
func outsideLayout(err error) error {
	var outside *core.RangeError
	if errors.As(err, &outside) {
		return usage("the layout has no IDs for %s: %s", outside.Value, outside.Limit)
	}
	return err
}
