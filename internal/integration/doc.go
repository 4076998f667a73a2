// Package integration has no code. The tests of its folders run on real servers: those in gormplugin and
// sqltype use every database of package databases, and those that test SQL alone use package engines.
// Package worker tests leases, with poolers, outages and lost answers; cluster and torture, processes that
// compete.
// Encoders and web frameworks, which need no database, are in encoding and binding.
//
// The tests start private PostgreSQL and MariaDB servers from the installed programs. They use
// the server that SNOWKEY_TEST_POSTGRES names instead of PostgreSQL, and the one that
// SNOWKEY_TEST_MYSQL names in addition to MariaDB.
package integration
