package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A DependentsError means that views, checks, policies or other objects depend on columns that
// change. Run the statements of Drop before the migration, and those of Create after the swap. It
// wraps a *core.ConfigError.
type DependentsError struct {
	Table   string
	Objects []string // such as: view public.v
	// One statement each. Functions, generated columns and rules have none.
	Drop, Create []string
}

func (e *DependentsError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the *core.ConfigError.
func (e *DependentsError) Unwrap() error {
	reason := "%s depend on columns that change: drop them, and create them again after the swap"
	if len(e.Objects) == 1 {
		reason = "%s depends on a column that changes: drop it, and create it again after the swap"
	}
	return live.Error("migrate", "Table", e.Table, reason, strings.Join(e.Objects, ", "))
}

// Script returns the statements, each with a semicolon, and comments.
func (e *DependentsError) Script() string {
	var b strings.Builder
	b.WriteString("-- Before the migration:\n")
	for _, s := range e.Drop {
		b.WriteString(s + ";\n")
	}
	b.WriteString("-- After the swap:\n")
	for _, s := range e.Create {
		b.WriteString(s + ";\n")
	}
	return b.String()
}

// dependents returns what depends on columns, on keys that they are in, or on views of them: the
// description, and the statements that drop it and create it again. Views come after those that
// they read, and policies last. Its
// argument is a JSON object with arrays of column numbers by the oid of their table. Without a
// search_path, all names have their schemas.
const dependents = `WITH RECURSIVE c AS (SELECT key::oid AS rel, n::int AS num FROM (SELECT set_config('search_path', '', true)) path, json_each($1::json), json_array_elements_text(value) n),
	d AS (SELECT DISTINCT d.classid, d.objid, d.objsubid FROM c JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.rel AND d.refobjsubid = c.num
			LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid LEFT JOIN pg_class x ON d.classid = 'pg_class'::regclass AND x.oid = d.objid LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
			WHERE NOT coalesce(k.contype IN ('p', 'u', 'f', 'n') OR k.conname LIKE 'snow\_migrate\_%', false) AND NOT coalesce(x.relkind = 'S', false) AND NOT coalesce(f.adrelid = c.rel AND f.adnum = c.num, false)
				AND NOT coalesce(x.relkind = 'i' AND EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = x.oid AND c.num = ANY (i.indkey::int2[])), false)
		UNION SELECT d.classid, d.objid, d.objsubid FROM c JOIN pg_constraint k ON k.conrelid = c.rel AND k.contype IN ('p', 'u') AND c.num = ANY (k.conkey) JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid AND d.deptype = 'n'),
	v AS (SELECT r.ev_class AS oid, 1 AS depth FROM d JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
		UNION SELECT r.ev_class, v.depth + 1 FROM v JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = v.oid AND d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> v.oid),
	w AS (SELECT v.oid, max(depth) AS depth, format('%I.%I', n.nspname, x.relname) AS name, x.relkind = 'm' AS stored, CASE x.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS kind, x.reloptions, x.relispopulated, x.relowner, x.relacl, x.relnamespace
		FROM v JOIN pg_class x ON x.oid = v.oid AND x.relkind IN ('v', 'm') JOIN pg_namespace n ON n.oid = x.relnamespace GROUP BY v.oid, x.oid, n.nspname),
	e AS (SELECT * FROM d UNION SELECT d.classid, d.objid, d.objsubid FROM w JOIN pg_type t ON t.typrelid = w.oid
			JOIN pg_depend d ON d.deptype = 'n' AND (d.refclassid = 'pg_class'::regclass AND d.refobjid = w.oid OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (t.oid, t.typarray))
			WHERE NOT (d.classid = 'pg_trigger'::regclass AND EXISTS (SELECT FROM pg_trigger g JOIN w ON w.oid = g.tgrelid WHERE g.oid = d.objid))),
	o AS (SELECT depth AS place, 'view ' || name AS what, ARRAY[format('DROP %s %s', kind, name)] AS drops,
			ARRAY[format('CREATE %s %s%s AS %s%s', kind, name, ' WITH (' || array_to_string(reloptions, ', ') || ')', rtrim(pg_get_viewdef(w.oid), ';'), CASE WHEN stored AND NOT relispopulated THEN ' WITH NO DATA' ELSE '' END)]
			|| ARRAY(SELECT format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', name, attname, pg_get_expr(adbin, adrelid)) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = w.oid ORDER BY adnum)
			|| ARRAY(SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = w.oid ORDER BY indexrelid)
			|| ARRAY(SELECT rtrim(pg_get_ruledef(oid), ';') FROM pg_rewrite WHERE ev_class = w.oid AND rulename <> '_RETURN' ORDER BY rulename)
			|| ARRAY(SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = w.oid AND NOT tgisinternal ORDER BY tgname)
			|| ARRAY(SELECT format('COMMENT ON %s IS %L', CASE objsubid WHEN 0 THEN kind || ' ' || name ELSE format('COLUMN %s.%I', name, attname) END, description) FROM pg_description LEFT JOIN pg_attribute ON attrelid = objoid AND attnum = objsubid
				WHERE objoid = w.oid AND classoid = 'pg_class'::regclass ORDER BY objsubid)
			|| ARRAY(SELECT DISTINCT format('REVOKE ALL ON %s FROM %s', name, coalesce((SELECT quote_ident(rolname) FROM pg_roles WHERE oid = grantee), 'PUBLIC'))
				FROM pg_default_acl, aclexplode(defaclacl) WHERE defaclobjtype = 'r' AND defaclnamespace IN (0, relnamespace) AND grantee <> relowner ORDER BY 1)
			|| ARRAY(SELECT format('GRANT %s%s ON %s TO %s%s', privilege_type, ' (' || quote_ident(attname) || ')', name, coalesce((SELECT quote_ident(rolname) FROM pg_roles WHERE oid = grantee), 'PUBLIC'), CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
				FROM (SELECT NULL AS attname, a.* FROM aclexplode(relacl) a UNION ALL SELECT attname, a.* FROM pg_attribute, aclexplode(attacl) a WHERE attrelid = w.oid) g WHERE grantee <> relowner ORDER BY grantee, attname NULLS FIRST, privilege_type)
			|| format('ALTER %s %s OWNER TO %I', kind, name, pg_get_userbyid(relowner)) AS creates FROM w
		UNION ALL SELECT 0, CASE contype WHEN 'c' THEN 'check ' ELSE 'constraint ' END || quote_ident(conname) || ' of ' || conrelid::regclass, ARRAY[format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)],
			ARRAY[format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', conrelid::regclass, conname, pg_get_constraintdef(k.oid), CASE WHEN contype = 'c' AND convalidated THEN ' NOT VALID' END)]
			|| ARRAY(SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', conrelid::regclass, conname) WHERE contype = 'c' AND convalidated) || ARRAY(SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, conrelid::regclass, t) FROM obj_description(k.oid, 'pg_constraint') t WHERE t IS NOT NULL)
			FROM d JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid AND k.conrelid <> 0
		UNION ALL SELECT 2147483647, format('policy %I of %s', polname, polrelid::regclass), ARRAY[format('DROP POLICY %I ON %s', polname, polrelid::regclass)],
			ARRAY[format('CREATE POLICY %I ON %s AS %s FOR %s TO %s%s%s', polname, polrelid::regclass, CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
				CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
				(SELECT string_agg(coalesce((SELECT quote_ident(rolname) FROM pg_roles WHERE oid = role), 'PUBLIC'), ', ') FROM unnest(polroles) role),
				' USING (' || pg_get_expr(polqual, polrelid) || ')', ' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')')] || ARRAY(SELECT format('COMMENT ON POLICY %I ON %s IS %L', polname, polrelid::regclass, t) FROM obj_description(p.oid, 'pg_policy') t WHERE t IS NOT NULL)
			FROM e d JOIN pg_policy p ON d.classid = 'pg_policy'::regclass AND p.oid = d.objid
		UNION ALL SELECT 0, 'statistics object ' || stxname, ARRAY[format('DROP STATISTICS %s.%I', stxnamespace::regnamespace, stxname)], ARRAY[pg_get_statisticsobjdef(s.oid), format('ALTER STATISTICS %s.%I OWNER TO %I', stxnamespace::regnamespace, stxname, pg_get_userbyid(stxowner))]
			FROM d JOIN pg_statistic_ext s ON d.classid = 'pg_statistic_ext'::regclass AND s.oid = d.objid
		UNION ALL SELECT 0, 'index ' || x.oid::regclass, ARRAY[format('DROP INDEX %s', x.oid::regclass)], ARRAY[pg_get_indexdef(x.oid)] FROM d JOIN pg_class x ON d.classid = 'pg_class'::regclass AND x.oid = d.objid AND x.relkind = 'i'
		UNION ALL SELECT 0, pg_describe_object(d.classid, d.objid, d.objsubid), '{}', '{}' FROM e d LEFT JOIN pg_class x ON d.classid = 'pg_class'::regclass AND x.oid = d.objid AND x.relkind = 'i' LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid AND k.conrelid <> 0
			WHERE x.oid IS NULL AND k.oid IS NULL AND d.classid NOT IN ('pg_policy'::regclass, 'pg_statistic_ext'::regclass)
				AND NOT (d.classid = 'pg_rewrite'::regclass AND d.objid IN (SELECT r.oid FROM pg_rewrite r JOIN w ON w.oid = r.ev_class)))
	SELECT coalesce(json_agg(json_build_object('what', what, 'drop', drops, 'create', creates) ORDER BY place, what), '[]') FROM o`

// refuseDependents returns a *DependentsError if something depends on a member's column.
func (j *job) refuseDependents(ctx context.Context) error {
	columns := map[int64][]int{}
	for _, m := range j.members {
		columns[m.table.OID] = append(columns[m.table.OID], m.live.Num)
	}
	arg, err := json.Marshal(columns)
	if err != nil {
		return err
	}
	var path, text string
	err = j.q.QueryRowContext(ctx, "SELECT current_setting('search_path')").Scan(&path)
	if err == nil {
		err = j.q.QueryRowContext(ctx, dependents, string(arg)).Scan(&text)
	}
	if err == nil { // for the rest of a transaction
		err = j.q.QueryRowContext(ctx, "SELECT set_config('search_path', $1, true)", path).Scan(&path)
	}
	if err != nil {
		return fmt.Errorf("migrate: look for what depends on the columns: %w", err)
	}
	var found []struct {
		What         string
		Drop, Create []string
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) == 0 {
		return err
	}
	e := &DependentsError{Table: j.members[0].table.String()}
	for _, f := range found {
		e.Objects = append(e.Objects, f.What)
		e.Drop, e.Create = append(f.Drop, e.Drop...), append(e.Create, f.Create...)
	}
	return e
}
