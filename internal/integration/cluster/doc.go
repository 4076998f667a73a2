// Package cluster runs leases on clusters whose members are killed, paused and isolated: etcd
// and MariaDB with Galera, of three members each. Another test kills primaries of PostgreSQL
// under Patroni and of a MySQL group, and another one cuts the network between two writable nodes
// of PostgreSQL. CONTRIBUTING.md has the commands. The tests have the build tag cluster, because
// they take minutes, and programs that the other tests do not need.
package cluster
