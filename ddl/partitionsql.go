package ddl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Clause is what stands behind the closing parenthesis of CREATE TABLE to have
// the table partitioned. PostgreSQL's table then has no partition yet, [Partitioning.Create]
// makes them; MySQL's begins with those given, at least one, and the first
// takes all lower ids as well. There, behind ALTER TABLE and the name, it
// divides a table that has rows.
//
// Every unique key of the table must hold the column.
func (p Partitioning) Clause(parts []Partition) (string, error) {
	if _, _, err := p.ready(); err != nil {
		return "", err
	}
	column := p.Dialect.ident(new(faults), "Column", p.Column)
	if p.Dialect == Postgres {
		return "PARTITION BY RANGE (" + column + ")", nil
	}
	list, err := p.list(parts)
	if err != nil {
		return "", err
	}
	return "PARTITION BY RANGE (" + column + ") (" + list + ")", nil
}

// Create adds partitions to the table. In MySQL they must lie above those that
// are there, see [Partitioning.Missing]. A Max of math.MaxInt64 is no bound, and
// neither is, in PostgreSQL, a Min of math.MinInt64. A Min of 0 counts as 1 there.
// Partitions that overlap, that are empty or have one name are an error.
func (p Partitioning) Create(parts []Partition) (Script, error) {
	_, table, err := p.ready()
	if err != nil {
		return nil, err
	}
	if p.Dialect == MySQL {
		list, err := p.list(parts)
		if err != nil {
			return nil, err
		}
		return Script{"ALTER TABLE " + table + " ADD PARTITION (" + list + ")"}, nil
	}
	if err := p.check(parts); err != nil {
		return nil, err
	}
	script := make(Script, len(parts))
	for i, part := range parts {
		script[i] = fmt.Sprintf("CREATE TABLE %s PARTITION OF %s %s", p.child(part), table, p.bound(part))
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

// list is MySQL's list of partitions. Only the upper bounds stand in it, so a
// gap would come to the partition after it, and be dropped with that one.
func (p *Partitioning) list(parts []Partition) (string, error) {
	if err := p.check(parts); err != nil {
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

// check finds what is wrong with given partitions: there is none, or a name or a bound.
func (p *Partitioning) check(parts []Partition) error {
	var f faults
	if len(parts) == 0 {
		f.add("parts", "[]", "must hold a partition")
	}
	if len(parts) > MaxPartitions {
		f.add("parts", fmt.Sprintf("%d partitions", len(parts)), "must be at most %d", MaxPartitions)
	}
	p.checkNames(&f, parts)
	var ranges []Partition
	for _, part := range parts {
		switch least := p.least(part); {
		case part.Default && p.Dialect != Postgres:
			f.add("Partition.Default", "true", "must be false in %q, for only PostgreSQL has it", part.Name)
		case part.Default:
		case least >= part.Max:
			f.add("Partition.Max", fmt.Sprint(part.Max), "must be above Min, %d, in %q", least, part.Name)
		default:
			ranges = append(ranges, part)
		}
	}
	if len(f) == 0 {
		sorted := slices.SortedStableFunc(slices.Values(ranges), func(a, b Partition) int { return cmp.Compare(a.Min, b.Min) })
		for i := 1; i < len(sorted); i++ {
			if before, part := sorted[i-1], sorted[i]; part.Min < before.Max {
				f.add("Partition.Min", fmt.Sprint(part.Min), "must not be below %d, the Max of %q, in %q", before.Max, before.Name, part.Name)
			}
		}
	}
	return f.err()
}

// least is where a partition begins. In PostgreSQL that is not 0, which no key
// should be, and which the domain refuses even as a bound.
func (p *Partitioning) least(part Partition) int64 {
	if p.Dialect == Postgres && part.Min == 0 {
		return 1
	}
	return part.Min
}

// checkNames finds names that cannot be, and those given twice. MySQL does not
// tell upper from lower case in the names of partitions.
func (p *Partitioning) checkNames(f *faults, parts []Partition) {
	type name struct{ schema, name string }
	seen := map[name]bool{}
	for _, part := range parts {
		p.Dialect.ident(f, "Partition.Name", part.Name)
		n := name{part.Schema, part.Name}
		switch {
		case p.Dialect == Postgres && n.schema == "":
			n.schema = p.Schema
		case p.Dialect == Postgres:
			p.Dialect.ident(f, "Partition.Schema", part.Schema)
		case part.Schema != "":
			f.add("Partition.Schema", fmt.Sprintf("%q", part.Schema), "must be empty, for a partition of MySQL is no table of its own")
		}
		if p.Dialect == MySQL {
			n.name = strings.ToLower(n.name)
		}
		if seen[n] {
			f.add("Partition.Name", fmt.Sprintf("%q", part.Name), "must be given once")
		}
		seen[n] = true
	}
}

// child quotes the name of a partition, which was checked already.
func (p *Partitioning) child(part Partition) string {
	if p.Dialect != Postgres {
		return p.Dialect.ident(new(faults), "Partition.Name", part.Name)
	}
	schema := part.Schema
	if schema == "" {
		schema = p.Schema
	}
	return p.Dialect.object(new(faults), schema, "Partition.Name", part.Name)
}

// Drop drops partitions with all their rows. In PostgreSQL each is detached
// first, which fails for a table that is no partition of this one: run the script
// in a transaction, and nothing else can be dropped.
func (p Partitioning) Drop(parts []Partition) (Script, error) {
	_, table, err := p.names(parts)
	if err != nil {
		return nil, err
	}
	if p.Dialect == MySQL {
		names := make([]string, len(parts))
		for i, part := range parts {
			names[i] = p.child(part)
		}
		return Script{"ALTER TABLE " + table + " DROP PARTITION " + strings.Join(names, ", ")}, nil
	}
	var script Script
	for _, part := range parts {
		script = append(script, p.detach(table, part), "DROP TABLE "+p.child(part))
	}
	return script, nil
}

// Detach makes partitions tables of their own, with their rows: in PostgreSQL
// under the partition's name, in MySQL under the table's and the partition's,
// orders_p20261121. There the rows below the partition's bounds stay with it, and
// from then on the partition after it takes new rows of that time. MySQL refuses
// it to a table with subpartitions.
func (p Partitioning) Detach(parts []Partition) (Script, error) {
	f, table, err := p.names(parts)
	if err != nil {
		return nil, err
	}
	var script Script
	for _, part := range parts {
		if p.Dialect == Postgres {
			script = append(script, p.detach(table, part))
			continue
		}
		own := p.Dialect.object(&f, p.Schema, "Partition.Name", p.Table+"_"+part.Name)
		script = append(script,
			"CREATE TABLE "+own+" LIKE "+table,
			"ALTER TABLE "+own+" REMOVE PARTITIONING",
			"ALTER TABLE "+table+" EXCHANGE PARTITION "+p.child(part)+" WITH TABLE "+own,
			"ALTER TABLE "+table+" DROP PARTITION "+p.child(part))
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	return script, nil
}

func (p *Partitioning) detach(table string, part Partition) string {
	return "ALTER TABLE " + table + " DETACH PARTITION " + p.child(part)
}

// names checks partitions of which only the names count.
func (p *Partitioning) names(parts []Partition) (f faults, table string, err error) {
	if _, table, err = p.ready(); err != nil {
		return nil, "", err
	}
	if len(parts) == 0 {
		f.add("parts", "[]", "must hold a partition")
	}
	p.checkNames(&f, parts)
	if err := f.err(); err != nil {
		return nil, "", err
	}
	return nil, table, nil
}
