package forget

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A postgres is a server that forgets. Its clients reach it, or what succeeds it, by a link.
type postgres struct {
	*site
	server  *testserver.Server
	standby *testserver.Server // which is promoted next
	link    *network.Link
}

func newPostgres(t *testing.T, arguments ...string) *postgres {
	t.Helper()
	p := &postgres{server: testserver.New(t, testserver.KindPostgres, arguments...)}
	p.link = network.LinkTo(t, p.server.Addr)
	p.site = sqlSite("pgx", func() string { return strings.Replace(p.server.DSN, p.server.Addr, p.link.Addr, 1) })
	return p
}

// run executes statements at the server.
func (p *postgres) run(t *testing.T, statements ...string) {
	t.Helper()
	execute(t, openDB(t, "pgx", p.server.DSN), statements...)
}

// try runs one of PostgreSQL's programs on the server.
func (p *postgres) try(t *testing.T, name string, arguments ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.server.Program(name), append(arguments, "-d", p.server.DSN)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// caughtUp waits until the standby has everything.
func (p *postgres) caughtUp(t *testing.T) {
	t.Helper()
	until(t, openDB(t, "pgx", p.server.DSN), "true", "SELECT CAST(state = 'streaming' AND replay_lsn >= pg_current_wal_flush_lsn() AS TEXT) FROM pg_stat_replication WHERE application_name = 'standby'")
}

func (p *postgres) promote(t *testing.T) {
	t.Helper()
	until(t, openDB(t, "pgx", p.standby.DSN), "true", "SELECT CAST(pg_promote() AS TEXT)")
	p.server = p.standby
	p.link.Lead(p.server.Addr)
}

// Asynchronous standbys that lack the last writes are promoted one after the other, and some holders
// live through all of it.
func TestPostgresPromotions(t *testing.T) {
	t.Parallel()
	promotions := 10
	if text := os.Getenv("SNOWKEY_FORGET_PROMOTIONS"); text != "" {
		promotions = engines.MustNew(strconv.Atoi(text))
	}
	p := newPostgres(t)
	p.window = 3 * time.Second
	live := newGroup(t, *p.site, "live")
	live.join(4)
	sum := line{name: fmt.Sprintf("PostgreSQL: %d asynchronous standbys promoted", promotions)}
	for range promotions {
		replication := network.LinkTo(t, p.server.Addr)
		p.standby = testserver.NewStandby(t, p.server, "-c", "primary_conninfo="+strings.Replace(p.server.DSN, p.server.Addr, replication.Addr, 1)+"&application_name=standby")
		p.keep = func(t *testing.T) { t.Helper(); p.caughtUp(t); replication.Cut() }
		p.event = func(t *testing.T) { t.Helper(); must(t, p.server.Kill()); p.promote(t) }
		old := p.server
		l := round(t, "promotion", *p.site, live, newGroup(t, *p.site, "control"))
		must(t, old.Remove())
		live.shrink(4)
		sum.ids, sum.duplicates = l.ids, l.duplicates
		sum.forgotten, sum.controls, sum.lost = sum.forgotten+l.forgotten, sum.controls+l.controls, sum.lost+l.lost
		sum.took, sum.ahead = max(sum.took, l.took), max(sum.ahead, l.ahead)
	}
	t.Logf("%v %d lost", sum, sum.lost)
	sum.checkControl(t)
}

func TestPostgres(t *testing.T) {
	for _, c := range []struct {
		name      string
		arguments []string
		set       func(t *testing.T, p *postgres)
	}{
		{"point-in-time restore", []string{"-c", "archive_mode=on", "-c", "archive_command=cp %p ../archive/%f", "-c", "restore_command=cp ../archive/%f %p", "-c", "recovery_target_name=kept", "-c", "recovery_target_action=promote"}, func(t *testing.T, p *postgres) {
			t.Helper()
			must(t, p.server.MakeFolder("archive"))
			p.run(t, "CREATE TABLE one (n BIGINT)", "CHECKPOINT")
			must(t, p.server.Snapshot())
			p.keep = func(t *testing.T) { t.Helper(); p.run(t, "SELECT pg_create_restore_point('kept')") }
			p.event = func(t *testing.T) {
				t.Helper()
				p.run(t, "SELECT pg_switch_wal()")
				until(t, openDB(t, "pgx", p.server.DSN), "true", "SELECT CAST(last_archived_wal >= pg_walfile_name(pg_switch_wal()) OR archived_count > 0 AS TEXT) FROM pg_stat_archiver")
				must(t, p.server.Kill())
				must(t, p.server.PutBack())
				must(t, p.server.Touch("data/recovery.signal"))
				must(t, p.server.Start())
				until(t, openDB(t, "pgx", p.server.DSN), "false", "SELECT CAST(pg_is_in_recovery() AS TEXT)")
			}
		}},
		{"pg_dump restored into the same server", nil, func(t *testing.T, p *postgres) {
			t.Helper()
			file := filepath.Join(t.TempDir(), "dump.sql")
			p.keep = func(t *testing.T) { t.Helper(); must(t, p.try(t, "pg_dump", "--clean", "--if-exists", "-f", file)) }
			p.event = func(t *testing.T) { // one transaction, which a renewal may undo by a deadlock
				t.Helper()
				poll(t, func() error { return p.try(t, "psql", "-1", "-v", "ON_ERROR_STOP=1", "-f", file) })
			}
		}},
		{"snapshot of the running data directory", nil, func(t *testing.T, p *postgres) {
			t.Helper()
			p.keep, p.event = snapshots(p.server)
			p.through = true
		}},
		{"snapshot from before the tables were made", nil, func(t *testing.T, p *postgres) {
			t.Helper()
			must(t, p.server.Snapshot())
			_, p.event = snapshots(p.server)
			p.first = true
		}},
		{"DROP TABLE", nil, func(t *testing.T, p *postgres) {
			t.Helper()
			p.event, p.first = p.by("DROP TABLE snow_lease, snow_namespace"), true
		}},
		{"TRUNCATE", nil, func(t *testing.T, p *postgres) { p.event = p.by("TRUNCATE snow_lease, snow_namespace") }},
		{"TRUNCATE of the records", nil, func(t *testing.T, p *postgres) { p.event = p.by("TRUNCATE snow_lease") }},
		{"DELETE", nil, func(t *testing.T, p *postgres) {
			p.event = p.by("DELETE FROM snow_lease; DELETE FROM snow_namespace")
		}},
		{"DELETE of one namespace, next to another", nil, func(t *testing.T, p *postgres) {
			t.Helper()
			newGroup(t, *p.site, "neighbour").join(1)
			p.event = p.by("DELETE FROM snow_lease WHERE namespace NOT LIKE 'neighbour%'; DELETE FROM snow_namespace WHERE namespace NOT LIKE 'neighbour%' AND namespace <> '*'")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPostgres(t, c.arguments...)
			c.set(t, p)
			prove(t, "PostgreSQL: "+c.name, *p.site)
		})
	}
}

// by executes statements in one transaction.
func (p *postgres) by(statements string) func(t *testing.T) {
	return func(t *testing.T) { t.Helper(); p.run(t, "BEGIN; "+statements+"; COMMIT") }
}

// Nothing is lost, so holders keep their worker IDs.
func TestPostgresUnharmed(t *testing.T) {
	for _, c := range []struct {
		name  string
		event func(t *testing.T, p *postgres)
	}{
		{"clean restart", func(t *testing.T, p *postgres) { t.Helper(); must(t, p.server.Restart()) }},
		{"switchover", func(t *testing.T, p *postgres) { t.Helper(); must(t, p.server.Stop()); p.promote(t) }},
		{"immediate stop", func(t *testing.T, p *postgres) {
			t.Helper()
			must(t, p.server.Immediately())
			must(t, p.server.Start())
		}},
		{"one backend killed, synchronous_commit = off", func(t *testing.T, p *postgres) {
			t.Helper()
			p.run(t, "ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()")
			time.Sleep(time.Second) // of renewals
			var pid int
			conn := engines.MustNew(openDB(t, "pgx", p.server.DSN).Conn(t.Context()))
			defer conn.Close()
			must(t, conn.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
			must(t, syscall.Kill(pid, syscall.SIGKILL))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPostgres(t)
			if c.name == "switchover" {
				p.standby = testserver.NewStandby(t, p.server)
				p.keep = p.caughtUp
			}
			p.event = func(t *testing.T) { t.Helper(); c.event(t, p) }
			unharmed(t, "PostgreSQL: "+c.name, *p.site)
		})
	}
}
