package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/layoutflag"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/notation"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/when"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

const rangeAbout = `Say which ids are of a span of time, FROM inclusive and TO exclusive, so that rows
can be selected by time with the key's own index.

Times are 2006-01-02 or 2006-01-02T15:04:05 in the zone of --tz, either with an
offset or Z of their own, now, today, yesterday, tomorrow, -24h, +7d (in w, d, h,
m, s, ms), or @UNIXSECONDS. Where clocks show a time twice it is the first; where
they are set forward over it, it is the instant at which they are.`

// quoting is how identifiers are quoted, by dialect.
type quoting = ddl.Dialect

func dialects() []ddl.Dialect { return []ddl.Dialect{ddl.Postgres, ddl.MySQL, ddl.SQLite} }

// dialect reads the name of a dialect for a flag.
func dialect(s string) (ddl.Dialect, error) {
	d, err := ddl.ParseDialect(s)
	if err != nil {
		return "", errors.New("want postgres, mysql or sqlite")
	}
	return d, nil
}

func (a *app) rangeCommand() *cobra.Command {
	var column string
	quote := ddl.Postgres
	zone := time.UTC
	var layout *layoutflag.Flags
	cmd := &cobra.Command{
		Use:     "range FROM TO",
		Short:   "say which ids are of a span of time",
		Long:    rangeAbout,
		Example: "  snowkey range yesterday today --tz Europe/Vienna\n  snowkey range -24h now --sql id\n  snowkey range 2026-11-01 2026-12-01 --sql o.id --dialect mysql",
		Args:    arguments(2, 2, "two times, FROM and TO"),
		RunE: a.action(func(_ *cobra.Command, args []string) error {
			l, err := layout.Layout()
			if err != nil {
				return &usageError{err}
			}
			return a.span(l, zone, args[0], args[1], column, quote)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&column, "sql", "", "print a condition on this `COLUMN` for WHERE; a table's name may stand before it")
	f.Var(flagval.New(&quote, "DIALECT", "postgres", dialect), "dialect", "whose quotes the condition has: postgres, mysql or sqlite")
	f.Var(flagval.New(&zone, "ZONE", "UTC", flagval.Zone), "tz", "time zone of times that have none, such as Europe/Vienna or local")
	a.jsonFlag(cmd, "one object")
	layout = layoutflag.Add(f)
	completeWith(cmd, "dialect", dialects())
	completeWith(cmd, "preset", layoutflag.Presets())
	return cmd
}

func (a *app) span(l core.Layout, zone *time.Location, fromText, toText, column string, d quoting) error {
	now := a.now()
	from, err := when.Parse(fromText, now, zone)
	if err != nil {
		return wrong("FROM", fromText, err)
	}
	to, err := when.Parse(toText, now, zone)
	if err != nil {
		return wrong("TO", toText, err)
	}
	if to.Before(from) {
		return usage("FROM %s lies after TO %s", from.In(zone).Format(stamp), to.In(zone).Format(stamp))
	}
	least, greatest, err := l.Range(from, to)
	if err != nil {
		var outside *core.RangeError
		if errors.As(err, &outside) {
			return usage("the layout has no ids of %s: %s", outside.Value, outside.Limit)
		}
		return err
	}
	low, high := notation.Decimal.Text(least, l.Unsigned), notation.Decimal.Text(greatest, l.Unsigned)
	condition := ""
	if column != "" {
		name, err := quoted(column, d)
		if err != nil {
			return wrong("--sql", column, err)
		}
		// A database compares the column as it keeps it: as an int64.
		condition = fmt.Sprintf("%s >= %d AND %s < %d", name, least, name, greatest)
	}
	switch {
	case a.json:
		return a.object(struct {
			From string `json:"from"`
			To   string `json:"to"`
			Min  string `json:"min"`
			Max  string `json:"max"` // exclusive
			SQL  string `json:"sql,omitempty"`
		}{from.In(zone).Format(stamp), to.In(zone).Format(stamp), low, high, condition})
	case condition != "":
		fmt.Fprintf(a.out, "WHERE %s\n", condition)
	default:
		fmt.Fprintf(a.out, "min  %s  %s\n", low, a.style.faint("from "+from.In(zone).Format(stamp)))
		fmt.Fprintf(a.out, "max  %s  %s\n", high, a.style.faint("before "+to.In(zone).Format(stamp)))
	}
	return nil
}

// quoted is a column's name in quotes, with what stands before it.
func quoted(column string, d ddl.Dialect) (string, error) {
	parts := strings.Split(column, ".")
	if len(parts) > 3 {
		return "", errors.New("want a column, table.column or schema.table.column")
	}
	quote := `"`
	if d == ddl.MySQL {
		quote = "`"
	}
	for i, part := range parts {
		if part == "" || len(part) > 64 || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == '\x7f' }) {
			return "", errors.New("want names of 1 to 64 bytes")
		}
		parts[i] = quote + strings.ReplaceAll(part, quote, quote+quote) + quote
	}
	return strings.Join(parts, "."), nil
}
