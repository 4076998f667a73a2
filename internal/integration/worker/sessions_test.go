package worker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A transaction that somebody has left open on the only connection of a pool would undo a claim, a
// renewal or a count when it is rolled back. The store refuses, or uses its own transaction.
func TestOpenTransaction(t *testing.T) {
	pq := newPostgres(t)
	pq.driver = "postgres"
	all := []engine{newPostgres(t), pq}
	for _, server := range testserver.MySQLs(t) {
		all = append(all, newMySQL(t, server.DSN))
	}
	for _, e := range all {
		t.Run(e.driver, func(t *testing.T) {
			other := e.store(t)
			_, err := other.Reserve(t.Context(), "starts", 1) // makes the table
			must(t, err)
			_, err = other.List(t.Context(), "default")
			must(t, err)
			db := e.open(t)
			db.SetMaxOpenConns(1)
			store := engines.MustNew(sqlstore.New(db, lossy))
			c := driver.Claim{
				Namespace: "default", Layout: "l", WorkerIDs: 8, Preferred: 3, RequirePreferred: true, Exclude: -1, Owner: "o", FenceWindow: 600_000,
			}
			claim := func(id string) (driver.Lease, error) {
				c.ClaimID, c.Now = id, time.Now().UnixMilli()
				return store.Claim(t.Context(), c)
			}
			// acknowledged runs a write in a session with an open transaction, which is rolled back, and
			// reports whether it was acknowledged.
			acknowledged := func(write func() error) bool {
				t.Helper()
				mustExec(t, db, "BEGIN")
				err := write()
				mustExec(t, db, "ROLLBACK")
				if err != nil && !strings.Contains(err.Error(), "left open") {
					t.Error(err)
				}
				return err == nil
			}
			record := func() driver.Record {
				t.Helper()
				st, err := other.List(t.Context(), c.Namespace)
				must(t, err)
				for _, rec := range st.Records {
					if rec.Worker == c.Preferred {
						return rec
					}
				}
				return driver.Record{}
			}
			for _, id := range []string{"of a new namespace", "second"} {
				if acknowledged(func() error { _, err := claim(id); return err }) && record().ClaimID != id {
					t.Errorf("a claim %q was acknowledged, and is gone: %+v", id, record())
				}
				if rec := record(); rec.Status == driver.Held {
					must(t, other.Release(t.Context(), driver.Release{Namespace: c.Namespace, Worker: rec.Worker, FencingToken: rec.FencingToken, ClaimID: rec.ClaimID, Unused: rec.Start}))
				}
			}
			held, err := claim("held")
			must(t, err)
			renewal := driver.Renewal{Namespace: c.Namespace, Worker: held.Worker, FencingToken: held.FencingToken, ClaimID: "held", FenceWindow: c.FenceWindow}
			renew := func() (l driver.Lease, err error) {
				time.Sleep(2 * time.Millisecond) // the fence rises with the clock
				return store.Renew(t.Context(), renewal)
			}
			var renewed driver.Lease
			if acknowledged(func() (err error) { renewed, err = renew(); return err }) && record().Fence != renewed.Fence {
				t.Errorf("a renewal to %d was acknowledged, and is gone: %+v", renewed.Fence, record())
			}
			var before, after int64
			if acknowledged(func() (err error) { before, err = store.Reserve(t.Context(), "starts", 1); return err }) {
				if after, err = other.Reserve(t.Context(), "starts", 1); err != nil || after == before {
					t.Errorf("%d is counted twice, %v", before, err)
				}
			}
			if acknowledged(func() (err error) { before, err = store.Reserve(t.Context(), "numbers", 1); return err }) {
				if after, err = other.Reserve(t.Context(), "numbers", 1); err != nil || after == before {
					t.Errorf("%d is reserved twice, %v", before, err)
				}
			}
			if _, err := renew(); err != nil { // ids continue
				t.Error(err)
			}
		})
	}
}

// Each write sets what keeps it, whatever the session's settings are: a trigger records them. A count
// waits for a standby, and a lease for the disk.
func TestWritesSetWhatTheyNeed(t *testing.T) {
	server := testserver.New(t, testserver.KindPostgres, "-c", "fsync=on")
	admin := open(t, "pgx", server.DSN)
	if _, err := engines.MustNew(sqlstore.New(admin, sqlstore.Config{})).Reserve(t.Context(), "starts", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := engines.MustNew(sqlstore.New(admin, sqlstore.Config{})).List(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	mustExec(t, admin, "CREATE TABLE seen (level text, what text)", `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO public.seen VALUES (current_setting('synchronous_commit'), TG_TABLE_NAME || ' ' || TG_OP); RETURN NULL; END $$`)
	for _, table := range []string{"snow_namespace", "snow_lease", "snow_counter"} {
		mustExec(t, admin, "CREATE TRIGGER note AFTER INSERT OR UPDATE ON "+table+" FOR EACH STATEMENT EXECUTE FUNCTION note()")
	}
	for i, by := range []string{"pgx", "postgres"} {
		for _, level := range []string{"off", "local", "remote_write", "remote_apply", "on"} {
			mustExec(t, admin, "TRUNCATE seen")
			db := open(t, by, server.DSN)
			db.SetMaxOpenConns(1)
			mustExec(t, db, "SET synchronous_commit = "+level, "SET search_path = pg_temp")
			store := engines.MustNew(sqlstore.New(db, sqlstore.Config{}))
			gen, err := worker.Open(t.Context(), store, worker.Config{Namespace: fmt.Sprint(level, i), FenceWindow: 3 * time.Second})
			must(t, err)
			await(t, "renewal", func() bool { return gen.Stats().Renewals > 0 })
			if err := gen.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := store.Reserve(t.Context(), "starts", 1); err != nil {
				t.Error(err)
			}
			var prepared int // at most this query, by pgx
			if err := db.QueryRow("SELECT COUNT(*) FROM pg_catalog.pg_prepared_statements").Scan(&prepared); err != nil || prepared > 1 {
				t.Errorf("%s: the store has left %d prepared statements, %v", by, prepared-1, err)
			}
			lease, count := level, level
			if level == "off" {
				lease = "local"
			}
			if level == "off" || level == "local" {
				count = "on"
			}
			for what, want := range map[string]string{"<> 'snow_counter INSERT'": "4 kinds at " + lease, "= 'snow_counter INSERT'": "1 kinds at " + count} {
				var levels string
				if err := admin.QueryRow("SELECT COUNT(DISTINCT what) || ' kinds at ' || string_agg(DISTINCT level, ' ') FROM seen WHERE what LIKE 'snow%' AND what <> 'snow_counter UPDATE' AND what " + what).Scan(&levels); err != nil || levels != want {
					t.Errorf("%s, %s: %s, want %s, %v", by, level, levels, want, err)
				}
			}
			var session string
			if err := db.QueryRow("SHOW synchronous_commit").Scan(&session); err != nil || session != level {
				t.Errorf("the session has %s afterwards, %v", session, err)
			}
		}
	}
}

// A table that is created in the hour that a session's zone has twice was created at one moment: sessions
// with another zone see the same incarnation.
func TestTimeZones(t *testing.T) {
	for i, server := range testserver.MySQLs(t) {
		t.Run(fmt.Sprint("mysql ", i), func(t *testing.T) {
			e := newMySQL(t, server.DSN)
			// This zone has just set its clocks back by an hour.
			mustExec(t, e.open(t),
				"REPLACE INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (777, 'N')",
				"REPLACE INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('Test/Autumn', 777)",
				"REPLACE INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (777, 0, 7200, 1, 'S'), (777, 1, 3600, 0, 'W')",
				fmt.Sprintf("REPLACE INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (777, 0, 0), (777, %d, 1)", time.Now().Add(-10*time.Minute).Unix()),
			)
			incarnations := map[string]bool{}
			for _, zone := range []string{"'+00:00'", "'-07:00'", "'Test/Autumn'"} {
				cfg := e.mysql(t)
				cfg.Params = map[string]string{"time_zone": zone}
				inZone := e
				inZone.dsn = cfg.FormatDSN()
				value, _, err := inZone.store(t).Incarnation(t.Context())
				must(t, err)
				incarnations[value] = true
			}
			if len(incarnations) != 1 {
				t.Error(incarnations)
			}
		})
	}
}

// No character set of a session changes how the store's text literals are read, the time zone included.
func TestCharacterSets(t *testing.T) {
	for i, server := range testserver.MySQLs(t) {
		for j, params := range []map[string]string{
			{"character_set_connection": "utf16"},
			{"collation_connection": "ucs2_general_ci", "character_set_client": "latin1"},
			{"collation_connection": "latin1_german2_ci", "character_set_results": "utf8mb4"},
			{"collation_connection": "utf8mb4_bin"},
			{"collation_connection": "swe7_swedish_ci"},
			{"collation_connection": "utf32_unicode_ci"},
		} {
			t.Run(fmt.Sprint(i, j), func(t *testing.T) {
				e := newMySQL(t, server.DSN)
				cfg := e.mysql(t)
				cfg.Params = params
				e.dsn = cfg.FormatDSN()
				if err := e.claim(t, 1, "o?{now}'"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Databases in an encoding that the driver or the store could misread.
func TestEncodings(t *testing.T) {
	plain := newPostgres(t)
	admin := plain.open(t)
	for _, encoding := range []string{"SQL_ASCII", "LATIN1"} {
		name := "encoding_" + strings.ToLower(encoding)
		mustExec(t, admin, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING '"+encoding+"' LC_COLLATE 'C' LC_CTYPE 'C'")
		t.Cleanup(func() { _, _ = admin.Exec("DROP DATABASE " + name + " WITH (FORCE)") })
		e := plain
		u := e.url(t)
		u.Path = name
		e.dsn = u.String()
		for driverName, want := range map[string]string{"pgx": "client_encoding=UTF8 to the DSN", "postgres": ""} {
			e.driver = driverName
			err := e.claim(t, 1, "a")
			if driver.IsPermanent(err) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v", encoding, driverName, err)
			}
		}
		e.driver = "pgx"
		must(t, e.with(t, "client_encoding", "UTF8").claim(t, 2, "o?{now}'"))
	}
	for _, encoding := range []string{"UTF-16le", "UTF-16be"} {
		e := newSQLite(t)
		e.dsn += "&_pragma=encoding('" + encoding + "')"
		must(t, e.claim(t, 1, "o?{now}'"))
	}
}

// claim claims a worker ID twice, the second time by the same claim, and renews it.
func (e engine) claim(t *testing.T, worker int64, owner string) error {
	t.Helper()
	s := e.store(t)
	c := driver.Claim{Namespace: "default", Layout: "l", WorkerIDs: 8, Preferred: worker, RequirePreferred: true, Exclude: -1, Owner: owner, FenceWindow: 30_000, ClaimID: owner, Now: time.Now().UnixMilli()}
	first, err := s.Claim(t.Context(), c)
	if err != nil {
		return err
	}
	again, err := s.Claim(t.Context(), c)
	must(t, err)
	if again.Start != first.Start || again.FencingToken != first.FencingToken {
		t.Errorf("%+v, then %+v", first, again)
	}
	_, err = s.Renew(t.Context(), driver.Renewal{Namespace: c.Namespace, Worker: first.Worker, FencingToken: first.FencingToken, ClaimID: owner, FenceWindow: c.FenceWindow})
	must(t, err)
	st, err := s.List(t.Context(), c.Namespace)
	must(t, err)
	if len(st.Records) == 0 || st.Records[len(st.Records)-1].Owner != owner {
		t.Errorf("owner %q: %+v", owner, st.Records)
	}
	return nil
}
