package migrate

import (
	"strings"
	"testing"
	"time"
)

// refusals has tables that are refused, by what would be lost, before anything is written. In a setup, S is for
// plainOrders; one that begins with "18:" needs PostgreSQL 18. The error has the text want.
var refusals = []struct{ name, setup, want string }{
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
	{"a view of what refers to it", "S;\nCREATE TABLE lines (id int PRIMARY KEY, order_id int, FOREIGN KEY (order_id) REFERENCES orders);\nCREATE VIEW v AS SELECT order_id FROM lines", "view public.v"},
	{"a cycle", "S;\nCREATE TABLE b (id int PRIMARY KEY REFERENCES orders);\nALTER TABLE orders ADD FOREIGN KEY (id) REFERENCES b", "is in a cycle"},
	{"a name with a dot", "CREATE TABLE orders (\"a.b\" int PRIMARY KEY)", "without dots"},
	{"a column of that name", "CREATE TABLE orders (id int PRIMARY KEY, id_migrate text)", "not of this migration"},
	{"a comment of the sequence", "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);\nCOMMENT ON SEQUENCE orders_id_seq IS 'x'", "with privileges or a comment"},
	{"another default of the sequence", "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);\nCREATE TABLE b (id bigint DEFAULT nextval('orders_id_seq'))", "on which this depends: default value for column id of table b"},
	{"a foreign key on the new column", "S;\nCREATE TABLE b (id bigint PRIMARY KEY);\nALTER TABLE orders ADD id_migrate bigint REFERENCES b;\nCREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';\nCREATE TRIGGER zz_snow_migrate BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()", "id_migrate has a foreign key that is not of this migration"},
	{"a foreign key to the new column", "S;\nALTER TABLE orders ADD id_migrate bigint UNIQUE;\nCREATE TABLE b (o bigint REFERENCES orders (id_migrate));\nCREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';\nCREATE TRIGGER zz_snow_migrate BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()", "id_migrate has a foreign key that is not of this migration"},
	{"a long name", "CREATE TABLE orders (" + strings.Repeat("x", 60) + " int PRIMARY KEY)", "name of 60 bytes"},

	{"a column of the row type", "S;\nCREATE TABLE audit (old orders)", "table column public.audit.old"},
	{"an array of rows", "S;\nCREATE TABLE audit (old orders[])", "table column public.audit.old"},
	{"a domain", "S;\nCREATE DOMAIN d AS orders", "type public.d"},
	{"a composite type", "S;\nCREATE TYPE t AS (o orders)", "composite type column public.t.o"},
	{"an argument", "S;\nCREATE FUNCTION f(orders) RETURNS int LANGUAGE sql AS 'SELECT 1'", "function public.f(public.orders)"},
	{"an array as an argument", "S;\nCREATE FUNCTION f(orders[]) RETURNS int LANGUAGE sql AS 'SELECT 1'", "function public.f(public.orders[])"},
	{"a result", "S;\nCREATE FUNCTION f() RETURNS SETOF orders LANGUAGE sql AS 'SELECT * FROM orders'", "function public.f()"},
	{"a view of rows", "S;\nCREATE MATERIALIZED VIEW m AS SELECT o FROM orders o", "materialized view column public.m.o"},
	{"a row in a view", "S;\nCREATE VIEW v AS SELECT code, row_to_json(o) FROM orders o", "view public.v"},
	{"a foreign key by an index with it", "CREATE TABLE orders (id int PRIMARY KEY, code int);\nCREATE UNIQUE INDEX u ON orders (code) INCLUDE (id);\nCREATE TABLE lines (code int REFERENCES orders (code))", "table constraint lines_code_fkey on public.lines"},
	{"a view by a key with it", "S;\nCREATE TABLE lines (o int REFERENCES orders, code int, note text, PRIMARY KEY (code) INCLUDE (o));\nCREATE VIEW v AS SELECT code, note FROM lines GROUP BY code", "view public.v"},
	{"a check of rows", "S;\nALTER TABLE orders ADD CHECK (orders IS NOT NULL)", "table constraint orders_check on public.orders"},
	{"a body with the key", "S;\nCREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM orders; END", "function public.f()"},

	{"NEW.*", "S;\n" + auditFunction("NEW.*") + ";\n" + auditTrigger, "the trigger audit has whole rows"},
	{"OLD.*", "S;\n" + auditFunction("OLD . *") + ";\n" + auditTrigger, "the trigger audit has whole rows"},
	{"a condition over rows", "S;\n" + auditFunction("1") + ";\nCREATE TRIGGER audit AFTER UPDATE ON orders FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION audit()", "the trigger audit has whole rows"},
	{"rows of a transition table", "S;\nCREATE TABLE log (id int, code int, made bigint);\nCREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO log SELECT * FROM fresh; RETURN NULL; END';\nCREATE TRIGGER audit AFTER INSERT ON orders REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION audit()", "the trigger audit has whole rows"},
	{"one row of each in a transition table", "S;\nCREATE TABLE log (id int, code int, made bigint);\nCREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO log SELECT DISTINCT ON (id) * FROM fresh; RETURN NULL; END';\nCREATE TRIGGER audit AFTER INSERT ON orders REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION audit()", "the trigger audit has whole rows"},
	{"rows into another table", "S;\nCREATE TABLE archive (LIKE orders);\nCREATE FUNCTION archive() RETURNS void LANGUAGE sql AS 'INSERT INTO archive SELECT * FROM orders'", "function public.archive()"},
	{"one row of each into another table", "S;\nCREATE TABLE archive (LIKE orders);\nCREATE FUNCTION archive() RETURNS void LANGUAGE sql AS 'INSERT INTO archive SELECT DISTINCT ON (code) * FROM orders'", "function public.archive()"},
	{"the result of a query", "S;\nCREATE FUNCTION f() RETURNS TABLE (a int, b int) LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT * FROM orders; END'", "function public.f()"},
	{"the result of a function", "S;\nCREATE FUNCTION f() RETURNS TABLE (a int, b int) LANGUAGE sql AS 'TABLE orders'", "function public.f()"},
	{"rows without columns", "S;\nCREATE PROCEDURE add() LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.orders VALUES (7, 7); END'", "procedure public.add()"},

	{"a restrictive policy", "S;\nALTER TABLE orders ENABLE ROW LEVEL SECURITY;\nCREATE POLICY p ON orders USING (true);\nCREATE POLICY r ON orders AS RESTRICTIVE USING (id < 8)", "policy r on public.orders. Drop them, and create them again after the swap. Without a policy, others may show more rows: instead of dropping it, ALTER POLICY"},

	{"a greatest value", "CREATE TABLE orders (id serial PRIMARY KEY);\nALTER SEQUENCE orders_id_seq MAXVALUE 2000000000", "ALTER SEQUENCE public.orders_id_seq AS bigint NO MAXVALUE first"},
	{"that of an integer", "CREATE SEQUENCE s MAXVALUE 2147483647;\nCREATE TABLE orders (id int PRIMARY KEY DEFAULT nextval('s'))", "ALTER SEQUENCE public.s AS bigint NO MAXVALUE first"},
	{"that of an identity", "CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY (MAXVALUE 1000000) PRIMARY KEY)", "ALTER SEQUENCE public.orders_id_seq AS bigint NO MAXVALUE first"},
	{"an index without bigint", "S;\nCREATE EXTENSION bloom SCHEMA public;\nCREATE INDEX i ON orders USING bloom (id)", "the index i"},
	{"statistics of an index", "S;\nCREATE INDEX i ON orders (id, (code + 1));\nALTER INDEX i ALTER 2 SET STATISTICS 100", "the index i"},
	{"an index of an extension", "S;\nCREATE EXTENSION btree_gist SCHEMA public;\nCREATE INDEX i ON orders (id);\nALTER INDEX i DEPENDS ON EXTENSION btree_gist", "the index i"},
	{"the columns of an action", "15:S;\nCREATE TABLE lines (o int, FOREIGN KEY (o) REFERENCES orders ON DELETE SET NULL (o))", "the foreign key lines_o_fkey"},
	{"a foreign key that is off", "S;\nCREATE TABLE lines (o int REFERENCES orders);\nALTER TABLE lines DISABLE TRIGGER ALL", "the foreign key lines_o_fkey"},
	{"a comment of statistics", "S;\nCREATE STATISTICS z ON id, code FROM orders;\nCOMMENT ON STATISTICS z IS 'z'", "statistics object public.z"},
	{"a NOT NULL not valid", "18:S;\nCREATE TABLE lines (o int REFERENCES orders);\nALTER TABLE lines ADD CONSTRAINT n NOT NULL o NOT VALID", "the constraint n"},
	{"a comment of NOT NULL", "18:S;\nCOMMENT ON CONSTRAINT orders_id_not_null ON orders IS 'x'", "the constraint orders_id_not_null"},
	{"a NOT NULL without heirs", "18:S;\nCREATE TABLE lines (o int REFERENCES orders, CONSTRAINT n NOT NULL o NO INHERIT)", "the constraint n"},
}

const (
	plainOrders  = "CREATE TABLE orders (id int PRIMARY KEY, code int UNIQUE)"
	auditTrigger = "CREATE TRIGGER audit AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION audit()"
)

func auditFunction(values string) string {
	return "CREATE TABLE log (id int, code int);\nCREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO log SELECT " + values + "; RETURN NULL; END'"
}

func TestRefused(t *testing.T) {
	db := openPostgres(t)
	version := db.One(t, "SELECT current_setting('server_version_num')::int / 10000")
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			setup := c.setup
			for _, since := range []string{"15", "18"} {
				rest, later := strings.CutPrefix(setup, since+":")
				if later && version < since {
					return
				}
				setup = rest
			}
			db.Run(t, strings.Split(strings.ReplaceAll(setup, "S;", plainOrders+";"), ";\n")...)
			db.refuses(t, db.config(), c.want)
			db.Run(t, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "DROP PUBLICATION IF EXISTS p")
		})
	}
}

// Configurations that only the server can judge; TestBadConfig of the package has the others.
func TestRefusedConfig(t *testing.T) {
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
