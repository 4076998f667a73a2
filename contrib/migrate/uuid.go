package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// planUUID plans from a UUID to a second key of ids. Nothing is renamed: programs that know the UUID
// and programs that know the id work before and after the swap.
func (j *job) planUUID(ctx context.Context) (Plan, error) {
	key := j.members[0]
	swapped, begun := key.table.swappedKey() == key.live, key.table.function() != nil
	if !swapped && key.live.Type == "bigint" && !j.started() {
		return j.newPlan(), nil // there is nothing to do, or it is finished
	}
	if p, err := key.table.primary(); !swapped && (err != nil || p != key.live) {
		return Plan{}, refuse(key.table, "%s is not its primary key", key.live.Name)
	}
	for _, m := range j.members {
		m.moves = true
		if m == key && m.shadow != nil && !swapped && !begun {
			return Plan{}, refuse(m.table, "has a column %s that is not of this migration: drop it, or choose another name", m.name)
		}
		if err := j.refuseUUID(m); err != nil {
			return Plan{}, err
		}
	}
	p := j.newPlan()
	switch {
	case j.cfg.Undo && swapped && !begun:
		return Plan{}, refuse(key.table, "the migration is finished: there is no way back")
	case j.cfg.Undo && swapped:
		p.Steps = slices.Concat(j.uuidBack(), j.uuidRemove(StepRemove))
	case j.cfg.Undo:
		if begun {
			p.Steps = j.uuidRemove(StepRemove)
		}
	case swapped:
		p.Steps = j.uuidRemove(StepFinish)
	default:
		p.Steps = slices.Concat(j.addColumns(), []Step{j.uuidFill()}, j.prepare(), []Step{key.table.indexed(key.table.uuidKey(), true, "btree", " ("+quote(key.live.Name)+")"), j.uuidSwap()}, j.uuidRemove(StepFinish))
		p.Notes = []string{
			"Programs may insert rows with " + key.live.Name + " alone at any time. They may insert rows that refer to " + key.name + " alone after the last step index.",
			"A transaction that updates several rows of " + key.table.String() + " can meet a deadlock with the fill, as with any UPDATE of many rows: try it again.",
			"The UUID stays in " + key.table.String() + ", and unique, also after the step finish: drop it when it has no more use.",
		}
	}
	if swapped || j.cfg.Undo {
		return p, nil
	}
	return p, j.refuseMembers(ctx)
}

// uuidKey names the unique index that the UUID has after the swap.
func (t *table) uuidKey() string { return short("key_" + t.Name) }

// swappedKey returns the UUID column of a table that was swapped, or nil.
func (t *table) swappedKey() *column {
	unique := t.index(t.uuidKey())
	primary, err := t.primary()
	if unique == nil || err != nil || unique.Columns[0].Num == primary.Num {
		return nil
	}
	if c := t.byNum(unique.Columns[0].Num); primary.Type == "bigint" {
		return c
	}
	return nil
}

func (j *job) refuseUUID(m *member) error {
	t, c, key := m.table, m.live, j.members[0]
	switch {
	case !slices.Contains([]string{"uuid", "text", "character varying", "character"}, strings.Split(c.Type, "(")[0]):
		return refuse(t, "%s has the type %s: must be uuid, or a text", c.Name, c.Type)
	case badName(m.name) != "":
		return refuse(t, "the new column %q %s", m.name, badName(m.name))
	case m.shadow != nil && m != key && t.trigger() == nil:
		return refuse(t, "has a column %s that is not of this migration: finish or drop it first", m.name)
	case m == key:
		return nil
	}
	for _, k := range t.Referring {
		if slices.Contains(k.ToNum, c.Num) {
			return refuse(t, "%s is a key that %s refers to: a migration of such a chain of UUIDs is not supported", c.Name, k.Name)
		}
	}
	indexed := false
	for _, i := range t.Indexes {
		has := slices.ContainsFunc(i.Columns, func(x indexColumn) bool { return x.Num == c.Num })
		if has && i.Unique {
			return refuse(t, "%s is in the unique index %s: programs that use it in ON CONFLICT would fail", c.Name, i.Name)
		}
		indexed = indexed || i.Columns[0].Num == c.Num && i.Valid && i.Predicate == ""
	}
	if !indexed {
		return refuse(t, "%s has no index that begins with it: the fill would lock the whole table; create one", c.Name)
	}
	for _, k := range t.Foreign {
		if k.Num[0] == c.Num && (k.Deferrable || k.OnUpdate != "a" && k.OnUpdate != "r") {
			return refuse(t, "the foreign key %s is deferrable, or has an ON UPDATE", k.Name)
		}
	}
	return nil
}

// setCondition holds if the new column is set when the old one is.
func (m *member) setCondition() string {
	if m.live.NotNull {
		return quote(m.name) + " IS NOT NULL"
	}
	return fmt.Sprintf("(%s IS NULL) = (%s IS NULL)", quote(m.name), quote(m.live.Name))
}

// keepsIndex reports whether an index of the UUID stays on it alone.
func (j *job) keepsIndex(t *table, i *index) bool {
	key := j.members[0]
	return j.cfg.Kind == UUID && t == key.table && !i.Primary && slices.ContainsFunc(i.Columns, func(x indexColumn) bool { return x.Num == key.live.Num })
}

// lookup returns the function that keeps the columns of a table equal in meaning. A program writes
// one of them. A row of the fill, which had no id, is left alone. It runs as the owner, as foreign
// keys do: a role that writes rows may have no right to read those that they refer to. No other role
// may use it in a trigger of its own, which would show it these rows.
func (j *job) lookup(t *table) string {
	key := j.members[0]
	var b strings.Builder
	for _, m := range j.membersOf(t) {
		if m == key {
			continue
		}
		find := func(into, get, by, from string) string {
			text := fmt.Sprintf("SELECT p.%s INTO NEW.%s FROM %s p WHERE p.%s = NEW.%s; IF NOT FOUND THEN RAISE foreign_key_violation USING MESSAGE = 'there is no such row in %s'; END IF; ",
				quote(get), quote(into), key.table.sql(), quote(by), quote(from), strings.ReplaceAll(key.table.String(), "'", "''"))
			if t == key.table { // it may refer to itself
				text = fmt.Sprintf("IF NEW.%s = NEW.%s THEN NEW.%s := NEW.%s; ELSE %sEND IF; ", quote(from), quote(by), quote(into), quote(get), text)
			}
			return text
		}
		uuid, id := "NEW."+quote(m.live.Name), "NEW."+quote(m.name)
		oldUUID, oldID := "OLD."+quote(m.live.Name), "OLD."+quote(m.name)
		fmt.Fprintf(&b, "IF TG_OP = 'INSERT' THEN IF %s IS NOT NULL THEN %sELSIF %s IS NOT NULL THEN %sEND IF; ",
			uuid, find(m.name, key.name, key.live.Name, m.live.Name), id, find(m.live.Name, key.live.Name, key.name, m.name))
		fmt.Fprintf(&b, "ELSIF %s IS DISTINCT FROM %s THEN IF %s IS NULL THEN %s := NULL; ELSE %sEND IF; ", uuid, oldUUID, uuid, id, find(m.name, key.name, key.live.Name, m.live.Name))
		fmt.Fprintf(&b, "ELSIF %s IS DISTINCT FROM %s AND (%s IS NOT NULL OR %s IS NULL) THEN IF %s IS NULL THEN %s := NULL; ELSE %sEND IF; END IF; ",
			id, oldID, oldID, uuid, id, uuid, find(m.live.Name, key.live.Name, key.name, m.name))
	}
	return "CREATE OR REPLACE FUNCTION " + functionName(t) + "() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $snow$ BEGIN " + b.String() + "RETURN NEW; END $snow$"
}

func (j *job) uuidFill() Step {
	key := j.members[0]
	var unset []string
	var filled []live.Filled
	for _, m := range j.members {
		filled = append(filled, m.table.filled(m.name))
		unset = append(unset, fmt.Sprintf("NOT EXISTS (SELECT FROM %s WHERE %s IS NULL AND %s IS NOT NULL)", m.table.sql(), quote(m.name), quote(m.live.Name)))
	}
	return Step{
		Name: StepFill, Table: key.table.String(), Batches: true, SizeMatters: true, Lock: locksRows, filled: filled,
		Statements: []string{fmt.Sprintf("-- snowkey backfill --table %s --column %s --created-at %s", key.table, key.name, j.cfg.Backfill.CreatedAt)},
		Held:       fmt.Sprintf("by each batch of %d rows, and those that refer to them, for milliseconds; all batches: depends on the size of the table", j.cfg.BatchSize),
		Check:      fmt.Sprintf("SELECT (%s) OR %s", hasConstraint(key.table, short("set_"+key.live.Name), " AND convalidated"), strings.Join(unset, " AND ")),
		Back:       "none is needed: nothing reads the columns",
	}
}

func (j *job) uuidSwap() Step {
	key := j.members[0]
	t := key.table
	s := j.locked(StepSwap, t, isPrimary(t, key.name), "snowkey migrate --undo, which swaps again", locking(allMode, j.involved()...)...)
	for _, m := range j.members {
		for _, k := range j.foreignOf(m) {
			s.add("ALTER TABLE %s DROP CONSTRAINT %s", m.table.sql(), quote(k.Name))
			s.add("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", m.table.sql(), quote(k.name), quote(k.Name))
			k.remark(m.table, &s)
		}
	}
	for _, m := range j.members {
		if m.live.NotNull {
			s.add("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", m.table.sql(), quote(m.name))
			s.add("ALTER TABLE %s DROP CONSTRAINT %s", m.table.sql(), quote(short("set_"+m.live.Name)))
		}
	}
	primary := t.primaryIndex()
	s.add("ALTER TABLE %s DROP CONSTRAINT %s", t.sql(), quote(primary.Name))
	s.add("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY USING INDEX %s", t.sql(), quote(primary.Name), quote(short(primary.Name)))
	primary.remark(t, &s)
	return s
}

func isPrimary(t *table, name string) string {
	return fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indrelid = %s AND i.indisprimary AND a.attname = %s)", regclass(t), literal(name))
}

// uuidBack makes the UUID the primary key again.
func (j *job) uuidBack() []Step {
	key := j.members[0]
	t := key.table
	var steps []Step
	swap := j.locked(StepSwap, t, isPrimary(t, key.live.Name), "the same migration once more", locking(allMode, j.moving()...)...)
	for _, m := range j.members {
		for _, k := range m.table.Foreign {
			if m == key || m.shadow == nil || !slices.Equal(k.Num, []int{m.shadow.Num}) || strings.HasPrefix(k.Name, prefix) {
				continue
			}
			back := fk{k, t, short(k.Name)}
			steps = append(steps, j.foreignBetween(m, back, m.live.Name, key.live.Name)...)
			swap.add("ALTER TABLE %s DROP CONSTRAINT %s", m.table.sql(), quote(k.Name))
			swap.add("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", m.table.sql(), quote(back.name), quote(k.Name))
			k.remark(m.table, &swap)
		}
	}
	primary := t.primaryIndex()
	swap.add("ALTER TABLE %s DROP CONSTRAINT %s", t.sql(), quote(primary.Name))
	swap.add("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY USING INDEX %s", t.sql(), quote(primary.Name), quote(t.uuidKey()))
	for _, m := range j.members {
		if m.live.NotNull {
			swap.add("ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL", m.table.sql(), quote(m.name))
		}
	}
	primary.remark(t, &swap)
	return append(steps, swap)
}

// uuidRemove drops the columns of UUIDs that refer to the key, or for Undo the new columns.
func (j *job) uuidRemove(as StepName) []Step {
	var steps []Step
	key := j.members[0]
	for _, t := range slices.Backward(j.moving()) { // the key last: foreign keys refer to it
		ours := t == key.table && (t.function() != nil || t.swappedKey() != key.live) // it is not finished
		var names []string
		for _, m := range j.membersOf(t) {
			switch {
			case as == StepRemove:
				names = append(names, m.name)
			case m != key:
				names = append(names, m.live.Name)
			}
		}
		if !ours && len(names) == 0 {
			continue
		}
		s := j.dropping(as, t, names)
		for _, m := range j.membersOf(t) {
			if as != StepRemove && m != key {
				m.renameIndexes(&s)
			}
		}
		if as == StepRemove && t == key.table {
			state := fmt.Sprintf("DELETE FROM snow_backfill WHERE name = %s", literal(t.String()+"."+key.name)) // of a backfill that was not finished
			s.add("DROP INDEX IF EXISTS %s", quote(t.Schema, t.uuidKey()))
			s.add("%s", do("BEGIN IF to_regclass('snow_backfill') IS NOT NULL THEN "+state+"; END IF; END"))
		}
		if ours {
			s.Check += " AND NOT " + hasFunction(t)
		}
		steps = append(steps, s)
	}
	return steps
}

// renameIndexes gives the names of indexes of a column that was dropped to those of its shadow.
func (m *member) renameIndexes(s *Step) {
	for _, i := range m.table.Indexes {
		if !strings.HasPrefix(i.Name, prefix) && slices.ContainsFunc(i.Columns, func(x indexColumn) bool { return x.Num == m.live.Num }) {
			s.add("ALTER INDEX IF EXISTS %s RENAME TO %s", quote(m.table.Schema, short(i.Name)), quote(i.Name))
			i.remark(m.table, s)
		}
	}
}
