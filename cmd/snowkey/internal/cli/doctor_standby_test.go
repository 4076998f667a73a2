package cli

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// An asynchronous standby is a warning; a session that does not wait for a synchronous one
// is refused.
func TestDoctorStandbys(t *testing.T) {
	primary := testserver.New(t, testserver.KindPostgres, "-c", "fsync=on")
	testserver.NewStandby(t, primary)
	db, err := sql.Open("pgx", primary.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	await := func(query string) {
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(3 * time.Minute); ; <-tick.C {
			var yes bool
			if err := db.QueryRowContext(t.Context(), query).Scan(&yes); err == nil && yes {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("never: %s", query)
			}
		}
	}
	as := func(user, commit string) string {
		u, err := url.Parse(primary.DSN)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.User(user)
		q := u.Query()
		q.Set("synchronous_commit", commit)
		u.RawQuery = q.Encode()
		return u.String()
	}
	exec("CREATE ROLE app LOGIN")
	await("SELECT state = 'streaming' FROM pg_stat_replication")

	d := examine(t, Env{}, "--dsn", as("postgres", "local"))
	d.want(t, "durability", doctor.OK, "")
	d.want(t, "standbys", doctor.Warn, `asynchronous standby "standby"`)
	if !d.OK || strings.Contains(d.says("standbys"), ";") {
		t.Errorf("%+v", d.Checks)
	}
	d = examine(t, Env{}, "--dsn", as("app", "on"))
	d.want(t, "standbys", doctor.Warn, "may not see more")

	exec("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
	exec("SELECT pg_reload_conf()")
	await("SELECT sync_state = 'sync' FROM pg_stat_replication")
	d = examine(t, Env{}, "--dsn", as("postgres", "on"))
	d.want(t, "durability", doctor.OK, "")
	if d.says("standbys") != "" {
		t.Errorf("a synchronous standby: %+v", d.Checks)
	}
	d = examine(t, Env{}, "--dsn", as("postgres", "local"))
	d.want(t, "durability", doctor.OK, "") // the store sets it
	d = examine(t, Env{}, "--dsn", as("postgres", "remote_write"))
	d.want(t, "standbys", doctor.Warn, "remote_write")
}

// says returns the detail of a check.
func (d diagnosis) says(name string) string {
	for _, c := range d.Checks {
		if c.Name == name {
			return c.Detail
		}
	}
	return ""
}
