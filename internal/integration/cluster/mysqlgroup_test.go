//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// mysqlGroup is MySQL with Group Replication and a single primary.
type mysqlGroup struct {
	ofMySQL
	*testserver.MySQLGroup
	admin *sql.DB   // each question by its own connection, which finds the primary
	each  []*sql.DB // of each member, likewise
	pools int
}

// mysqlConnector has the settings of a DSN that survive a change of the primary: by default the
// driver waits for a silent server until the kernel gives up, and keeps a connection to a
// primary that has become a secondary.
func mysqlConnector(t *testing.T, dsn string) driver.Connector {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn + "?timeout=2s&readTimeout=5s&writeTimeout=5s&rejectReadOnly=true")
	must(t, err)
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	must(t, err)
	return connector
}

// connect opens a pool that finds the primary by the Router, or, every second time, by the
// group itself.
func (g *mysqlGroup) connect(t *testing.T) *sql.DB {
	t.Helper()
	g.pools++
	if g.pools%2 == 0 {
		return g.direct(t)
	}
	return opened(t, mysqlConnector(t, g.DSN))
}

func (g *mysqlGroup) direct(t *testing.T) *sql.DB {
	t.Helper()
	p := &primaryConnector{}
	for _, m := range g.Members {
		p.members = append(p.members, mysqlConnector(t, m.DSN))
	}
	return opened(t, p)
}

func opened(t *testing.T, c driver.Connector) *sql.DB {
	t.Helper()
	db := sql.OpenDB(c)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// primaryConnector connects to the primary of a group without a Router. It asks all members at
// once, because one that hangs accepts connections.
type primaryConnector struct{ members []driver.Connector }

func (p *primaryConnector) Connect(ctx context.Context) (driver.Conn, error) {
	type answer struct {
		conn driver.Conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, len(p.members))
	for _, m := range p.members {
		go func() {
			conn, err := m.Connect(ctx)
			if err == nil {
				if err = isPrimary(ctx, conn); err != nil {
					_ = conn.Close()
				}
			}
			answers <- answer{conn, err}
		}()
	}
	var errs []error
	for i := range p.members {
		a := <-answers
		if a.err != nil {
			errs = append(errs, a.err)
			continue
		}
		cancel()
		go func() { // of the others none is a primary too, unless it has not learned yet that it is not
			for range p.members[i+1:] {
				if late := <-answers; late.err == nil {
					_ = late.conn.Close()
				}
			}
		}()
		return a.conn, nil
	}
	cancel()
	return nil, errors.Join(errs...)
}

func (p *primaryConnector) Driver() driver.Driver { return p.members[0].Driver() }

var errNotPrimary = errors.New("this member is not the primary")

// isPrimary asks a member whether it accepts writes.
func isPrimary(ctx context.Context, conn driver.Conn) error {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "SELECT 1 FROM performance_schema.replication_group_members"+
		" WHERE member_id = @@server_uuid AND member_state = 'ONLINE' AND member_role = 'PRIMARY' AND @@super_read_only = 0", nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next(make([]driver.Value, 1)) != nil {
		return errNotPrimary
	}
	return nil
}

func (g *mysqlGroup) about(t *testing.T) string {
	t.Helper()
	var version, consistency string
	asksFor(t, g.admin, "SELECT @@version, @@group_replication_consistency", &version, &consistency)
	return fmt.Sprintf("MySQL %s, Group Replication of %d members, group_replication_consistency = %s", version, len(g.Members), consistency)
}

func (g *mysqlGroup) table() string {
	return "CREATE TABLE failover_rows (id BIGINT PRIMARY KEY, writer BIGINT NOT NULL)"
}

// ofMySQL has what all targets that speak MySQL have in common.
type ofMySQL struct{}

func (ofMySQL) placeholder(int) string { return "?" }

func (ofMySQL) duplicate(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1062
}

func (g *mysqlGroup) primary(t *testing.T) string { t.Helper(); return g.leader(t).Addr }

// leader returns the member that accepts writes.
func (g *mysqlGroup) leader(t *testing.T) *testserver.Server {
	t.Helper()
	var address string
	asksFor(t, g.admin, "SELECT CONCAT(@@report_host, ':', @@port)", &address)
	for _, m := range g.Members {
		if m.Addr == address {
			return m
		}
	}
	t.Fatalf("the primary is at %s, which is no member's address", address)
	return nil
}

// await waits until all members see all others, and the same primary. The group expels a
// member that is away, and then consists of two, neither of which may end. A member that was
// suspended does not know at first that it was expelled.
func (g *mysqlGroup) await(t *testing.T, _ bool) {
	t.Helper()
	testserver.Eventually(t, patience, func() error {
		views := map[string]bool{}
		complete := 0
		for _, db := range g.each {
			var online int
			var view string
			asksFor(t, db, "SELECT COALESCE(SUM(member_state = 'ONLINE'), 0), COALESCE(GROUP_CONCAT(member_port, ' ', member_state, ' ', member_role ORDER BY member_port), '')"+
				" FROM performance_schema.replication_group_members", &online, &view)
			if views[view] = true; online == len(g.Members) {
				complete++
			}
		}
		if complete != len(g.Members) || len(views) != 1 {
			return fmt.Errorf("the members do not see each other: %q", slices.Collect(maps.Keys(views)))
		}
		return nil
	})
}

func (g *mysqlGroup) ways() []way {
	return []way{
		{name: "killed", share: 80, kill: func(t *testing.T) func() {
			t.Helper()
			m := g.leader(t)
			must(t, m.Kill())
			return func() { must(t, m.Start()) }
		}},
		// It keeps its role until it learns that the group has expelled it.
		{name: "suspended", share: 20, kill: func(t *testing.T) func() {
			t.Helper()
			m := g.leader(t)
			must(t, m.Pause())
			return func() { must(t, m.Resume()) }
		}},
	}
}

func TestFailoverGroupReplication(t *testing.T) {
	var arguments []string
	if level := os.Getenv("SNOWKEY_FAILOVER_CONSISTENCY"); level != "" {
		arguments = append(arguments, "--group-replication-consistency="+level)
	}
	g := &mysqlGroup{MySQLGroup: testserver.NewMySQLGroup(t, 3, arguments...)}
	g.admin = g.direct(t)
	g.admin.SetMaxIdleConns(-1)
	for _, m := range g.Members {
		db := opened(t, mysqlConnector(t, m.DSN))
		db.SetMaxIdleConns(-1)
		g.each = append(g.each, db)
	}
	failover(t, g)
	t.Run("outside the group", func(t *testing.T) { outsideGroup(t, g) })
}

// outsideGroup checks that a store refuses a member whose writes the others do not get.
func outsideGroup(t *testing.T, g *mysqlGroup) {
	leader := g.leader(t)
	for _, m := range g.Members {
		if m == leader {
			continue
		}
		db := opened(t, mysqlConnector(t, m.DSN))
		for _, statement := range []string{"STOP GROUP_REPLICATION", "SET GLOBAL super_read_only = 0", "SET GLOBAL read_only = 0"} {
			_, err := db.ExecContext(t.Context(), statement)
			must(t, err)
		}
		noLease(t, db, "group_replication")
		return
	}
}
