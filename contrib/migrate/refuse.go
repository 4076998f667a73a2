package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// refuse returns the error for something that a migration does not handle.
func refuse(t fmt.Stringer, reason string, args ...any) error {
	return live.Error("migrate", "Table", t.String(), reason, args...)
}

// refused selects the names of dependents and bodies. t has the tables that change. The query's argument is a JSON
// object: for the oid of each table, an array of the numbers of the columns that move.
const refused = `WITH t AS (SELECT c.oid, c.relname, c.reltype, y.typarray,
		ARRAY(SELECT json_array_elements_text(j.value)::int) AS moving
	FROM json_each($1::json) j JOIN pg_class c ON c.oid = j.key::oid JOIN pg_type y ON y.oid = c.reltype)
SELECT coalesce(json_agg(what ORDER BY what), '[]') FROM (` + dependents + " UNION " + bodies + ") q (what)"

// dependents selects the objects that depend on the tables t and are not known to survive a migration. It starts
// from pg_depend, so it also finds kinds of objects that a later PostgreSQL adds.
//
// d has what depends on a table (num is the column, or 0), on its row type, or on a key whose index has a column that
// moves, even if only in INCLUDE.
// o has a line for each known kind of object: its expressions, and whether the migration handles an object that
// depends on a column that moves. An expression refers to a whole row with the attribute number 0, for which
// pg_depend has no record if the object also depends on a column.
const dependents = `SELECT i.type || ' ' || i.identity FROM (
	SELECT e.classid, e.objid, e.objsubid, 'table' AS by, e.refobjsubid AS num, t.*
		FROM t JOIN pg_depend e ON e.refclassid = 'pg_class'::regclass AND e.refobjid = t.oid
	UNION ALL SELECT e.classid, e.objid, e.objsubid, 'type', 0, t.*
		FROM t JOIN pg_depend e ON e.refclassid = 'pg_type'::regclass AND e.refobjid IN (t.reltype, t.typarray)
	UNION ALL SELECT e.classid, e.objid, e.objsubid, 'key', 0, t.*
		FROM t JOIN pg_index x ON x.indrelid = t.oid AND x.indkey::int2[] && t.moving::int2[]
		JOIN pg_constraint k ON k.conindid = x.indexrelid AND k.contype IN ('p', 'u')
		JOIN pg_depend e ON e.refclassid = 'pg_constraint'::regclass AND e.refobjid = k.oid AND e.deptype = 'n'
	UNION ALL SELECT 'pg_constraint'::regclass, k.oid, 0, 'key', 0, t.*
		FROM t JOIN pg_index x ON x.indrelid = t.oid AND x.indkey::int2[] && t.moving::int2[]
		JOIN pg_constraint k ON k.conindid = x.indexrelid AND k.contype = 'f' AND NOT k.confkey && t.moving::int2[]
	) d LEFT JOIN LATERAL (
		SELECT 'pg_rewrite'::regclass AS class, concat(ev_action, ev_qual) AS expressions, false AS handled
			FROM pg_rewrite WHERE oid = d.objid
		UNION ALL SELECT 'pg_constraint'::regclass, concat(conbin),
			contype IN ('p', 'u', 'f', 'n') OR conname LIKE 'snow\_migrate\_%' FROM pg_constraint WHERE oid = d.objid
		UNION ALL SELECT 'pg_policy'::regclass, concat(polqual, polwithcheck), false FROM pg_policy WHERE oid = d.objid
		UNION ALL SELECT 'pg_trigger'::regclass, concat(tgqual), true FROM pg_trigger WHERE oid = d.objid
		UNION ALL SELECT 'pg_proc'::regclass, concat(to_jsonb(f) ->> 'prosqlbody'), false
			FROM pg_proc f WHERE oid = d.objid
		UNION ALL SELECT 'pg_statistic_ext'::regclass, concat(to_jsonb(s) ->> 'stxexprs'), false
			FROM pg_statistic_ext s WHERE oid = d.objid
		UNION ALL SELECT 'pg_attrdef'::regclass, concat(adbin), adrelid = d.oid AND adnum = d.num
			FROM pg_attrdef WHERE oid = d.objid
		UNION ALL SELECT 'pg_class'::regclass, concat(x.indexprs, x.indpred),
			c.relkind = 'S' OR coalesce(d.num = ANY (x.indkey::int2[]), false)
			FROM pg_class c LEFT JOIN pg_index x ON x.indexrelid = c.oid WHERE c.oid = d.objid
	) o ON o.class = d.classid
	LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
	LEFT JOIN pg_class v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm'), -- a view, instead of its rule
	pg_identify_object(CASE WHEN v.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass END,
		coalesce(v.oid, d.objid), d.objsubid) i
	WHERE NOT CASE
		WHEN d.classid = 'pg_type'::regclass THEN EXISTS (SELECT FROM t WHERE d.objid IN (t.reltype, t.typarray))
		WHEN d.by IN ('type', 'key') OR o.class IS NULL OR o.expressions LIKE '%:varattno 0 %' THEN false
		ELSE o.handled OR d.num <> ALL (d.moving) END`

// bodies selects the functions whose bodies PostgreSQL keeps as text, with statements that depend on the number of
// columns of one of the tables t: those that return or insert all columns, or insert without a list of columns.
const bodies = `SELECT i.type || ' ' || i.identity
	FROM t, regexp_replace(t.relname, '(\W)', '\\\1', 'g') word, pg_proc p
	JOIN pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('internal', 'c'),
	pg_identify_object('pg_proc'::regclass, p.oid, 0) i
	WHERE i.schema NOT IN ('pg_catalog', 'information_schema') AND p.prosrc ~* concat('(^|\W)', word, '($|\W)') AND (
		p.prosrc ~* concat(CASE l.lanname WHEN 'sql' THEN '' ELSE '\m(insert\s+into|return\s+query)\M[^;]*' END,
			'(\.\s*\*|\mselect\s+((all|distinct(\s+on\s*\([^)]*\))?)\s+)?\*|,\s*\*|\mtable\s+([\w"]+\s*\.\s*)?"?', word, '($|\W))')
		OR p.prosrc ~* concat('\minsert\s+into\s+([\w"]+\s*\.\s*)?"?', word, '"?\s+(as\s+\w+\s+)?',
			'(overriding\s+\w+\s+value\s+)?\(?\s*(values|select|table|with)\M'))`

// refuseDependents returns an error that names the dependents that would not survive the migration.
func (j *job) refuseDependents(ctx context.Context) error {
	columns := map[int64][]int{}
	for _, m := range j.members {
		if m.moves {
			columns[m.table.OID] = append(columns[m.table.OID], m.live.Num)
		}
	}
	arg, _ := json.Marshal(columns) // of numbers only
	var text string
	if err := j.q.QueryRowContext(ctx, refused, string(arg)).Scan(&text); err != nil {
		return fmt.Errorf("migrate: look for what depends on the tables: %w", err)
	}
	var found []string
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) == 0 {
		return err
	}
	reason := "these depend on columns that change, or on whole rows: %s. Drop them, and create them again after the swap"
	if slices.ContainsFunc(found, func(what string) bool { return strings.HasPrefix(what, "policy ") }) {
		reason += ". Without a policy, others may show more rows: instead of dropping it, ALTER POLICY … USING (false)"
	}
	return refuse(j.members[0].table, reason, strings.Join(found, ", "))
}

// wholeRow matches NEW.*, OLD.* and ($1).* in a trigger, and an INSERT of all columns of a transition table: such rows
// would have additional columns.
//
//nolint:gochecknoglobals // constant
var wholeRow = regexp.MustCompile(`(?is)\.\s*\*|\binsert\s+into\b[^;]*` +
	`(\bselect\s+((all|distinct(\s+on\s*\([^)]*\))?)\s+)?\*|,\s*\*|\btable\s+[\w"]).*\bREFERENCING\b`)

// refuseMembers returns an error if something of the members would not survive the migration.
func (j *job) refuseMembers(ctx context.Context) error {
	for _, m := range j.members {
		for _, k := range m.table.Foreign {
			if k.Odd != "" && slices.Contains(k.Num, m.live.Num) {
				return refuse(m.table, "the foreign key %s %s", k.Name, k.Odd)
			}
		}
		for _, k := range slices.Concat(m.table.Foreign, m.table.Referring) {
			from := k.Table == m.table.OID && m.shadow != nil && slices.Contains(k.Num, m.shadow.Num)
			to := k.To == m.table.OID && m.shadow != nil && slices.Contains(k.ToNum, m.shadow.Num)
			if (from || to) && !strings.HasPrefix(k.Name, prefix) {
				return refuse(m.table, "%s has a foreign key that is not of this migration", m.shadow.Name)
			}
		}
		if !m.moves {
			continue
		}
		if err := cmp.Or(m.refuseTriggers(), m.refuseColumn()); err != nil {
			return err
		}
		for _, i := range m.table.Indexes {
			if err := m.refuseIndex(&i); err != nil {
				return err
			}
		}
	}
	return j.refuseDependents(ctx)
}

// refuseOther returns an error if the trigger of a table belongs to another key's migration. A table has only one
// such trigger: this migration would replace it, and later drop it.
func (j *job) refuseOther(t *table) error {
	for _, c := range t.Columns {
		if g := t.trigger(); g != nil && strings.Contains(g.Source, setShadow(c.Name)) &&
			!slices.ContainsFunc(j.members, func(m *member) bool { return m.table == t && m.name == c.Name }) {
			return refuse(t, "has the column %s of a migration that is not finished: finish or undo that first", c.Name)
		}
	}
	return nil
}

func (m *member) refuseTriggers() error {
	t, c := m.table, m.live
	word := regexp.MustCompile(`(?i)(^|\W)` + regexp.QuoteMeta(c.Name) + `($|\W)`)
	for _, g := range t.Triggers {
		switch {
		case g.Name == ourTrigger && g.Enabled == "D":
			return refuse(t, "the trigger %s, which keeps the columns equal, is disabled: enable it", g.Name)
		case g.Name == ourTrigger:
		case wholeRow.MatchString(g.Source):
			return refuse(t, "the trigger %s has whole rows, such as NEW.*, to which columns are added", g.Name)
		case word.MatchString(g.Source):
			return refuse(t, "the trigger %s mentions %s", g.Name, c.Name)
		}
	}
	return nil
}

func (m *member) refuseColumn() error {
	t, c := m.table, m.live
	switch {
	case c.Odd != "":
		return refuse(t, "%s %s", c.Name, c.Odd)
	case c.Ends != "" && isInt(c.Type):
		return refuse(t, "%s has a sequence whose end would stay: ALTER SEQUENCE %s first", c.Name, c.Ends)
	case len(m.name) > live.MaxName:
		return refuse(t, "%s has a name of %d bytes: the new column's would be too long", c.Name, len(c.Name))
	case live.BadName(c.Name) != "":
		return refuse(t, "%q %s", c.Name, live.BadName(c.Name))
	}
	return nil
}

func (m *member) refuseIndex(i *index) error {
	is := func(x indexColumn) bool { return x.Num == m.live.Num }
	switch {
	case strings.HasPrefix(i.Name, prefix) || !slices.ContainsFunc(i.Columns, is):
		return nil
	case i.Odd != "":
		return refuse(m.table, "the index %s %s", i.Name, i.Odd)
	case slices.Contains(i.Within, 0) || slices.Contains(i.Within, m.live.Num):
		return refuse(m.table, "the index %s has an expression or a condition over %s", i.Name, m.live.Name)
	}
	return nil
}
