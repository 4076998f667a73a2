package migrate

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// plan returns the plan to change smallint and integer columns to bigint, or back after the swap.
func (j *job) plan(ctx context.Context) (Plan, error) {
	swapped, narrow := false, false
	for _, m := range j.members {
		narrow = narrow || isInt(m.live.Type)
		swapped = swapped || m.shadow != nil && isInt(m.shadow.Type)
		if !isInt(m.live.Type) && m.live.Type != "bigint" {
			return Plan{}, refuse(m.table, "%s has the type %s: must be smallint, integer or bigint", m.live.Name, m.live.Type)
		}
		if m.shadow != nil && m.table.trigger() == nil {
			return Plan{}, refuse(m.table, "has a column %s that is not of this migration", m.shadow.Name)
		}
		if err := j.refuseOther(m.table); err != nil {
			return Plan{}, err
		}
	}
	key := j.members[0]
	if swapped && narrow {
		return Plan{}, refuse(key.table,
			"is swapped, but a column that refers to it is new: run it again with Finish, then without")
	}
	p := Plan{Table: key.table.String(), Column: key.live.Name}
	for _, m := range j.members {
		m.moves = isInt(m.live.Type) || swapped && m.shadow != nil
		p.Columns = append(p.Columns, m.table.String()+"."+m.live.Name)
	}
	if narrow && !j.cfg.Undo || swapped && j.cfg.Undo { // otherwise the plan only drops columns
		if err := j.refuseMembers(ctx); err != nil {
			return Plan{}, err
		}
	}
	switch {
	case j.cfg.Undo && swapped:
		if err := j.checkRange(ctx); err != nil {
			return Plan{}, err
		}
		p.Steps = slices.Concat(j.fills(), j.prepare(), []Step{j.swap()}, j.remove(StepRemove))
	case j.cfg.Undo:
		if slices.ContainsFunc(j.members, func(m *member) bool { return m.shadow != nil }) {
			p.Steps = j.remove(StepRemove)
		}
	case swapped:
		p.Steps = slices.Concat(j.removeUndo(), j.remove(StepFinish))
	case narrow:
		p.Steps = slices.Concat(j.addColumns(), j.fills(), j.prepare(), []Step{j.swap()}, j.remove(StepFinish))
		p.Notes = []string{
			"COPY … FROM without a list of columns fails from the first step on, as does INSERT INTO … SELECT * FROM the table.",
			"The new columns come last: after the swap, an INSERT without a list of columns fails or sets the wrong columns, " +
				"and SELECT * has another order.",
			"A prepared statement that returns one of the columns fails once after the swap, because the type of its result " +
				"changes: try it again. A session that has prepared a statement before the swap takes no id in it: start " +
				"programs that insert ids afterwards.",
			"A trigger that takes NEW as a whole, as to_jsonb(NEW) does, finds the new columns in it.",
			"The fill writes each row once: a table needs up to twice its space until it is vacuumed.",
			"The swap waits for all transactions that began before the fill ended, those of standbys included.",
			fmt.Sprintf("A step for which programs wait is tried again after %v without its locks, or %v with them.",
				j.cfg.LockTimeout, j.cfg.HoldTimeout),
		}
	}
	return p, nil
}

// function returns the statement that creates the trigger's function. With narrowing (back to an integer),
// the function sets NULL for a value that does not fit.
func (j *job) function(t *table, narrowing bool) string {
	var sets strings.Builder
	for _, m := range j.membersOf(t) {
		value := "NEW." + quote(m.live.Name)
		if narrowing {
			low, high := limitsOf(m.live.Type)
			value = fmt.Sprintf("CASE WHEN %s BETWEEN %d AND %d THEN %s END", value, low, high, value)
		}
		fmt.Fprintf(&sets, "%s%s; ", setShadow(m.name), value)
	}
	return "CREATE OR REPLACE FUNCTION " + functionName(t) + "() RETURNS trigger LANGUAGE plpgsql AS $snow$ BEGIN " +
		sets.String() + "RETURN NEW; END $snow$"
}

// setShadow returns the beginning of the assignment to a shadow in the trigger's function.
func setShadow(name string) string { return "NEW." + quote(name) + " := " }

func functionName(t *table) string { return quote(t.Schema, short(t.Name)) }

// addColumns returns the steps that add the columns of each table, with a trigger that sets them.
func (j *job) addColumns() []Step {
	var steps []Step
	for _, t := range j.moving() {
		name, trigger := functionName(t)+"()", quote(ourTrigger)
		s := locked(StepColumns, t, "", allMode, t)
		s.Check = fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = %s AND tgname = %s)",
			regclass(t), literal(ourTrigger))
		for _, m := range j.membersOf(t) {
			alter := fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s ", t.sql(), quote(m.name))
			s.add("ALTER TABLE %s ADD COLUMN IF NOT EXISTS %s bigint", t.sql(), quote(m.name))
			if m.live.Statistics >= 0 {
				s.add("%sSET STATISTICS %d", alter, m.live.Statistics)
			}
			if m.live.Options != "" {
				s.add("%sSET (%s)", alter, m.live.Options)
			}
			s.Check += " AND " + hasColumn(t, m.name)
		}
		s.add("DROP TRIGGER IF EXISTS %s ON %s", trigger, t.sql())
		s.add("DROP FUNCTION IF EXISTS %s", name) // OR REPLACE would keep the old owner
		s.add("%s", j.function(t, false))
		s.add("CREATE TRIGGER %s BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s", trigger, t.sql(), name)
		s.add("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", t.sql(), trigger) // even with session_replication_role = replica
		steps = append(steps, s)
	}
	return steps
}

// fills returns the steps that copy the values of each table, row by row, that the trigger has not copied:
// those of old rows, and of rows written while it was disabled.
func (j *job) fills() []Step {
	var steps []Step
	for _, t := range j.moving() {
		var unset, sets, valid []string
		for _, m := range j.membersOf(t) {
			unset = append(unset, fmt.Sprintf("%s IS DISTINCT FROM %s", quote(m.name), quote(m.live.Name)))
			sets = append(sets, quote(m.name)+" = t."+quote(m.live.Name))
			valid = append(valid, hasConstraint(t, m.equal(), " AND convalidated"))
		}
		where := strings.Join(unset, " OR ")
		s := Step{Name: StepFill, Table: t.String(), Batches: true, Lock: locksRows}
		s.Check = fmt.Sprintf("SELECT (%s) OR NOT EXISTS (SELECT FROM %s WHERE %s)",
			strings.Join(valid, " AND "), t.sql(), where)
		if !j.cfg.FireTriggers {
			if s.triggers, s.always = t.fired(); len(s.triggers) > 0 {
				s.add("%s", silence)
			}
		}
		s.add("WITH batch AS (SELECT ctid FROM %s WHERE ctid >= $1 AND ctid < $2 AND (%s) FOR NO KEY UPDATE SKIP LOCKED) "+
			"UPDATE %s t SET %s FROM batch WHERE t.ctid = batch.ctid", t.sql(), where, t.sql(), strings.Join(sets, ", "))
		steps = append(steps, s)
	}
	return steps
}

// prepare returns the steps that give the shadows the constraints, indexes and foreign keys of the columns.
func (j *job) prepare() []Step {
	var steps []Step
	for _, m := range j.members {
		if m.moves {
			steps = append(steps, j.checked(m)...)
		}
	}
	for _, t := range j.moving() {
		for _, i := range j.movingIndexes(t) {
			steps = append(steps, j.index(t, &i))
		}
	}
	for m, k := range j.foreignKeys() {
		steps = append(steps, j.foreign(m, k)...)
	}
	return steps
}

// equal returns the name of a member's constraint.
func (m *member) equal() string { return short("equal_" + m.live.Name) }

// checked returns the steps that add a constraint that the columns are equal, first for new rows and then
// for all. With it, SET NOT NULL needs no scan. The second step also collects statistics.
func (j *job) checked(m *member) []Step {
	condition := fmt.Sprintf("%s IS NOT DISTINCT FROM %s", quote(m.name), quote(m.live.Name))
	if m.live.NotNull {
		condition = fmt.Sprintf("%s IS NOT NULL AND %s = %s", quote(m.name), quote(m.name), quote(m.live.Name))
	}
	alter := "ALTER TABLE " + m.table.sql()
	s := locked(StepCheck, m.table, "SELECT "+hasConstraint(m.table, m.equal(), ""), allMode, m.table)
	s.add("%s ADD CONSTRAINT %s CHECK (%s) NOT VALID", alter, quote(m.equal()), condition)
	validate := m.table.validate(m.equal())
	analyze := fmt.Sprintf("ANALYZE %s (%s)", m.table.sql(), quote(m.name))
	validate.Statements = append([]string{analyze}, validate.Statements...)
	return []Step{s, validate}
}

// validate returns the step that checks a constraint for old rows.
func (t *table) validate(constraint string) Step {
	return Step{
		Name: StepValidate, Table: t.String(), Lock: locksNone,
		Statements: []string{fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", t.sql(), quote(constraint))},
		Check:      "SELECT " + hasConstraint(t, constraint, " AND convalidated"),
	}
}

// movingIndexes returns the indexes of a table that have a column that moves.
func (j *job) movingIndexes(t *table) []index {
	moves := func(x indexColumn) bool { return j.shadowOf(t, x.Num) != "" }
	return slices.DeleteFunc(slices.Clone(t.Indexes), func(i index) bool {
		return strings.HasPrefix(i.Name, prefix) || !slices.ContainsFunc(i.Columns, moves)
	})
}

// index returns the step that creates an index like i on the shadows. It first drops an invalid one.
func (j *job) index(t *table, i *index) Step {
	var keys, included []string
	for n, x := range i.Columns {
		text := x.Definition
		if shadow := j.shadowOf(t, x.Num); shadow != "" {
			text = quote(shadow)
		} else if x.Num == 0 {
			text = "(" + text + ")"
		}
		if n >= i.Keys {
			included = append(included, text)
			continue
		}
		const descending, nullsFirst = 1, 2
		text += map[int]string{
			descending: " DESC NULLS LAST", descending | nullsFirst: " DESC", nullsFirst: " NULLS FIRST",
		}[x.Option]
		keys = append(keys, text)
	}
	text := quote(i.Method) + " (" + strings.Join(keys, ", ") + ")"
	if len(included) > 0 {
		text += " INCLUDE (" + strings.Join(included, ", ") + ")"
	}
	if i.Predicate != "" {
		text += " WHERE " + i.Predicate
	}
	name := quote(t.Schema, i.short())
	s := Step{Name: StepIndex, Table: t.String(), Lock: locksNone}
	const valid = "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid)"
	s.Check = fmt.Sprintf(valid, literal(name))
	s.add("DROP INDEX CONCURRENTLY IF EXISTS %s", name)
	kind := cmp.Or(map[bool]string{true: "UNIQUE INDEX"}[i.Unique], "INDEX")
	s.add("CREATE %s CONCURRENTLY %s ON %s USING %s", kind, quote(i.short()), t.sql(), text)
	return s
}

// foreignKeys returns the foreign keys from members of which at least one end moves.
func (j *job) foreignKeys() iter.Seq2[*member, foreignKey] {
	return func(yield func(*member, foreignKey) bool) {
		for _, m := range j.members {
			for _, k := range m.table.Foreign {
				if slices.Equal(k.Num, []int{m.live.Num}) && !strings.HasPrefix(k.Name, prefix) &&
					(m.moves || j.shadowOf(j.tables[k.To], k.ToNum[0]) != "") && !yield(m, k) {
					return
				}
			}
		}
	}
}

// foreign returns the steps that add a foreign key like k between the shadows, first for new rows and then
// for all. Until the swap, its name is k.short().
func (j *job) foreign(m *member, k foreignKey) []Step {
	parent, name := j.tables[k.To], k.short()
	from := cmp.Or(j.shadowOf(m.table, m.live.Num), m.live.Name)
	to := cmp.Or(j.shadowOf(parent, k.ToNum[0]), parent.byNum(k.ToNum[0]).Name)
	rest, old := strings.CutSuffix(k.Rest, " NOT VALID")
	s := locked(StepForeignKey, m.table, "SELECT "+hasConstraint(m.table, name, ""), writesMode, parent, m.table)
	s.add("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)%s NOT VALID",
		m.table.sql(), quote(name), quote(from), parent.sql(), quote(to), rest)
	s.Lock = locksWrites + ", in " + parent.String() + " too"
	if old {
		return []Step{s}
	}
	return []Step{s, m.table.validate(name)}
}
