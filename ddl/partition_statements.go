package ddl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// Clause returns the PARTITION BY clause, for after the closing parenthesis of CREATE TABLE.
// A table of PostgreSQL then has no partitions yet; [Partitioning.Create] creates them. A
// table of MySQL begins with parts, at least one, and the first also takes all lower
// ids. After ALTER TABLE and the name, the clause partitions a table of MySQL with rows.
//
// Every unique key of the table must include the column.
func (p Partitioning) Clause(parts []Partition) (string, error) {
	if _, err := p.check(); err != nil {
		return "", err
	}
	column := p.Dialect.quote(p.Column)
	if p.Dialect == Postgres {
		return "PARTITION BY RANGE (" + column + ")", nil
	}
	list, err := p.list(parts)
	if err != nil {
		return "", err
	}
	return "PARTITION BY RANGE (" + column + ") (" + list + ")", nil
}

// Create adds partitions to the table. In MySQL they must be above the existing ones. A Max of math.MaxInt64 is no bound; in PostgreSQL neither is a
// Min of math.MinInt64, and a Min of 0 counts as 1. Partitions that overlap, are empty or
// have the same name are an error.
func (p Partitioning) Create(parts []Partition) (Script, error) {
	if _, err := p.check(); err != nil {
		return nil, err
	}
	if p.Dialect == MySQL {
		list, err := p.list(parts)
		if err != nil {
			return nil, err
		}
		return Script{"ALTER TABLE " + p.table() + " ADD PARTITION (" + list + ")"}, nil
	}
	if err := p.checkParts(parts); err != nil {
		return nil, err
	}
	script := make(Script, len(parts))
	for i, part := range parts {
		script[i] = fmt.Sprintf("CREATE TABLE %s PARTITION OF %s %s", p.child(part), p.table(), p.bound(part))
	}
	return script, nil
}

// bound is what PostgreSQL calls a partition's bound.
func (p *Partitioning) bound(part Partition) string {
	if part.Default {
		return "DEFAULT"
	}
	low, high := fmt.Sprint(p.least(part)), fmt.Sprint(part.Max)
	if part.Min == math.MinInt64 {
		low = "MINVALUE"
	}
	if part.Max == math.MaxInt64 {
		high = "MAXVALUE"
	}
	return fmt.Sprintf("FOR VALUES FROM (%s) TO (%s)", low, high)
}

// list is MySQL's list of partitions. It has only upper bounds, so the ids of a gap would
// belong to the partition after it, and be dropped with that one.
func (p *Partitioning) list(parts []Partition) (string, error) {
	if err := p.checkParts(parts); err != nil {
		return "", err
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			if before := parts[i-1]; part.Min != before.Max {
				return "", p.wrap(fmt.Errorf("%s begins with id %d, but %s before it ends at %d", part.Name, part.Min, before.Name, before.Max))
			}
			b.WriteString(",")
		}
		high := fmt.Sprint("(", part.Max, ")")
		if part.Max == math.MaxInt64 {
			high = "MAXVALUE"
		}
		fmt.Fprintf(&b, "\n  PARTITION %s VALUES LESS THAN %s", p.child(part), high)
	}
	return b.String(), nil
}

// checkParts validates the names and the bounds of partitions.
func (p *Partitioning) checkParts(parts []Partition) error {
	wrong := p.checkNames(parts)
	if len(parts) > MaxPartitions {
		wrong.Add("parts", len(parts), "must be at most %d", MaxPartitions)
	}
	var ranges []Partition
	for _, part := range parts {
		switch least := p.least(part); {
		case part.Default && p.Dialect != Postgres:
			wrong.Add("Partition.Default", true, "must be false in %q: only PostgreSQL has it", part.Name)
		case part.Default:
		case least >= part.Max:
			wrong.Add("Partition.Max", part.Max, "must be above Min, %d, in %q", least, part.Name)
		default:
			ranges = append(ranges, part)
		}
	}
	if wrong == nil {
		sorted := slices.SortedStableFunc(slices.Values(ranges), func(a, b Partition) int { return cmp.Compare(a.Min, b.Min) })
		for i := 1; i < len(sorted); i++ {
			if before, part := sorted[i-1], sorted[i]; part.Min < before.Max {
				wrong.Add("Partition.Min", part.Min, "must not be below %d, the Max of %q, in %q", before.Max, before.Name, part.Name)
			}
		}
	}
	return wrong.Err("ddl")
}

// least is the least id of a partition. In PostgreSQL it is not 0, which no key should be,
// and which the domain rejects even as a bound.
func (p *Partitioning) least(part Partition) int64 {
	if p.Dialect == Postgres && part.Min == 0 {
		return 1
	}
	return part.Min
}

// checkNames returns the errors of the names. MySQL ignores case in the names of partitions.
func (p *Partitioning) checkNames(parts []Partition) (wrong fields.Errors) {
	if len(parts) == 0 {
		wrong.Add("parts", parts, "must not be empty")
	}
	type name struct{ schema, name string }
	seen := map[name]bool{}
	for _, part := range parts {
		p.Dialect.ident(&wrong, "Partition.Name", part.Name)
		n := name{part.Schema, part.Name}
		switch {
		case p.Dialect == Postgres && n.schema == "":
			n.schema = p.Schema
		case p.Dialect == Postgres:
			p.Dialect.ident(&wrong, "Partition.Schema", part.Schema)
		case part.Schema != "":
			wrong.Add("Partition.Schema", part.Schema, "must be empty: a partition of MySQL is no table of its own")
		}
		if p.Dialect == MySQL {
			n.name = strings.ToLower(n.name)
		}
		if seen[n] {
			wrong.Add("Partition.Name", part.Name, "must be unique")
		}
		seen[n] = true
	}
	return wrong
}

// child quotes the name of a partition.
func (p *Partitioning) child(part Partition) string {
	if p.Dialect != Postgres {
		return p.Dialect.quote(part.Name)
	}
	return p.Dialect.qualify(cmp.Or(part.Schema, p.Schema), part.Name)
}

// Drop drops partitions with all their rows. In PostgreSQL it detaches each first, which
// fails for a table that is no partition of this one: run the script in a transaction, and
// it cannot drop anything else.
func (p Partitioning) Drop(parts []Partition) (Script, error) {
	if err := p.checkNamed(parts); err != nil {
		return nil, err
	}
	if p.Dialect == MySQL {
		names := make([]string, len(parts))
		for i, part := range parts {
			names[i] = p.child(part)
		}
		return Script{"ALTER TABLE " + p.table() + " DROP PARTITION " + strings.Join(names, ", ")}, nil
	}
	var script Script
	for _, part := range parts {
		script = append(script, p.detach(part), "DROP TABLE "+p.child(part))
	}
	return script, nil
}

// Detach turns partitions into separate tables with their rows. In PostgreSQL they keep the
// partition's name. In MySQL they are named like orders_p20261121, rows below the
// partition's bounds stay in them, and the next partition takes new rows of that
// time. Stop whatever writes to these partitions of MySQL: a row that is written between two of the
// statements is lost. MySQL does not allow it for a table with subpartitions. MariaDB from 10.7 on has
// ALTER TABLE … CONVERT PARTITION … TO TABLE, one statement that loses no row.
func (p Partitioning) Detach(parts []Partition) (Script, error) {
	if err := p.checkNamed(parts); err != nil {
		return nil, err
	}
	var wrong fields.Errors
	var script Script
	table := p.table()
	for _, part := range parts {
		if p.Dialect == Postgres {
			script = append(script, p.detach(part))
			continue
		}
		p.Dialect.ident(&wrong, "Partition.Name", p.Table+"_"+part.Name)
		own := p.Dialect.qualify(p.Schema, p.Table+"_"+part.Name)
		script = append(script,
			"CREATE TABLE "+own+" LIKE "+table,
			"ALTER TABLE "+own+" REMOVE PARTITIONING",
			"ALTER TABLE "+table+" EXCHANGE PARTITION "+p.child(part)+" WITH TABLE "+own,
			"ALTER TABLE "+table+" DROP PARTITION "+p.child(part))
	}
	if err := wrong.Err("ddl"); err != nil {
		return nil, err
	}
	return script, nil
}

func (p *Partitioning) detach(part Partition) string {
	return "ALTER TABLE " + p.table() + " DETACH PARTITION " + p.child(part)
}

// checkNamed is check and checkNames.
func (p *Partitioning) checkNamed(parts []Partition) error {
	if _, err := p.check(); err != nil {
		return err
	}
	return p.checkNames(parts).Err("ddl")
}
