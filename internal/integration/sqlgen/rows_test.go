package sqlgen

import (
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// However rows come into a table, they have keys.
func TestRows(t *testing.T) {
	conn := connect(t, database(t))
	create(t, conn, orders)
	run(t, conn,
		"CREATE TABLE source AS SELECT n FROM generate_series(1, 2000) n",
		"CREATE TABLE orders (id bigint PRIMARY KEY, n int)",
		"CREATE TABLE by_trigger (id bigint PRIMARY KEY, n int)",
		"CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := coalesce(NEW.id, snowkey_next(''orders'')); RETURN NEW; END'",
		"CREATE TRIGGER fill BEFORE INSERT ON by_trigger FOR EACH ROW EXECUTE FUNCTION fill()",
		"CREATE TABLE parted (id bigint PRIMARY KEY DEFAULT snowkey_next('orders'), n int) PARTITION BY RANGE (id)",
		"CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (1000)",
		"CREATE TABLE parted_rest PARTITION OF parted DEFAULT",
	)
	run(t, conn, script(t)(orders.SetDefault("id", "public", "orders"))...)
	for name, statement := range map[string]string{
		"values":     "INSERT INTO orders (n) VALUES (1), (2)",
		"DEFAULT":    "INSERT INTO orders VALUES (DEFAULT, 1)",
		"select":     "INSERT INTO orders (n) SELECT n FROM source",
		"merge":      "INSERT INTO orders (n) SELECT n FROM source ON CONFLICT DO NOTHING",
		"trigger":    "INSERT INTO by_trigger (n) SELECT n FROM source",
		"partition":  "INSERT INTO parted (n) SELECT n FROM source",
		"a CTE":      "WITH new AS (INSERT INTO orders (n) SELECT n FROM source RETURNING id) SELECT count(*) FROM new",
		"a new one":  "CREATE TABLE made AS SELECT snowkey_next('orders') AS id FROM source",
		"a column":   "ALTER TABLE source ADD COLUMN id bigint NOT NULL DEFAULT snowkey_next('orders')",
		"a function": "CREATE MATERIALIZED VIEW kept AS SELECT snowkey_next() AS id FROM source",
	} {
		t.Run(name, func(t *testing.T) { run(t, conn, statement) })
	}
	t.Run("COPY", func(t *testing.T) {
		if _, err := conn.PgConn().CopyFrom(t.Context(), strings.NewReader(strings.Repeat("7\n", 2000)), "COPY orders (n) FROM STDIN"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("parallel", func(t *testing.T) {
		run(t, conn, "SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0", "SET min_parallel_table_scan_size = 0", "ANALYZE source")
		run(t, conn, "INSERT INTO orders (n) SELECT a.n FROM source a JOIN source b ON a.n = b.n", "INSERT INTO orders SELECT snowkey_next('orders'), n FROM source")
	})
	var found ids
	for _, table := range []string{"orders", "by_trigger", "parted", "made", "source", "kept"} {
		var last int64
		found.add(t, &last, all(t, conn, "SELECT id FROM "+table+" ORDER BY id")...)
	}
}

// A role that may use only the function inserts. It cannot touch what is below, and no
// search_path of its own makes the function run the role's code.
func TestRights(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	g := orders
	g.Schema = "app"
	run(t, conn, "CREATE SCHEMA app")
	create(t, conn, g)
	run(t, conn, "CREATE TABLE app.orders (id bigint PRIMARY KEY, note text)", "DROP ROLE IF EXISTS clerk", "CREATE ROLE clerk",
		"CREATE TABLE orders (id bigint PRIMARY KEY, note text)", "GRANT INSERT, SELECT ON app.orders, orders TO clerk", "CREATE SCHEMA evil AUTHORIZATION clerk")
	defer run(t, conn, "RESET ROLE", "DROP OWNED BY clerk", "DROP ROLE clerk")
	run(t, conn, script(t)(g.SetDefault("id", "app", "orders"))...)
	run(t, conn, script(t)(g.SetDefault("id", "orders"))...)
	var found ids
	var last int64
	run(t, conn, "SET ROLE clerk") // without a right on the schema, a DEFAULT gives ids
	found.add(t, &last, all(t, conn, "INSERT INTO orders (note) SELECT 'x' FROM generate_series(1, 100) RETURNING id")...)
	refused(t, conn, "42501", "permission denied", "SELECT app.snowkey_next('orders')")
	run(t, conn, "RESET ROLE", "GRANT USAGE ON SCHEMA app TO clerk", "SET ROLE clerk")
	insert := func() {
		t.Helper()
		found.add(t, &last, all(t, conn, "INSERT INTO app.orders (note) SELECT 'x' FROM generate_series(1, 100) RETURNING id")...)
	}
	insert()
	for _, statement := range []string{
		"SELECT nextval('app.snowkey_cursor')", "SELECT setval('app.snowkey_cursor', 1)", "SELECT * FROM app.snowkey_generator", "UPDATE app.snow_lease SET claim_id = ''",
		"SELECT app.snowkey_claim()", "SELECT app.snowkey_refill('orders')", "SELECT app.snowkey_ahead_hint(1)", "SELECT app.snowkey_release()", "DELETE FROM app.snowkey_marker", "SELECT app.snowkey_flush()",
		"SELECT app.snowkey_check()", "SELECT app.snowkey_copied()", "SELECT app.snowkey_incarnation()",
	} {
		refused(t, conn, "42501", "permission denied", statement)
	}
	run(t, conn, "BEGIN")
	refused(t, conn, "42501", "permission denied", "LOCK TABLE app.snowkey_lock IN SHARE UPDATE EXCLUSIVE MODE")
	run(t, conn, "ROLLBACK")
	// Functions and operators of the role with the names of those that the function uses.
	run(t, conn, "SET search_path = evil, app, public, pg_catalog")
	const body = " LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''evil code ran as %'', current_user; END'"
	for _, f := range []string{"nextval(regclass) RETURNS bigint", "clock_timestamp() RETURNS timestamptz", "date_part(text, timestamptz) RETURNS float8", "abs(bigint) RETURNS bigint",
		"cardinality(bigint[]) RETURNS int", "a(bigint, bigint) RETURNS bigint", "b(bigint, int) RETURNS bigint", "c(bigint, bigint) RETURNS boolean", "d(float8, float8) RETURNS float8",
		"e(text, text) RETURNS boolean", "f(bigint, int) RETURNS boolean", "snowkey_refill(text) RETURNS bigint", "snowkey_workers() RETURNS bigint[]"} {
		run(t, conn, "CREATE FUNCTION evil."+f+body)
	}
	for _, o := range []string{"+ b bigint int", "+ a bigint bigint", "- a bigint bigint", "* a bigint bigint", "/ a bigint bigint", "% b bigint int", "% a bigint bigint", "| a bigint bigint",
		"<< b bigint int", "> f bigint int", "> c bigint bigint", "<= f bigint int", "<= c bigint bigint", "<> e text text", "* d float8 float8", "- d float8 float8", "/ d float8 float8"} {
		w := strings.Fields(o)
		run(t, conn, "CREATE OPERATOR evil."+w[0]+" (FUNCTION = evil."+w[1]+", LEFTARG = "+w[2]+", RIGHTARG = "+w[3]+")")
	}
	refused(t, conn, "P0001", "evil code ran", "SELECT 1::bigint + 1::bigint") // the trap works
	insert()
	run(t, conn, "DISCARD SEQUENCES", "DISCARD PLANS")
	insert()
	if got := one[int](t, conn, "SELECT pg_catalog.count(*) FROM pg_catalog.pg_proc p WHERE p.prosecdef AND p.pronamespace OPERATOR(pg_catalog.=) 'app'::regnamespace"); got != 1 {
		t.Errorf("%d functions are SECURITY DEFINER, want next alone", got)
	}
}

// Names that need quotes, and the errors of a configuration.
func TestNames(t *testing.T) {
	conn := connect(t, database(t))
	run(t, conn, `CREATE SCHEMA "A ""b"" $snowkey$ \ %"`, "CREATE SCHEMA leases")
	g := ddl.Generator{Dialect: ddl.Postgres, Schema: `A "b" $snowkey$ \ %`, Prefix: "It's %s {next} \n-- next statement\n;", Table: "leases.taken", Namespace: "a/b"}
	create(t, conn, g)
	run(t, conn, "CREATE TABLE t (id bigint, n int)")
	run(t, conn, script(t)(g.SetDefault("id", "t"))...)
	var found ids
	var last int64
	found.add(t, &last, all(t, conn, "INSERT INTO t (n) VALUES (1), (2) RETURNING id")...)
	refused(t, conn, "2BP01", "depend on it", script(t)(g.Drop())[0])
	run(t, conn, "DROP TABLE t")
	run(t, conn, script(t)(g.Drop())...)
	if left := one[int](t, conn, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace OR relnamespace::regnamespace::text LIKE '%A%'`); left > 0 {
		t.Errorf("%d objects are left", left)
	}
}
