package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// doctorFlags are the flags of the command.
type doctorFlags struct {
	store           storeFlags
	tables, columns []string
	maxSkew         time.Duration
	layout          core.Layout
}

const doctorAbout = `Check what the uniqueness of ids depends on:

  clock       this machine's: whether it is synchronized, and what a step would
              do (Linux); and the server's, against it
  server      its settings, and whether it accepts writes
  namespaces  which server has granted the last claims, since when, and where
              claims begin (the floor)
  worker IDs  expired and expiring leases, worker IDs held twice, fences far
              ahead
  locks       transactions that keep the records of worker IDs locked
  generators  in SQL: whether they still have their worker IDs, or are copies
  replication whether logical replication has the tables of the leases
  --table     whether the largest id is ahead of the clock, or above the fence
              of its worker ID, as after a restore that nothing has noticed

It only reads: nothing is created, claimed or changed. The exit status is 3 if a
check fails; a warning does not fail.`

func (a *app) doctorCommand() *cobra.Command {
	x := &doctorFlags{maxSkew: 10 * time.Second}
	cmd := a.command("doctor --dsn DSN", "check a database: clock, leases, largest ids", doctorAbout,
		`  snowkey doctor --dsn postgres://localhost/app --table orders
  snowkey doctor --dsn mysql://root@localhost/app --table orders --column id \
    --table order_lines --column line_id
  snowkey doctor --dsn redis://localhost --json`,
		arguments(0, 0, "no arguments"), func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), x) })
	x.store.add(cmd, "dsn", "store to check")
	f := cmd.Flags()
	f.StringArrayVar(&x.tables, "table", nil, "`TABLE` whose largest id is checked; may be repeated")
	f.StringArrayVar(&x.columns, "column", nil, "`COLUMN` of the ids, one for all tables or one for each (default id)")
	f.Var(flagval.New(&x.maxSkew, "DURATION", "10s", flagval.Duration(time.Millisecond, 24*time.Hour)), "max-skew", "largest difference between the clocks")
	a.jsonFlag(cmd, "one object")
	addLayout(cmd, &x.layout)
	return cmd
}

// pairs returns the columns to check.
func (x *doctorFlags) pairs() ([]doctor.Column, error) {
	var pairs []doctor.Column
	for _, column := range x.columns {
		if _, err := ddl.Postgres.Quote(column); err != nil || strings.Contains(column, ".") {
			return nil, usage("--column %q: must be the name of a column", truncate(column))
		}
	}
	switch {
	case len(x.tables) == 0 && len(x.columns) > 0:
		return nil, usage("--column %q: requires --table", truncate(x.columns[0]))
	case len(x.columns) > 1 && len(x.columns) != len(x.tables):
		return nil, usage("--column was given %d times and --table %d times: give one column for all tables, or one for each", len(x.columns), len(x.tables))
	}
	columns := append(x.columns, "id")[:max(len(x.columns), 1)]
	for i, table := range x.tables {
		if _, err := ddl.Postgres.Quote(strings.Split(table, ".")...); err != nil {
			return nil, usage("--table %q: must be a table, or schema.table", truncate(table))
		}
		pairs = append(pairs, doctor.Column{Table: table, Column: columns[i%len(columns)]})
	}
	return pairs, nil
}

func (a *app) doctor(ctx context.Context, x *doctorFlags) error {
	pairs, err := x.pairs()
	if err != nil {
		return err
	}
	d, err := a.parseStore(&x.store)
	if err != nil {
		return err
	}
	if len(pairs) > 0 && !d.Kind.SQL() {
		return usage("--table: %s has no tables", d.Kind)
	}
	found := &report{a: a, checks: []doctor.Check{}, count: map[doctor.Status]int{}}
	switch target, err := a.open(ctx, &x.store, false); {
	case err == nil:
		defer target.Close()
		doctor.Run(ctx, doctor.Config{Target: target, Layout: x.layout, Namespace: x.store.namespace, Columns: pairs, Now: a.now, MaxSkew: x.maxSkew}, found.add)
	case errors.As(err, new(*usageError)):
		return err
	default:
		found.add(doctor.Check{Name: "connection", Status: doctor.Fail, Detail: err.Error(), Advice: "check that it exists, runs, and admits this user"})
	}
	interrupted := ctx.Err() != nil
	if err := found.end(d.Name, !interrupted && found.count[doctor.Fail] == 0); err != nil {
		return err
	}
	if interrupted {
		return errors.New("interrupted before all checks")
	}
	if found.count[doctor.Fail] > 0 {
		return errCheck
	}
	return nil
}

// report prints checks as they finish, or collects them for JSON.
type report struct {
	a      *app
	checks []doctor.Check
	count  map[doctor.Status]int
}

func (r *report) add(c doctor.Check) {
	c.Detail, c.Advice = dsn.Hide(c.Detail, r.a.secrets), dsn.Hide(c.Advice, r.a.secrets)
	r.checks = append(r.checks, c)
	r.count[c.Status]++
	if r.a.json {
		return
	}
	s := r.a.style
	word := map[doctor.Status]string{doctor.OK: s.paint(green, "ok  "), doctor.Warn: s.paint(yellow, "WARN"), doctor.Fail: s.paint(red, "FAIL"), doctor.Skip: s.paint(faint, "-   ")}[c.Status]
	fmt.Fprintf(r.a.out, "%s  %s: %s\n", word, c.Name, c.Detail)
	if c.Advice != "" {
		fmt.Fprintf(r.a.out, "      %s\n", c.Advice)
	}
	_ = r.a.out.Flush()
}

// end prints the totals.
func (r *report) end(name string, ok bool) error {
	if r.a.json {
		return r.a.object(struct {
			Target string         `json:"target"`
			OK     bool           `json:"ok"`
			Checks []doctor.Check `json:"checks"`
		}{name, ok, r.checks})
	}
	fmt.Fprintf(r.a.out, "\n%d ok, %s, %d failed", r.count[doctor.OK], plural(int64(r.count[doctor.Warn]), "warning"), r.count[doctor.Fail])
	if n := r.count[doctor.Skip]; n > 0 {
		fmt.Fprintf(r.a.out, ", %d not visible from here", n)
	}
	fmt.Fprintln(r.a.out)
	return nil
}
