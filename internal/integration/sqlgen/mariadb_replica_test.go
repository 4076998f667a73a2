package sqlgen

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A replica gets the rows with their ids, and its trigger does not fire for them. Once promoted it
// makes no ids until it has a worker ID of its own.
func TestMariaDBReplica(t *testing.T) {
	for _, format := range []string{"MIXED", "ROW"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			options := []string{"--log-bin=log", "--log-bin-trust-function-creators=1", "--binlog-format=" + format}
			primary := testserver.New(t, testserver.KindMariaDB, append(options, "--server-id=1")...)
			replica := testserver.New(t, testserver.KindMariaDB, append(options, "--server-id=2")...)
			from, err := mysql.ParseDSN(primary.DSN)
			if err != nil {
				t.Fatal(err)
			}
			host, port, err := net.SplitHostPort(from.Addr)
			if err != nil {
				t.Fatal(err)
			}
			second := mariaSession(t, replica.DSN)
			mariaRun(t, second, fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos",
				host, port, from.User, from.Passwd), "START SLAVE")

			dsn := testserver.Database(t, "mysql", primary.DSN)
			first := mariaSession(t, dsn)
			name := mariaOne[string](t, first, "SELECT DATABASE()")
			mariaCreate(t, first, mariaOrders)
			mariaTable(t, first, mariaOrders, "orders")
			last := mariaOne[int64](t, first, mariaNext)
			mariaRun(t, first, "INSERT INTO orders (v) SELECT seq FROM seq_1_to_3000", "INSERT INTO orders (v) VALUES (1), (2)")
			want := mariaAll(t, first, "SELECT id FROM orders ORDER BY id")
			if mariaOne[int64](t, second, "SELECT MASTER_GTID_WAIT('"+mariaOne[string](t, first, "SELECT @@gtid_binlog_pos")+"', 60)") != 0 {
				t.Fatal("the replica does not follow")
			}
			mariaRun(t, second, "USE "+name)
			if got := mariaAll(t, second, "SELECT id FROM orders ORDER BY id"); len(got) != 3002 || !slices.Equal(got, want) {
				t.Errorf("%d rows of %d", len(got), len(want))
			}

			mariaRun(t, second, "STOP SLAVE", "RESET SLAVE ALL")
			mariaRefused(t, second, "is a copy or was restored", mariaNext)
			mariaRefused(t, second, "is a copy or was restored", "INSERT INTO orders (v) VALUES (3)")
			mariaRun(t, second, "CALL snowkey_claim('700')", "INSERT INTO orders (v) VALUES (-1)")
			was, _ := core.Twitter().Decode(last)
			id := mariaOne[int64](t, second, "SELECT id FROM orders WHERE v = -1")
			is, err := core.Twitter().Decode(id)
			if err != nil || is.Worker == was.Worker || slices.Contains(want, id) || time.Since(is.Time) > time.Minute {
				t.Errorf("%+v after %+v, %v", is, was, err)
			}
		})
	}
}
