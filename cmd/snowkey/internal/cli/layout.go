package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

func (a *app) layoutCommand() *cobra.Command {
	var all bool
	var l core.Layout
	cmd := a.command("layout", "draw a layout with its capacity and its end", `Draw a layout, with the number of its workers, the ids they can generate, and
the time at which it ends. --all lists the presets.

The flags from --preset to --unsigned describe the layout. All commands that
read or write ids have them.`,
		"  snowkey layout --preset sonyflake\n  snowkey layout --epoch 2026-01-01 --time-bits 42 --worker-bits 8 \\\n    --sequence-bits 13\n  snowkey layout --all",
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error {
			switch {
			case !all:
				return a.layout(l)
			case len(givenFlags(cmd, layoutNames)) > 0:
				return usage("--all lists the presets: it excludes the flags of a layout")
			}
			return a.layouts()
		})
	cmd.Flags().BoolVar(&all, "all", false, "list the presets")
	a.jsonFlag(cmd, "one object, or a list with --all")
	addLayout(cmd, &l)
	return cmd
}

func (a *app) layout(l core.Layout) error {
	d := describe.NewLayout(l, a.now())
	if l.Epoch.After(a.now()) {
		a.note("%s the epoch is in the future, %s: no id can be generated before", a.errStyle.paint(yellow, "snowkey layout:"), timetext.Relative(l.Epoch, a.now()))
	}
	if a.json {
		return a.object(d)
	}
	s := a.style
	if d.Preset != "" {
		fmt.Fprintf(a.out, "%s  %s\n\n", s.paint(bold, d.Preset), d.Description)
	}
	fmt.Fprintln(a.out, d.Diagram)
	javascript := "ids are exact as numbers"
	if d.UnsafeFrom != nil {
		javascript = s.paint(yellow, "ids are not exact as numbers: send them as strings")
	}
	end := d.End + "  " + timetext.Relative(l.End(), a.now())
	if d.Expired {
		end += "  " + s.paint(red, "expired: ids can be decoded, not generated")
	}
	a.label("epoch", fmt.Sprintf("%s  %d ms", d.Epoch, d.EpochMS))
	a.label("tick", l.Tick.String())
	a.label("workers", humanize.Comma(l.WorkerIDs()))
	a.label("capacity", fmt.Sprintf("%s in a tick of a worker, %s in a second", plural(l.IDsPerTick(), "id"), d.PerSecond))
	a.label("ends", end)
	a.label("JavaScript", javascript)
	if l.Unsigned {
		a.label("sign", s.paint(yellow, "ids of the upper half are negative as an int64: not for keys of a database"))
	}
	return nil
}

func (a *app) layouts() error {
	all := describe.Layouts(a.now())
	if a.json {
		return a.object(all)
	}
	rows := [][]string{{"NAME", "IDS/S", "ENDS", "DESCRIPTION"}}
	for _, d := range all {
		rows = append(rows, []string{d.Preset, d.PerSecond, d.End[:len(time.DateOnly)], d.Description})
	}
	a.table(rows)
	return nil
}

var ( //nolint:gochecknoglobals // constants
	widthFlags = []string{"time-bits", "rollback-bits", "datacenter-bits", "worker-bits", "sequence-bits"}
	// layoutNames lists all flags of a layout.
	layoutNames = append([]string{"preset", "epoch", "tick"}, append(widthFlags, "sequence-first", "unsigned")...)
)

// layoutHint stands for the flags of a layout in the help of all other commands.
const layoutHint = `{{if and (.Flags.Lookup "preset") (ne .Name "layout")}}

The layout is twitter by default; for another, see --preset and others in
"snowkey help layout".{{end}}`

// addLayout adds the flags of a layout, which all commands on ids share. *to is set
// before the command runs.
func addLayout(cmd *cobra.Command, to *core.Layout) {
	base := core.Twitter()
	var custom core.Layout
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		*to, err = layoutOf(cmd, base, custom)
		return err
	}
	set := cmd.Flags()
	set.SortFlags = false // these are the last in the help
	var presets []string
	for _, p := range flagval.Presets() {
		presets = append(presets, p.Name)
	}
	enumVar(cmd, flagval.New(&base, "NAME", "twitter", flagval.Preset), "preset", "layout by name: "+flagval.List(presets), presets)
	set.Var(flagval.New(&custom.Epoch, "TIME", "", timetext.ParseEpoch), "epoch", "time of tick 0: 2020-01-01, 2020-01-01T00:00:00Z or UNIXMILLISECONDS (default the preset's)")
	set.Var(flagval.New(&custom.Tick, "DURATION", "", flagval.Tick), "tick", "unit of the time field, in whole milliseconds, such as 10ms (default the preset's)")
	for i, w := range []struct {
		to   *uint8
		what string
	}{
		{&custom.TimeBits, "time; the five widths replace --preset and default to 0"}, {&custom.RollbackBits, "rollback counter"},
		{&custom.DatacenterBits, "datacenter, the upper part of the worker ID"}, {&custom.WorkerBits, "worker"}, {&custom.SequenceBits, "sequence"},
	} {
		set.Var(flagval.New(w.to, "BITS", "", width), widthFlags[i], "width of the "+w.what)
	}
	set.BoolVar(&custom.SequenceFirst, "sequence-first", false, "put the sequence above datacenter and worker")
	set.BoolVar(&custom.Unsigned, "unsigned", false, "use the sign bit too: 64 bits")
}

// givenFlags returns which of the flags were given.
func givenFlags(cmd *cobra.Command, names []string) (given []string) {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// layoutOf returns the layout of the flags: that of the preset, with the fields of c that were given.
func layoutOf(cmd *cobra.Command, l, c core.Layout) (core.Layout, error) {
	changed := cmd.Flags().Changed
	if widths := givenFlags(cmd, widthFlags); len(widths) > 0 {
		if changed("preset") {
			return core.Layout{}, usage("--preset %s and %s: a preset has its own widths; give one or the other", cmd.Flag("preset").Value, strings.Join(widths, ", "))
		}
		if c.TimeBits == 0 { // core takes all zero for the default's widths
			return core.Layout{}, usage("--time-bits: must be at least 1 if widths are given")
		}
		l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = c.TimeBits, c.RollbackBits, c.DatacenterBits, c.WorkerBits, c.SequenceBits
	}
	if changed("epoch") {
		l.Epoch = c.Epoch
	}
	if changed("tick") {
		l.Tick = c.Tick
	}
	l.SequenceFirst = l.SequenceFirst && !changed("sequence-first") || c.SequenceFirst
	l.Unsigned = l.Unsigned && !changed("unsigned") || c.Unsigned
	return l.WithDefaults(), byFlag(l.Validate())
}

func width(s string) (uint8, error) {
	n, err := flagval.Whole(0, 64)(s)
	return uint8(n), err
}

const rangeAbout = `Print the ids of a time range, FROM inclusive and TO exclusive, to select rows
by time with the index of the primary key. "before" is not an id of the range:
compare with >= and <, because BETWEEN includes it.

A time is one of:

  2006-01-02, 2006-01-02T15:04:05     in the zone of --tz
  2006-01-02T15:04:05+01:00, or Z     with a zone of its own
  now, today, yesterday, tomorrow     a day starts in the zone of --tz
  now-24h, now+7d, +7d                relative to now, in w, d, h, m, s and ms
  @UNIXSECONDS, UNIXMILLISECONDS

If the clocks of the zone show a time twice, the first counts. If they skip it,
the instant of the change counts.`

var dialects = []ddl.Dialect{ddl.Postgres, ddl.MySQL, ddl.SQLite} //nolint:gochecknoglobals // constant

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
	cmd := a.command("range FROM TO", "print the ids of a time range", rangeAbout,
		"  snowkey range yesterday today --tz Europe/Vienna\n  snowkey range now-24h now --sql id\n  snowkey range 2026-11-01 2026-12-01 --sql o.id --dialect mysql",
		arguments(2, 2, "two times, FROM and TO"), func(_ *cobra.Command, args []string) error {
			return a.ranges(l, zone, args[0], args[1], column, quote)
		})
	f := cmd.Flags()
	f.StringVar(&column, "sql", "", "print a condition on this `COLUMN` for WHERE; may include the table's name")
	enumVar(cmd, flagval.New(&quote, "DIALECT", "postgres", dialect), "dialect", "SQL dialect of the condition: postgres, mysql, mariadb or sqlite", dialects)
	f.Var(flagval.New(&zone, "ZONE", "UTC", flagval.Zone), "tz", "time zone of times without one, such as Europe/Vienna or local")
	a.jsonFlag(cmd, "one object")
	addLayout(cmd, &l)
	return cmd
}

func (a *app) ranges(l core.Layout, zone *time.Location, fromText, toText, column string, d ddl.Dialect) error {
	from, err := a.moment("FROM", fromText, zone)
	if err != nil {
		return err
	}
	to, err := a.moment("TO", toText, zone)
	if err != nil {
		return err
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
			return invalidValue("--sql", column, errors.New("must be a column, table.column or schema.table.column of SQL names"))
		}
		column = name
	}
	switch r := describe.NewRange(shownFrom, shownTo, low, high, column); {
	case a.json:
		return a.object(r)
	case column != "":
		fmt.Fprintf(a.out, "WHERE %s\n", r.Where)
	default:
		fmt.Fprintf(a.out, "min     %s  %s\n", describe.Decimal.Text(low, l.Unsigned), a.style.paint(faint, "from "+shownFrom))
		fmt.Fprintf(a.out, "before  %s  %s\n", describe.Decimal.Text(high, l.Unsigned), a.style.paint(faint, "before "+shownTo))
	}
	return nil
}

// outsideLayout reports a time that the layout does not cover as a usage error.
func outsideLayout(err error) error {
	var outside *core.RangeError
	if errors.As(err, &outside) {
		return usage("the layout has no ids for %s: %s", outside.Value, outside.Limit)
	}
	return err
}
