// Package testserver gives tests real PostgreSQL, MariaDB, Redis and etcd servers.
//
// [Postgres], [MariaDB], [Redis] and [Etcd] return the server that all tests of one test binary
// share. It starts at the first call and lives until the binary ends. [NewPostgres], [NewMariaDB],
// [NewRedis], [NewEtcd] and [New] start one for a test that kills or pauses it; it is removed
// after the test. No TestMain is needed.
//
// # Guarantees
//
//   - A returned server answers its own protocol, and it is the process that was started, not
//     another one on the same port.
//   - A private server listens on 127.0.0.1 only, on a free port that it keeps across
//     [Server.Restart]. It uses no Unix socket, no configuration of the system, and no variable of
//     the caller such as PGPORT.
//   - A write that the server acknowledged survives [Server.Kill] and [Server.Start]. It need not
//     survive a crash of the machine: nothing is flushed to the disk.
//   - However the test binary ends (return, os.Exit, panic, timeout, kill -9), a watchdog process
//     removes its servers and its temporary folder within seconds.
//
// A private server has one database; let each test make tables, keys or a database.
// Time zone is UTC, text is UTF-8, there is no password: PostgreSQL's user is postgres, MariaDB's
// is root, and both are superusers. At most 300 clients can connect to either.
//
// # Environment
//
// These variables name a running server by its DSN, which the shared functions then return. The
// New functions never use it. Tests should run over that of SNOWKEY_TEST_MYSQL besides the private
// MariaDB, see [MySQLs].
//
//	SNOWKEY_TEST_POSTGRES  postgres://user:password@host:5432/database
//	SNOWKEY_TEST_MYSQL     user:password@tcp(host:3306)/database
//	SNOWKEY_TEST_REDIS     host:6379, or redis://user:password@host:6379/0
//	SNOWKEY_TEST_ETCD      http://host:2379
//
// Programs are looked for in PATH, then where distributions keep them; if SNOWKEY_TEST_POSTGRES_BIN
// is set, in that folder only. The same holds for PGBOUNCER, MARIADB, REDIS, ETCD and
// PROMETHEUS.
// SNOWKEY_TEST_MYSQL_BIN is a folder of MySQL, which then replaces MariaDB. If
// SNOWKEY_TEST_POSTGRES_VERSION is set, a program of another version fails the test, and the test
// logs the version; the same holds for MARIADB and MYSQL.
//
// SNOWKEY_TEST_RUN is a folder that keeps the data which was made for the first server of each
// program in a run of ./test.sh. Temporary files go below TMPDIR, or below /tmp if the tests run as
// root or TMPDIR has a blank in its name.
//
// Without a program, the test is skipped; with SNOWKEY_TEST_REQUIRE=1 it fails, unless a DSN is given
// in its place. Whatever else goes wrong fails the test. go test -short starts no server, unless SNOWKEY_TEST_REQUIRE=1.
// Servers are started on Unix-like systems only; the guarantees are tested on Linux.
//
// To read the code, begin with server.go, engine.go and boot.go, then control.go and cluster.go. The other
// files are for one kind of server, or for ports and processes.
package testserver
