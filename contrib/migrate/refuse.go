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

// dependents lists the objects that depend on tables and are not known to survive a migration. Its argument
// is a JSON object: for the oid of each table, an array of the numbers of the columns that move. It starts
// from pg_depend, so it also finds kinds of objects that a later PostgreSQL adds.
//
// An expression tree refers to a whole row with the attribute number 0, for which pg_depend has no record if
// the object also depends on a column. Function bodies that PostgreSQL keeps as text are searched for
// statements that depend on the number of a table's columns.
const dependents = `WITH t AS (SELECT c.oid, c.reltype, y.typarray,
		ARRAY(SELECT json_array_elements_text(j.value)::int) AS moving,
		regexp_replace(c.relname, '(\W)', '\\\1', 'g') AS word
		FROM json_each($1::json) j JOIN pg_class c ON c.oid = j.key::oid JOIN pg_type y ON y.oid = c.reltype),
	d AS (SELECT d.classid, d.objid, d.objsubid, d.refobjsubid AS num, t.oid AS rel, t.moving, '' AS of
		FROM t JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
		UNION ALL SELECT d.classid, d.objid, d.objsubid, 0, t.oid, t.moving, 'type'
		FROM t JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (t.reltype, t.typarray)
		UNION ALL SELECT d.classid, d.objid, d.objsubid, 0, t.oid, t.moving, 'key'
		FROM t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype IN ('p', 'u') AND k.conkey && t.moving::int2[]
		JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid AND d.deptype = 'n'),
	x AS (SELECT d.classid, d.objid, d.objsubid, r.ev_class AS view FROM d
		LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
		LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
		LEFT JOIN pg_policy y ON d.classid = 'pg_policy'::regclass AND y.oid = d.objid
		LEFT JOIN pg_trigger g ON d.classid = 'pg_trigger'::regclass AND g.oid = d.objid
		LEFT JOIN pg_proc f ON d.classid = 'pg_proc'::regclass AND f.oid = d.objid
		LEFT JOIN pg_statistic_ext s ON d.classid = 'pg_statistic_ext'::regclass AND s.oid = d.objid
		LEFT JOIN pg_attrdef a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
		LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
		LEFT JOIN pg_index i ON i.indexrelid = c.oid
		WHERE NOT coalesce(CASE
			WHEN d.of = 'key' THEN false
			WHEN d.classid = 'pg_type'::regclass THEN EXISTS (SELECT FROM t WHERE d.objid IN (t.reltype, t.typarray))
			WHEN d.of = 'type' THEN false
			WHEN concat(r.ev_action, r.ev_qual, k.conbin, y.polqual, y.polwithcheck, g.tgqual, to_jsonb(f) ->> 'prosqlbody',
				to_jsonb(s) ->> 'stxexprs', a.adbin, i.indexprs, i.indpred) LIKE '%:varattno 0 %' THEN false
			WHEN d.num <> ALL (d.moving) THEN coalesce(r.oid, k.oid, y.oid, g.oid, f.oid, s.oid, a.oid, c.oid) IS NOT NULL
			WHEN k.oid IS NOT NULL THEN k.contype IN ('p', 'u', 'f', 'n') OR k.conname LIKE 'snow\_migrate\_%'
			WHEN a.oid IS NOT NULL THEN a.adrelid = d.rel AND a.adnum = d.num
			WHEN c.oid IS NOT NULL THEN c.relkind = 'S' OR d.num = ANY (i.indkey::int2[])
			ELSE g.oid IS NOT NULL END, false)),
	o AS (SELECT type || ' ' || identity AS what FROM x LEFT JOIN pg_class v ON v.oid = x.view AND v.relkind IN ('v', 'm'),
		pg_identify_object(CASE WHEN v.oid IS NULL THEN classid ELSE 'pg_class'::regclass END,
			coalesce(v.oid, objid), objsubid)
		UNION SELECT type || ' ' || identity FROM t
		JOIN pg_proc p ON p.prosrc ~* concat('(^|\W)', t.word, '($|\W)')
		JOIN pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('internal', 'c') AND (
			p.prosrc ~* concat(CASE l.lanname WHEN 'sql' THEN '' ELSE '\m(insert\s+into|return\s+query)\M[^;]*' END,
				'(\.\s*\*|\mselect\s+((all|distinct)\s+)?\*|,\s*\*|\mtable\s+([\w"]+\s*\.\s*)?"?', t.word, '($|\W))')
			OR p.prosrc ~* concat('\minsert\s+into\s+([\w"]+\s*\.\s*)?"?', t.word, '"?\s+(as\s+\w+\s+)?',
				'(overriding\s+\w+\s+value\s+)?\(?\s*(values|select|table|with)\M')),
		pg_identify_object('pg_proc'::regclass, p.oid, 0) WHERE schema NOT IN ('pg_catalog', 'information_schema'))
	SELECT coalesce(json_agg(what ORDER BY what), '[]') FROM o`

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
	if err := j.q.QueryRowContext(ctx, dependents, string(arg)).Scan(&text); err != nil {
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

// wholeRow matches NEW.*, OLD.* and ($1).* in triggers: such a row would have additional columns.
var wholeRow = regexp.MustCompile(`\.\s*\*`) //nolint:gochecknoglobals // constant

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
	case short(i.Name) == short("swap"):
		return refuse(m.table, "the index %s has a name that the migration needs: rename it", i.Name)
	}
	return nil
}
