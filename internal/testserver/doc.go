// Package testserver gives tests real PostgreSQL, MariaDB, Redis and etcd servers.
//
// [Postgres], [MariaDB], [Redis] and [Etcd] return the server that all tests of
// one test binary share. It is started at the first call and is kept until the
// binary ends. [NewPostgres], [NewMariaDB], [NewRedis] and [NewEtcd] start one
// more server, for a test that kills or pauses it; that one is gone when the
// test is over. [NewEtcdCluster] and [NewGalera] start several that are one.
// [NewPrometheus] starts a Prometheus. No TestMain is needed. [Run] starts one for
// a program.
//
// # Guarantees
//
//   - A returned server answers its own protocol, and it is the process that
//     was started, not another one on the same port.
//   - A private server listens on 127.0.0.1 only, on a free port which it keeps
//     across [Server.Restart]. It uses no Unix socket, no system service, no
//     configuration file, and no variable of the caller such as PGPORT.
//   - A write that the server acknowledged survives [Server.Kill] and
//     [Server.Start], for all four kinds. It need not survive a crash of the
//     machine: nothing is flushed to the disk, which is what makes them fast.
//   - However the test binary ends (return, os.Exit, panic, timeout, kill -9),
//     its servers and its temporary folder are gone within seconds. A watchdog
//     process removes them, and on Linux a signal at the death of the parent.
//
// The package holds no database client, so a private server has one database
// and isolation is up to the caller: let each test make tables, keys or a
// database with a name of its own. Time zone is UTC, text is UTF-8, there is no
// password: PostgreSQL's user is postgres, MariaDB's is root, and both are
// superusers. At most 300 clients can connect to either.
//
// Do not make the first call for a kind inside a testing/synctest bubble: the
// goroutine that waits for the server's end would belong to the bubble.
//
// # Environment
//
// These variables name a running server by its DSN. The shared functions then
// return it instead of starting one; the New functions never use it.
//
//	SNOWKEY_TEST_POSTGRES  postgres://user:password@host:5432/database
//	SNOWKEY_TEST_MYSQL     user:password@tcp(host:3306)/database
//	SNOWKEY_TEST_REDIS     host:6379, or redis://user:password@host:6379/0
//	SNOWKEY_TEST_ETCD      http://host:2379
//
// SNOWKEY_TEST_MYSQL differs: tests should run over it in addition to the
// private MariaDB, see [MySQLs]; [MariaDB] falls back to it only where MariaDB
// is not installed.
//
// Programs are looked for in PATH, then where distributions keep them. Another
// folder is given by SNOWKEY_TEST_POSTGRES_BIN, SNOWKEY_TEST_MARIADB_BIN,
// SNOWKEY_TEST_REDIS_BIN, SNOWKEY_TEST_ETCD_BIN or SNOWKEY_TEST_PROMETHEUS_BIN; then
// nothing else is tried.
// SNOWKEY_TEST_MYSQL_BIN is a folder of MySQL, which then replaces MariaDB. If
// SNOWKEY_TEST_POSTGRES_VERSION, SNOWKEY_TEST_MARIADB_VERSION or
// SNOWKEY_TEST_MYSQL_VERSION is set, a private server of another version fails the test,
// and the test's output names the version.
// SNOWKEY_TEST_RUN is a folder that ./test.sh makes for one run. It keeps the data which
// was made for the first server of each program; later servers get a copy of it, which
// saves seconds. Those of PostgreSQL then have the same system identifier. [Uncached]
// is why it differs in each run.
// Temporary files go below TMPDIR, or below /tmp if TMPDIR has a blank in its name
// or, when the tests run as root, PostgreSQL's user cannot enter it.
//
// # Errors
//
// Without a program and a DSN, the test is skipped with the reason; with
// SNOWKEY_TEST_REQUIRE=1 it fails. A program that does not start, a _BIN folder
// without the program, and a malformed DSN always fail the test. go test -short
// starts no server and skips the test, unless SNOWKEY_TEST_REQUIRE=1. [Slow]
// skips a test unless SNOWKEY_TEST_FULL=1. Starting fails after three minutes
// without an answer, or as soon as the process ends, and the error holds the end
// of the server's log.
//
// Servers are started on Unix-like systems only, and Linux is the one the
// guarantees are tested on. Elsewhere give a DSN.
package testserver
