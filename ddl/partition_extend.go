package ddl

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
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

// Extend writes the statements that create the missing partitions of [Partitioning.Bounds](from, to). have
// are the table's partitions, from [Partitioning.Read]. It writes none if no partition is missing. No row is
// lost:
//
//   - It splits a last partition without an end. That one keeps the ids above the new
//     partitions, and its name unless a new partition needs it. The first new partition
//     takes all its lower ids. To get one partition per period, set from to its From.
//   - In PostgreSQL, it moves rows out of the default partition into the new ones.
//
// It is an error if the table has partitions for some ids of a period, but not for all.
//
// In PostgreSQL each of these is one statement, so it takes effect as a whole or not at
// all. It locks the table against reads and writes, scans the partition, and moves rows
// without firing triggers. It fails if a foreign key refers to rows of the
// partition. In MySQL, REORGANIZE PARTITION copies the partition, and writes wait. There partitions
// can only be added after the last one, so Extend also creates those between the last one and from, and none
// before it.
//
// If the partitions have changed since they were read, the statements fail. Then read
// and call Extend again: another process may have created the partitions.
func (p Partitioning) Extend(have []Partition, from, to time.Time) (Script, error) {
	l, err := p.lacking(have, from, to)
	if err != nil {
		return nil, err
	}
	var script Script
	rest := slices.IndexFunc(have, func(h Partition) bool { return h.Default })
	switch {
	case len(l.missing) == 0:
	case rest >= 0:
		if script, err = p.rebuild(have[rest], have[rest], l.missing); err != nil {
			return nil, err
		}
	default:
		if script, err = p.Create(l.missing); err != nil {
			return nil, err
		}
	}
	if len(l.split) == 0 {
		return script, nil
	}
	split, err := p.split(l.open, l.split)
	if err != nil {
		return nil, err
	}
	return append(script, split...), nil
}

// lack is what a table lacks.
type lack struct {
	missing []Partition // for ids that are in no partition
	open    Partition   // the last partition, if it has no end
	split   []Partition // for ids that are in open, without a gap
}

// lacking finds what a table with the partitions have lacks.
func (p *Partitioning) lacking(have []Partition, from, to time.Time) (l lack, err error) {
	layout, err := p.check()
	if err != nil {
		return lack{}, err
	}
	end := int64(math.MinInt64) // of the partitions that have one
	hasOpen := false
	var closed []Partition
	for _, h := range have {
		switch {
		case h.Default:
		case h.Max == math.MaxInt64 || h.Max > layout.max: // no id is above it
			l.open, hasOpen = h, true
		default:
			closed = append(closed, h)
			end = max(end, h.Max)
		}
	}
	if p.Dialect == MySQL && len(closed) > 0 && !hasOpen {
		if last, err := layout.Decode(end); err == nil && last.Time.Before(from) {
			from = last.Time
		}
	}
	want, err := p.Bounds(from, to)
	if err != nil {
		return lack{}, err
	}
	slices.SortFunc(closed, func(a, b Partition) int { return cmp.Compare(a.Min, b.Min) })
	for _, w := range want {
		covered := w.Min // up to here
		var touched *Partition
		for i, h := range closed {
			if h.Max <= w.Min || w.Max <= h.Min {
				continue
			}
			if touched == nil {
				touched = &closed[i]
			}
			if h.Min <= max(covered, 1) { // Create writes 1 for 0
				covered = max(covered, h.Max)
			}
		}
		inOpen := hasOpen && l.open.Min < w.Max
		switch {
		case covered >= w.Max:
		case inOpen && (touched == nil || covered == l.open.Min):
			if touched != nil || l.open.Min < w.Min && len(l.split) == 0 {
				w.Min, w.From = l.open.Min, l.open.From
			}
			l.split = append(l.split, w)
		case touched != nil:
			return lack{}, p.wrap(fmt.Errorf("%s, ids %d to before %d, reaches into %s, which has %d to before %d",
				w.Name, w.Min, w.Max, touched.Name, touched.Min, touched.Max))
		case p.Dialect == Postgres || w.Min >= end:
			l.missing = append(l.missing, w)
		}
	}
	return l, nil
}

// split divides the partition open into parts and a partition for the ids above them.
func (p *Partitioning) split(open Partition, parts []Partition) (Script, error) {
	rest := open
	rest.Min, rest.From = parts[len(parts)-1].Max, parts[len(parts)-1].To
	if slices.ContainsFunc(parts, func(part Partition) bool { return strings.EqualFold(part.Name, open.Name) }) {
		rest.Name = "pmax"
		if p.Dialect == Postgres {
			rest.Name = p.Table + "_" + rest.Name
		}
	}
	if p.Dialect == Postgres {
		parts[0].Schema = open.Schema // it keeps the table of open
		return p.rebuild(open, parts[0], append(parts[1:], rest))
	}
	list, err := p.list(append(parts, rest))
	if err != nil {
		return nil, err
	}
	return Script{"ALTER TABLE " + p.table() + " REORGANIZE PARTITION " + p.child(open) + " INTO (" + list + ")"}, nil
}

// rebuild is PostgreSQL's statement that turns the partition old into the partition kept,
// and moves the rows of others into them. It creates others as separate tables and then
// attaches them, so that no trigger of the table fires for the rows that move.
func (p *Partitioning) rebuild(old, kept Partition, others []Partition) (Script, error) {
	table := p.table()
	if err := p.checkParts(append(slices.Clone(others), kept)); err != nil {
		return nil, err
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+";\n", args...) }
	line("ALTER TABLE %s DETACH PARTITION %s", table, p.child(old))
	// DETACH fails if a foreign key to the table refers to its rows, but not if one to the partition itself does.
	line("SELECT string_agg(conname || ' of ' || conrelid::regclass, ', ') INTO names\n"+
		"    FROM pg_catalog.pg_constraint WHERE contype = 'f' AND confdeltype NOT IN ('a', 'r')\n"+
		"    AND confrelid = %s::regclass", p.Dialect.text(p.child(old)))
	line("IF names <> '' THEN RAISE 'snowkey: rows that refer to moved rows would be deleted or changed by the foreign key %%: drop it first', names; END IF")
	if old.Name != kept.Name {
		line("ALTER TABLE %s RENAME TO %s", p.child(old), p.Dialect.quote(kept.Name))
	}
	line("SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO names FROM pg_catalog.pg_attribute\n"+
		"    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''", p.Dialect.text(table))
	column := p.Dialect.quote(p.Column)
	for _, part := range others {
		line("CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING IDENTITY)", p.child(part), table)
		where := fmt.Sprintf("%s >= %d", column, p.least(part))
		if part.Max < math.MaxInt64 {
			where += fmt.Sprintf(" AND %s < %d", column, part.Max)
		}
		line("EXECUTE %s || names || %s\n    || names || %s || names || %s",
			p.Dialect.text(fmt.Sprintf("WITH moved AS (DELETE FROM %s WHERE %s RETURNING ", p.child(kept), where)),
			p.Dialect.text(fmt.Sprintf(") INSERT INTO %s (", p.child(part))), p.Dialect.text(") SELECT "), p.Dialect.text(" FROM moved"))
	}
	for _, part := range append(slices.Clone(others), kept) { // a default partition last, so that it is scanned once
		line("ALTER TABLE %s ATTACH PARTITION %s %s", table, p.child(part), p.bound(part))
	}
	quote := "$split$"
	for i := 0; strings.Contains(b.String(), quote); i++ {
		quote = fmt.Sprintf("$split%d$", i)
	}
	return Script{"DO " + quote + "\nDECLARE names text;\nBEGIN\n" + b.String() + "END " + quote}, nil
}
