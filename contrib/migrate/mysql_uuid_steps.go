package migrate

import (
	"fmt"
	"slices"
	"strings"
)

const (
	online  = ", ALGORITHM=INPLACE, LOCK=NONE"
	instant = ", ALGORITHM=INSTANT"

	onlineLock = "exclusive metadata lock at the beginning and the end: reads and writes of the table wait. None that stops anybody in between."
)

// myOnline says for how long a step that works in the background holds its locks.
func (cfg Config) myOnline(what string) string {
	return fmt.Sprintf("milliseconds, and before that at most %d s while it waits for transactions of others, with writers behind it. In between it %s, while programs read and write. It is tried again.", cfg.lockSeconds(), what)
}

// tables returns those of the members, the key's first.
func (j *myUUID) tables() []*myTable {
	var tables []*myTable
	for _, m := range j.members {
		if !slices.Contains(tables, m.table) {
			tables = append(tables, m.table)
		}
	}
	return tables
}

// references returns the members of a table that refer to the key.
func (j *myUUID) references(t *myTable) []*myMember {
	var members []*myMember
	for _, m := range j.members[1:] {
		if m.table == t {
			members = append(members, m)
		}
	}
	return members
}

// none is the UUID of a row that was inserted without one, where NULL cannot be.
func (c *myColumn) none() string {
	if c.typ == "uuid" {
		return "'00000000-0000-0000-0000-000000000000'"
	}
	return "''"
}

// given is the condition that a UUID is there.
func (c *myColumn) given(of string) string {
	name := of + "." + tick(c.name)
	if strings.Contains(c.typ, "binary") {
		return "COALESCE(REPLACE(HEX(" + name + "), '0', '') <> '', FALSE)"
	}
	return "COALESCE(" + name + " <> " + c.none() + ", FALSE)"
}

// hasNone reports whether the default of a column is that of addColumns.
func (c *myColumn) hasNone() bool {
	return c.fallback.Valid && !c.null && strings.Trim(c.fallback.String, "'0x-\\\x00") == ""
}

// addColumns adds the columns of ids. A program that knows only the id leaves out the UUID, so that
// gets a default, which a trigger replaces.
func (j *myUUID) addColumns() []Step {
	var steps []Step
	for _, t := range j.tables() {
		var adds, drops, checks []string
		for _, m := range j.members {
			if m.table != t {
				continue
			}
			adds, drops = append(adds, "ADD COLUMN "+tick(m.name)+" bigint NULL COMMENT "+text(uuidMark)), append(drops, "DROP COLUMN "+tick(m.name))
			checks = append(checks, "("+exists("COLUMNS", inTable("TABLE", t.schema, t.name)+" AND COLUMN_NAME = "+text(m.name))+")")
			if m != j.members[0] && !m.live.null && (!m.live.fallback.Valid || m.live.hasNone()) {
				adds, drops = append(adds, "ALTER COLUMN "+tick(m.live.name)+" SET DEFAULT "+m.live.none()), append(drops, "ALTER COLUMN "+tick(m.live.name)+" DROP DEFAULT")
			}
		}
		steps = append(steps, Step{
			Name: StepColumns, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(),
			Statements: []string{"ALTER TABLE " + t.sql() + " " + strings.Join(adds, ", ") + instant},
			Check:      "SELECT " + strings.Join(checks, " AND "), Back: "ALTER TABLE " + t.sql() + " " + strings.Join(drops, ", "),
		})
	}
	return steps
}

func hasIndex(t *myTable, name string) string {
	return exists("STATISTICS", inTable("TABLE", t.schema, t.name)+" AND INDEX_NAME = "+text(name))
}

// addIndex adds a unique index.
func (j *myUUID) addIndex(t *myTable, name, column string) Step {
	return j.index(t, name, "ADD UNIQUE KEY "+tick(name)+" ("+column+")")
}

func (j *myUUID) index(t *myTable, name, add string) Step {
	return Step{
		Name: StepIndex, Table: t.String(), stops: true, SizeMatters: true, Lock: onlineLock, Held: j.cfg.myOnline("reads the table"),
		Statements: []string{"ALTER TABLE " + t.sql() + " " + add + online},
		Check:      hasIndex(t, name), Back: "ALTER TABLE " + t.sql() + " DROP INDEX " + tick(name),
	}
}

// indexes are like those of the columns that refer to the key.
func (j *myUUID) indexes() []Step {
	var steps []Step
	for _, t := range j.tables() {
		for _, i := range t.indexes {
			if strings.HasPrefix(i.name, prefix) || !slices.ContainsFunc(j.references(t), func(m *myMember) bool { return i.has(m.live.name) }) {
				continue
			}
			var parts []string
			for _, p := range i.columns {
				part := tick(p.column)
				if p.length > 0 {
					part += fmt.Sprintf("(%d)", p.length)
				}
				for _, m := range j.references(t) {
					if p.column == m.live.name {
						part = tick(m.name)
					}
				}
				if p.descending {
					part += " DESC"
				}
				parts = append(parts, part)
			}
			steps = append(steps, j.index(t, short(i.name), "ADD KEY "+tick(short(i.name))+" ("+strings.Join(parts, ", ")+")"))
		}
	}
	return steps
}

func (j *myUUID) trigger(t *myTable, purpose, event, body string) Step {
	name := uuidTrigger + purpose + "_" + hash(t.String())
	return Step{
		Name: StepColumns, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(),
		Statements: []string{fmt.Sprintf("CREATE TRIGGER %s BEFORE %s ON %s FOR EACH ROW BEGIN %sEND", tick(t.schema, name), event, t.sql(), body)},
		Check:      exists("TRIGGERS", inTable("TRIGGER", t.schema, name)), Back: "DROP TRIGGER " + tick(t.schema, name),
	}
}

// setDefault lets the generator make the ids of new rows.
func (j *myUUID) setDefault() Step {
	key := j.members[0]
	t := key.table
	return Step{
		Name: StepDefault, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(), Statements: []string{t.setKey(key.name, j.cfg.Generator)},
		Check: exists("TRIGGERS", inTable("TRIGGER", t.schema, t.keyTrigger(key.name))), Back: "DROP TRIGGER " + tick(t.schema, t.keyTrigger(key.name)),
	}
}

// keepEqual makes the triggers that keep the two columns of a row that refers to the key equal in
// meaning. A program writes one of them. A row of the fill, which had no id, is left alone. They
// read the row that is referred to as the foreign key does: as it is now, with a shared lock.
func (j *myUUID) keepEqual() []Step {
	key := j.members[0]
	var steps []Step
	for _, t := range j.tables() {
		var insert, update strings.Builder
		for _, m := range j.references(t) {
			find := func(into, get, by, from string) string {
				find := fmt.Sprintf("SET NEW.%s = (SELECT p.%s FROM %s p WHERE p.%s = NEW.%s LOCK IN SHARE MODE); ", tick(into), tick(get), key.table.sql(), tick(by), tick(from))
				if t == key.table { // it may refer to itself
					find = fmt.Sprintf("IF NEW.%s = NEW.%s THEN SET NEW.%s = NEW.%s; ELSE %sEND IF; ", tick(from), tick(by), tick(into), tick(get), find)
				}
				return find
			}
			uuid, id := tick(m.live.name), tick(m.name)
			byUUID := find(m.name, key.name, key.live.name, m.live.name)
			byID := find(m.live.name, key.live.name, key.name, m.name) +
				fmt.Sprintf("IF NEW.%s IS NULL THEN SIGNAL SQLSTATE '23000' SET MESSAGE_TEXT = %s; END IF; ", uuid, text("there is no such row in "+key.table.String()))
			fmt.Fprintf(&insert, "IF %s THEN %sELSEIF NEW.%s IS NOT NULL THEN %sEND IF; ", m.live.given("NEW"), byUUID, id, byID)
			fmt.Fprintf(&update, "IF NOT (NEW.%s <=> OLD.%[1]s) THEN %s", uuid, byUUID)
			fmt.Fprintf(&update, "ELSEIF NOT (NEW.%s <=> OLD.%[1]s) AND (OLD.%[1]s IS NOT NULL OR NEW.%s IS NULL) THEN IF NEW.%[1]s IS NULL THEN SET NEW.%[2]s = NULL; ELSE %sEND IF; END IF; ", id, uuid, byID)
		}
		if insert.Len() > 0 {
			steps = append(steps, j.trigger(t, "upd", "UPDATE", update.String()), j.trigger(t, "ins", "INSERT", insert.String()))
		}
	}
	return steps
}

func (j *myUUID) fill() Step {
	key := j.members[0]
	var unset []string
	for _, m := range j.members {
		unset = append(unset, fmt.Sprintf("NOT EXISTS (SELECT 1 FROM %s c WHERE (%s IS NULL OR %[2]s = 0) AND %s)", m.table.sql(), tick(m.name), m.live.given("c")))
	}
	return Step{
		Name: StepFill, Table: key.table.String(), Batches: true, SizeMatters: true,
		Lock:       "exclusive locks on the rows of a batch and those that refer to them: an UPDATE of one of them waits until the batch has ended",
		Statements: []string{fmt.Sprintf("-- snowkey backfill --table %s --column %s --created-at %s", key.table, key.name, j.cfg.Backfill.CreatedAt)},
		Held:       fmt.Sprintf("by each batch of %d rows, and those that refer to them, for milliseconds; all batches: depends on the size of the table", j.cfg.BatchSize),
		Check:      "SELECT (" + hasIndex(key.table, key.table.uuidKey()) + ") OR " + strings.Join(unset, " AND "), // which comes after it
		Back:       "none is needed: nothing reads the columns",
	}
}

func hasForeign(t *myTable, name string) string {
	return exists("REFERENTIAL_CONSTRAINTS", "CONSTRAINT_SCHEMA = "+text(t.schema)+" AND TABLE_NAME = "+text(t.name)+" AND CONSTRAINT_NAME = "+text(name))
}

// foreignKeys lets the ids refer to the ids, as the UUIDs do to the UUIDs. They need no check: the
// backfill has made one, and the triggers and the old foreign keys keep it true.
func (j *myUUID) foreignKeys() []Step {
	key := j.members[0]
	var steps []Step
	for _, m := range j.members[1:] {
		for _, k := range m.foreign {
			t, name := m.table, short(k.name)
			steps = append(steps, Step{
				Name: StepForeignKey, Table: t.String(), stops: true, Lock: metaLock + ", and of " + key.table.String(), Held: j.cfg.myHeld(),
				Statements: []string{
					"SET SESSION foreign_key_checks = 0",
					fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) ON UPDATE %s ON DELETE %s%s", t.sql(), tick(name), tick(m.name), key.table.sql(), tick(key.name), k.onUpdate, k.onDelete, online),
					"SET SESSION foreign_key_checks = 1",
				},
				Check: hasForeign(t, name), Back: "ALTER TABLE " + t.sql() + " DROP FOREIGN KEY " + tick(name),
			})
		}
	}
	return steps
}

// swap makes a column the primary key, the id or again the UUID. The unique index of the other one
// is there, for foreign keys.
func (j *myUUID) swap(to string) Step {
	key := j.members[0]
	t, kind, back := key.table, "NULL COMMENT "+text(uuidMark), "the same migration once more"
	if to == key.name {
		kind, back = "NOT NULL DEFAULT 0", "snowkey migrate --undo, which swaps again" // without a DEFAULT, INSERT … SELECT asks for a value
	}
	return Step{
		Name: StepSwap, Table: t.String(), stops: true, SizeMatters: true, Lock: onlineLock, Held: j.cfg.myOnline("rebuilds the table"),
		Statements: []string{fmt.Sprintf("ALTER TABLE %s DROP PRIMARY KEY, MODIFY %s bigint %s, ADD PRIMARY KEY (%s)%s", t.sql(), tick(key.name), kind, tick(to), online)},
		Check:      exists("STATISTICS", inTable("TABLE", t.schema, t.name)+" AND INDEX_NAME = 'PRIMARY' AND COLUMN_NAME = "+text(to)), Back: back,
	}
}

// finish drops the UUIDs that refer to the key: first their foreign keys, so that a row needs none,
// then the triggers, then the columns.
func (j *myUUID) finish() []Step {
	key := j.members[0]
	const none = "none: the old columns are gone"
	var steps []Step
	for _, t := range slices.Backward(j.tables()) {
		var drops []string
		for _, m := range j.references(t) {
			for _, k := range t.foreign {
				if k.column == m.live.name {
					steps = append(steps, j.dropForeign(StepFinish, t, k, none))
				}
			}
			for _, i := range t.indexes {
				if i.has(m.live.name) && !strings.HasPrefix(i.name, prefix) {
					drops = append(drops, "DROP INDEX "+tick(i.name))
				}
			}
			null := "NULL" // without the comment
			if !m.live.null {
				null = "NOT NULL"
			}
			drops = append(drops, "DROP COLUMN "+tick(m.live.name), "MODIFY "+tick(m.name)+" bigint "+null)
		}
		if len(drops) > 0 {
			steps = append(steps, j.dropTriggers(StepFinish, t, "upd", "ins"))
			slices.Sort(drops)
			steps = append(steps, j.dropColumns(StepFinish, t, slices.Compact(drops), j.references(t)[0].live.name, none))
		}
	}
	t := key.table
	if name := t.idKey(); t.index(name) != nil || !j.swapped {
		steps = append(steps, Step{
			Name: StepFinish, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(), Back: none,
			Statements: []string{"ALTER TABLE " + t.sql() + " DROP INDEX " + tick(name) + online}, Check: "SELECT NOT (" + hasIndex(t, name) + ")",
		})
	}
	return steps
}

func (j *myUUID) dropForeign(as StepName, t *myTable, k myForeign, back string) Step {
	return Step{
		Name: as, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(), Back: back,
		Statements: []string{"ALTER TABLE " + t.sql() + " DROP FOREIGN KEY " + tick(k.name)}, Check: "SELECT NOT (" + hasForeign(t, k.name) + ")",
	}
}

func (j *myUUID) dropTriggers(as StepName, t *myTable, purposes ...string) Step {
	s := Step{Name: as, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(), Back: "the same migration once more"}
	var names []string
	for _, purpose := range purposes {
		name := uuidTrigger + purpose + "_" + hash(t.String())
		if purpose == "key" {
			name = t.keyTrigger(j.members[0].name)
		}
		names = append(names, text(name))
		s.Statements = append(s.Statements, "DROP TRIGGER IF EXISTS "+tick(t.schema, name))
	}
	s.Check = "SELECT NOT (" + exists("TRIGGERS", "TRIGGER_SCHEMA = "+text(t.schema)+" AND TRIGGER_NAME IN ("+strings.Join(names, ", ")+")") + ")"
	return s
}

func (j *myUUID) dropColumns(as StepName, t *myTable, drops []string, column, back string) Step {
	return Step{
		Name: as, Table: t.String(), stops: true, SizeMatters: true, Lock: onlineLock, Held: j.cfg.myOnline("rebuilds the table"),
		Statements: []string{"ALTER TABLE " + t.sql() + " " + strings.Join(drops, ", ") + online},
		Check:      "SELECT NOT (" + exists("COLUMNS", inTable("TABLE", t.schema, t.name)+" AND COLUMN_NAME = "+text(column)) + ")", Back: back,
	}
}

// remove drops what the migration has added, the key last: foreign keys refer to it.
func (j *myUUID) remove() []Step {
	key := j.members[0]
	var steps []Step
	for _, t := range slices.Backward(j.tables()) {
		var drops []string
		column := ""
		for _, m := range j.members {
			if m.table != t {
				continue
			}
			if m.shadow() != nil {
				for _, k := range t.foreign {
					if k.column == m.name { // on its own: the index that it needs goes in the next step
						steps = append(steps, j.dropForeign(StepRemove, t, k, "the migration from the beginning"))
					}
				}
				column = m.name
				drops = append(drops, "DROP COLUMN "+tick(m.name))
			}
			if m != key && m.live.hasNone() {
				drops = append(drops, "ALTER COLUMN "+tick(m.live.name)+" DROP DEFAULT")
			}
		}
		for _, i := range t.indexes {
			if strings.HasPrefix(i.name, prefix) && slices.ContainsFunc(j.members, func(m *myMember) bool { return m.table == t && i.has(m.name) || m == key && i.name == t.uuidKey() }) {
				drops = append(drops, "DROP INDEX "+tick(i.name))
			}
		}
		if column != "" {
			purposes := []string{"upd", "ins"}
			if t == key.table {
				purposes = append(purposes, "key")
			}
			steps = append(steps, j.dropTriggers(StepRemove, t, purposes...), j.dropColumns(StepRemove, t, drops, column, "the migration from the beginning"))
		}
	}
	return steps
}
