package migrate

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// lost has what a migration could not keep: each is refused by its name, before anything is written.
// Setups that begin with "18:" need PostgreSQL 18.
var lost = []refusal{
	{"a column of the row type", "S;\nCREATE TABLE audit (old orders)", "table column public.audit.old"},
	{"an array of rows", "S;\nCREATE TABLE audit (old orders[])", "table column public.audit.old"},
	{"a domain", "S;\nCREATE DOMAIN d AS orders", "type public.d"},
	{"a composite type", "S;\nCREATE TYPE t AS (o orders)", "composite type column public.t.o"},
	{"an argument", "S;\nCREATE FUNCTION f(orders) RETURNS int LANGUAGE sql AS 'SELECT 1'", "function public.f(public.orders)"},
	{"an array as an argument", "S;\nCREATE FUNCTION f(orders[]) RETURNS int LANGUAGE sql AS 'SELECT 1'", "function public.f(public.orders[])"},
	{"a result", "S;\nCREATE FUNCTION f() RETURNS SETOF orders LANGUAGE sql AS 'SELECT * FROM orders'", "function public.f()"},
	{"a view of rows", "S;\nCREATE MATERIALIZED VIEW m AS SELECT o FROM orders o", "materialized view column public.m.o"},
	{"a row in a view", "S;\nCREATE VIEW v AS SELECT code, row_to_json(o) FROM orders o", "view public.v"},
	{"a check of rows", "S;\nALTER TABLE orders ADD CHECK (orders IS NOT NULL)", "table constraint orders_check on public.orders"},
	{"a body with the key", "S;\nCREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM orders; END", "function public.f()"},

	{"NEW.*", "S;\n" + auditFunction("NEW.*") + ";\n" + auditTrigger, "the trigger audit has whole rows"},
	{"OLD.*", "S;\n" + auditFunction("OLD . *") + ";\n" + auditTrigger, "the trigger audit has whole rows"},
	{"a condition over rows", "S;\n" + auditFunction("1") + ";\nCREATE TRIGGER audit AFTER UPDATE ON orders FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION audit()", "the trigger audit has whole rows"},
	{"rows into another table", "S;\nCREATE TABLE archive (LIKE orders);\nCREATE FUNCTION archive() RETURNS void LANGUAGE sql AS 'INSERT INTO archive SELECT * FROM orders'", "function public.archive()"},
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
	{"the columns of an action", "S;\nCREATE TABLE lines (o int, FOREIGN KEY (o) REFERENCES orders ON DELETE SET NULL (o))", "the foreign key lines_o_fkey"},
	{"a foreign key that is off", "S;\nCREATE TABLE lines (o int REFERENCES orders);\nALTER TABLE lines DISABLE TRIGGER ALL", "the foreign key lines_o_fkey"},
	{"a comment of statistics", "S;\nCREATE STATISTICS z ON id, code FROM orders;\nCOMMENT ON STATISTICS z IS 'z'", "statistics object public.z"},
	{"a NOT NULL not valid", "18:S;\nCREATE TABLE lines (o int REFERENCES orders);\nALTER TABLE lines ADD CONSTRAINT n NOT NULL o NOT VALID", "the constraint n"},
	{"a comment of NOT NULL", "18:S;\nCOMMENT ON CONSTRAINT orders_id_not_null ON orders IS 'x'", "the constraint orders_id_not_null"},
	{"a NOT NULL without heirs", "18:S;\nCREATE TABLE lines (o int REFERENCES orders, CONSTRAINT n NOT NULL o NO INHERIT)", "the constraint n"},
}

func auditFunction(values string) string {
	return "CREATE TABLE log (id int, code int);\nCREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO log SELECT " + values + "; RETURN NULL; END'"
}

const auditTrigger = "CREATE TRIGGER audit AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION audit()"

func TestLost(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	is18 := db.One(t, "SELECT current_setting('server_version_num')::int >= 180000") == "true"
	var cases []refusal
	for _, c := range lost {
		setup, only18 := strings.CutPrefix(c.setup, "18:")
		if c.setup = setup; !only18 || is18 {
			cases = append(cases, c)
		}
	}
	db.refused(t, cases, "DROP SCHEMA public CASCADE;\nCREATE SCHEMA public")
}

// A transaction that began before the fill sees rows without the new column: the swap waits for its end,
// whether or not an index on the column made the migration wait before.
func TestOldSnapshot(t *testing.T) {
	t.Parallel()
	for _, index := range []string{"", "CREATE UNIQUE INDEX ON orders (n)"} {
		db := openPostgres(t)
		db.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, n int)", "INSERT INTO orders SELECT i, i FROM generate_series(1, 1000) i")
		if index != "" {
			db.Run(t, index)
		}
		db.waitsFor(t, db.oldSnapshot(t), "n", 4*time.Second)
	}
}

// oldSnapshot begins a transaction that has read, but not yet the table orders.
func (db *engine) oldSnapshot(t *testing.T) *sql.Tx {
	t.Helper()
	old, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must(t, err)
	t.Cleanup(func() { _ = old.Rollback() })
	_, err = old.Exec("SELECT 'the old one'")
	must(t, err)
	return old
}

// waitsFor checks that a migration waits for an old snapshot, which still reads all 1000 keys.
func (db *engine) waitsFor(t *testing.T, old *sql.Tx, column string, long time.Duration) {
	t.Helper()
	cfg := db.config()
	cfg.Column = column
	ended := db.start(cfg)
	select {
	case err := <-ended:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(long):
	}
	var rows, keys int
	err := old.QueryRow("SELECT count(*), count("+column+") FROM orders").Scan(&rows, &keys)
	if err != nil || rows != 1000 || keys != 1000 {
		t.Errorf("%d rows, %d keys, %v", rows, keys, err)
	}
	must(t, old.Rollback())
	must(t, <-ended)
	const typ = "SELECT data_type FROM information_schema.columns WHERE table_name = 'orders' AND column_name = "
	db.Expect(t, "bigint", typ+"'"+column+"'")
}

// The error names a session whose snapshot is too old.
func TestOldSnapshotNames(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	db.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, n int)", "INSERT INTO orders VALUES (1, 1)")
	db.oldSnapshot(t)
	cfg := db.config()
	cfg.Column, cfg.Patience = "n", time.Millisecond
	if _, err := migrate.Run(t.Context(), db.DB, cfg); !errors.Is(err, migrate.ErrBusy) || !strings.Contains(err.Error(), "the old one") {
		t.Errorf("%v", err)
	}
}

// feedback lets a standby say which snapshots it has.
func (db *engine) feedback(t testing.TB, primary *engine) {
	t.Helper()
	db.Run(t, "ALTER SYSTEM SET hot_standby_feedback = on", "ALTER SYSTEM SET wal_receiver_status_interval = 1", "SELECT pg_reload_conf()")
	for begun := time.Now(); primary.One(t, "SELECT count(backend_xmin) FROM pg_stat_replication") != "1"; <-time.After(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("no feedback")
		}
	}
}

// The swap waits for old snapshots of a standby, too. A standby that does not tell of them is refused.
func TestOldSnapshotOfStandby(t *testing.T) {
	t.Parallel()
	primary := testserver.New(t, testserver.KindPostgres)
	db := open(t, primary.DSN)
	db.Run(t, "CREATE TABLE orders (id int PRIMARY KEY)", "INSERT INTO orders SELECT generate_series(1, 1000)")
	standby := open(t, testserver.NewStandby(t, primary).DSN)
	for begun := time.Now(); db.One(t, "SELECT count(replay_lsn) FROM pg_stat_replication WHERE state = 'streaming'") != "1"; {
		if time.Since(begun) > patience {
			t.Fatal("the standby does not stream")
		}
	}
	db.refuses(t, db.config(), "SET hot_standby_feedback = on")
	standby.feedback(t, db)
	db.waitsFor(t, standby.oldSnapshot(t), "id", 8*time.Second)
}

// A policy that names the key is refused. As the error says, it is closed meanwhile: a role never sees more.
func TestPolicy(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	const role = "migrate_policy"
	db.Run(t, "CREATE TABLE orders (id int PRIMARY KEY)", "INSERT INTO orders SELECT generate_series(1, 10)", "ALTER TABLE orders ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY p ON orders USING (true)", "CREATE POLICY r ON orders AS RESTRICTIVE USING (id < 8)",
		"DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "GRANT SELECT ON orders TO "+role)
	t.Cleanup(func() { _, _ = db.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	seen := func(want string) {
		t.Helper()
		tx, err := db.Begin()
		must(t, err)
		defer func() { _ = tx.Rollback() }()
		var n string
		_, err = tx.Exec("SET LOCAL ROLE " + role)
		must(t, err)
		must(t, tx.QueryRow("SELECT count(*) FROM orders").Scan(&n))
		if n != want {
			t.Errorf("the role sees %s rows, and not %s", n, want)
		}
	}
	db.refuses(t, db.config(), "policy r on public.orders", "ALTER POLICY … USING (false)")
	seen("7")
	db.Run(t, "ALTER POLICY r ON orders USING (false)")
	db.finish(t, db.config())
	seen("0")
	db.Run(t, "ALTER POLICY r ON orders USING (id < 8)")
	seen("7")
}
