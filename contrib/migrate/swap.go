package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// swap exchanges the columns, with their names, defaults, indexes and constraints, in one transaction. The trigger
// then keeps the old column equal, so that there is a way back.
func (j *job) swap(narrowing bool) Step {
	key := j.first()
	want, back := "bigint", "snowkey migrate --undo, which swaps again, as long as all values fit into the old type"
	if narrowing {
		want, back = key.shadow.Type, "the same migration once more"
	}
	s := j.locked(StepSwap, key.table, "", back, locking(allMode, j.involved()...)...)
	s.Check = fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = %s AND attname = %s AND atttypid = %s::regtype)", regclass(key.table), literal(key.live.Name), literal(want))
	for _, m := range j.members {
		for _, k := range j.foreignOf(m) {
			s.add("ALTER TABLE %s DROP CONSTRAINT %s", m.table.sql(), quote(k.Name))
		}
	}
	for _, t := range j.moving() {
		j.swapTable(t, narrowing, &s)
		s.add("%s", j.function(t, !narrowing))
	}
	for _, m := range j.members {
		for _, k := range j.foreignOf(m) {
			s.add("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", m.table.sql(), quote(k.name), quote(k.Name))
			k.remark(m.table, &s)
		}
	}
	return s
}

// first returns the first member that moves.
func (j *job) first() *member {
	return j.members[max(slices.IndexFunc(j.members, func(m *member) bool { return m.moves }), 0)]
}

func (j *job) swapTable(t *table, narrowing bool, s *Step) {
	alter := "ALTER TABLE " + t.sql()
	for _, i := range t.Indexes {
		if j.replacesIndex(t, &i) && i.Constraint != "" {
			s.add("%s DROP CONSTRAINT %s", alter, quote(i.Constraint))
		}
	}
	for _, m := range j.membersOf(t) {
		live, shadow := quote(m.live.Name), quote(m.name)
		m.swapNotNull(narrowing, s)
		s.add("%s DROP CONSTRAINT %s", alter, quote(short("equal_"+m.live.Name)))
		if m.live.Default != "" {
			s.add("%s ALTER COLUMN %s DROP DEFAULT", alter, live)
			s.add("%s ALTER COLUMN %s SET DEFAULT %s", alter, shadow, m.live.Default)
		}
		if m.live.Comment != "" {
			s.add("COMMENT ON COLUMN %s.%s IS %s", t.sql(), shadow, literal(m.live.Comment))
		}
		third := quote(short("swap"))
		s.add("%s RENAME COLUMN %s TO %s", alter, live, third)
		s.add("%s RENAME COLUMN %s TO %s", alter, shadow, live)
		s.add("%s RENAME COLUMN %s TO %s", alter, third, shadow)
		for _, q := range m.live.Sequences {
			if !q.Identity {
				s.add("ALTER SEQUENCE %s OWNED BY %s.%s", q.Name, t.sql(), live)
			}
		}
	}
	for _, i := range t.Indexes {
		if !j.replacesIndex(t, &i) {
			continue
		}
		name := short(i.Name)
		if i.Constraint == "" {
			third := short("swap")
			s.add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, i.Name), quote(third))
			s.add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, name), quote(i.Name))
			s.add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, third), quote(name))
			i.remark(t, s)
			continue
		}
		kind := "UNIQUE"
		if i.Primary {
			kind = "PRIMARY KEY"
		}
		s.add("%s ADD CONSTRAINT %s %s USING INDEX %s", alter, quote(i.Constraint), kind, quote(name))
		i.remark(t, s)
	}
}

// swapNotNull moves NOT NULL, with its name, and the identity, which is NOT NULL as long as it is one.
func (m *member) swapNotNull(narrowing bool, s *Step) {
	if !m.live.NotNull {
		return
	}
	alter, live, shadow := "ALTER TABLE "+m.table.sql(), quote(m.live.Name), quote(m.name)
	if m.live.NotNullName == "" {
		s.add("%s ALTER COLUMN %s SET NOT NULL", alter, shadow)
	} else {
		s.add("%s RENAME CONSTRAINT %s TO %s", alter, quote(m.live.NotNullName), quote(short("swap")))
		s.add("%s ADD CONSTRAINT %s NOT NULL %s", alter, quote(m.live.NotNullName), shadow)
	}
	if m.live.Identity != "" {
		typ := "bigint"
		if narrowing {
			typ = m.shadow.Type
		}
		s.add("%s", m.swapIdentity(typ))
	}
	s.add("%s ALTER COLUMN %s DROP NOT NULL", alter, live)
}

// remark adds the comments of an index that has taken the place of another.
func (i *index) remark(t *table, s *Step) {
	if i.Comment != "" {
		s.add("COMMENT ON INDEX %s IS %s", quote(t.Schema, i.Name), literal(i.Comment))
	}
	if i.Remark != "" {
		s.add("COMMENT ON CONSTRAINT %s ON %s IS %s", quote(i.Constraint), t.sql(), literal(i.Remark))
	}
}

func (k *foreignKey) remark(t *table, s *Step) {
	if k.Comment != "" {
		s.add("COMMENT ON CONSTRAINT %s ON %s IS %s", quote(k.Name), t.sql(), literal(k.Comment))
	}
}

// dropConstraint drops a constraint that a migration has added.
func (j *job) dropConstraint(m *member, name string, tables ...*table) Step {
	s := j.removing(StepRemove, m.table, "SELECT NOT "+hasConstraint(m.table, name, ""), locking(allMode, tables...)...)
	s.add("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", m.table.sql(), quote(name))
	return s
}

// dropForeign drops the foreign keys that a migration has added, which refer to a shadow.
func (j *job) dropForeign() []Step {
	var steps []Step
	for _, m := range j.members {
		for _, k := range m.table.Foreign {
			if strings.HasPrefix(k.Name, prefix) && (k.Num[0] == m.live.Num || m.shadow != nil && k.Num[0] == m.shadow.Num) {
				steps = append(steps, j.dropConstraint(m, k.Name, j.tables[k.To], m.table))
			}
		}
	}
	return steps
}

// remove drops the shadows, one table at a time.
func (j *job) remove(as StepName) []Step {
	var steps []Step
	if as == StepRemove {
		steps = j.dropForeign()
	}
	for _, t := range j.moving() {
		var names []string
		for _, m := range j.membersOf(t) {
			names = append(names, m.name)
		}
		steps = append(steps, j.dropping(as, t, names))
	}
	return steps
}

// dropping drops columns, with the trigger. Indexes and constraints on them go with them.
func (j *job) dropping(as StepName, t *table, names []string) Step {
	statements := append(locking(allMode, t), fmt.Sprintf("DROP TRIGGER IF EXISTS %s ON %s", quote(live.Trigger), t.sql()), fmt.Sprintf("DROP FUNCTION IF EXISTS %s()", functionName(t)))
	check := "SELECT true"
	for _, name := range names {
		statements = append(statements, fmt.Sprintf("ALTER TABLE %s DROP COLUMN IF EXISTS %s", t.sql(), quote(name)))
		check += " AND NOT " + hasColumn(t, name)
	}
	return j.removing(as, t, check, statements...)
}

// removeUndo removes what a way back that was not finished has added. Its constraints would refuse ids
// that do not fit into the old columns, and keep those from being dropped.
func (j *job) removeUndo() []Step {
	steps := j.dropForeign()
	for _, m := range j.members {
		if name := short("equal_" + m.live.Name); m.moves && slices.Contains(m.table.Checks, name) {
			steps = append(steps, j.dropConstraint(m, name, m.table))
		}
	}
	for i := range steps {
		steps[i].Back = "none is needed"
	}
	return steps
}

// checkRange refuses a way back on which values would be lost, before anything is changed.
func (j *job) checkRange(ctx context.Context) error {
	for _, m := range j.members {
		if !m.moves || !isInt(m.shadow.Type) || slices.Contains(m.table.Checks, short("equal_"+m.live.Name)) {
			continue
		}
		low, high := limitsOf(m.shadow.Type)
		fit := func(what, query string, args ...any) error {
			var value sql.NullString
			if err := j.q.QueryRowContext(ctx, fmt.Sprintf(query, args...)).Scan(&value); err != nil {
				return fmt.Errorf("migrate: look for values that do not fit: %w", err)
			}
			if value.Valid {
				return refuse(m.table, "%s has the value %s, which does not fit into %s: there is no way back", what, value.String, m.shadow.Type)
			}
			return nil
		}
		if err := fit(m.live.Name, "SELECT CASE WHEN max(%[1]s) > %[2]d THEN max(%[1]s) WHEN min(%[1]s) < %[3]d THEN min(%[1]s) END FROM %[4]s", quote(m.live.Name), high, low, m.table.sql()); err != nil {
			return err
		}
		if s := m.live.Sequences; len(s) == 1 || len(s) > 1 && s[0].Identity {
			if err := fit("the sequence of "+m.live.Name, "SELECT CASE WHEN last_value NOT BETWEEN %d AND %d THEN last_value END FROM %s", low, high, s[0].Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *job) removing(as StepName, t *table, check string, statements ...string) Step {
	back := "none: the old values are gone. Do this step when the old column is not needed any more"
	if as == StepRemove {
		back = "the migration from the beginning"
	}
	return j.locked(as, t, check, back, statements...)
}

// An fk is a foreign key from a member, with its name until the swap.
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
