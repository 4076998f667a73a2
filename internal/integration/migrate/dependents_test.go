package migrate

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// What depends on the columns is dropped by the statements of the error, and is there again after
// those that create it.
func TestDependents(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.pair(t)
	role := strings.ToLower(t.Name())
	db.run(t, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "GRANT CREATE ON SCHEMA public TO "+role,
		"CREATE VIEW v WITH (security_barrier=true, check_option=local) AS SELECT id, note FROM orders WHERE note <> ';'", "ALTER VIEW v ALTER COLUMN note SET DEFAULT 'it''s'",
		"COMMENT ON VIEW v IS 'it''s a view'", "COMMENT ON COLUMN v.note IS 'its note'", "GRANT SELECT ON v TO PUBLIC", "GRANT UPDATE (note) ON v TO "+role+" WITH GRANT OPTION",
		`CREATE VIEW "A view" AS SELECT v.id, l.order_id FROM v JOIN order_lines l ON l.order_id = v.id`, `CREATE VIEW above AS SELECT count(*) AS n FROM "A view", v`, "ALTER VIEW above OWNER TO "+role,
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'", `CREATE TRIGGER g INSTEAD OF INSERT ON "A view" FOR EACH ROW EXECUTE FUNCTION f()`,
		"CREATE RULE r AS ON DELETE TO above DO INSTEAD NOTHING",
		"CREATE MATERIALIZED VIEW m AS SELECT id FROM v", "CREATE UNIQUE INDEX m_id ON m (id)", "CREATE MATERIALIZED VIEW empty AS SELECT id FROM orders GROUP BY id WITH NO DATA", "GRANT SELECT ON m TO "+role,
		"ALTER TABLE orders ADD CONSTRAINT positive CHECK (id > 0) NOT VALID", "COMMENT ON CONSTRAINT positive ON orders IS 'why'", "ALTER TABLE orders ADD CONSTRAINT small CHECK (id < 5000000)", "ALTER TABLE order_lines ADD CONSTRAINT once EXCLUDE USING btree (order_id WITH =)",
		"CREATE POLICY p ON orders AS RESTRICTIVE FOR UPDATE TO "+role+" USING (id > 0) WITH CHECK (id < 5000000)", "CREATE POLICY q ON orders USING (id > 0)", "COMMENT ON POLICY q ON orders IS 'all'",
		"CREATE POLICY seen ON order_lines USING (order_id IN (SELECT id FROM v))", "CREATE TABLE other (n bigint)", "CREATE POLICY too ON other USING (n IN (SELECT id FROM v))",
		"CREATE STATISTICS s ON id, note FROM orders", "CREATE INDEX i ON orders ((id > 10))",
		"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, DELETE ON TABLES TO "+role) // which no view has
	t.Cleanup(func() { _, _ = db.Exec("DROP OWNED BY " + role + " CASCADE; DROP ROLE " + role) })
	const objects = `SELECT string_agg(x, E'\n' ORDER BY x) FROM (
		SELECT concat_ws(' ', c.relname, c.relkind, c.reloptions, c.relowner::regrole, (SELECT array_agg(a ORDER BY a::text) FROM unnest(coalesce(c.relacl, acldefault('r', c.relowner))) a), c.relispopulated, obj_description(c.oid, 'pg_class'), CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END) FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm')
		UNION ALL SELECT concat_ws(' ', attrelid::regclass, attname, attacl, col_description(attrelid, attnum), (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm') AND attnum > 0
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' UNION ALL SELECT pg_get_ruledef(r.oid) FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE relnamespace = 'public'::regnamespace
		UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgname NOT LIKE 'zz%' UNION ALL SELECT conname || pg_get_constraintdef(oid) || coalesce(obj_description(oid, 'pg_constraint'), '') FROM pg_constraint WHERE contype IN ('c', 'x') AND conrelid <> 0
		UNION ALL SELECT concat_ws(' ', y.*, (SELECT obj_description(oid, 'pg_policy') FROM pg_policy WHERE polname = policyname)) FROM pg_policies y UNION ALL SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext) s (x) WHERE x !~ 'snow_migrate|_migrate'`
	have := func() string { return strings.Replace(db.one(t, objects), "ON note, id FROM", "ON id, note FROM", 1) } // the order of the columns
	before := have()
	cfg := db.config(migrate.Bigint)
	again := func(want string) {
		t.Helper()
		_, err := migrate.Inspect(t.Context(), db.DB, cfg)
		var dependents *migrate.DependentsError
		if !errors.As(err, &dependents) || len(dependents.Objects) != 14 || !strings.Contains(err.Error(), `view public."A view", `) || strings.Contains(err.Error(), "_RETURN") {
			t.Fatalf("%v", err)
		}
		script := dependents.Script()
		drop, create, ok := strings.Cut(script, "-- After the swap:\n")
		if !ok {
			t.Fatal(script)
		}
		if !strings.Contains(create, "CHECK ((id < 5000000)) NOT VALID;\nALTER TABLE public.orders VALIDATE CONSTRAINT small;") {
			t.Errorf("the check is created with writers stopped:\n%s", create)
		}
		const elsewhere, back = "SET search_path = pg_catalog;\n", "RESET search_path" // all at once, by the simple protocol
		db.run(t, elsewhere+drop+back)
		db.migrate(t, cfg)
		db.run(t, elsewhere+create+back)
		if now := have(); now != before {
			t.Errorf("now there is\n%s\nand there was\n%s\nafter\n%s", now, before, script)
		}
		db.expect(t, want, "SELECT data_type FROM information_schema.columns WHERE table_name = 'm' OR table_name = 'v' AND column_name = 'id'")
	}
	again("bigint")
	cfg.Undo = true
	again("integer")
}

// What no statement creates again is named.
func TestOtherDependents(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.pair(t)
	db.run(t, "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM orders; END", "CREATE TABLE log (n bigint)", "CREATE RULE r AS ON UPDATE TO log DO ALSO SELECT id FROM orders",
		"CREATE VIEW v AS SELECT id FROM orders", "CREATE FUNCTION g(v) RETURNS bigint LANGUAGE sql RETURN 1")
	_, err := migrate.Inspect(t.Context(), db.DB, db.config(migrate.Bigint))
	var dependents *migrate.DependentsError
	if !errors.As(err, &dependents) || !strings.Contains(err.Error(), "function public.f()") || !strings.Contains(err.Error(), "function public.g(public.v)") || !strings.Contains(err.Error(), "rule r on table public.log") || len(dependents.Drop) != 1 {
		t.Errorf("%v", err)
	}
	if s := (&migrate.DependentsError{}).Script(); strings.Contains(s, ";") {
		t.Errorf("without statements the script is\n%s", s)
	}
}
