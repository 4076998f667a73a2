// Package integration has no code. The tests of its folders run on real servers: those in gormplugin and sqltype
// on every database that package databases opens, those of SQL alone on what package engines opens; worker those of
// the leases, with poolers, outages and writers whose answers are lost; cluster and torture, processes that compete.
// Encoders and web frameworks, which need no database, are in encoding and binding.
//
// The tests start private PostgreSQL and MariaDB servers from the installed programs. They use
// the server that SNOWKEY_TEST_POSTGRES names instead of PostgreSQL, and the one that
// SNOWKEY_TEST_MYSQL names in addition to MariaDB.
package integration
