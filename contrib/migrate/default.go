package migrate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// planDefault plans from a sequence, or another generator, to a generator of ids. Programs may
// continue to insert rows without a key.
func (j *job) planDefault(ctx context.Context) (Plan, error) {
	key := j.members[0]
	t, c := key.table, key.live
	for _, m := range j.members {
		if m.live.Type != "bigint" {
			return Plan{}, refuse(m.table, "%s has the type %s, into which no id fits: migrate it to bigint first", m.live.Name, m.live.Type)
		}
	}
	if err := j.refuseDefault(); err != nil {
		return Plan{}, err
	}
	p := j.newPlan()
	p.Columns = p.Columns[:1] // those that refer to it stay as they are
	counts := c.Identity != "" || c.Counts || strings.HasPrefix(c.Default, "nextval(")
	other := false
	if !counts && c.Default != "" {
		var err error
		if other, err = j.fromAnother(ctx); err != nil {
			return Plan{}, err
		}
	}
	switch owned := len(c.Sequences) > 0; {
	case counts && j.cfg.Undo: // never begun
	case j.cfg.Undo && !owned:
		return Plan{}, refuse(t, "%s has no sequence any more: there is no way back", c.Name)
	case !owned && other:
		p.Steps, p.Notes = []Step{j.setDefault(other)}, []string{noteOther}
	case !counts && !owned && c.Default != "": // finished
	case !counts && !owned:
		return Plan{}, refuse(t, "%s has no default from a sequence", c.Name)
	case counts && !owned:
		return Plan{}, refuse(t, "the sequence of %s does not belong to it: ALTER SEQUENCE … OWNED BY %s.%s first", c.Name, t, c.Name)
	case len(c.Sequences) > 1:
		return Plan{}, refuse(t, "%s owns two sequences, %s and %s: which one to go back to is not known afterwards", c.Name, c.Sequences[0].Name, c.Sequences[1].Name)
	case counts && c.Identity == "" && (c.Unowned != "" || !regexp.MustCompile(`^nextval\('([^']|'')*'::regclass\)$`).MatchString(c.Default)):
		return Plan{}, refuse(t, "the default %s of %s is not the next value of the sequence that belongs to it", c.Default, c.Name)
	case j.cfg.Undo:
		p.Steps = []Step{j.defaultBack()}
	default:
		sequence := c.Sequences[0].Name
		if other {
			p.Steps, p.Notes = []Step{j.setDefault(other)}, []string{noteOther}
		}
		if counts {
			p.Steps = []Step{j.setDefault(other)}
			p.Notes = []string{"Programs that ask the sequence " + sequence + " themselves still get its numbers, which no generator makes."}
		}
		if counts && c.Identity != "" {
			p.Notes = append(p.Notes, c.Name+" is an ordinary column afterwards: an INSERT may name a key without OVERRIDING SYSTEM VALUE, and OVERRIDING USER VALUE has no effect.")
		}
		finish := j.locked(StepFinish, t, fmt.Sprintf("SELECT to_regclass(%s) IS NULL", literal(sequence)), "none: the sequence is gone", "DROP SEQUENCE "+sequence)
		finish.Lock = "ACCESS EXCLUSIVE on the sequence"
		p.Steps = append(p.Steps, finish)
	}
	return p, nil
}

// noteOther is about two generators of one column.
const noteOther = "First end the programs that insert ids of the old layout or namespace: later ones may equal ids of the new generator."

// aCall is what ddl.Generator writes after DEFAULT, also as PostgreSQL shows it.
var aCall = regexp.MustCompile(`^\s*((?:(?:"[^"]+"|\w+)\.)?(?:"[^"]+"|\w+))\(('(?:[^']|'')*')(?:::[a-z ]+)?\)\s*$`) //nolint:gochecknoglobals // constant

// fromAnother reports whether the default is another expression than the configured generator. It
// cannot tell if that is more than a call: how the server shows it is not known.
func (j *job) fromAnother(ctx context.Context) (bool, error) {
	is, wanted := aCall.FindStringSubmatch(j.members[0].live.Default), aCall.FindStringSubmatch(j.cfg.Generator)
	if is == nil || wanted == nil {
		return wanted != nil, nil
	}
	var same bool
	err := j.q.QueryRowContext(ctx, "SELECT to_regprocedure($1) IS NOT DISTINCT FROM to_regprocedure($2)", is[1]+"(text)", wanted[1]+"(text)").Scan(&same)
	if err != nil {
		return false, fmt.Errorf("migrate: look for the generator %s: %w", j.cfg.Generator, err)
	}
	return !same || is[2] != wanted[2], nil
}

// refuseDefault returns an error for a key on which this has not been tried.
func (j *job) refuseDefault() error {
	t, c := j.members[0].table, j.members[0].live
	for _, s := range c.Sequences {
		if err := t.refuseVersion(s.Comment); err != nil {
			return err
		}
	}
	switch {
	case c.Generated != "":
		return refuse(t, "%s is a generated column", c.Name)
	case t.trigger() != nil:
		return refuse(t, "is in another migration: finish it first")
	case !j.cfg.Undo && !slices.ContainsFunc(t.Indexes, func(i index) bool {
		return i.Columns[0].Num == c.Num && i.Method == "btree" && i.Valid && i.Predicate == ""
	}):
		return refuse(t, "%s has no index that begins with it: to find its greatest value would read the whole table, with writers stopped", c.Name)
	}
	return t.refuseIdentity(c)
}

// setDefault makes the generator the DEFAULT. An id that is not above all keys is an error, and
// changes nothing.
func (j *job) setDefault(other bool) Step {
	t, c := j.members[0].table, j.members[0].live
	alter := fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s SET DEFAULT ", t.sql(), quote(c.Name))
	const tries = 25 // in a quarter of a second: ids of ddl.Generator may be that much behind those of a lease
	s := j.locked(StepDefault, t, "SELECT "+j.hasDefault("NOT LIKE", "nextval(%"), alter+c.Default, locking(allMode, t)...)
	if other {
		s.Check, s.Back = "SELECT "+j.hasDefault("<>", c.Default), "the same migration with the generator "+c.Default+", if its ids are above all keys"
	}
	if c.Identity != "" {
		s.Statements, s.Back = append(s.Statements, t.plainSequence(c)), "snowkey migrate --undo, which makes it an identity column again"
	}
	s.Statements = append(s.Statements, alter+j.cfg.Generator,
		do(fmt.Sprintf("BEGIN FOR i IN 1..%d LOOP IF coalesce((%s) > (SELECT max(%s) FROM %s), true) THEN RETURN; END IF; PERFORM pg_sleep(0.01); END LOOP; RAISE EXCEPTION 'the generator makes ids that are not above all keys'; END",
			tries, j.cfg.Generator, quote(c.Name), t.sql())))
	return s
}

// defaultBack makes the sequence the DEFAULT, or the identity, again.
func (j *job) defaultBack() Step {
	t, c := j.members[0].table, j.members[0].live
	s := j.locked(StepDefault, t, "SELECT "+j.hasDefault("LIKE", "nextval(%"), "the same migration once more",
		append(locking(allMode, t), fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s SET DEFAULT nextval(%s)", t.sql(), quote(c.Name), literal(c.Sequences[0].Name)))...)
	if c.generated() != "" {
		s.Statements = append(locking(allMode, t), t.identitySequence(c))
		s.Check = fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = %s AND attname = %s AND attidentity <> '')", regclass(t), literal(c.Name))
	}
	return s
}

// hasDefault is true if the key has a DEFAULT for which the comparison is true.
func (j *job) hasDefault(operator, with string) string {
	t, c := j.members[0].table, j.members[0].live
	return fmt.Sprintf("EXISTS (SELECT FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = %s AND a.attname = %s AND pg_get_expr(d.adbin, d.adrelid) %s %s)",
		regclass(t), literal(c.Name), operator, literal(with))
}
