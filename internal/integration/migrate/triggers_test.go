package migrate

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate"
)

// audited gives tables a trigger that sets updated_at, and one that writes to its own table.
func (db *engine) audited(t testing.TB, tables ...string) {
	t.Helper()
	db.Run(t, "CREATE TABLE audit (what text, note text)",
		"CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.updated_at := now(); RETURN NEW; END'",
		"CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit SELECT TG_TABLE_NAME, to_jsonb(NEW) ->> 'note'; RETURN NULL; END $$")
	for _, table := range tables {
		db.Run(t, "ALTER TABLE "+table+" ADD updated_at timestamptz DEFAULT '2020-01-01'",
			"CREATE TRIGGER touch BEFORE UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION touch()", "CREATE TRIGGER audit AFTER UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION audit()")
	}
}

// expectSilent checks that only the programs have fired triggers.
func (db *engine) expectSilent(t testing.TB, lines string) {
	t.Helper()
	db.Expect(t, "0", "SELECT count(*) FROM orders WHERE updated_at <> '2020-01-01' AND note <> 'changed'", "SELECT count(*) FROM "+lines+" WHERE updated_at <> '2020-01-01'",
		"SELECT count(*) FROM audit WHERE what <> 'orders' OR note <> 'changed'", "SELECT count(*) FROM orders WHERE note = 'changed' AND updated_at = '2020-01-01'")
}

// The triggers of tables fire for what programs write, and not for what is filled. Programs delete
// rows, and add some that refer to them: none dangles.
func TestSilentTriggers(t *testing.T) {
	db := openPostgres(t)
	db.shop(t, 1000)
	db.audited(t, "orders", "order_lines")
	p := db.programs(t)
	p.shop()
	p.change("DELETE FROM orders WHERE id = $1 AND id % 3 = 0", "INSERT INTO order_lines (order_id, line) VALUES ($1, random() * 1000000)",
		"DELETE FROM order_lines WHERE order_id = $1", "INSERT INTO shipments (order_id) VALUES ($1)", "INSERT INTO order_notes (order_id) VALUES ($1)")
	cfg := db.config()
	cfg.BatchSize, cfg.Pause = 100, 20*time.Millisecond
	batches := 0
	cfg.Progress = func(s migrate.Step, done, _ int64) {
		if s.Name == migrate.StepFill && done > 0 {
			batches++
		}
	}
	plan, err := migrate.Inspect(t.Context(), db.DB, cfg)
	if text := plan.String(); err != nil || strings.Count(text, "BEGIN;\nSET LOCAL session_replication_role = replica;\nWITH batch") != 2 {
		t.Errorf("%v:\n%s", err, text)
	}
	begun := time.Now()
	for _, undo := range []bool{false, true, false} {
		cfg.Undo = undo
		if undo { // while no id is there that does not fit
			p.end()
			db.Run(t, "DELETE FROM orders WHERE id > 1000000000")
		}
		if result := db.migrate(t, cfg); result.Rows == 0 && !undo {
			t.Error("nothing was filled")
		}
		db.expectSilent(t, "order_lines")
	}
	if took := time.Since(begun); batches < 5 || took < time.Duration(batches)*cfg.Pause {
		t.Errorf("%d batches with pauses in %v", batches, took)
	}
	cfg.Finish = true
	db.migrate(t, cfg)
	db.checkShop(t)
	db.Expect(t, "0", "SELECT count(*) FROM order_notes n LEFT JOIN orders o ON o.id = n.order_id WHERE n.order_id IS NOT NULL AND o.id IS NULL")
}

// Triggers that cannot be silenced are named, and nothing changes. With FireTriggers they fire.
func TestLoudTriggers(t *testing.T) {
	t.Parallel()
	const app = "migrate_loud"
	for _, c := range []struct {
		name, setup, want string // without want, they are silent
	}{
		{"no right", "", "audit of public.orders, touch of public.orders would fire for each row that is filled. Only a role that may set session_replication_role"},
		{"a right", "GRANT SET ON PARAMETER session_replication_role TO " + app, ""},
		{"always", "ALTER TABLE orders ENABLE ALWAYS TRIGGER touch", "because of ENABLE ALWAYS or ENABLE REPLICA (touch of public.orders)"},
		{"replica", "ALTER TABLE orders ENABLE REPLICA TRIGGER touch", "audit of public.orders, touch of public.orders would fire"},
		{"disabled", "ALTER TABLE orders DISABLE TRIGGER touch; ALTER TABLE orders DISABLE TRIGGER audit", ""},
		{"of another column", "DROP TRIGGER touch ON orders; DROP TRIGGER audit ON orders; CREATE TRIGGER audit AFTER UPDATE OF note ON orders FOR EACH ROW EXECUTE FUNCTION audit()", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openNext(t)
			db.pair(t)
			db.audited(t, "orders")
			db.role(t, app)
			db.Run(t, "GRANT CREATE ON SCHEMA public TO "+app, "GRANT pg_read_all_stats TO "+app)
			if db.One(t, "SELECT current_setting('server_version_num')::int < 150000") == "true" && c.name == "a right" {
				c.setup = "ALTER ROLE " + app + " SUPERUSER"
			}
			for s := range strings.SplitSeq(c.setup, "; ") {
				if s != "" {
					db.Run(t, s)
				}
			}
			as := db
			if strings.Contains(c.name, "right") {
				db.Run(t, "ALTER TABLE orders OWNER TO "+app, "ALTER TABLE order_lines OWNER TO "+app, "ALTER FUNCTION touch() OWNER TO "+app, "ALTER TABLE audit OWNER TO "+app)
				u, err := url.Parse(db.DSN)
				must(t, err)
				q := u.Query()
				q.Set("role", app)
				u.RawQuery = q.Encode()
				as = open(t, u.String())
			}
			cfg := as.config()
			if c.want != "" {
				as.refuses(t, cfg, "FireTriggers false: the UPDATE trigger ", c.want)
				cfg.FireTriggers = true
			}
			as.migrate(t, cfg)
			fired := fmt.Sprint(map[bool]int{true: 2}[c.want != ""]) // each row
			db.Expect(t, fired, "SELECT count(*) FROM audit")
			if c.name != "replica" { // where touch does not fire for programs
				db.Expect(t, fired, "SELECT count(*) FROM orders WHERE updated_at <> '2020-01-01'")
			}
		})
	}
}
