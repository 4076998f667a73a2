package migrate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// myDefault is a migration from AUTO_INCREMENT to a generator of ids, in MariaDB. No DEFAULT accepts
// a function there, so a trigger sets the key.
//
// AUTO_INCREMENT stays until the step finish: only with it does the server's reply to an INSERT have
// the key, which drivers return. The first id raises it above all ids, so the way back numbers rows
// by a sequence, which begins above the numbers that AUTO_INCREMENT has given.
type myDefault struct {
	cfg Config
	t   *myTable
	c   *myColumn
}

// noteOnce is about the moment when a trigger is made.
const noteOnce = "At the moment of the step, an INSERT can fail once with error 1305 or 1146, as if the generator or its tables did not exist: run it again."

func (e *myEngine) planDefault(ctx context.Context, q querier) (Plan, error) {
	db, err := e.look(ctx, q)
	if err != nil {
		return Plan{}, err
	}
	schema, table := splitTable(e.cfg.Table)
	t, err := db.read(ctx, schema, table)
	if err != nil {
		return Plan{}, err
	}
	if !db.maria {
		return Plan{}, refuse(t, "is in MySQL, which has no generator in SQL: let the programs make the ids, see docs/migrating.md")
	}
	c, err := e.keyOf(t)
	if err != nil {
		return Plan{}, err
	}
	d := myDefault{e.cfg, t, c}
	if err := d.refuse(); err != nil {
		return Plan{}, err
	}
	p := Plan{Kind: Default, Table: t.String(), Column: c.name, Columns: []string{t.String() + "." + c.name}}
	return p, d.plan(ctx, db, &p)
}

// keyOf returns the column of the key, or the one that the configuration names.
func (e *myEngine) keyOf(t *myTable) (*myColumn, error) {
	switch c := t.column(e.cfg.Column); {
	case e.cfg.Column != "" && c == nil:
		return nil, fieldColumn(e.cfg, t)
	case c != nil:
		return c, nil
	case len(t.primary) == 0:
		return nil, refuse(t, "has no primary key")
	case len(t.primary) > 1:
		return nil, refuse(t, "has a primary key of %d columns: name one of them", len(t.primary))
	}
	return t.column(t.primary[0]), nil
}

// refuse needs not look at the columns that refer to the key: InnoDB wants them to have its type.
func (d myDefault) refuse() error {
	t, c := d.t, d.c
	if plainType(c.typ) != "bigint" {
		return refuse(t, "%s has the type %s, into which no id fits: migrate it to bigint first", c.name, c.typ)
	}
	for _, g := range t.triggers {
		if g.name != t.keyTrigger(c.name) && g.timing == "BEFORE" && g.event == "INSERT" {
			return refuse(t, "has the trigger %s, which would see no key, or change it", g.name)
		}
	}
	return nil
}

// keyTrigger names the trigger that sets a column of ids, as ddl.Generator.SetDefault does.
func (t *myTable) keyTrigger(column string) string {
	name := "snowkey_" + t.name + "_" + column
	if len(name) > maxName {
		return short(hash(name))
	}
	return name
}

// setKey is the statement that makes the trigger: a key that is NULL or 0 is set.
func (t *myTable) setKey(column, expression string) string {
	return fmt.Sprintf("CREATE OR REPLACE TRIGGER %s BEFORE INSERT ON %s FOR EACH ROW SET NEW.%s = IF(NEW.%[3]s <> 0, NEW.%[3]s, (%s))",
		tick(t.schema, t.keyTrigger(column)), t.sql(), tick(column), expression)
}

// sequence names the one of the way back.
func (d myDefault) sequence() string { return short("seq_" + d.t.name) }

func (d myDefault) numbers() string { return "NEXTVAL(" + tick(d.t.schema, d.sequence()) + ")" }

func (d myDefault) plan(ctx context.Context, db mysql, p *Plan) error {
	t, c := d.t, d.c
	var sequence bool
	if err := db.conn.QueryRowContext(ctx, exists("TABLES", inTable("TABLE", t.schema, d.sequence()))).Scan(&sequence); err != nil {
		return fmt.Errorf("migrate: look for the sequence of %s: %w", t, err)
	}
	trigger := t.trigger(t.keyTrigger(c.name))
	counts := strings.Contains(c.extra, "auto_increment")
	generates := trigger != nil && !strings.Contains(trigger.body, d.sequence())
	other := generates && !calls(trigger.body, d.cfg.Generator)
	switch {
	case !counts && trigger == nil:
		return refuse(t, "%s has no AUTO_INCREMENT", c.name)
	case !counts && !sequence: // finished
		if d.cfg.Undo {
			return refuse(t, "%s has no AUTO_INCREMENT any more: there is no way back", c.name)
		}
		if other {
			p.Steps, p.Notes = []Step{d.generate(trigger)}, []string{noteOther, noteOnce}
		}
	case d.cfg.Undo && generates && !sequence:
		return refuse(t, "%s has no sequence beside the trigger %s: there is no way back", c.name, trigger.name)
	case d.cfg.Undo && !counts:
		return refuse(t, "%s has no AUTO_INCREMENT any more: there is no way back", c.name)
	case d.cfg.Undo && generates:
		p.Steps = []Step{d.goBack()}
		p.Notes = []string{"AUTO_INCREMENT is above the ids now, so a trigger takes numbers from a sequence, which begins a million above the last number of AUTO_INCREMENT."}
	case d.cfg.Undo && sequence && trigger == nil:
		p.Steps = []Step{d.dropSequence(StepRemove)}
	case d.cfg.Undo:
	default:
		if other {
			p.Steps, p.Notes = []Step{d.generate(trigger)}, []string{noteOther, noteOnce}
		}
		if !generates {
			p.Steps = []Step{d.makeSequence(), d.generate(trigger)}
			p.Notes = []string{
				"A program that inserts one row without a key gets the id as the server's reply to the INSERT, as its driver's LastInsertId. With several rows, that is the id of the last one, and with SELECT it is 0.",
				noteOnce,
				"The SQL function LAST_INSERT_ID() does not return these ids, but an older number of its session: use INSERT … RETURNING.",
				"The step finish drops AUTO_INCREMENT: then LastInsertId is 0, and only INSERT … RETURNING returns an id.",
				"Numbers of the way back skip a million, so that none is given again.",
			}
		}
		p.Steps = append(p.Steps, d.dropCounter(), d.dropSequence(StepFinish))
	}
	return nil
}

// makeSequence makes the one of the way back, above the numbers that may be given until the step
// that follows.
func (d myDefault) makeSequence() Step {
	t, name := d.t, tick(d.t.schema, d.sequence())
	return Step{
		Name: StepSequence, Table: t.String(), Lock: "none that stops anybody", Held: "milliseconds",
		Statements: []string{fmt.Sprintf("CREATE SEQUENCE IF NOT EXISTS %s START WITH %d", name, t.counter+skipped)},
		Check:      exists("TABLES", inTable("TABLE", t.schema, d.sequence())), Back: "DROP SEQUENCE " + name,
	}
}

// generate makes the trigger, unless the generator's ids are not above all keys. They may be two
// seconds behind those of a lease. The first time, AUTO_INCREMENT may have passed the sequence, if
// the migration was interrupted before this step.
func (d myDefault) generate(before *myTrigger) Step {
	t, c := d.t, d.c
	const tries = 30
	above := fmt.Sprintf("BEGIN NOT ATOMIC DECLARE i INT DEFAULT 0; DECLARE most DECIMAL(20) DEFAULT COALESCE((SELECT MAX(%s) FROM %s), 0); WHILE NOT COALESCE((%s) > most, FALSE) DO IF i = %d THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the generator makes ids that are not above all keys'; END IF; SET i = i + 1; DO SLEEP(0.1); END WHILE; END",
		tick(c.name), t.sql(), d.cfg.Generator, tries)
	statements := []string{above, t.setKey(c.name, d.cfg.Generator)}
	if before == nil { // SETVAL does not lower
		raise := fmt.Sprintf("DO SETVAL(%s, %d)", tick(t.schema, d.sequence()), t.counter+skipped)
		statements = slices.Insert(statements, 1, raise)
	}
	s := Step{
		Name: StepDefault, Table: t.String(), stops: true, Lock: metaLock, Held: d.cfg.myHeld(), Statements: statements,
		Check: exists("TRIGGERS", inTable("TRIGGER", t.schema, t.keyTrigger(c.name))+" AND INSTR(ACTION_STATEMENT, "+text(d.cfg.Generator)+") > 0"),
		Back:  t.setKey(c.name, d.numbers()),
	}
	if !strings.Contains(c.extra, "auto_increment") { // it was finished with another generator
		s.Back = "the same migration with the generator before, if its ids are above all keys"
	}
	return s
}

// calls reports whether a trigger has this expression, or is one of ddl.Generator that calls it,
// which names it in its own way.
func calls(body, expression string) bool {
	plain := strings.NewReplacer("`", "").Replace
	body, expression = plain(body), plain(expression)
	name, args, _ := strings.Cut(expression, "(")
	name = name[strings.LastIndex(name, ".")+1:]
	return strings.Contains(body, expression) || regexp.MustCompile(`\b`+regexp.QuoteMeta(name+"("+args)).MatchString(body)
}

func (d myDefault) goBack() Step {
	t, c := d.t, d.c
	return Step{
		Name: StepDefault, Table: t.String(), stops: true, Lock: metaLock, Held: d.cfg.myHeld(), Statements: []string{t.setKey(c.name, d.numbers())},
		Check: exists("TRIGGERS", inTable("TRIGGER", t.schema, t.keyTrigger(c.name))+" AND INSTR(ACTION_STATEMENT, "+text(d.sequence())+") > 0"),
		Back:  "the same migration once more",
	}
}

// dropCounter drops AUTO_INCREMENT. Without a DEFAULT, INSERT … SELECT asks for a value.
func (d myDefault) dropCounter() Step {
	t, c := d.t, d.c
	typ := "bigint"
	if strings.Contains(c.typ, "unsigned") {
		typ += " unsigned"
	}
	modify := tick(c.name) + " " + typ + " NOT NULL DEFAULT 0"
	if c.comment != "" {
		modify += " COMMENT " + comment(c.comment)
	}
	return Step{
		Name: StepFinish, Table: t.String(), stops: true, Lock: metaLock, Held: d.cfg.myHeld(), Back: "none: AUTO_INCREMENT is gone",
		Statements: []string{"SET SESSION foreign_key_checks = 0", "ALTER TABLE " + t.sql() + " MODIFY " + modify + ", ALGORITHM=INPLACE, LOCK=NONE", "SET SESSION foreign_key_checks = 1"},
		Check:      "SELECT NOT (" + exists("COLUMNS", inTable("TABLE", t.schema, t.name)+" AND COLUMN_NAME = "+text(c.name)+" AND EXTRA LIKE '%auto_increment%'") + ")",
	}
}

func (d myDefault) dropSequence(as StepName) Step {
	return Step{
		Name: as, Table: d.t.String(), stops: true, Lock: "exclusive metadata lock on the sequence, which nothing uses", Held: "milliseconds", Back: "none: the sequence is gone",
		Statements: []string{"DROP SEQUENCE IF EXISTS " + tick(d.t.schema, d.sequence())},
		Check:      "SELECT NOT (" + exists("TABLES", inTable("TABLE", d.t.schema, d.sequence())) + ")",
	}
}
