package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// planBigint plans from smallint and integer to bigint, or back after the swap.
func (j *job) planBigint(ctx context.Context) (Plan, error) {
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
	}
	if swapped && narrow {
		return Plan{}, refuse(j.members[0].table, "is swapped, but a column that refers to it is new: run it again with Finish, then without")
	}
	for _, m := range j.members {
		m.moves = isInt(m.live.Type) || swapped && m.shadow != nil
	}
	if narrow && !j.cfg.Undo || swapped && j.cfg.Undo { // the others drop columns only
		if err := j.refuseMembers(ctx); err != nil {
			return Plan{}, err
		}
	}
	p := j.newPlan()
	switch {
	case j.cfg.Undo && swapped:
		if err := j.checkRange(ctx); err != nil {
			return Plan{}, err
		}
		p.Steps = slices.Concat(j.fills(), j.prepare(), []Step{j.swap(true)}, j.remove(StepRemove))
	case j.cfg.Undo:
		if j.started() {
			p.Steps = j.remove(StepRemove)
		}
	case swapped:
		p.Steps = slices.Concat(j.removeUndo(), j.remove(StepFinish))
	case narrow:
		p.Steps = slices.Concat(j.addColumns(), j.sequences(), j.fills(), j.prepare(), []Step{j.swap(false)}, j.remove(StepFinish))
		p.Notes = append(p.Notes, j.notes()...)
	}
	return p, nil
}

func (j *job) newPlan() Plan {
	key := j.members[0]
	p := Plan{Kind: j.cfg.Kind, Table: key.table.String(), Column: key.live.Name}
	for _, m := range j.members {
		p.Columns = append(p.Columns, m.table.String()+"."+m.live.Name)
	}
	return p
}

// started reports whether there is something to remove.
func (j *job) started() bool {
	return slices.ContainsFunc(j.members, func(m *member) bool { return m.shadow != nil })
}

func (j *job) notes() []string {
	return []string{
		"COPY … FROM without a list of columns fails from the first step on, as does INSERT INTO … SELECT * FROM the table.",
		"The new columns come last: after the swap, an INSERT without a list of columns fails or sets the wrong columns, and SELECT * has another order.",
		"A prepared statement that returns one of the columns fails once after the swap, because the type of its result changes: try it again. A session that has prepared a statement before the swap takes no id in it: start programs that insert ids afterwards.",
		"The fill writes each row once: a table needs up to twice its space until it is vacuumed.",
	}
}

// moving returns the tables with a column that moves, each once.
func (j *job) moving() []*table {
	var tables []*table
	for _, m := range j.members {
		if m.moves && !slices.Contains(tables, m.table) {
			tables = append(tables, m.table)
		}
	}
	return tables
}

func (j *job) membersOf(t *table) []*member {
	return slices.DeleteFunc(slices.Clone(j.members), func(m *member) bool { return m.table != t || !m.moves })
}

// next returns the name of the column that will be used after the swap.
func (m *member) next() string {
	if m.moves {
		return m.name
	}
	return m.live.Name
}

// function returns the statement of the trigger's function. Back to an integer, a value that does
// not fit is left out.
func (j *job) function(t *table, narrowing bool) string {
	var sets strings.Builder
	for _, m := range j.membersOf(t) {
		value := "NEW." + quote(m.live.Name)
		if narrowing {
			low, high := limitsOf(m.live.Type)
			value = fmt.Sprintf("CASE WHEN %s BETWEEN %d AND %d THEN %s END", value, low, high, value)
		}
		fmt.Fprintf(&sets, "NEW.%s := %s; ", quote(m.name), value)
	}
	return "CREATE OR REPLACE FUNCTION " + functionName(t) + "() RETURNS trigger LANGUAGE plpgsql AS $snow$ BEGIN " + sets.String() + "RETURN NEW; END $snow$"
}

func functionName(t *table) string { return quote(t.Schema, short(t.Name)) }

// addColumns adds the columns of each table, with a trigger that sets them. With UUIDs, a new row of
// the key's table gets its id by the DEFAULT; the function says that its column was added by a
// migration, also if no trigger has it.
func (j *job) addColumns() []Step {
	key := j.members[0]
	var steps []Step
	for _, t := range j.moving() {
		s := j.locked(StepColumns, t, "SELECT "+hasFunction(t), "", locking(allMode, t)...)
		var drops []string
		members := j.membersOf(t)
		for _, m := range members {
			s.add("ALTER TABLE %s ADD COLUMN IF NOT EXISTS %s bigint", t.sql(), quote(m.name))
			s.Statements = append(s.Statements, m.settings()...)
			s.Check += " AND " + hasColumn(t, m.name)
			drops = append(drops, "DROP COLUMN "+quote(m.name))
		}
		s.Back = fmt.Sprintf("DROP FUNCTION %s(); ALTER TABLE %s %s", functionName(t), t.sql(), strings.Join(drops, ", "))
		function, fires := j.function(t, false), true
		if j.cfg.Kind == UUID {
			function, fires = j.lookup(t), t != key.table || len(members) > 1
		}
		if j.cfg.Kind == UUID && t == key.table {
			s.add("ALTER TABLE %s ALTER COLUMN %s SET DEFAULT %s", t.sql(), quote(key.name), j.cfg.Generator)
			s.Check += fmt.Sprintf(" AND EXISTS (SELECT FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = %s AND a.attname = %s)", regclass(t), literal(key.name))
		}
		trigger := quote(live.Trigger)
		if fires {
			s.add("DROP TRIGGER IF EXISTS %s ON %s", trigger, t.sql())
		}
		s.add("DROP FUNCTION IF EXISTS %s()", functionName(t)) // OR REPLACE would leave it to the role that owns it
		s.Statements = append(s.Statements, function)
		s.add("COMMENT ON FUNCTION %s() IS %s", functionName(t), literal(versionMark+version))
		if j.cfg.Kind == UUID {
			s.add("REVOKE ALL ON FUNCTION %s() FROM PUBLIC", functionName(t))
		}
		if fires {
			s.add("CREATE TRIGGER %s BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s()", trigger, t.sql(), functionName(t))
			s.add("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", t.sql(), trigger) // also with session_replication_role = replica
			s.Check += fmt.Sprintf(" AND EXISTS (SELECT FROM pg_trigger WHERE tgrelid = %s AND tgname = %s)", regclass(t), literal(live.Trigger))
			s.Back = fmt.Sprintf("DROP TRIGGER %s ON %s; ", trigger, t.sql()) + s.Back
		}
		steps = append(steps, s)
	}
	return steps
}

// sequences lets the sequences of columns count beyond integers.
func (j *job) sequences() []Step {
	var steps []Step
	for _, m := range j.members {
		for _, s := range m.live.Sequences {
			if !m.moves || s.Identity { // the swap makes that of an identity column again
				continue
			}
			step := j.locked(StepSequence, m.table, fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_sequence WHERE seqrelid = to_regclass(%s) AND seqtypid = 'bigint'::regtype)", literal(s.Name)),
				"ALTER SEQUENCE "+s.Name+" AS "+m.live.Type+", while its value fits", "ALTER SEQUENCE "+s.Name+" AS bigint")
			step.Lock = "SHARE ROW EXCLUSIVE on the sequence: inserts that need its next value wait"
			steps = append(steps, step)
		}
	}
	return steps
}

// settings returns the statements that give the new column the statistics of the old one.
func (m *member) settings() []string {
	var statements []string
	alter := "ALTER TABLE " + m.table.sql() + " ALTER COLUMN " + quote(m.name)
	if m.live.Statistics >= 0 {
		statements = append(statements, fmt.Sprintf("%s SET STATISTICS %d", alter, m.live.Statistics))
	}
	if m.live.Options != "" {
		statements = append(statements, fmt.Sprintf("%s SET (%s)", alter, m.live.Options))
	}
	return statements
}

func (j *job) fills() []Step {
	var steps []Step
	for _, t := range j.moving() {
		steps = append(steps, j.fill(t))
	}
	return steps
}

// fill copies the values, row by row, which the trigger has not, or could not while it was disabled.
func (j *job) fill(t *table) Step {
	var unset, sets, valid, names []string
	for _, m := range j.membersOf(t) {
		names = append(names, m.name)
		unset = append(unset, fmt.Sprintf("%s IS DISTINCT FROM %s", quote(m.name), quote(m.live.Name)))
		sets = append(sets, quote(m.name)+" = t."+quote(m.live.Name))
		valid = append(valid, hasConstraint(t, short("equal_"+m.live.Name), " AND convalidated"))
	}
	where := strings.Join(unset, " OR ")
	return Step{
		Name: StepFill, Table: t.String(), Batches: true, SizeMatters: true, Lock: locksRows, filled: []live.Filled{t.filled(names...)},
		Statements: []string{fmt.Sprintf("WITH batch AS (SELECT ctid FROM %s WHERE ctid >= $1 AND ctid < $2 AND (%s) FOR NO KEY UPDATE SKIP LOCKED) UPDATE %s t SET %s FROM batch WHERE t.ctid = batch.ctid",
			t.sql(), where, t.sql(), strings.Join(sets, ", "))},
		Held:  fmt.Sprintf("by each batch of about %d rows, for milliseconds; all batches: depends on the size of the table", j.cfg.BatchSize),
		Check: fmt.Sprintf("SELECT (%s) OR NOT EXISTS (SELECT FROM %s WHERE %s)", strings.Join(valid, " AND "), t.sql(), where),
		Back:  "none is needed: nothing reads the column",
	}
}

// prepare makes the shadows like the columns: checked, indexed, and with foreign keys.
func (j *job) prepare() []Step {
	var steps []Step
	for _, m := range j.members {
		switch {
		case m.moves && j.cfg.Kind == UUID:
			steps = append(steps, j.checked(m, "set_", m.setCondition())...)
		case m.moves:
			steps = append(steps, j.checked(m, "equal_", m.equalCondition())...)
		}
	}
	for _, t := range j.moving() {
		for _, i := range t.Indexes {
			if j.replacesIndex(t, &i) && !j.keepsIndex(t, &i) {
				steps = append(steps, j.index(t, &i))
			}
		}
		steps = append(steps, j.analyze(t))
	}
	for _, m := range j.members {
		for _, k := range j.foreignOf(m) {
			steps = append(steps, j.foreign(m, k)...)
		}
	}
	return steps
}

// equalCondition holds if the columns are equal. SET NOT NULL needs no scan then.
func (m *member) equalCondition() string {
	if m.live.NotNull {
		return fmt.Sprintf("%s IS NOT NULL AND %s = %s", quote(m.name), quote(m.name), quote(m.live.Name))
	}
	return fmt.Sprintf("%s IS NOT DISTINCT FROM %s", quote(m.name), quote(m.live.Name))
}

// checked adds a constraint, first for new rows and then for all.
func (j *job) checked(m *member, what, condition string) []Step {
	name := short(what + m.live.Name)
	alter := "ALTER TABLE " + m.table.sql()
	return []Step{j.locked(StepCheck, m.table, "SELECT "+hasConstraint(m.table, name, ""), fmt.Sprintf("%s DROP CONSTRAINT %s", alter, quote(name)),
		append(locking(allMode, m.table), fmt.Sprintf("%s ADD CONSTRAINT %s CHECK (%s) NOT VALID", alter, quote(name), condition))...), m.table.validate(name)}
}

// replacesIndex reports whether an index has a column that moves.
func (j *job) replacesIndex(t *table, i *index) bool {
	return !strings.HasPrefix(i.Name, prefix) && slices.ContainsFunc(i.Columns, func(x indexColumn) bool { return j.shadowOf(t, x.Num) != "" })
}

// shadowOf returns the name of the column that takes the place of another, or an empty string.
func (j *job) shadowOf(t *table, num int) string {
	for _, m := range j.membersOf(t) {
		if m.live.Num == num {
			return m.name
		}
	}
	return ""
}

func (j *job) index(t *table, i *index) Step {
	name := short(i.Name)
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
		text += map[int]string{descending: " DESC NULLS LAST", descending | nullsFirst: " DESC", nullsFirst: " NULLS FIRST"}[x.Option]
		keys = append(keys, text)
	}
	text := " (" + strings.Join(keys, ", ") + ")"
	if len(included) > 0 {
		text += " INCLUDE (" + strings.Join(included, ", ") + ")"
	}
	if i.Predicate != "" {
		text += " WHERE " + i.Predicate
	}
	return t.indexed(name, i.Unique, i.Method, text)
}

// indexed creates an index, after one that is invalid was dropped.
func (t *table) indexed(name string, unique bool, method, text string) Step {
	kind := map[bool]string{true: "UNIQUE INDEX"}[unique]
	drop := "DROP INDEX CONCURRENTLY IF EXISTS " + quote(t.Schema, name)
	return Step{
		Name: StepIndex, Table: t.String(), SizeMatters: true, Lock: locksNone, Held: heldLong("reads the table twice, and waits for transactions that are older"), Back: drop,
		Statements: []string{drop, fmt.Sprintf("CREATE %s CONCURRENTLY %s ON %s USING %s%s", cmp.Or(kind, "INDEX"), quote(name), t.sql(), quote(method), text)},
		Check:      fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid)", literal(quote(t.Schema, name))),
	}
}

func (j *job) analyze(t *table) Step {
	var names []string
	found := []string{"true"}
	for _, m := range j.membersOf(t) {
		names = append(names, quote(m.name))
		if m.live.Statistics == 0 { // none are wanted
			continue
		}
		found = append(found, fmt.Sprintf("EXISTS (SELECT FROM pg_stats WHERE schemaname = %s AND tablename = %s AND attname = %s)", literal(t.Schema), literal(t.Name), literal(m.name)))
	}
	return Step{
		Name: StepAnalyze, Table: t.String(), Statements: []string{fmt.Sprintf("ANALYZE %s (%s)", t.sql(), strings.Join(names, ", "))}, Lock: locksNone,
		Held:  "while it reads a sample of the rows",
		Check: fmt.Sprintf("SELECT (%s) OR NOT EXISTS (SELECT FROM %s)", strings.Join(found, " AND "), t.sql()), Back: "none is needed",
	}
}
