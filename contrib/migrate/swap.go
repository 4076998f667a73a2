package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
)

// swap returns the step that exchanges the columns, with their names, defaults, indexes and constraints, in
// one transaction. The trigger then keeps the old column equal, so that the swap can be undone.
func (j *job) swap() Step {
	m := j.members[max(slices.IndexFunc(j.members, func(m *member) bool { return m.moves }), 0)]
	tables := j.moving()
	for m, k := range j.foreignKeys() {
		tables = append(tables, m.table, j.tables[k.To])
	}
	s := locked(StepSwap, m.table, "", allMode, tables...)
	s.Check = fmt.Sprintf("SELECT atttypid = %s::regtype FROM pg_attribute WHERE attrelid = %s AND attname = %s",
		literal(m.nextType()), regclass(m.table), literal(m.live.Name))
	for m, k := range j.foreignKeys() {
		s.add("ALTER TABLE %s DROP CONSTRAINT %s", m.table.sql(), quote(k.Name))
	}
	for _, t := range j.moving() {
		j.swapTable(t, &s)
		s.add("%s", j.function(t, m.nextType() == "bigint"))
	}
	for m, k := range j.foreignKeys() {
		s.add("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", m.table.sql(), quote(k.short()), quote(k.Name))
		s.remark(fmt.Sprintf("CONSTRAINT %s ON %s", quote(k.Name), m.table.sql()), k.Comment)
	}
	return s
}

// nextType returns the type that a member has after the swap.
func (m *member) nextType() string {
	if m.shadow != nil && isInt(m.shadow.Type) {
		return m.shadow.Type
	}
	return "bigint"
}

func (j *job) swapTable(t *table, s *Step) {
	alter, third := "ALTER TABLE "+t.sql(), short("swap")
	for _, i := range j.movingIndexes(t) {
		if i.Constraint != "" {
			s.add("%s DROP CONSTRAINT %s", alter, quote(i.Constraint))
		}
	}
	for _, m := range j.membersOf(t) {
		live, shadow := quote(m.live.Name), quote(m.name)
		m.swapNotNull(s)
		s.add("%s DROP CONSTRAINT %s", alter, quote(m.equal()))
		if m.live.Default != "" {
			s.add("%s ALTER COLUMN %s DROP DEFAULT", alter, live)
			s.add("%s ALTER COLUMN %s SET DEFAULT %s", alter, shadow, m.live.Default)
		}
		s.remark("COLUMN "+t.sql()+"."+shadow, m.live.Comment)
		s.add("%s RENAME COLUMN %s TO %s", alter, live, quote(third))
		s.add("%s RENAME COLUMN %s TO %s", alter, shadow, live)
		s.add("%s RENAME COLUMN %s TO %s", alter, quote(third), shadow)
		for _, q := range m.live.Sequences {
			if !q.Identity {
				s.add("ALTER SEQUENCE %s AS bigint OWNED BY %s.%s", q.Name, t.sql(), live)
			}
		}
	}
	for _, i := range j.movingIndexes(t) {
		name := i.short()
		if i.Constraint == "" {
			s.add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, i.Name), quote(third))
			s.add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, name), quote(i.Name))
			s.add("ALTER INDEX %s RENAME TO %s", quote(t.Schema, third), quote(name))
		} else {
			kind := "UNIQUE"
			if i.Primary {
				kind = "PRIMARY KEY"
			}
			s.add("%s ADD CONSTRAINT %s %s USING INDEX %s", alter, quote(i.Constraint), kind, quote(name))
			s.remark(fmt.Sprintf("CONSTRAINT %s ON %s", quote(i.Constraint), t.sql()), i.Remark)
		}
		s.remark("INDEX "+quote(t.Schema, i.Name), i.Comment)
	}
}

// swapNotNull moves NOT NULL, with its name, and the identity. An identity column must be NOT NULL.
func (m *member) swapNotNull(s *Step) {
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
		s.add("%s", m.swapIdentity(m.nextType()))
	}
	s.add("%s ALTER COLUMN %s DROP NOT NULL", alter, live)
}

// remark adds the comment of an object that replaces another.
func (s *Step) remark(object, comment string) {
	if comment != "" {
		s.add("COMMENT ON %s IS %s", object, literal(comment))
	}
}

// dropConstraint returns the step that drops a constraint that a migration has added.
func dropConstraint(m *member, name string, tables ...*table) Step {
	s := locked(StepRemove, m.table, "SELECT NOT "+hasConstraint(m.table, name, ""), allMode, tables...)
	s.add("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", m.table.sql(), quote(name))
	return s
}

// dropForeign returns the steps that drop the foreign keys that a migration has added.
func (j *job) dropForeign() []Step {
	var steps []Step
	for _, m := range j.members {
		for _, k := range m.table.Foreign {
			if strings.HasPrefix(k.Name, prefix) && (k.Num[0] == m.live.Num || m.shadow != nil && k.Num[0] == m.shadow.Num) {
				steps = append(steps, dropConstraint(m, k.Name, j.tables[k.To], m.table))
			}
		}
	}
	return steps
}

// remove returns the steps that drop the shadows and the trigger, one table at a time. PostgreSQL also drops
// the indexes and constraints on the shadows.
func (j *job) remove(as string) []Step {
	var steps []Step
	if as == StepRemove {
		steps = j.dropForeign()
	}
	for _, t := range j.moving() {
		s := locked(as, t, "SELECT true", allMode, t)
		s.add("DROP TRIGGER IF EXISTS %s ON %s", quote(ourTrigger), t.sql())
		s.add("DROP FUNCTION IF EXISTS %s()", functionName(t))
		for _, m := range j.membersOf(t) {
			s.add("ALTER TABLE %s DROP COLUMN IF EXISTS %s", t.sql(), quote(m.name))
			s.Check += " AND NOT " + hasColumn(t, m.name)
		}
		steps = append(steps, s)
	}
	return steps
}

// removeUndo returns the steps that remove what an unfinished Undo has added. Its constraints would refuse
// ids that do not fit into the old columns, and prevent dropping those columns.
func (j *job) removeUndo() []Step {
	steps := j.dropForeign()
	for _, m := range j.members {
		if m.moves && slices.Contains(m.table.Checks, m.equal()) {
			steps = append(steps, dropConstraint(m, m.equal(), m.table))
		}
	}
	return steps
}

// checkRange returns an error if Undo would lose values, before anything is changed: of rows, or the next one of
// the sequence.
func (j *job) checkRange(ctx context.Context) error {
	for _, m := range j.members {
		if !m.moves || !isInt(m.shadow.Type) || slices.Contains(m.table.Checks, m.equal()) {
			continue
		}
		low, high := limitsOf(m.shadow.Type)
		column := quote(m.live.Name)
		values := fmt.Sprintf("SELECT min(%[1]s) AS v FROM %[2]s UNION ALL SELECT max(%[1]s) FROM %[2]s",
			column, m.table.sql())
		if s := m.live.Sequences; len(s) == 1 || len(s) > 1 && s[0].Identity {
			values += " UNION ALL SELECT last_value FROM " + s[0].Name
		}
		var value sql.NullString
		query := fmt.Sprintf("SELECT max(v) FROM (%s) r WHERE v NOT BETWEEN %d AND %d", values, low, high)
		if err := j.q.QueryRowContext(ctx, query).Scan(&value); err != nil {
			return fmt.Errorf("migrate: look for values that do not fit: %w", err)
		}
		if value.Valid {
			return refuse(m.table, "%s, or its sequence, has the value %s, which does not fit into %s: there is no way back",
				m.live.Name, value.String, m.shadow.Type)
		}
	}
	return nil
}

// The sequence of an identity column cannot be given to another column: DROP IDENTITY drops it. So the
// migration makes it again in the same transaction, with the same name and value.

// limitsOf returns the least and the greatest values of a type.
func limitsOf(typ string) (low, high int64) {
	switch typ {
	case "smallint":
		return math.MinInt16, math.MaxInt16
	case "integer":
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// options returns the options of the sequence for a type. A limit that equals the old type's limit becomes
// the new type's limit.
func (s *sequence) options(typ string) string {
	low, high := s.Min, s.Max
	oldLow, oldHigh := limitsOf(s.Type)
	newLow, newHigh := limitsOf(typ)
	if low == oldLow {
		low = newLow
	}
	if high == oldHigh {
		high = newHigh
	}
	text := fmt.Sprintf("START WITH %d INCREMENT BY %d MINVALUE %d MAXVALUE %d CACHE %d",
		s.Start, s.Increment, low, high, s.Cache)
	if s.Cycle {
		text += " CYCLE"
	}
	return text
}

// swapIdentity returns the statement that moves the identity of a member to its shadow, with the sequence's
// value. The first statement of the block changes nothing, but its lock makes calls of nextval wait for the
// new sequence.
func (m *member) swapIdentity(typ string) string {
	s, alter := m.live.Sequences[0], "ALTER TABLE "+m.table.sql()+" ALTER COLUMN "
	block := []string{
		"DECLARE place record; BEGIN",
		fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d;", s.Name, s.Increment),
		fmt.Sprintf("SELECT last_value, is_called INTO place FROM %s;", s.Name),
		alter + quote(m.live.Name) + " DROP IDENTITY;",
		fmt.Sprintf("%s%s ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s);",
			alter, quote(m.name), m.live.Identity, s.Name, s.options(typ)),
		fmt.Sprintf("PERFORM setval(%s, place.last_value, place.is_called); END", literal(s.Name)),
	}
	return "DO " + literal(strings.Join(block, " "))
}
