package migrate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/core"
)

// Names of 63 bytes, with capitals, spaces and quotes, stay as they are, and collide nowhere.
func TestNames(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	long := func(start string) string { return start + strings.Repeat("x", 63-len(start)) }
	table, other := long("Orders "), long("Orders äöü ")
	column := "Order Id " + strings.Repeat("y", 55-9)
	db.run(t, `CREATE SCHEMA "My Schema"`,
		fmt.Sprintf(`CREATE TABLE "My Schema".%q (%q serial CONSTRAINT %q PRIMARY KEY, "equal" int CONSTRAINT %q UNIQUE)`, table, column, long("Key "), long("Unique ")),
		fmt.Sprintf(`CREATE TABLE "My Schema".%q ("order" int, "Order" int CONSTRAINT %q REFERENCES "My Schema".%q, CONSTRAINT %q FOREIGN KEY ("order") REFERENCES "My Schema".%q)`, other, long("Foreign 2"), table, long("Foreign 1"), table),
		fmt.Sprintf(`CREATE INDEX %q ON "My Schema".%q ("Order", "order")`, long("Foreign 1"), other), fmt.Sprintf(`CREATE INDEX "it's an ""index""" ON "My Schema".%q ("order")`, other),
		fmt.Sprintf(`INSERT INTO "My Schema".%q ("equal") SELECT i FROM generate_series(1, 1000) i`, table), fmt.Sprintf(`INSERT INTO "My Schema".%q SELECT i, i FROM generate_series(1, 1000) i`, other))
	before := db.schema(t, "My Schema")
	cfg := db.config(migrate.Bigint)
	cfg.Table = "My Schema." + table
	for range 2 {
		cfg.Undo = false
		db.migrate(t, cfg)
		cfg.Undo = true
		db.migrate(t, cfg)
		if now := db.schema(t, "My Schema"); now != before {
			t.Errorf("the schema is\n%s\nand was\n%s", now, before)
		}
	}
	cfg.Undo, cfg.Finish = false, true
	db.migrate(t, cfg)
	want := strings.NewReplacer("order integer", "order bigint", "Order integer", "Order bigint", column+" integer", column+" bigint").Replace(before)
	if now := db.schema(t, "My Schema"); now != want {
		t.Errorf("the schema is\n%s\nand should be\n%s", now, want)
	}
}

// The same for UUIDs.
func TestUUIDNames(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	table := "Orders " + strings.Repeat("x", 56)
	db.run(t, `CREATE SCHEMA "My Schema"`, "CREATE SEQUENCE next_id START 9000000000000000000",
		fmt.Sprintf(`CREATE TABLE "My Schema".%q ("Order Id" uuid PRIMARY KEY DEFAULT gen_random_uuid(), "Made At" timestamptz NOT NULL DEFAULT now())`, table),
		fmt.Sprintf(`CREATE TABLE "My Schema"."order" ("order" uuid REFERENCES "My Schema".%q)`, table), `CREATE INDEX "the index" ON "My Schema"."order" ("order")`,
		fmt.Sprintf(`INSERT INTO "My Schema".%q ("Made At") SELECT timestamptz '2024-01-01Z' + i * interval '1 second' FROM generate_series(1, 1000) i`, table),
		fmt.Sprintf(`INSERT INTO "My Schema"."order" SELECT "Order Id" FROM "My Schema".%q`, table))
	before := db.schema(t, "My Schema")
	cfg := db.uuidConfig(t)
	cfg.Table, cfg.Backfill.CreatedAt, cfg.Backfill.Column = "My Schema."+table, "Made At", "New Id"
	for range 2 {
		cfg.Undo = false
		db.migrate(t, cfg)
		cfg.Undo = true
		db.migrate(t, cfg)
		if now := db.schema(t, "My Schema"); now != before {
			t.Errorf("the schema is\n%s\nand was\n%s", now, before)
		}
	}
	cfg.Undo, cfg.Finish = false, true
	if left := db.migrate(t, cfg).Plan.Steps; len(left) != 0 {
		t.Errorf("left: %s", names(left))
	}
	db.expect(t, "1000", fmt.Sprintf(`SELECT count(*) FROM "My Schema".%q o JOIN "My Schema"."order" l ON l.order_snowkey = o."New Id"`, table))
	db.expect(t, "0", "SELECT count(*) FROM pg_proc WHERE proname LIKE 'snow%migrate%'")
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

// Undo refuses a sequence that would only make numbers that do not fit.
func TestSequenceTooFar(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.run(t, "CREATE TABLE orders (id serial PRIMARY KEY)")
	cfg := db.config(migrate.Bigint)
	db.migrate(t, cfg)
	db.run(t, "SELECT setval('orders_id_seq', 3000000000)")
	cfg.Undo = true
	if _, err := migrate.Run(t.Context(), db.DB, cfg); err == nil || !strings.Contains(err.Error(), "the sequence of id has the value 3000000000") {
		t.Errorf("%v", err)
	}
	db.run(t, "SELECT setval('orders_id_seq', 3)")
	db.migrate(t, cfg)
}

// remarks are the comments and settings of a column, its indexes and its constraints.
const remarks = `SELECT concat_ws(' | ', col_description('order_lines'::regclass, a.attnum), coalesce(a.attstattarget, -1), (SELECT string_agg(o, ' ' ORDER BY o) FROM unnest(a.attoptions) o WHERE o LIKE 'n\_distinct%%'),
	(SELECT string_agg(concat_ws(' ', k.conname, obj_description(k.oid, 'pg_constraint')), ', ' ORDER BY k.conname) FROM pg_constraint k WHERE k.contype IN ('p', 'f', 'u') AND k.conrelid = 'order_lines'::regclass),
	(SELECT string_agg(concat_ws(' ', i.relname, obj_description(i.oid, 'pg_class')), ', ' ORDER BY i.relname) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = 'order_lines'::regclass))
	FROM pg_attribute a WHERE a.attrelid = 'order_lines'::regclass AND a.attname = '%s'`

// Comments and the settings of statistics stay.
func TestRemarks(t *testing.T) {
	t.Parallel()
	settings := []string{
		"COMMENT ON COLUMN order_lines.order_id IS 'It''s a \\ column'", "COMMENT ON CONSTRAINT order_lines_order_id_fkey ON order_lines IS 'the ''reference'''",
		"COMMENT ON INDEX order_lines_order_id_idx IS 'the index'", "ALTER TABLE order_lines ALTER COLUMN order_id SET STATISTICS 0", "ALTER TABLE order_lines ALTER COLUMN order_id SET (n_distinct = -0.5, n_distinct_inherited = 7)",
	}
	t.Run("bigint", func(t *testing.T) {
		t.Parallel()
		db := openPostgres(t)
		db.run(t, "CREATE TABLE orders (id serial PRIMARY KEY)", "CREATE TABLE order_lines (order_id int PRIMARY KEY REFERENCES orders)", "CREATE INDEX ON order_lines (order_id)")
		db.run(t, append(settings, "COMMENT ON CONSTRAINT order_lines_pkey ON order_lines IS 'the key'", "COMMENT ON INDEX order_lines_pkey IS 'and its index'")...)
		query := fmt.Sprintf(remarks, "order_id")
		before := db.one(t, query)
		cfg := db.config(migrate.Bigint)
		for range 2 {
			cfg.Undo = false
			db.migrate(t, cfg)
			cfg.Undo = true
			db.migrate(t, cfg)
			db.expect(t, before, query)
		}
		cfg.Undo, cfg.Finish = false, true
		db.migrate(t, cfg)
		db.expect(t, before, query)
	})
	t.Run("uuid", func(t *testing.T) {
		t.Parallel()
		db := openPostgres(t)
		db.uuids(t, 1000)
		db.run(t, settings...)
		db.run(t, "ALTER TABLE order_lines ALTER COLUMN order_id SET STATISTICS 1000", "COMMENT ON CONSTRAINT orders_pkey ON orders IS 'the key'", "COMMENT ON INDEX orders_pkey IS 'and its index'")
		before, query := db.one(t, fmt.Sprintf(remarks, "order_id")), fmt.Sprintf(remarks, "order_id_snowkey")
		cfg := db.uuidConfig(t)
		const key = "SELECT obj_description(oid, 'pg_constraint') || ' ' || obj_description(conindid, 'pg_class') FROM pg_constraint WHERE conname = 'orders_pkey'"
		for range 2 {
			cfg.Undo = false
			db.migrate(t, cfg)
			db.expect(t, "the key and its index", key)
			cfg.Undo = true
			db.migrate(t, cfg)
			db.expect(t, "the key and its index", key)
			db.expect(t, before, fmt.Sprintf(remarks, "order_id"))
		}
		cfg.Undo, cfg.Finish = false, true
		db.migrate(t, cfg)
		_, without, _ := strings.Cut(before, " | ") // the comment of the column was about the UUID
		db.expect(t, without, query)
	})
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
		var config *core.ConfigError
		if _, err := migrate.Run(t.Context(), db.DB, cfg); !errors.As(err, &config) || !strings.Contains(err.Error(), "is disabled") {
			t.Errorf("%v", err)
		}
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
			cfg, err := db.configOf(kind)
			if err != nil {
				t.Fatal(err)
			}
			cfg.StopBefore = migrate.StepSwap
			db.migrate(t, cfg)
			db.expect(t, "0", "SELECT count(*) FROM pg_proc WHERE proowner = '"+role+"'::regrole")
		})
	}
}
