package testserver

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A Vitess is a cluster of Vitess: a vtgate in front of vttablets, each with a MySQL server of its own,
// and an etcd.
type Vitess struct {
	Gate    *Server
	Tablets []*VitessTablet
	etcd    *Server
	t       testing.TB
	added   int // tablets
}

// A Keyspace is a database of Vitess.
type Keyspace struct {
	Name    string
	Shards  []string // "0" for one that is not sharded
	Tablets int      // of each shard; one is its primary
	VSchema string   // in JSON; "": not sharded
}

// A VitessTablet is a vttablet and its MySQL server. Of several in a shard, the primary acknowledges
// a commit when one of the others has it.
type VitessTablet struct {
	Alias, Keyspace, Shard string
	MySQL, Tablet          *Server
}

// NewVitess starts a cluster with these keyspaces for this test alone. Unlike those of [MariaDB],
// the MySQL servers flush each commit to the binary log, as the stores want it.
func NewVitess(t testing.TB, keyspaces ...Keyspace) *Vitess {
	t.Helper()
	if _, _, err := vitessEngine().find(); err != nil {
		skipShort(t)
		skipOrFail(t, err)
		return nil
	}
	v := &Vitess{etcd: startFor(t, etcdEngine()), t: t}
	v.Control("AddCellInfo", "--root", "/vitess/zone1", "--server-address", v.etcd.Addr, "zone1")
	for _, k := range keyspaces {
		v.Control("CreateKeyspace", "--durability-policy", map[bool]string{true: "semi_sync", false: "none"}[k.Tablets > 1], k.Name)
		if k.VSchema != "" {
			v.Control("ApplyVSchema", "--vschema", k.VSchema, k.Name)
		}
		for _, shard := range k.Shards {
			var aliases []string
			for range k.Tablets {
				aliases = append(aliases, v.Add(k.Name, shard, nil).Alias)
			}
			v.Control("PlannedReparentShard", k.Name+"/"+shard, "--new-primary", aliases[0])
		}
	}
	v.Gate = startFor(t, v.gateEngine())
	return v
}

// DSN is that of a keyspace.
func (v *Vitess) DSN(keyspace string) string { return v.Gate.DSN + keyspace }

// Control runs a command of vtctldclient, and returns its output.
func (v *Vitess) Control(command ...string) string {
	v.t.Helper()
	programs, _, err := vitessEngine().find()
	if err != nil {
		v.t.Fatal(err)
	}
	cmd := v.etcd.program(append([]string{programs[2], "--server", "internal", "--topo-implementation", "etcd2",
		"--topo-global-server-address", v.etcd.Addr, "--topo-global-root", "/vitess/global"}, command...)...)
	out, err := cmd.Output()
	if err != nil {
		text := out
		if failed := new(exec.ExitError); errors.As(err, &failed) {
			text = failed.Stderr
		}
		v.t.Fatalf("vtctldclient %s: %v; end of its output:\n%s", strings.Join(command, " "), err, tail(text))
	}
	return string(out)
}

// Add starts a tablet, which follows the primary of its shard, if there is one. fill gives data to its
// MySQL server, and may be nil.
func (v *Vitess) Add(keyspace, shard string, fill func(mysql *Server)) *VitessTablet {
	v.t.Helper()
	v.added++
	number := 100 + v.added
	tablet := &VitessTablet{Alias: fmt.Sprintf("zone1-%010d", number), Keyspace: keyspace, Shard: shard}
	tablet.MySQL = startFor(v.t, tabletMySQL(keyspace, number))
	if fill != nil {
		fill(tablet.MySQL)
	}
	tablet.Tablet = startFor(v.t, v.tabletEngine(tablet, number))
	v.Tablets = append(v.Tablets, tablet)
	return tablet
}

// Remove ends a tablet as a crash does, if it runs, and removes it and its data from the cluster.
func (v *Vitess) Remove(tablet *VitessTablet) {
	v.t.Helper()
	if err := errors.Join(tablet.Tablet.remove(), tablet.MySQL.remove()); err != nil {
		v.t.Fatal(err)
	}
	v.Control("DeleteTablets", "--allow-primary", tablet.Alias)
	v.Tablets = slices.DeleteFunc(v.Tablets, func(other *VitessTablet) bool { return other == tablet })
}

func vitessEngine() *engine {
	return &engine{
		kind:         "vitess",
		binVar:       "SNOWKEY_TEST_VITESS_BIN",
		packages:     "of Vitess, of which there are none: tools/vitess.sh builds it",
		programs:     [][]string{{"vttablet"}, {"vtgate"}, {"vtctldclient"}},
		unprivileged: true, // they refuse to run as root
		dsn:          func(addr string) string { return "root@tcp(" + addr + ")/" },
	}
}

// topology are the arguments by which the programs find each other. One holds the tag.
func (v *Vitess) topology(s *Server) []string {
	return []string{"--topo-implementation=etcd2", "--topo-global-server-address=" + v.etcd.Addr, "--topo-global-root=/vitess/global",
		"--pid-file=" + s.in("pid"), "--log-format=text", "--port=" + portOf(s.member.peer), "--bind-address=127.0.0.1"}
}

// secondPort gives a server a port beside that of its clients.
func secondPort(s *Server) error {
	addr, err := freeAddr()
	if err == nil {
		s.member = &member{peer: addr}
		s.holdPort(addr)
	}
	return err
}

func (v *Vitess) gateEngine() *engine {
	e := vitessEngine()
	e.kind, e.setup = "vtgate", secondPort
	e.command = func(s *Server) []string {
		return slices.Concat([]string{s.programs[1]}, v.topology(s), strings.Fields(`--cell=zone1 --cells-to-watch=zone1
			--tablet-types-to-wait=PRIMARY --enable-buffer --mysql-auth-server-impl=none --mysql-server-bind-address=127.0.0.1`),
			[]string{"--mysql-server-port=" + portOf(s.Addr)})
	}
	e.ready = func(s *Server) error { return ask(s.Addr, "", "_password\x00") }
	return e
}

func (v *Vitess) tabletEngine(tablet *VitessTablet, number int) *engine {
	e := vitessEngine()
	e.kind, e.setup = "vttablet", secondPort
	e.command = func(s *Server) []string {
		mysql := portOf(tablet.MySQL.Addr)
		argv := slices.Concat([]string{s.programs[0]}, v.topology(s), strings.Fields(`--tablet-hostname=127.0.0.1 --init-tablet-type=replica
			--service-map=grpc-queryservice,grpc-tabletmanager,grpc-updatestream --restore-from-backup=false
			--health-check-interval=1s --db-host=127.0.0.1`), []string{
			"--grpc-port=" + portOf(s.Addr), "--tablet-path=" + tablet.Alias, "--init-keyspace=" + tablet.Keyspace, "--init-shard=" + tablet.Shard,
			"--db-port=" + mysql, "--mycnf-mysql-port=" + mysql, fmt.Sprint("--mycnf-server-id=", number),
		})
		for _, role := range []string{"app", "appdebug", "allprivs", "dba", "filtered", "repl"} {
			argv = append(argv, "--db-"+role+"-user=root")
		}
		return argv
	}
	e.ready = func(s *Server) error { return ask(s.member.peer, "GET /debug/status HTTP/1.0\r\n\r\n", "200 OK") }
	return e
}

// tabletMySQL is the MySQL server of a tablet, set as Vitess sets its own. It has certificates, because
// replication is encrypted by default. All begin with the same data, so one that is new needs only
// the binary log of the primary.
func tabletMySQL(keyspace string, number int) *engine {
	e := mysqlEngine()
	e.programs = [][]string{{"mysqld"}, {"ibd2sdi"}} // MariaDB has the first only
	e.packages = "mysql-server-core, which tools/unpack.sh fetches"
	e.dsn = vitessEngine().dsn
	e.setup = func(s *Server) error {
		err := s.write("data.sql", "CREATE DATABASE vt_"+keyspace+";\nCREATE USER root@'127.0.0.1';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n")
		if err == nil {
			err = s.run(append(mysqlArguments(s), "--initialize-insecure", "--init-file="+s.in("data.sql"), "--skip-log-bin")...)
		}
		return cmp.Or(err, s.write("init.sql", ""))
	}
	e.command = func(s *Server) []string {
		return slices.Concat(mysqlArguments(s), mysqldArguments(s), strings.Fields(`--mysqlx=OFF --report-host=127.0.0.1 --super-read-only
			--gtid-mode=ON --enforce-gtid-consistency=ON --log-bin=binlog --relay-log=relay --binlog-expire-logs-seconds=0
			--skip-replica-start --replica-parallel-workers=16 --innodb-flush-method=nosync --innodb-buffer-pool-size=128M
			--plugin-load-add=semisync_source.so --plugin-load-add=semisync_replica.so --plugin-load-add=mysql_clone.so
			--rpl-semi-sync-source-timeout=1000000000000000000 --rpl-semi-sync-source-wait-no-replica=1`), []string{fmt.Sprint("--server-id=", number)})
	}
	e.ready = func(s *Server) error { return ask(s.Addr, "", "caching_sha2_password") }
	return e
}
