package migrate

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// A refusal is a table that is refused, and a part of the error. S is for a plain table.
type refusal struct {
	name, setup, want string
}

const plainOrders = "CREATE TABLE orders (id int PRIMARY KEY, code int UNIQUE)"

// refused runs each refusal in a database of its own. Nothing must have changed.
func (db *engine) refused(t *testing.T, cases []refusal, drop string) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			setup := strings.ReplaceAll(c.setup, "S;", plainOrders+";")
			for s := range strings.SplitSeq(setup, ";\n") {
				db.Run(t, s)
			}
			db.refuses(t, db.config(), c.want)
			for s := range strings.SplitSeq(drop, ";\n") {
				db.Run(t, s)
			}
		})
	}
}

func TestRefusedByPostgres(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	const drop = "DROP SCHEMA public CASCADE;\nCREATE SCHEMA public;\nDROP PUBLICATION IF EXISTS p"
	lines := "CREATE TABLE lines (id int PRIMARY KEY, order_id int, FOREIGN KEY (order_id) REFERENCES orders)"
	db.refused(t, []refusal{
		{"no table", "SELECT 1", `Table "orders": there is no such table`},
		{"no key", "CREATE TABLE orders (id int)", "has no primary key"},
		{"two columns", "CREATE TABLE orders (id int, n int, PRIMARY KEY (id, n))", "primary key of 2 columns"},
		{"a text", "CREATE TABLE orders (id text PRIMARY KEY)", "has the type text"},
		{"partitioned", "CREATE TABLE orders (id int PRIMARY KEY) PARTITION BY RANGE (id)", "partitioned, a partition"},
		{"a partition", "CREATE TABLE o (id int) PARTITION BY RANGE (id);\nCREATE TABLE orders PARTITION OF o DEFAULT;\nALTER TABLE orders ADD PRIMARY KEY (id)", "partitioned, a partition"},
		{"inherited", "S;\nCREATE TABLE more () INHERITS (orders)", "is no ordinary table"},
		{"a view", "CREATE VIEW orders AS SELECT 1 AS id", "is no ordinary table"},
		{"a view of it", "S;\nCREATE VIEW v AS SELECT id FROM orders", "view public.v. Drop them"},
		{"a rule", "S;\nCREATE RULE r AS ON DELETE TO orders DO NOTHING", "or has a rule"},
		{"a publication", "S;\nCREATE PUBLICATION p FOR TABLE orders", "is in a publication"},
		{"a replica identity", "S;\nALTER TABLE orders REPLICA IDENTITY FULL", "replica identity"},
		{"a security label", "S;\nINSERT INTO pg_seclabel (objoid, classoid, objsubid, provider, label) VALUES ('orders'::regclass, 'pg_class'::regclass, 1, 'x', 'y')", "security label"},
		{"a dot in a table", "S;\nCREATE TABLE \"order.lines\" (o int REFERENCES orders)", "has a dot in its name"},
		{"an index called swap", "S;\nCREATE INDEX swap ON orders (id)", "the index swap has a name that the migration needs"},
		{"a generated column over it", "CREATE TABLE orders (id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED)", "public.orders.twice"},
		{"a check", "CREATE TABLE orders (id int PRIMARY KEY CHECK (id > 0))", "table constraint orders_id_check on public.orders"},
		{"an exclusion", "CREATE TABLE orders (id int PRIMARY KEY, EXCLUDE USING btree (id WITH =))", "the index orders_id_excl is invalid, deferrable"},
		{"a policy", "S;\nCREATE POLICY y ON orders USING (id > 0)", "policy y on public.orders"},
		{"statistics", "S;\nCREATE STATISTICS z ON id, code FROM orders", "statistics object public.z"},
		{"a trigger", "S;\nCREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.code := NEW.id; RETURN NEW; END $$;\nCREATE TRIGGER g BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()", "the trigger g mentions id"},
		{"an expression", "S;\nCREATE INDEX i ON orders ((id + 1))", "index public.i"},
		{"a partial index", "S;\nCREATE INDEX i ON orders (id) WHERE id > 5", "a condition over id"},
		{"a fill factor", "S;\nCREATE INDEX i ON orders (id) WITH (fillfactor = 50)", "storage parameters"},
		{"a deferrable key", "CREATE TABLE orders (id int PRIMARY KEY DEFERRABLE)", "the index orders_pkey is invalid, deferrable"},
		{"a sequence of integers", "CREATE SEQUENCE s AS int;\nCREATE TABLE orders (id int PRIMARY KEY DEFAULT nextval('s'))", "ALTER SEQUENCE public.s AS bigint NO MAXVALUE first"},
		{"clustered", "S;\nALTER TABLE orders CLUSTER ON orders_pkey", "the index orders_pkey is invalid, deferrable, clustered"},
		{"privileges", "S;\nGRANT SELECT (id) ON orders TO PUBLIC", "has privileges, which"},
		{"a key of two columns", "CREATE TABLE orders (id int PRIMARY KEY, n int, UNIQUE (id, n));\nCREATE TABLE lines (o int, n int, FOREIGN KEY (o, n) REFERENCES orders (id, n))", "foreign key lines_o_n_fkey of 2 columns"},
		{"a partitioned table refers to it", "S;\nCREATE TABLE lines (o int REFERENCES orders) PARTITION BY RANGE (o)", "lines\": is no ordinary table"},
		{"a view of what refers to it", "S;\n" + lines + ";\nCREATE VIEW v AS SELECT order_id FROM lines", "view public.v"},
		{"a cycle", "S;\nCREATE TABLE b (id int PRIMARY KEY REFERENCES orders);\nALTER TABLE orders ADD FOREIGN KEY (id) REFERENCES b", "is in a cycle"},
		{"a name with a dot", "CREATE TABLE orders (\"a.b\" int PRIMARY KEY)", "without dots"},
		{"a column of that name", "CREATE TABLE orders (id int PRIMARY KEY, id_migrate text)", "not of this migration"},
		{"a comment of the sequence", "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);\nCOMMENT ON SEQUENCE orders_id_seq IS 'x'", "with privileges or a comment"},
		{"another default of the sequence", "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);\nCREATE TABLE b (id bigint DEFAULT nextval('orders_id_seq'))", "on which this depends: default value for column id of table b"},
		{"a foreign key on the new column", "S;\nCREATE TABLE b (id bigint PRIMARY KEY);\nALTER TABLE orders ADD id_migrate bigint REFERENCES b;\nCREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';\nCREATE TRIGGER zz_snow_migrate BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()", "id_migrate has a foreign key that is not of this migration"},
		{"a foreign key to the new column", "S;\nALTER TABLE orders ADD id_migrate bigint UNIQUE;\nCREATE TABLE b (o bigint REFERENCES orders (id_migrate));\nCREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';\nCREATE TRIGGER zz_snow_migrate BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()", "id_migrate has a foreign key that is not of this migration"},
		{"a long name", "CREATE TABLE orders (" + strings.Repeat("x", 60) + " int PRIMARY KEY)", "name of 60 bytes"},
	}, drop)
}

// Configurations that only the server can judge; TestBadConfig of the package has the others.
func TestRefusedConfig(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.Run(t, plainOrders)
	cfg := db.config()
	cfg.Column = "ident"
	db.refuses(t, cfg, `Column "ident": public.orders has no such column`)
	cfg.Column, cfg.LockTimeout = "", time.Minute
	db.refuses(t, cfg, "less than the server's deadlock_timeout")
	cfg.LockTimeout, cfg.StopBefore = 0, "swop"
	db.refuses(t, cfg, `StopBefore "swop": is no step of this plan`)
}

// A migration goes back from each step, and the schema is what it was.
func TestUndo(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.shop(t, 1000)
	before := db.schema(t, "public")
	cfg := db.config()
	plan, err := migrate.Inspect(t.Context(), db.DB, cfg)
	must(t, err)
	if again, err := migrate.Inspect(t.Context(), db.DB, cfg); err != nil || again.String() != plan.String() {
		t.Errorf("another plan, %v:\n%s", err, again)
	}
	for _, at := range []string{migrate.StepColumns, migrate.StepFill, migrate.StepValidate, migrate.StepIndex, migrate.StepForeignKey, migrate.StepSwap, migrate.StepFinish} {
		t.Run(at, func(t *testing.T) {
			there := cfg
			there.StopBefore = at
			left := db.migrate(t, there).Plan.Left()
			if len(left) == 0 || left[0].Name != at {
				t.Errorf("left: %s", names(left))
			}
			back := cfg
			back.Undo = true
			if left := db.migrate(t, back).Plan.Steps; len(left) != 0 {
				t.Errorf("left of the way back: %s", names(left))
			}
			if now := db.schema(t, "public"); now != before {
				t.Errorf("the schema is\n%s\nand was\n%s", now, before)
			}
		})
	}
	// With an id that does not fit, there is no way back.
	db.migrate(t, cfg)
	back := cfg
	back.Undo = true
	db.Run(t, "INSERT INTO orders (id, note) VALUES (9000000000000000000, 'new')")
	db.refuses(t, back, "9000000000000000000, which does not fit into integer")
	db.Run(t, "DELETE FROM orders WHERE id = 9000000000000000000")
	db.migrate(t, back)
	if now := db.schema(t, "public"); now != before {
		t.Errorf("the schema is\n%s\nand was\n%s", now, before)
	}
	db.finish(t, cfg)
	if now, want := db.schema(t, "public"), before; strings.Contains(now, "migrate") || strings.Count(now, "\n") != strings.Count(want, "\n") {
		t.Errorf("the schema is\n%s\nand was\n%s", now, want)
	}
	db.Expect(t, "integer", "SELECT data_type FROM information_schema.columns WHERE table_name = 'order_lines' AND column_name = 'line'")
	db.Expect(t, "It's the key", "SELECT col_description('orders'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'id'")
	db.Expect(t, "public.orders_id_seq", "SELECT pg_get_serial_sequence('orders', 'id')")
}
