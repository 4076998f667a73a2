package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

const table = "snowkey_partitioned"

var today = time.Now // which day the partitions are about; the tests hold it still

func run(ctx context.Context, opt options, out io.Writer) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(opt.worker)})
	if err != nil {
		return fmt.Errorf("-worker %d: %w", opt.worker, err)
	}
	defer gen.Close()
	db, dialect, done, err := open(ctx, opt.db)
	if err != nil {
		return err
	}
	defer done()

	orders := ddl.Partitioning{Dialect: dialect, Layout: gen.Layout(), Table: table, By: ddl.Period(opt.by)}
	now := today().UTC()
	from, to := ago(orders.By, now, opt.keep), ago(orders.By, now, -opt.ahead)
	if first := orders.Layout.Epoch.Add(time.Millisecond); from.Before(first) {
		from = first // not the epoch itself, whose first id is 0
	}

	fresh, err := prepare(ctx, db, orders, from, to, out)
	if err != nil {
		return err
	}
	if fresh { // some that look as if this had run all the time
		if err := insert(ctx, db, dialect, past(orders, from, now, opt.rows)); err != nil {
			return err
		}
	}
	ids := make([]int64, opt.rows)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	if err := insert(ctx, db, dialect, ids); err != nil {
		return err
	}
	if err := show(ctx, db, orders, out); err != nil {
		return err
	}
	if err := explain(ctx, db, orders, now, out); err != nil {
		return err
	}
	return retain(ctx, db, orders, from, out)
}

// ago is a time n periods before t.
func ago(p ddl.Period, t time.Time, n int) time.Time {
	switch p {
	case ddl.Week:
		return t.AddDate(0, 0, -7*n)
	case ddl.Month: // from the first, for every month has one
		return time.Date(t.Year(), t.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	}
	return t.AddDate(0, 0, -n)
}

// prepare makes the table with its first partition, unless it is there, and then the
// partitions that it lacks. This is what a job would run, once a period. If another run
// does the same at the same time, its statements fail, and it looks again.
func prepare(ctx context.Context, db *sql.DB, orders ddl.Partitioning, from, to time.Time, out io.Writer) (fresh bool, err error) {
	for failed := ""; ; {
		have, err := orders.Read(ctx, db)
		if err != nil {
			return fresh, err
		}
		var script ddl.Script
		if len(have) == 0 && !fresh {
			script, err = create(orders, from, to)
		} else {
			script, err = orders.Extend(have, from, to)
		}
		if err != nil || len(script) == 0 {
			return fresh, err
		}
		switch err = exec(ctx, db, script, out); {
		case err == nil && len(have) == 0:
			fresh = true // PostgreSQL's table has no partition yet
		case err != nil && script.String() == failed:
			return fresh, err
		case err != nil:
			fmt.Fprintf(out, "-- %v\n-- and so another look at what there is\n\n", err)
			failed = script.String()
		}
	}
}

// create makes the table, in MySQL with its first partition. A run that ended right
// behind this left a table without a partition.
func create(orders ddl.Partitioning, from, to time.Time) (ddl.Script, error) {
	want, err := orders.Bounds(from, to)
	if err != nil {
		return nil, err
	}
	clause, err := orders.Clause(want[:1])
	return ddl.Script{"CREATE TABLE IF NOT EXISTS " + table + " (id bigint NOT NULL PRIMARY KEY, note varchar(100) NOT NULL) " + clause}, err
}

// exec runs a script and shows it.
func exec(ctx context.Context, db *sql.DB, script ddl.Script, out io.Writer) error {
	fmt.Fprintln(out, script)
	for _, statement := range script {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// past makes ids as they would have been drawn, evenly from one time to another.
func past(orders ddl.Partitioning, from, to time.Time, n int64) []int64 {
	ids := make([]int64, 0, n)
	for i := range n {
		at := from.Add(time.Duration(float64(to.Sub(from)) * float64(i) / float64(n)))
		id, err := orders.Layout.Compose(core.Parts{Time: at, Sequence: i % orders.Layout.IDsPerTick()})
		if err == nil { // a time before the layout's has none
			ids = append(ids, id)
		}
	}
	return ids
}

// insert writes orders under their ids, a thousand at once.
func insert(ctx context.Context, db *sql.DB, dialect ddl.Dialect, ids []int64) error {
	for len(ids) > 0 {
		batch := ids[:min(len(ids), 1000)]
		ids = ids[len(batch):]
		rows, args := make([]string, len(batch)), make([]any, len(batch))
		for i, id := range batch {
			rows[i], args[i] = "(?, 'an order')", id
			if dialect == ddl.Postgres {
				rows[i] = fmt.Sprintf("($%d, 'an order')", i+1)
			}
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO "+table+" (id, note) VALUES "+strings.Join(rows, ", "), args...); err != nil {
			return err
		}
	}
	return nil
}

// show lists the partitions with their rows.
func show(ctx context.Context, db *sql.DB, orders ddl.Partitioning, out io.Writer) error {
	have, err := orders.Read(ctx, db)
	if err != nil {
		return err
	}
	count := "SELECT count(*) FROM " + table + " WHERE id >= ? AND id < ?"
	if orders.Dialect == ddl.Postgres {
		count = "SELECT count(*) FROM " + table + " WHERE id >= $1 AND id < $2"
	}
	fmt.Fprintf(out, "%-32s %-10s %8s\n", "partition", "before", "orders")
	for _, part := range have {
		row := db.QueryRowContext(ctx, count, part.Min, part.Max)
		if part.Default { // it has the rest, in a table of its own
			row = db.QueryRowContext(ctx, "SELECT count(*) FROM "+pgx.Identifier{part.Name}.Sanitize())
		}
		var n int
		if err := row.Scan(&n); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-32s %-10s %8d\n", part.Name, part.To.Format(time.DateOnly), n)
	}
	return nil
}

// explain shows the plan of a query for the last day: it reads one or two partitions.
func explain(ctx context.Context, db *sql.DB, orders ddl.Partitioning, now time.Time, out io.Writer) error {
	low, high, err := orders.Layout.Range(now.AddDate(0, 0, -1), now)
	if err != nil {
		return err
	}
	query := fmt.Sprintf("SELECT * FROM %s WHERE id >= %d AND id < %d", table, low, high)
	fmt.Fprintf(out, "\n%s reads\n", query)
	how := "EXPLAIN "
	if orders.Dialect == ddl.MySQL {
		var version string
		if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
			return err
		}
		if how = "EXPLAIN FORMAT=TRADITIONAL "; strings.Contains(version, "MariaDB") {
			how = "EXPLAIN PARTITIONS "
		}
	}
	rows, err := db.QueryContext(ctx, how+query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, v := range values {
			if len(columns) == 1 || columns[i] == "partitions" {
				fmt.Fprintln(out, "  "+v.String)
			}
		}
	}
	return rows.Err()
}

// retain drops the partitions whose orders are all older than from.
func retain(ctx context.Context, db *sql.DB, orders ddl.Partitioning, from time.Time, out io.Writer) error {
	have, err := orders.Read(ctx, db)
	if err != nil {
		return err
	}
	// The period that from lies in is kept whole.
	kept, err := orders.Bounds(from, from.Add(1))
	if err != nil {
		return err
	}
	old, err := orders.Before(have, kept[0].From)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d partitions are older than %s\n", len(old), kept[0].From.Format(time.DateOnly))
	if len(old) == 0 {
		return nil
	}
	script, err := orders.Drop(old)
	if err != nil {
		return err
	}
	return exec(ctx, db, script, out)
}
