// Package cluster runs leases on clusters whose members are killed, paused and cut off:
// etcd of three members, and MariaDB with Galera of three. CONTRIBUTING.md has the
// command. Another one kills primaries of PostgreSQL under Patroni and of a MySQL group; its
// tests have the build tag cluster, because they take minutes and programs that the
// other tests do not need.
package cluster
