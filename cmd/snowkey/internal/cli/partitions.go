package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// partitionFlags are the flags of the command.
type partitionFlags struct {
	p        ddl.Partitioning
	from, to string
	count    int64
	clause   bool
}

const partitionsAbout = `Print SQL that partitions a table by the time in its ids; nothing is executed.

The bounds are ids, so WHERE id >= … AND id < … reads only the partitions of
that time, and old rows are dropped without a DELETE. Create partitions ahead of
time: the database rejects a row without one.

A table must be created as partitioned: --clause prints the end of CREATE TABLE.`

func (a *app) partitionsCommand() *cobra.Command {
	c := &partitionFlags{p: ddl.Partitioning{Location: time.UTC}, count: 3}
	cmd := a.command("partitions --by PERIOD --dialect D --table TABLE", "print SQL for partitions by the time in ids", partitionsAbout,
		`  snowkey partitions --by month --dialect postgres --table orders
  snowkey partitions --by day --dialect mysql --table orders --from 2026-12-01 \
    --to 2027-01-01
  snowkey partitions --by month --dialect postgres --table orders --clause`,
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error { return a.partitions(c, cmd.Flags().Changed) })
	f := cmd.Flags()
	periods := []ddl.Period{ddl.Day, ddl.Week, ddl.Month}
	enumVar(cmd, flagval.New(&c.p.By, "PERIOD", "", flagval.OneOf(periods...)), "by", "length of a partition: day, week or month; required", periods)
	enumVar(cmd, flagval.New(&c.p.Dialect, "NAME", "", dialect), "dialect", "SQL dialect: postgres or mysql; required", dialects[:2])
	f.StringVar(&c.p.Table, "table", "", "`TABLE` to partition; required")
	f.StringVar(&c.p.Column, "column", "id", "`COLUMN` of the ids")
	f.StringVar(&c.p.Schema, "schema", "", "`SCHEMA` of the table, in MySQL its database (default the connection's)")
	f.StringVar(&c.from, "from", "now", "`TIME` of the first partition: "+timetext.Forms)
	f.StringVar(&c.to, "to", "", "`TIME` before which the last partition starts, instead of --count")
	f.Var(flagval.New(&c.count, "N", "3", flagval.Whole(1, ddl.MaxPartitions)), "count", "number of partitions, instead of --to")
	f.Var(flagval.New(&c.p.Location, "ZONE", "UTC", flagval.Zone), "tz", "time zone of the days, such as Europe/Vienna")
	f.BoolVar(&c.clause, "clause", false, "print the end of CREATE TABLE or, in MySQL, of ALTER TABLE")
	addLayout(cmd, &c.p.Layout)
	return cmd
}

func (a *app) partitions(c *partitionFlags, given func(flag string) bool) error {
	switch {
	case c.p.By == "":
		return usage("--by is required: day, week or month")
	case c.p.Dialect == "":
		return usage("--dialect is required: postgres or mysql")
	case c.p.Table == "":
		return usage("--table is required: the table to partition")
	case c.to != "" && given("count"):
		return usage("--to and --count: give one of them")
	}
	from, err := a.moment("--from", c.from, c.p.Location)
	if err != nil {
		return err
	}
	to := c.last(from)
	if c.to != "" {
		if to, err = a.moment("--to", c.to, c.p.Location); err != nil {
			return err
		}
	}
	parts, err := c.p.Bounds(from, to)
	if err != nil {
		return sqlError(c.p.Dialect, outsideLayout(err))
	}
	var script ddl.Script
	if c.clause {
		script = make(ddl.Script, 1)
		script[0], err = c.p.Clause(parts)
	} else {
		script, err = c.p.Create(parts)
	}
	switch {
	case err != nil:
		return sqlError(c.p.Dialect, err)
	case c.clause: // not a statement
		fmt.Fprintln(a.out, script[0])
		return nil
	}
	return a.script(script)
}

// last returns a time in the last of --count partitions, not before from. It is a noon,
// because clocks may skip midnights.
func (c *partitionFlags) last(from time.Time) time.Time {
	y, m, d := from.In(c.p.Location).Date()
	switch n := int(c.count) - 1; c.p.By {
	case ddl.Day:
		d += n
	case ddl.Week:
		d += 7 * n
	case ddl.Month: // not every month has a 31st
		m, d = m+time.Month(n), 1
	}
	if to := time.Date(y, m, d, 12, 0, 0, 0, c.p.Location); to.After(from) {
		return to
	}
	return from.Add(time.Millisecond)
}
