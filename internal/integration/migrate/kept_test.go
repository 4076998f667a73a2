package migrate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// Names of 63 bytes, with capitals, spaces and quotes, stay as they are and collide nowhere, as do comments
// and the settings of statistics.
func TestKept(t *testing.T) {
	t.Parallel()
	long := func(start string) string { return start + strings.Repeat("x", 63-len(start)) }
	table, other, column := long("Orders "), long("Orders äöü "), "Order Id "+strings.Repeat("y", 55-9)
	remarks := func(column string, statistics int) []string {
		return []string{
			`COMMENT ON COLUMN "My Schema".{other}.` + column + ` IS 'It''s a \ column'`, `COMMENT ON CONSTRAINT {foreign 1} ON "My Schema".{other} IS 'the ''reference'' of it'`,
			`COMMENT ON CONSTRAINT {key} ON "My Schema".{table} IS 'the key'`, `COMMENT ON INDEX "My Schema".{key} IS 'and its index'`, `COMMENT ON INDEX "My Schema"."it's an ""index""" IS 'the index'`,
			`ALTER TABLE "My Schema".{other} ALTER COLUMN ` + column + fmt.Sprint(" SET STATISTICS ", statistics), `ALTER TABLE "My Schema".{other} ALTER COLUMN ` + column + ` SET (n_distinct = -0.5, n_distinct_inherited = 7)`,
		}
	}
	words := strings.NewReplacer("{table}", fmt.Sprintf("%q", table), "{other}", fmt.Sprintf("%q", other), "{column}", fmt.Sprintf("%q", column), "{key}", fmt.Sprintf("%q", long("Key ")),
		"{foreign 1}", fmt.Sprintf("%q", long("Foreign 1")), "{foreign 2}", fmt.Sprintf("%q", long("Foreign 2")), "{unique}", fmt.Sprintf("%q", long("Unique ")))
	for _, c := range []struct {
		kind     migrate.Kind
		setup    []string
		finished *strings.Replacer // of the description
	}{
		{migrate.Bigint, append([]string{
			`CREATE SCHEMA "My Schema"`, `CREATE TABLE "My Schema".{table} ({column} serial CONSTRAINT {key} PRIMARY KEY, "equal" int CONSTRAINT {unique} UNIQUE)`,
			`CREATE TABLE "My Schema".{other} ("order" int, "Order" int CONSTRAINT {foreign 2} REFERENCES "My Schema".{table}, CONSTRAINT {foreign 1} FOREIGN KEY ("order") REFERENCES "My Schema".{table})`,
			`CREATE INDEX {foreign 1} ON "My Schema".{other} ("Order", "order")`, `CREATE INDEX "it's an ""index""" ON "My Schema".{other} ("order")`,
			`INSERT INTO "My Schema".{table} ("equal") SELECT i FROM generate_series(1, 1000) i`, `INSERT INTO "My Schema".{other} SELECT i, i FROM generate_series(1, 1000) i`,
		}, remarks(`"order"`, 0)...), strings.NewReplacer("order integer", "order bigint", "Order integer", "Order bigint", column+" integer", column+" bigint")},
		{migrate.UUID, append([]string{
			`CREATE SCHEMA "My Schema"`, "CREATE SEQUENCE next_id START 9000000000000000000",
			`CREATE TABLE "My Schema".{table} ({column} uuid CONSTRAINT {key} PRIMARY KEY DEFAULT gen_random_uuid(), "Made At" timestamptz NOT NULL DEFAULT now())`,
			`CREATE TABLE "My Schema".{other} ("order" uuid, CONSTRAINT {foreign 1} FOREIGN KEY ("order") REFERENCES "My Schema".{table})`, `CREATE INDEX "it's an ""index""" ON "My Schema".{other} ("order")`,
			`INSERT INTO "My Schema".{table} ("Made At") SELECT timestamptz '2024-01-01Z' + i * interval '1 second' FROM generate_series(1, 1000) i`,
			`INSERT INTO "My Schema".{other} SELECT {column} FROM "My Schema".{table}`,
		}, remarks(`"order"`, 1000)...), nil},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			db := openPostgres(t)
			for _, s := range c.setup {
				db.run(t, words.Replace(s))
			}
			cfg := db.config(c.kind)
			cfg.Table = "My Schema." + table
			if c.kind == migrate.UUID {
				cfg.Backfill.CreatedAt, cfg.Backfill.Column = "Made At", "New Id"
			}
			before := db.schema(t, "My Schema")
			db.thereAndBack(t, cfg, "My Schema")
			db.finish(t, cfg)
			if c.kind == migrate.Bigint {
				if now, want := db.schema(t, "My Schema"), c.finished.Replace(before); now != want {
					t.Errorf("the schema is\n%s\nand should be\n%s", now, want)
				}
				return
			}
			db.expect(t, "1000", words.Replace(`SELECT count(*) FROM "My Schema".{table} o JOIN "My Schema".{other} l ON l.order_snowkey = o."New Id"`))
			db.expect(t, "0", "SELECT count(*) FROM pg_proc WHERE proname LIKE 'snow%migrate%'")
			now := db.schema(t, "My Schema")
			for line := range strings.Lines(before) { // the comment of the column was about the UUID
				if strings.HasPrefix(line, "comment ") && !strings.Contains(now, line) || strings.HasPrefix(line, "statistics ") && !strings.Contains(now, strings.Replace(line, " order ", " order_snowkey ", 1)) {
					t.Errorf("%s is not in\n%s", line, now)
				}
			}
		})
	}
}

// All sequences of a column go with it.
func TestTwoSequences(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE SEQUENCE first AS int", "CREATE TABLE orders (id serial PRIMARY KEY)", "ALTER SEQUENCE first OWNED BY orders.id", "CREATE SEQUENCE last AS int OWNED BY orders.id")
	cfg := db.config(migrate.Bigint)
	db.migrate(t, cfg)
	cfg.Undo = true
	db.migrate(t, cfg)
	cfg.Undo, cfg.Finish = false, true
	db.migrate(t, cfg)
	db.expect(t, "first bigint, last bigint, orders_id_seq bigint", "SELECT string_agg(sequencename || ' ' || data_type, ', ' ORDER BY sequencename) FROM pg_sequences")
	db.expect(t, "3", "SELECT count(*) FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid WHERE d.deptype = 'a' AND d.refobjid = 'orders'::regclass AND d.classid = 'pg_class'::regclass AND d.objid IN (SELECT seqrelid FROM pg_sequence) AND a.attname = 'id'")
	cfg = db.config(migrate.Default)
	cfg.Generator = "nextval('last') + 0"
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "id owns two sequences") {
		t.Errorf("%v", err)
	}
}

// Rows that are written while the trigger does not fire are not lost, nor is the way back.
func TestTriggerOff(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.pair(t)
	db.SetMaxOpenConns(1) // the migration has the same session
	cfg := db.config(migrate.Bigint)
	off := func(f func()) {
		t.Helper()
		db.run(t, "ALTER TABLE orders DISABLE TRIGGER ALL")
		f()
		db.refuses(t, cfg, "is disabled")
		db.run(t, "ALTER TABLE orders ENABLE TRIGGER ALL")
	}
	cfg.StopBefore = migrate.StepCheck
	db.migrate(t, cfg)
	off(func() {
		db.run(t, "INSERT INTO orders (note) VALUES ('new')", "DELETE FROM order_lines WHERE order_id = 2", "UPDATE orders SET id = 200 WHERE id = 2", "INSERT INTO order_lines VALUES (200)")
	})
	cfg.StopBefore = ""
	db.migrate(t, cfg)
	db.expect(t, "1, 3, 200", "SELECT string_agg(id::text, ', ' ORDER BY id) FROM orders")
	cfg.Undo = true
	off(func() {
		db.run(t, "INSERT INTO orders (note) VALUES ('new')", "DELETE FROM order_lines WHERE order_id = 200", "UPDATE orders SET id = 2 WHERE id = 200", "INSERT INTO order_lines (order_id) VALUES (2)")
	})
	db.migrate(t, cfg)
	db.expect(t, "1, 2, 3, 4", "SELECT string_agg(id::text, ', ' ORDER BY id) FROM orders")
}

// A session in which ordinary triggers do not fire is one of replication or of a restore.
func TestReplica(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.pair(t)
	cfg := db.config(migrate.Bigint)
	cfg.StopBefore = migrate.StepSwap
	db.migrate(t, cfg)
	db.run(t, "SET session_replication_role = replica", "INSERT INTO orders (id, note) VALUES (77, 'replicated')", "RESET session_replication_role")
	db.expect(t, "77", "SELECT id_migrate FROM orders WHERE id = 77")
}

// What was refused before the swap does not stop the finish, or the way back before the swap.
func TestDependentLater(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.pair(t)
	cfg := db.config(migrate.Bigint)
	cfg.StopBefore = migrate.StepSwap
	db.migrate(t, cfg)
	db.run(t, "CREATE VIEW v AS SELECT id FROM orders")
	cfg.StopBefore = ""
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "view public.v depends on") {
		t.Errorf("%v", err)
	}
	cfg.Undo = true
	db.migrate(t, cfg)
	db.run(t, "DROP VIEW v")
	cfg.Undo = false
	db.migrate(t, cfg)
	db.run(t, "CREATE VIEW v AS SELECT id FROM orders")
	cfg.Finish = true
	if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
}

// schema describes the tables of a schema.
func (db *engine) schema(t testing.TB, name string) string {
	t.Helper()
	return db.one(t, `SELECT string_agg(x, E'\n' ORDER BY x) FROM (
		SELECT indexdef FROM pg_indexes WHERE schemaname = $1
		UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = quote_ident($1)::regnamespace
		UNION ALL SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, identity_generation, identity_start, identity_maximum, col_description(format('%I.%I', table_schema, table_name)::regclass, ordinal_position))
			FROM information_schema.columns WHERE table_schema = $1
		UNION ALL SELECT concat_ws(' ', 'comment', conname, obj_description(oid, 'pg_constraint')) FROM pg_constraint WHERE connamespace = quote_ident($1)::regnamespace AND obj_description(oid, 'pg_constraint') <> ''
		UNION ALL SELECT concat_ws(' ', 'comment', relname, obj_description(oid, 'pg_class')) FROM pg_class WHERE relkind = 'i' AND relnamespace = quote_ident($1)::regnamespace AND obj_description(oid, 'pg_class') <> ''
		UNION ALL SELECT concat_ws(' ', 'statistics', relname, attname, attstattarget, o.list) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid, LATERAL (SELECT string_agg(n, ' ') AS list FROM unnest(attoptions) n WHERE n LIKE 'n\_distinct%') o WHERE relkind = 'r' AND relnamespace = quote_ident($1)::regnamespace AND o.list <> '' AND NOT attisdropped
		UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = quote_ident($1)::regnamespace
		UNION ALL SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT tgisinternal AND c.relnamespace = quote_ident($1)::regnamespace) s (x)`, name)
}

// A function that another role has made under the name of the migration's is not used: that role
// could change it, and it runs with the rights of each program that writes.
func TestForeignFunction(t *testing.T) {
	t.Parallel()
	for _, kind := range []migrate.Kind{migrate.Bigint, migrate.UUID} {
		t.Run(string(kind), func(t *testing.T) {
			db := openPostgres(t)
			role := "other_" + string(kind)
			if kind == migrate.UUID {
				db.uuids(t, 10)
			} else {
				db.pair(t)
			}
			db.run(t, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "CREATE FUNCTION snow_migrate_order_lines() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
				"ALTER FUNCTION snow_migrate_order_lines() OWNER TO "+role)
			t.Cleanup(func() { _, _ = db.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
			cfg := db.config(kind)
			cfg.StopBefore = migrate.StepSwap
			db.migrate(t, cfg)
			db.expect(t, "0", "SELECT count(*) FROM pg_proc WHERE proowner = '"+role+"'::regrole")
		})
	}
}
