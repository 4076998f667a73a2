//go:build cluster

package cluster

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// vitessTarget is a keyspace of Vitess that is not sharded, with three tablets.
type vitessTarget struct {
	ofMySQL
	*testserver.Vitess
}

func (v vitessTarget) about(t *testing.T) string {
	t.Helper()
	var gate, server string
	asksFor(t, v.connect(t), "SELECT @@version_comment", &gate)
	asksFor(t, v.mysql(t, v.leader(t)), "SELECT @@version", &server)
	return fmt.Sprintf("Vitess (%.30s) on MySQL %s, a shard of %d tablets with the durability policy semi_sync", gate, server, len(v.Tablets))
}

func (v vitessTarget) connect(t *testing.T) *sql.DB {
	t.Helper()
	return opened(t, mysqlConnector(t, v.DSN("main")))
}

// mysql opens a pool at the server of a tablet.
func (v vitessTarget) mysql(t *testing.T, tablet *testserver.VitessTablet) *sql.DB {
	t.Helper()
	return opened(t, mysqlConnector(t, tablet.MySQL.DSN))
}

func (v vitessTarget) table() string {
	return "CREATE TABLE failover_rows (id BIGINT PRIMARY KEY, writer BIGINT NOT NULL)"
}

func (v vitessTarget) primary(t *testing.T) string { t.Helper(); return v.leader(t).Alias }

// leader returns the primary that the topology names.
func (v vitessTarget) leader(t *testing.T) *testserver.VitessTablet {
	t.Helper()
	var shard struct {
		Shard struct {
			PrimaryAlias struct {
				Cell string
				UID  int
			} `json:"primary_alias"`
		}
	}
	must(t, json.Unmarshal([]byte(v.Control("GetShard", "main/0")), &shard))
	alias := shard.Shard.PrimaryAlias
	for _, tablet := range v.Tablets {
		if tablet.Alias == fmt.Sprintf("%s-%010d", alias.Cell, alias.UID) {
			return tablet
		}
	}
	t.Fatalf("the primary is %+v, which is no tablet", alias)
	return nil
}

// await waits until the others have all that the primary has now, and acknowledge its commits.
func (v vitessTarget) await(t *testing.T, _ bool) {
	t.Helper()
	leader := v.leader(t)
	var has string
	db := v.mysql(t, leader)
	asksFor(t, db, "SELECT @@GLOBAL.gtid_executed", &has)
	for _, tablet := range v.Tablets {
		if tablet == leader {
			continue
		}
		other := v.mysql(t, tablet)
		poll(t, patience, func() error {
			var there bool
			asksFor(t, other, "SELECT GTID_SUBSET('"+has+"', @@GLOBAL.gtid_executed)", &there)
			if !there {
				return fmt.Errorf("%s has not applied %s", tablet.Alias, has)
			}
			return nil
		})
	}
	poll(t, patience, func() error {
		var clients int
		asksFor(t, db, "SELECT variable_value FROM performance_schema.global_status WHERE variable_name = 'Rpl_semi_sync_source_clients'", &clients)
		if clients != len(v.Tablets)-1 {
			return fmt.Errorf("%d tablets acknowledge commits", clients)
		}
		return nil
	})
}

// failOver promotes another tablet, as an operator or VTOrc does. Later a new tablet replaces the
// old primary, which may have a commit that no other has.
func (v vitessTarget) failOver(t *testing.T, old *testserver.VitessTablet) (mend func()) {
	t.Helper()
	v.Control("EmergencyReparentShard", "--wait-replicas-timeout", "2m", "main/0")
	return func() {
		v.Remove(old)
		donor := v.leader(t).MySQL.Addr
		v.Add("main", "0", func(server *testserver.Server) {
			db := connectFor(t, patience, server) // it is silent meanwhile
			for _, statement := range []string{"SET GLOBAL super_read_only = 0", "SET GLOBAL clone_valid_donor_list = '" + donor + "'"} {
				_, err := db.ExecContext(t.Context(), statement)
				must(t, err)
			}
			_, err := db.ExecContext(t.Context(), "CLONE INSTANCE FROM root@'127.0.0.1':"+donor[strings.LastIndexByte(donor, ':')+1:]+" IDENTIFIED BY ''")
			var e *mysql.MySQLError
			if !errors.As(err, &e) || e.Number != 3707 { // the server stops, and waits for somebody to start it
				t.Fatalf("clone: %v", err)
			}
			poll(t, patience, server.Start)
		})
	}
}

func (v vitessTarget) ways() []way {
	return []way{
		{name: "killed", share: 75, kill: func(t *testing.T) func() {
			t.Helper()
			old := v.leader(t)
			must(t, errors.Join(old.MySQL.Kill(), old.Tablet.Kill()))
			return v.failOver(t, old)
		}},
		// It believes to be the primary until it learns of the other.
		{name: "suspended", share: 25, kill: func(t *testing.T) func() {
			t.Helper()
			old := v.leader(t)
			must(t, errors.Join(old.MySQL.Pause(), old.Tablet.Pause()))
			mend := v.failOver(t, old)
			return func() {
				must(t, errors.Join(old.MySQL.Resume(), old.Tablet.Resume()))
				poll(t, patience, func() error {
					var writable bool
					asksFor(t, v.mysql(t, old), "SELECT NOT @@super_read_only", &writable)
					if writable {
						return errors.New("the former primary accepts writes")
					}
					return nil
				})
				mend()
			}
		}},
	}
}

func TestFailoverVitess(t *testing.T) {
	failover(t, vitessTarget{Vitess: testserver.NewVitess(t, testserver.Keyspace{Name: "main", Shards: []string{"0"}, Tablets: 3})})
}
