//go:build cluster

package cluster

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// patroni is a PostgreSQL cluster under Patroni.
type patroni struct {
	*testserver.Patroni
	admin *sql.DB
}

func (p *patroni) connect(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", p.DSN)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (p *patroni) about(*testing.T) string { return "PostgreSQL" }

func (p *patroni) table() string {
	return "CREATE TABLE failover_rows (id BIGINT PRIMARY KEY, writer BIGINT NOT NULL)"
}

func (p *patroni) placeholder(n int) string { return fmt.Sprintf("$%d", n) }

func (p *patroni) duplicate(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505"
}

func (p *patroni) primary(t *testing.T) string { t.Helper(); return fmt.Sprint(p.port(t)) }

// port returns the primary's port.
func (p *patroni) port(t *testing.T) (port int) {
	t.Helper()
	asksFor(t, p.admin, "SELECT CAST(current_setting('port') AS INTEGER)", &port)
	return port
}

// leader returns the member that accepts writes.
func (p *patroni) leader(t *testing.T) *testserver.PatroniMember {
	t.Helper()
	port := p.port(t)
	for _, m := range p.Members {
		if m.Port == port {
			return m
		}
	}
	t.Fatalf("the primary has port %d, which is no member's", port)
	return nil
}

// await asks Patroni which members it may promote, and the primary what they have. A member
// whose data has diverged from the primary's also connects, and looks like a standby until
// Patroni has rewound it. Its timeline shows the difference.
func (p *patroni) await(t *testing.T, early bool) {
	t.Helper()
	standbys := len(p.Members) - 1
	if early {
		standbys = 1
	}
	testserver.Eventually(t, patience, func() error {
		states, err := p.State()
		if ready := p.caughtUp(t, states); ready < standbys {
			return fmt.Errorf("%d standbys have all that the primary has; Patroni: %+v, %w", ready, states, err)
		}
		return nil
	})
}

// caughtUp counts the synchronous standbys that have everything that the primary has now.
func (p *patroni) caughtUp(t *testing.T, states []testserver.PatroniState) (standbys int) {
	t.Helper()
	var lsn string
	asksFor(t, p.admin, "SELECT CAST(pg_current_wal_flush_lsn() AS TEXT)", &lsn)
	timeline, port := int64(0), p.port(t)
	for _, s := range states {
		if s.Role == "leader" && s.Port == port {
			timeline = s.Timeline
		}
	}
	for _, s := range states {
		var has bool
		asksFor(t, p.admin, "SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE application_name = '"+s.Name+"' AND state = 'streaming' AND sync_state = 'sync' AND flush_lsn >= '"+lsn+"')", &has)
		if s.Role == "sync_standby" && s.Timeline == timeline && has {
			standbys++
		}
	}
	return standbys
}

func (p *patroni) ways() []way {
	postgres := func(t *testing.T) func() {
		t.Helper()
		must(t, p.leader(t).KillPostgres())
		return nil
	}
	return []way{
		{name: "PostgreSQL", share: 75, kill: postgres},
		{name: "PostgreSQL, a member still away", share: 19, early: true, kill: postgres},
		{name: "PostgreSQL and Patroni", share: 6, kill: func(t *testing.T) func() {
			t.Helper()
			m := p.leader(t)
			must(t, m.Kill())
			return func() { must(t, m.Start()) }
		}},
	}
}

func TestFailoverPatroni(t *testing.T) {
	p := &patroni{Patroni: testserver.NewPatroni(t, 3)}
	p.admin = p.connect(t)
	failover(t, p)
}
