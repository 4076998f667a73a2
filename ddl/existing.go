package ddl

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"
)

// Querier is a *sql.DB, *sql.Conn or *sql.Tx, for [Partitioning.Read].
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Existing returns a query for the table's partitions, from low to high. Its columns are
// name, min and max, with NULL for no bound. In PostgreSQL schema follows, NULL if it is the
// table's, and whether it is the default partition, which is last. MySQL's
// subpartitions are not included. If the table has no partitions, or does not exist, the
// query returns no rows. [Partitioning.ReadRows] reads the rows.
func (p Partitioning) Existing() (string, error) {
	if _, err := p.check(); err != nil {
		return "", err
	}
	if p.Dialect == Postgres {
		return fmt.Sprintf(`SELECT c.relname AS name, nullif(b[1], 'MINVALUE')::bigint AS min, nullif(b[2], 'MAXVALUE')::bigint AS max,
  CASE WHEN c.relnamespace <> t.relnamespace THEN n.nspname END AS schema, b IS NULL AS is_default
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
  JOIN pg_catalog.pg_class t ON t.oid = i.inhparent JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_partitioned_table d ON d.partdefid = c.oid AND d.partstrat = 'r' AND d.partnatts = 1
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.partattrs[0],
  LATERAL regexp_match(pg_catalog.pg_get_expr(c.relpartbound, c.oid), '^FOR VALUES FROM [(]''?(-?[0-9]+|MINVALUE)''?[)] TO [(]''?(-?[0-9]+|MAXVALUE)''?[)]$') b
WHERE i.inhparent = pg_catalog.to_regclass(%s) AND (b IS NOT NULL OR a.attname = %s)
ORDER BY is_default, min NULLS FIRST`, p.Dialect.text(p.table()), p.Dialect.text(p.Column)), nil
	}
	schema := "DATABASE()"
	if p.Schema != "" {
		schema = p.Dialect.text(p.Schema)
	}
	return fmt.Sprintf(`SELECT PARTITION_NAME AS name, LAG(bound) OVER (ORDER BY position) AS min, bound AS max
FROM (SELECT DISTINCT PARTITION_NAME, PARTITION_ORDINAL_POSITION AS position,
    CASE WHEN PARTITION_DESCRIPTION <> 'MAXVALUE' THEN CAST(PARTITION_DESCRIPTION AS SIGNED) END AS bound
  FROM information_schema.PARTITIONS
  WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND PARTITION_METHOD = 'RANGE') p
ORDER BY position`, schema, p.Dialect.text(p.Table)), nil
}

// Read runs Existing and returns the partitions. For a *pgxpool.Pool or a *pgx.Conn see [Partitioning.ReadRows].
func (p Partitioning) Read(ctx context.Context, db Querier) (parts []Partition, err error) {
	query, err := p.Existing()
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, query) //nolint:rowserrcheck // ReadRows checks it
	if err != nil {
		return nil, p.wrap(err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			parts, err = nil, p.wrap(closeErr)
		}
	}()
	return p.ReadRows(rows)
}

// Rows is a *sql.Rows or a pgx.Rows, for [Partitioning.ReadRows].
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// ReadRows reads the rows of the query Existing, from any driver. It does not close them.
func (p Partitioning) ReadRows(rows Rows) ([]Partition, error) {
	var parts []Partition
	for rows.Next() {
		var low, high sql.NullInt64
		var schema sql.NullString
		part := Partition{Min: math.MinInt64, Max: math.MaxInt64}
		into := []any{&part.Name, &low, &high}
		if p.Dialect == Postgres {
			into = append(into, &schema, &part.Default)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, p.wrap(err)
		}
		part.Schema = schema.String
		if low.Valid {
			part.Min, part.From = low.Int64, p.timeOf(low.Int64)
		}
		if high.Valid {
			part.Max, part.To = high.Int64, p.timeOf(high.Int64)
			if first, err := p.Layout.FirstAt(part.To); err == nil && first < part.Max && !part.To.IsZero() { // the tick has ids below the bound
				part.To = part.To.Add(p.Layout.WithDefaults().Tick)
			}
		}
		parts = append(parts, part)
	}
	if err := rows.Err(); err != nil {
		return nil, p.wrap(err)
	}
	return parts, nil
}

// timeOf returns the time of the tick that a bound is in. It is the zero time for a bound
// outside the layout.
func (p *Partitioning) timeOf(bound int64) time.Time {
	parts, err := p.Layout.Decode(bound)
	if err != nil {
		return time.Time{}
	}
	if p.Location != nil {
		return parts.Time.In(p.Location)
	}
	return parts.Time
}
