package forget

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(new(mysql.NopLogger)) // that a server is gone is no news here
	m.Run()
}

// mysqlSite returns a site of a server, which holders reach through the link.
func mysqlSite(t *testing.T, server *testserver.Server) (*site, *network.Link) {
	t.Helper()
	link := network.LinkTo(t, server.Addr)
	return sqlSite("mysql", func() string { return strings.Replace(server.DSN, server.Addr, link.Addr, 1) }), link
}

func TestMariaDB(t *testing.T) {
	t.Run("asynchronous replica promoted", func(t *testing.T) {
		t.Parallel()
		binlog := []string{"--log-bin=bin", "--sync-binlog=0"}
		primary := testserver.New(t, testserver.KindMariaDB, append(binlog, "--server-id=1")...)
		replica := testserver.New(t, testserver.KindMariaDB, append(binlog, "--server-id=2")...)
		from, to := openDB(t, "mysql", primary.DSN), openDB(t, "mysql", replica.DSN)
		execute(t, to, "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = "+port(primary.Addr)+", MASTER_USER = 'root', MASTER_LOG_FILE = 'bin.000001', MASTER_LOG_POS = 4", "START SLAVE")
		s, link := mysqlSite(t, primary)
		s.keep = func(t *testing.T) {
			t.Helper()
			var file, ignored string
			var position int64
			must(t, from.QueryRowContext(t.Context(), "SHOW MASTER STATUS").Scan(&file, &position, &ignored, &ignored))
			var waited int
			must(t, to.QueryRowContext(t.Context(), "SELECT MASTER_POS_WAIT(?, ?, 60) >= 0", file, position).Scan(&waited))
			execute(t, to, "STOP SLAVE")
		}
		s.event = func(t *testing.T) {
			t.Helper()
			must(t, primary.Kill())
			execute(t, to, "RESET SLAVE ALL")
			link.Lead(replica.Addr)
		}
		prove(t, "MariaDB: asynchronous replica promoted", *s)
	})
	t.Run("data directory put back", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewMariaDB(t)
		s, _ := mysqlSite(t, server)
		s.keep, s.event = snapshots(server)
		prove(t, "MariaDB: data directory put back", *s)
	})
	t.Run("TRUNCATE", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewMariaDB(t)
		s, _ := mysqlSite(t, server)
		s.event = func(t *testing.T) {
			t.Helper()
			execute(t, openDB(t, "mysql", server.DSN), "TRUNCATE snow_lease", "TRUNCATE snow_namespace")
		}
		prove(t, "MariaDB: TRUNCATE", *s)
	})
	t.Run("DROP TABLE", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewMariaDB(t)
		s, _ := mysqlSite(t, server)
		s.first = true
		s.event = func(t *testing.T) {
			t.Helper()
			execute(t, openDB(t, "mysql", server.DSN), "DROP TABLE snow_lease, snow_namespace")
		}
		prove(t, "MariaDB: DROP TABLE", *s)
	})
	t.Run("data directory from before the tables were made", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewMariaDB(t)
		s, _ := mysqlSite(t, server)
		must(t, server.Snapshot())
		s.first = true
		_, s.event = snapshots(server)
		prove(t, "MariaDB: data directory from before the tables were made", *s)
	})
	t.Run("clean restart", func(t *testing.T) {
		t.Parallel()
		server := testserver.NewMariaDB(t)
		s, _ := mysqlSite(t, server)
		s.event = func(t *testing.T) { t.Helper(); must(t, server.Restart()) }
		unharmed(t, "MariaDB: clean restart", *s)
	})
}
