package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// swap exchanges the names of the columns, and what hangs on them, in one transaction. The trigger
// then keeps the old column equal, so that there is a way back.
func (j *pgJob) swap(narrowing bool) Step {
	key := j.first()
	want, back := "bigint", "snowkey migrate --undo, which swaps again, as long as all values fit into the old type"
	if narrowing {
		want, back = key.shadow.Type, "the same migration once more"
	}
	s := j.locked(StepSwap, key.table, "", back, locking(allMode, j.involved()...)...)
	s.Check = fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = %s AND attname = %s AND atttypid = %s::regtype)", regclass(key.table), literal(key.live.Name), literal(want))
	add := func(format string, args ...any) { s.Statements = append(s.Statements, fmt.Sprintf(format, args...)) }
	for _, m := range j.members {
		for _, k := range j.foreignOf(m) {
			add("ALTER TABLE %s DROP CONSTRAINT %s", m.table.sql(), quote(k.Name))
		}
	}
	for _, t := range j.moving() {
		j.swapTable(t, narrowing, add)
		add("%s", j.function(t, !narrowing))
	}
	for _, m := range j.members {
		for _, k := range j.foreignOf(m) {
			add("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", m.table.sql(), quote(k.name), quote(k.Name))
			k.remark(m.table, add)
		}
	}
	return s
}

// first returns the first member that moves.
func (j *pgJob) first() *member {
	return j.members[max(slices.IndexFunc(j.members, func(m *member) bool { return m.moves }), 0)]
}

func (j *pgJob) swapTable(t *pgTable, narrowing bool, add func(format string, args ...any)) {
	alter := "ALTER TABLE " + t.sql()
	for _, i := range t.Indexes {
		if j.replaces(t, &i) && i.Constraint != "" {
			add("%s DROP CONSTRAINT %s", alter, quote(i.Constraint))
		}
	}
	for _, m := range j.membersOf(t) {
		live, shadow := quote(m.live.Name), quote(m.name)
		m.swapNotNull(narrowing, add)
		add("%s DROP CONSTRAINT %s", alter, quote(short("equal_"+m.live.Name)))
		if m.live.Default != "" {
			add("%s ALTER COLUMN %s DROP DEFAULT", alter, live)
			add("%s ALTER COLUMN %s SET DEFAULT %s", alter, shadow, m.live.Default)
		}
		if m.live.Comment != "" {
			add("COMMENT ON COLUMN %s.%s IS %s", t.sql(), shadow, literal(m.live.Comment))
		}
		third := quote(short("swap"))
		add("%s RENAME COLUMN %s TO %s", alter, live, third)
		add("%s RENAME COLUMN %s TO %s", alter, shadow, live)
		add("%s RENAME COLUMN %s TO %s", alter, third, shadow)
		for _, s := range m.live.Sequences {
			if !s.Identity {
				add("ALTER SEQUENCE %s OWNED BY %s.%s", s.Name, t.sql(), live)
			}
		}
	}
	for _, i := range t.Indexes {
		if !j.replaces(t, &i) {
			continue
		}
		name := short(i.Name)
		if i.Constraint == "" {
			third := short("swap")
			add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, i.Name), quote(third))
			add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, name), quote(i.Name))
			add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, third), quote(name))
			i.remark(t, add)
			continue
		}
		kind := "UNIQUE"
		if i.Primary {
			kind = "PRIMARY KEY"
		}
		add("%s ADD CONSTRAINT %s %s USING INDEX %s", alter, quote(i.Constraint), kind, quote(name))
		i.remark(t, add)
	}
}

// swapNotNull moves NOT NULL, with its name, and the identity, which is NOT NULL as long as it is one.
func (m *member) swapNotNull(narrowing bool, add func(format string, args ...any)) {
	if !m.live.NotNull {
		return
	}
	alter, live, shadow := "ALTER TABLE "+m.table.sql(), quote(m.live.Name), quote(m.name)
	if m.live.NotNullName == "" {
		add("%s ALTER COLUMN %s SET NOT NULL", alter, shadow)
	} else {
		add("%s RENAME CONSTRAINT %s TO %s", alter, quote(m.live.NotNullName), quote(short("swap")))
		add("%s ADD CONSTRAINT %s NOT NULL %s", alter, quote(m.live.NotNullName), shadow)
	}
	if m.live.Identity != "" {
		typ := "bigint"
		if narrowing {
			typ = m.shadow.Type
		}
		add("%s", m.swapIdentity(typ))
	}
	add("%s ALTER COLUMN %s DROP NOT NULL", alter, live)
}

// remark adds the comments of an index that has taken the place of another.
func (i *pgIndex) remark(t *pgTable, add func(format string, args ...any)) {
	if i.Comment != "" {
		add("COMMENT ON INDEX %s IS %s", quote(t.Schema, i.Name), literal(i.Comment))
	}
	if i.Remark != "" {
		add("COMMENT ON CONSTRAINT %s ON %s IS %s", quote(i.Constraint), t.sql(), literal(i.Remark))
	}
}

func (k *pgForeign) remark(t *pgTable, add func(format string, args ...any)) {
	if k.Comment != "" {
		add("COMMENT ON CONSTRAINT %s ON %s IS %s", quote(k.Name), t.sql(), literal(k.Comment))
	}
}

// remove drops the shadows, one table at a time.
func (j *pgJob) remove(as StepName) []Step {
	var steps []Step
	for _, m := range j.members {
		for _, k := range m.table.Foreign { // they refer to a shadow
			if as == StepRemove && strings.HasPrefix(k.Name, prefix) && j.concerns(m, k) {
				steps = append(steps, j.removing(as, m.table, "SELECT NOT "+hasConstraint(m.table, k.Name, ""), append(locking(allMode, j.tables[k.To], m.table), fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", m.table.sql(), quote(k.Name)))...))
			}
		}
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
func (j *pgJob) dropping(as StepName, t *pgTable, names []string, more ...string) Step {
	statements := append(locking(allMode, t), fmt.Sprintf("DROP TRIGGER IF EXISTS %s ON %s", quote(live.Trigger), t.sql()), fmt.Sprintf("DROP FUNCTION IF EXISTS %s()", functionName(t)))
	check := "SELECT true"
	for _, name := range names {
		statements = append(statements, fmt.Sprintf("ALTER TABLE %s DROP COLUMN IF EXISTS %s", t.sql(), quote(name)))
		check += " AND NOT " + hasColumn(t, name)
	}
	return j.removing(as, t, check, append(statements, more...)...)
}

// abandon removes what a way back that was not finished has added. Its constraints would refuse ids
// that do not fit into the old columns, and keep those from being dropped.
func (j *pgJob) abandon() []Step {
	var steps []Step
	drop := func(m *member, name string, tables ...*pgTable) {
		s := j.removing(StepRemove, m.table, "SELECT NOT "+hasConstraint(m.table, name, ""), append(locking(allMode, tables...), fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", m.table.sql(), quote(name)))...)
		s.Back = "none is needed"
		steps = append(steps, s)
	}
	for _, m := range j.members {
		for _, k := range m.table.Foreign {
			if strings.HasPrefix(k.Name, prefix) && j.concerns(m, k) {
				drop(m, k.Name, j.tables[k.To], m.table)
			}
		}
	}
	for _, m := range j.members {
		if name := short("equal_" + m.live.Name); m.moves && slices.Contains(m.table.Checks, name) {
			drop(m, name, m.table)
		}
	}
	return steps
}

// fits refuses a way back on which values would be lost, before anything is changed.
func (j *pgJob) fits(ctx context.Context) error {
	for _, m := range j.members {
		if !m.moves || !isInt(m.shadow.Type) || slices.Contains(m.table.Checks, short("equal_"+m.live.Name)) {
			continue
		}
		low, high := limitsOf(m.shadow.Type)
		fit := func(what, query string, args ...any) error {
			var value sql.NullString
			if err := j.pg.q.QueryRowContext(ctx, fmt.Sprintf(query, args...)).Scan(&value); err != nil {
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

// concerns reports whether a foreign key of ours is from the member or its shadow.
func (j *pgJob) concerns(m *member, k pgForeign) bool {
	return k.Num[0] == m.live.Num || m.shadow != nil && k.Num[0] == m.shadow.Num
}

func (j *pgJob) removing(as StepName, t *pgTable, check string, statements ...string) Step {
	back := "none: the old values are gone. Do this step when the old column is not needed any more"
	if as == StepRemove {
		back = "the migration from the beginning"
	}
	return j.locked(as, t, check, back, statements...)
}
