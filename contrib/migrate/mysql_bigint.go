package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// myJob is a migration of tables of MySQL or MariaDB. A change of a column's type copies the table,
// and stops writers for that long. So the migration copies the tables itself, while triggers keep
// the copies equal, and swaps names in the end.
type myJob struct {
	cfg     Config
	db      mysql
	tables  []*myTable // that are copied: each after those that it refers to
	columns []string   // that change, as table.column; the key first
	swapped bool
	started bool
}

func (e *myEngine) inspect(ctx context.Context, q querier) (*myJob, error) {
	db, err := e.look(ctx, q)
	if err != nil {
		return nil, err
	}
	j := &myJob{cfg: e.cfg, db: db}
	schema, table := splitTable(e.cfg.Table)
	t, err := j.db.table(ctx, schema, table)
	if err != nil {
		return nil, err
	}
	key := e.cfg.Column
	switch {
	case key == "" && len(t.primary) > 1:
		return nil, refuse(t, "has a primary key of %d columns: name one of them", len(t.primary))
	case key == "":
		key = t.primary[0]
	case t.column(key) == nil:
		return nil, fieldColumn(e.cfg, t)
	}
	if err := j.close(ctx, t, []string{t.column(key).name}, nil); err != nil {
		return nil, err
	}
	slices.Reverse(j.tables)
	slices.Reverse(j.columns)
	return j, j.state(ctx)
}

type name string

func (n name) String() string { return string(n) }

// close adds a table and those that refer to it, in the reverse order. The columns change.
func (j *myJob) close(ctx context.Context, t *myTable, columns []string, path []string) error {
	if slices.Contains(path, t.String()) {
		return refuse(t, "is in a cycle of foreign keys over several tables")
	}
	refer, err := j.db.foreign(ctx, "k.REFERENCED_TABLE_SCHEMA = ? AND k.REFERENCED_TABLE_NAME = ?", []any{t.schema, t.name})
	if err != nil {
		return fmt.Errorf("migrate: look for foreign keys to %s: %w", t, err)
	}
	for again := true; again; { // a table may refer to itself
		again = false
		for _, k := range refer {
			if k.schema == t.schema && k.table == t.name && slices.Contains(columns, k.toColumn) && !slices.Contains(columns, k.column) {
				columns, again = append(columns, k.column), true
			}
		}
	}
	for _, k := range slices.Backward(refer) {
		changes := slices.Contains(columns, k.toColumn)
		if k.columns > 1 {
			return refuse(t, "the foreign key %s of %s.%s has %d columns: only one is supported", k.name, k.schema, k.table, k.columns)
		}
		if k.schema == t.schema && k.table == t.name {
			continue
		}
		if k.schema != t.schema {
			return refuse(t, "the foreign key %s is in the database %s: only one database is supported", k.name, k.schema)
		}
		i := slices.IndexFunc(j.tables, func(o *myTable) bool { return o.schema == k.schema && o.name == k.table })
		if i >= 0 && !changes {
			continue
		}
		r, err := j.db.table(ctx, k.schema, k.table)
		if err != nil {
			return err
		}
		var next []string
		for _, o := range refer { // all columns of the table that refer to one that changes
			if o.schema == k.schema && o.table == k.table && slices.Contains(columns, o.toColumn) {
				next = append(next, o.column)
			}
		}
		if i >= 0 {
			return refuse(r, "refers to several of the tables that are copied: that is not supported")
		}
		if err := j.close(ctx, r, next, append(slices.Clone(path), t.String())); err != nil {
			return err
		}
	}
	for _, c := range slices.Backward(columns) {
		j.columns = append(j.columns, t.name+"."+c)
	}
	j.tables = append(j.tables, t)
	return nil
}

// state finds out what there is already.
func (j *myJob) state(ctx context.Context) error {
	var old, copies int
	for _, t := range j.tables {
		err := j.db.conn.QueryRowContext(ctx, "SELECT COUNT(CASE WHEN TABLE_NAME = ? THEN 1 END), COUNT(CASE WHEN TABLE_NAME = ? THEN 1 END) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?", prefix+"old_"+t.name, prefix+t.name, t.schema).Scan(&old, &copies)
		if err != nil {
			return fmt.Errorf("migrate: look for copies: %w", err)
		}
		j.swapped = j.swapped || old > 0
		j.started = j.started || copies > 0
	}
	return nil
}

// changing returns the columns of a table that change.
func (j *myJob) changing(t *myTable) []*myColumn {
	var changing []*myColumn
	for _, c := range j.columns {
		if table, column, _ := strings.Cut(c, "."); table == t.name && !strings.HasPrefix(t.column(column).typ, "bigint") {
			changing = append(changing, t.column(column))
		}
	}
	return changing
}

func (e *myEngine) planBigint(ctx context.Context, q querier) (Plan, error) {
	j, err := e.inspect(ctx, q)
	if err != nil {
		return Plan{}, err
	}
	_, column, _ := strings.Cut(j.columns[0], ".")
	p := Plan{Kind: e.cfg.Kind, Table: j.tables[0].String(), Column: column}
	narrow := false
	for _, c := range j.columns {
		p.Columns = append(p.Columns, j.tables[0].schema+"."+c)
		table, column, _ := strings.Cut(c, ".")
		t := j.tables[slices.IndexFunc(j.tables, func(t *myTable) bool { return t.name == table })]
		m := t.column(column)
		if !slices.Contains([]string{"tinyint", "smallint", "mediumint", "int", "bigint"}, plainType(m.typ)) {
			return p, refuse(t, "%s has the type %s: must be an integer", column, m.typ)
		}
		narrow = narrow || plainType(m.typ) != "bigint"
	}
	switch {
	case j.cfg.Undo && j.swapped:
		return p, refuse(j.tables[0], "is swapped: rows that were written since are in the new tables only, so there is no way back")
	case j.cfg.Undo && j.started:
		p.Steps = j.drop(StepRemove)
	case j.cfg.Undo:
	case j.swapped:
		p.Steps = j.drop(StepFinish)
	case narrow:
		p.Steps = slices.Concat(j.copies(), j.fills(), j.foreignKeys(), []Step{j.swap()}, j.drop(StepFinish))
		p.Notes = []string{
			"The tables are copied: that takes as much space again.",
			"TRUNCATE fires no trigger: use DELETE until the swap, or the rows are there again afterwards.",
			"An id that a program inserts raises AUTO_INCREMENT above it: end the programs that leave keys to AUTO_INCREMENT before the first that inserts ids.",
			"AUTO_INCREMENT skips a million numbers, so that none is given again that a deleted row had.",
			"A transaction that waits for a step can be the victim of a deadlock (error 1213): try it again, as always. So can a statement that meets the swap, with error 1146 about a table snow_migrate_….",
			"Foreign keys have other names afterwards. Views and routines follow the name of a table, and its privileges, too.",
			"After the swap there is no way back: rows that are written then are in the new tables only.",
		}
	}
	return p, nil
}

// plainType is a type without a width and words after it.
func plainType(typ string) string {
	typ, _, _ = strings.Cut(typ, " ")
	typ, _, _ = strings.Cut(typ, "(")
	return typ
}

const (
	metaLock = "exclusive metadata lock: reads and writes of the table wait"
	rowLocks = "shared locks on the rows of a batch: an UPDATE of one of them waits until the batch has ended; rows that others have locked are left for later"
)

func (cfg Config) myHeld() string {
	return fmt.Sprintf("milliseconds, whatever the size of the table, and before that at most %d s while it waits for transactions of others, with writers behind it. It is tried again.", cfg.lockSeconds())
}

// lockSeconds is LockTimeout as MySQL counts it.
func (cfg Config) lockSeconds() int64 {
	return max(int64((cfg.LockTimeout+time.Second-1)/time.Second), 1)
}

func exists(what, condition string) string {
	return "SELECT EXISTS (SELECT 1 FROM information_schema." + what + " WHERE " + condition + ")"
}

func inTable(column, schema, table string) string {
	return column + "_SCHEMA = " + text(schema) + " AND " + column + "_NAME = " + text(table)
}

// copies makes empty copies, and triggers that keep them equal. The trigger for DELETE is first: a
// row that was never copied can be deleted, but one that was deleted must not stay.
func (j *myJob) copies() []Step {
	var steps []Step
	for _, t := range j.tables {
		empty := Step{
			Name: StepCopy, Table: t.String(), Statements: []string{"CREATE TABLE IF NOT EXISTS " + t.copy() + " LIKE " + t.sql()}, Lock: "none that stops anybody", Held: "milliseconds: the copy is empty",
			Check: exists("TABLES", inTable("TABLE", t.schema, prefix+t.name)), Back: "DROP TABLE " + t.copy(),
		}
		for _, c := range j.changing(t) {
			empty.Statements = append(empty.Statements, "ALTER TABLE "+t.copy()+" MODIFY "+c.wide())
			empty.Check += " AND EXISTS (SELECT 1 FROM information_schema.COLUMNS WHERE " + inTable("TABLE", t.schema, prefix+t.name) + " AND COLUMN_NAME = " + text(c.name) + " AND DATA_TYPE = 'bigint')"
		}
		steps = append(steps, empty)
		for _, event := range []string{"DELETE", "UPDATE", "INSERT"} {
			steps = append(steps, j.trigger(t, event))
		}
	}
	return steps
}

// wide is the definition of a column as a bigint.
func (c *myColumn) wide() string {
	text := tick(c.name) + " bigint"
	if strings.Contains(c.typ, "unsigned") {
		text += " unsigned"
	}
	if c.null {
		text += " NULL"
	} else {
		text += " NOT NULL"
	}
	if c.fallback.Valid && !strings.EqualFold(c.fallback.String, "NULL") {
		text += " DEFAULT " + c.fallback.String
	}
	if strings.Contains(c.extra, "auto_increment") {
		text += " AUTO_INCREMENT"
	}
	if c.comment != "" {
		text += " COMMENT " + comment(c.comment)
	}
	return text
}

func comment(s string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(s) + "'"
}

func (t *myTable) triggerName(event string) string {
	return prefix + strings.ToLower(event[:3]) + "_" + hash(t.String())
}

// skipped is how many numbers may be given between the two statements of a trigger for INSERT.
const skipped = 1_000_000

func (j *myJob) trigger(t *myTable, event string) Step {
	var columns, values, sets []string
	for _, c := range t.columns {
		columns, values = append(columns, tick(c.name)), append(values, "NEW."+tick(c.name))
		sets = append(sets, tick(c.name)+" = NEW."+tick(c.name))
	}
	insert := "INSERT INTO " + t.copy() + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
	var same, old []string
	for _, c := range t.primary {
		same, old = append(same, "NEW."+tick(c)+" = OLD."+tick(c)), append(old, tick(c)+" = OLD."+tick(c))
	}
	remove := "DELETE FROM " + t.copy() + " WHERE " + strings.Join(old, " AND ")
	body := map[string]string{
		"DELETE": remove,
		"INSERT": insert,
		"UPDATE": "BEGIN IF NOT (" + strings.Join(same, " AND ") + ") THEN " + remove + "; END IF; " + insert + " ON DUPLICATE KEY UPDATE " + strings.Join(sets, ", ") + "; END",
	}
	name := t.triggerName(event)
	var statements []string
	if event == "INSERT" && t.counter > 0 { // no number is given again that a row had which was deleted
		statements = append(statements, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", t.copy(), t.counter+skipped))
	}
	return Step{
		Name: StepCopy, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(),
		Statements: append(statements, fmt.Sprintf("CREATE TRIGGER %s AFTER %s ON %s FOR EACH ROW %s", tick(t.schema, name), event, t.sql(), body[event])),
		Check:      exists("TRIGGERS", inTable("TRIGGER", t.schema, name)), Back: "DROP TRIGGER " + tick(t.schema, name),
	}
}

// fills copies rows in ranges of the first column of the key. The two arguments are its bounds.
func (j *myJob) fills() []Step {
	share := " FOR SHARE SKIP LOCKED"
	if j.db.maria {
		share = " LOCK IN SHARE MODE SKIP LOCKED"
	}
	var steps []Step
	for i, t := range j.tables {
		var columns, same []string
		for _, c := range t.columns {
			columns = append(columns, tick(c.name))
		}
		for _, c := range t.primary {
			same = append(same, "c."+tick(c)+" = t."+tick(c))
		}
		list, first := strings.Join(columns, ", "), tick(t.primary[0])
		missing := "NOT EXISTS (SELECT 1 FROM " + t.copy() + " c WHERE " + strings.Join(same, " AND ") + ")"
		check := "SELECT NOT EXISTS (SELECT 1 FROM " + t.sql() + " t WHERE " + missing + ")"
		if later := j.foreignKeys(); len(later) > 0 && i >= 0 { // they come after all fills
			check += " OR (" + later[0].Check + ")"
		}
		steps = append(steps, Step{
			Name: StepFill, Table: t.String(), Batches: true, SizeMatters: true, Lock: rowLocks,
			Statements: []string{fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s t WHERE %s >= ? AND %s <= ? AND %s%s", t.copy(), list, list, t.sql(), first, first, missing, share)},
			Held:       fmt.Sprintf("by each batch of about %d rows, for milliseconds; all batches: depends on the size of the table", j.cfg.BatchSize),
			Check:      check, Back: "none is needed: nothing reads the copy",
		})
	}
	return steps
}

// foreignKeys adds those of the tables to the copies. They need no check: the copies are equal.
func (j *myJob) foreignKeys() []Step {
	var steps []Step
	for _, t := range j.tables {
		for _, k := range t.foreign {
			to := tick(k.toSchema, k.to)
			if slices.ContainsFunc(j.tables, func(o *myTable) bool { return o.schema == k.toSchema && o.name == k.to }) {
				to = tick(k.toSchema, prefix+k.to)
			}
			name := short(k.name)
			steps = append(steps, Step{
				Name: StepForeignKey, Table: t.String(), stops: true, Lock: metaLock + ", of the copies", Held: j.cfg.myHeld(),
				Statements: []string{
					"SET SESSION foreign_key_checks = 0",
					fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) ON UPDATE %s ON DELETE %s, ALGORITHM=INPLACE, LOCK=NONE", t.copy(), tick(name), tick(k.column), to, tick(k.toColumn), k.onUpdate, k.onDelete),
					"SET SESSION foreign_key_checks = 1",
				},
				Check: exists("REFERENTIAL_CONSTRAINTS", "CONSTRAINT_SCHEMA = "+text(t.schema)+" AND TABLE_NAME = "+text(prefix+t.name)+" AND CONSTRAINT_NAME = "+text(name)),
				Back:  "ALTER TABLE " + t.copy() + " DROP FOREIGN KEY " + tick(name),
			})
		}
	}
	return steps
}

func (j *myJob) swap() Step {
	var renames []string
	for _, t := range j.tables {
		renames = append(renames, t.sql()+" TO "+t.old(), t.copy()+" TO "+t.sql())
	}
	t := j.tables[0]
	return Step{
		Name: StepSwap, Table: t.String(), stops: true, Lock: "exclusive metadata locks on all tables: reads and writes wait", Held: j.cfg.myHeld(),
		Statements: []string{"RENAME TABLE " + strings.Join(renames, ", ")}, Check: exists("TABLES", inTable("TABLE", t.schema, prefix+"old_"+t.name)),
		Back: "none: stop writers before it if you may need one",
	}
}

// drop removes the copies, or the old tables after the swap. Those that refer to others are first.
func (j *myJob) drop(as StepName) []Step {
	var steps []Step
	for _, t := range slices.Backward(j.tables) {
		table, stored, back := t.old(), prefix+"old_"+t.name, "none: the old tables are gone"
		if as == StepRemove {
			table, stored, back = t.copy(), prefix+t.name, "the migration from the beginning"
			for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
				name := t.triggerName(event)
				steps = append(steps, Step{
					Name: as, Table: t.String(), stops: true, Lock: metaLock, Held: j.cfg.myHeld(), Statements: []string{"DROP TRIGGER IF EXISTS " + tick(t.schema, name)},
					Check: "SELECT NOT (" + exists("TRIGGERS", inTable("TRIGGER", t.schema, name)) + ")", Back: back,
				})
			}
		}
		steps = append(steps, Step{
			Name: as, Table: t.String(), stops: true, Lock: "exclusive metadata lock on a table that nothing uses", Held: "while its file is removed",
			Statements: []string{"DROP TABLE IF EXISTS " + table}, Check: "SELECT NOT (" + exists("TABLES", inTable("TABLE", t.schema, stored)) + ")", Back: back,
		})
	}
	return steps
}
