package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/layoutflag"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/when"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// cut is what the flags of partitions say.
type cut struct {
	p        ddl.Partitioning
	from, to string
	count    int64
	clause   bool
	named    bool // --table was given
	counted  bool // --count was given
	layout   *layoutflag.Flags
}

const partitionsAbout = `Print the SQL that divides a table by the time in its ids; nothing is executed.

The bounds are ids, so WHERE id >= … AND id < … reads the partitions of that time
only, and what is old is dropped without a DELETE. Make them some time ahead: a
row for which there is no partition is refused.

A table has to be made for it: --clause prints what stands behind CREATE TABLE.`

func (a *app) partitionsCommand() *cobra.Command {
	c := &cut{p: ddl.Partitioning{Location: time.UTC}, count: 3}
	cmd := &cobra.Command{
		Use:     "partitions --by PERIOD --dialect D",
		Short:   "print SQL for partitions by the time in ids",
		Long:    partitionsAbout,
		Example: "  snowkey partitions --by month --dialect postgres --table orders\n  snowkey partitions --by day --dialect mysql --table orders --from 2026-12-01 --to 2027-01-01\n  snowkey partitions --by month --dialect postgres --clause",
		Args:    arguments(0, 0, "no arguments"),
		RunE: a.action(func(cmd *cobra.Command, _ []string) error {
			c.named, c.counted = cmd.Flags().Changed("table"), cmd.Flags().Changed("count")
			return a.partitions(c)
		}),
	}
	f := cmd.Flags()
	periods := []ddl.Period{ddl.Day, ddl.Week, ddl.Month}
	f.Var(flagval.New(&c.p.By, "PERIOD", "", flagval.OneOf(periods...)), "by", "how long a partition is: day, week or month; required")
	f.Var(flagval.New(&c.p.Dialect, "NAME", "", dialect), "dialect", "whose SQL: postgres or mysql; required")
	f.StringVar(&c.p.Table, "table", "orders", "`TABLE` to be divided")
	f.StringVar(&c.p.Column, "column", "id", "`COLUMN` that holds the ids")
	f.StringVar(&c.p.Schema, "schema", "", "`SCHEMA` of the table, in MySQL its database (default the connection's)")
	f.StringVar(&c.from, "from", "now", "`TIME` of the first partition: "+when.Forms)
	f.StringVar(&c.to, "to", "", "`TIME` before which the last one begins (default --count)")
	f.Var(flagval.New(&c.count, "N", "3", flagval.Whole(1, ddl.MaxPartitions)), "count", "how many, in place of --to")
	f.Var(flagval.New(&c.p.Location, "ZONE", "UTC", flagval.Zone), "tz", "time zone in which days begin, such as Europe/Vienna")
	f.BoolVar(&c.clause, "clause", false, "print what stands behind CREATE TABLE or, in MySQL, behind ALTER TABLE and the name")
	a.jsonFlag(cmd, "the partitions with their bounds, and the statements")
	c.layout = layoutflag.Add(f)
	completeWith(cmd, "by", periods)
	completeWith(cmd, "dialect", dialects()[:2])
	completeWith(cmd, "preset", layoutflag.Presets())
	return cmd
}

func (a *app) partitions(c *cut) error {
	var err error
	if c.p.Layout, err = c.layout.Layout(); err != nil {
		return &usageError{err}
	}
	switch {
	case c.p.By == "":
		return usage("--by is required: day, week or month")
	case c.p.Dialect == "":
		return usage("--dialect is required: postgres or mysql")
	case c.to != "" && c.counted:
		return usage("--to and --count: give one of them")
	}
	from, err := when.Parse(c.from, a.now(), c.p.Location)
	if err != nil {
		return wrong("--from", c.from, err)
	}
	to := c.last(from)
	if c.to != "" {
		if to, err = when.Parse(c.to, a.now(), c.p.Location); err != nil {
			return wrong("--to", c.to, err)
		}
	}
	parts, err := c.p.Bounds(from, to)
	if err != nil {
		return boundsError(err)
	}
	if !c.named {
		a.note("%s no --table: the SQL is for %q", a.errStyle.warn("snowkey partitions:"), c.p.Table)
	}
	if c.clause {
		text, err := c.p.Clause(parts)
		if err != nil {
			return sqlError(err)
		}
		if a.json {
			return a.cutJSON(parts, ddl.Script{text})
		}
		fmt.Fprintln(a.out, text)
		return nil
	}
	script, err := c.p.Create(parts)
	if err != nil {
		return sqlError(err)
	}
	if a.json {
		return a.cutJSON(parts, script)
	}
	return a.script(script)
}

// last is a time within the last of the partitions that --count asks for, and not
// before from. It is a noon, because midnights may be skipped by the clocks.
func (c *cut) last(from time.Time) time.Time {
	y, m, d := from.In(c.p.Location).Date()
	switch n := int(c.count) - 1; c.p.By {
	case ddl.Day:
		d += n
	case ddl.Week:
		d += 7 * n
	case ddl.Month: // the 31st has no counterpart in every month, the first has
		m, d = m+time.Month(n), 1
	}
	if to := time.Date(y, m, d, 12, 0, 0, 0, c.p.Location); to.After(from) {
		return to
	}
	return from.Add(time.Millisecond)
}

// boundsError makes a period that the layout or the database cannot have one of the
// command line.
func boundsError(err error) error {
	var outside *core.RangeError
	if errors.As(err, &outside) {
		return usage("the layout has no ids of %s: %s", outside.Value, outside.Limit)
	}
	return sqlError(err)
}

func (a *app) cutJSON(parts []ddl.Partition, script ddl.Script) error {
	type part struct {
		Name string `json:"name"`
		From string `json:"from,omitempty"`
		To   string `json:"to,omitempty"`
		Min  string `json:"min,omitempty"`
		Max  string `json:"max,omitempty"` // exclusive
	}
	out := struct {
		Partitions []part   `json:"partitions"`
		SQL        []string `json:"sql"`
	}{SQL: script}
	for _, p := range parts {
		one := part{Name: p.Name}
		if !p.From.IsZero() {
			one.From = p.From.Format(stamp)
		}
		if !p.To.IsZero() {
			one.To = p.To.Format(stamp)
		}
		if p.Min != math.MinInt64 {
			one.Min = strconv.FormatInt(p.Min, 10)
		}
		if p.Max != math.MaxInt64 {
			one.Max = strconv.FormatInt(p.Max, 10)
		}
		out.Partitions = append(out.Partitions, one)
	}
	return a.object(out)
}
