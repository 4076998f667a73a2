// Package integration runs one suite on every real database, in all modes of its drivers.
// fill_paths_test.go begins the tests, databases_test.go has the databases. Encoders and web
// frameworks, which need no database, are in the folders encoding and binding.
//
// The tests start private PostgreSQL and MariaDB servers from the installed programs. They use
// the server that SNOWKEY_TEST_POSTGRES names instead of PostgreSQL, and the one that
// SNOWKEY_TEST_MYSQL names in addition to MariaDB.
package integration

//go:generate go run gen/generate.go
