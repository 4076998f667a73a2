// Package cluster runs leases on clusters whose members are killed, paused and isolated: etcd
// and MariaDB with Galera, of three members each. Another test kills primaries of PostgreSQL
// under Patroni and of a MySQL group, and another one cuts the network between two writable nodes of
// PostgreSQL. The tests have the build tag cluster, because they take minutes, and programs that the
// other tests do not need.
//
// etcd and Galera, from the root:
//
//	tools/install.sh --only galera
//	tools/alone.sh ./internal/integration/cluster go test -tags cluster -v -skip '^Test(Failover|ActiveActive)' .
//
// Primaries of PostgreSQL and MySQL, killed a hundred times each:
//
//	tools/install.sh --only patroni
//	SNOWKEY_TEST_MYSQL_BIN="$(tools/unpack.sh sid mysql-server-core mysql-router)" SNOWKEY_FAILOVER_KILLS=100 \
//	  tools/alone.sh ./internal/integration/cluster go test -tags cluster -v -timeout 24h -run '^TestFailover[PG]' .
//
// Two writable nodes of PostgreSQL 16 or later; with SNOWKEY_ACTIVE_ROWS=10000000, half an hour:
//
//	SNOWKEY_TEST_POSTGRES_BIN="$(tools/postgres.sh 18)" \
//	  tools/alone.sh ./internal/integration/cluster go test -tags cluster -v -timeout 24h -run '^TestActiveActive' .
//
// TiDB:
//
//	SNOWKEY_TEST_TIDB_BIN="$(tools/tidb.sh)" \
//	  tools/alone.sh ./internal/integration/cluster go test -tags cluster -v -run '^TestTiDB$' .
package cluster
