// Package integration has no code. The tests of its folders run on real servers: those in gormplugin, graph and
// sqltype on every database that package databases opens; stores, open and outage those of the leases, with
// poolers and outages; cluster and torture, processes that compete; knocks, writers whose answers are lost.
// Encoders and web frameworks, which need no database, are in encoding and binding.
//
// The tests start private PostgreSQL and MariaDB servers from the installed programs. They use
// the server that SNOWKEY_TEST_POSTGRES names instead of PostgreSQL, and the one that
// SNOWKEY_TEST_MYSQL names in addition to MariaDB.
package integration
