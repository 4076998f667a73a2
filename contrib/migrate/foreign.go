package migrate

import (
	"fmt"
	"slices"
	"strings"
)

// A fk is a foreign key from a member, and what it is called until the swap.
type fk struct {
	foreignKey
	to   *table
	name string
}

// foreignOf returns the foreign keys from a member whose one end moves.
func (j *job) foreignOf(m *member) []fk {
	var keys []fk
	for _, k := range m.table.Foreign {
		to := j.tables[k.To]
		if slices.Equal(k.Num, []int{m.live.Num}) && !strings.HasPrefix(k.Name, prefix) && (m.moves || j.shadowOf(to, k.ToNum[0]) != "") {
			keys = append(keys, fk{k, to, short(k.Name)})
		}
	}
	return keys
}

func (j *job) foreign(m *member, k fk) []Step {
	to := j.shadowOf(k.to, k.ToNum[0])
	if to == "" {
		to = k.to.byNum(k.ToNum[0]).Name
	}
	return j.foreignBetween(m, k, m.next(), to)
}

// foreignBetween adds a foreign key like k, first for new rows and then for all.
func (j *job) foreignBetween(m *member, k fk, from, to string) []Step {
	actions := map[string]string{"a": "", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
	text := fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", quote(from), k.to.sql(), quote(to))
	if k.Match == "f" {
		text += " MATCH FULL"
	}
	if a := actions[k.OnUpdate]; a != "" {
		text += " ON UPDATE " + a
	}
	if a := actions[k.OnDelete]; a != "" {
		text += " ON DELETE " + a
	}
	if k.Deferrable {
		text += " DEFERRABLE"
	}
	if k.Deferred {
		text += " INITIALLY DEFERRED"
	}
	alter := "ALTER TABLE " + m.table.sql()
	steps := []Step{j.locked(StepForeignKey, m.table, "SELECT "+hasConstraint(m.table, k.name, ""), fmt.Sprintf("%s DROP CONSTRAINT %s", alter, quote(k.name)),
		append(locking(writesMode, k.to, m.table), fmt.Sprintf("%s ADD CONSTRAINT %s %s NOT VALID", alter, quote(k.name), text))...)}
	steps[0].Lock = locksWrites + ", in " + k.to.String() + " too"
	if k.Valid {
		steps = append(steps, m.table.validate(k.name))
	}
	return steps
}

// validate checks old rows of a table.
func (t *table) validate(constraint string) Step {
	return Step{
		Name: StepValidate, Table: t.String(), Statements: []string{fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", t.sql(), quote(constraint))}, SizeMatters: true,
		Lock: locksNone, Held: heldLong("reads all rows"), Check: "SELECT " + hasConstraint(t, constraint, " AND convalidated"), Back: "none is needed",
	}
}

// involved returns the tables that a swap locks.
func (j *job) involved() []*table {
	tables := j.moving()
	for _, m := range j.members {
		for _, k := range j.foreignOf(m) {
			tables = append(tables, m.table, k.to)
		}
	}
	return tables
}
