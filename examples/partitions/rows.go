package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// past returns n ids, spread evenly over [from, to), for a table that looks used.
func past(orders ddl.Partitioning, from, to time.Time, n int64) []int64 {
	ids := make([]int64, 0, n)
	for i := range n {
		at := from.Add(time.Duration(float64(to.Sub(from)) * float64(i) / float64(n)))
		id, err := orders.Layout.Compose(core.Parts{Time: at, Sequence: i % orders.Layout.IDsPerTick()})
		if err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// insert writes orders, a thousand per statement.
func insert(ctx context.Context, db *sql.DB, ids []int64) error {
	for part := range slices.Chunk(ids, 1000) {
		rows := make([]string, len(part))
		for i, id := range part {
			rows[i] = fmt.Sprintf("(%d, 'an order')", id)
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO "+table+" (id, note) VALUES "+strings.Join(rows, ", ")); err != nil {
			return err
		}
	}
	return nil
}

// show lists the partitions with the number of their rows.
func show(ctx context.Context, db *sql.DB, orders ddl.Partitioning, out io.Writer) error {
	have, err := orders.Read(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-32s %-10s %8s\n", "partition", "before", "orders")
	for _, part := range have {
		count := fmt.Sprintf("SELECT count(*) FROM %s WHERE id >= %d AND id < %d", table, part.Min, part.Max)
		if part.Default { // it has no range
			count = "SELECT count(*) FROM " + pgx.Identifier{part.Name}.Sanitize()
		}
		var n int
		if err := db.QueryRowContext(ctx, count).Scan(&n); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-32s %-10s %8d\n", part.Name, part.To.Format(time.DateOnly), n)
	}
	return nil
}

// explain prints the plan of a query for the last day. It reads one or two partitions.
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
	shown := max(0, slices.Index(columns, "partitions")) // of MySQL; PostgreSQL has one column
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		fmt.Fprintln(out, "  "+values[shown].String)
	}
	return rows.Err()
}
