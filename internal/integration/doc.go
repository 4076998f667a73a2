// Package integration runs snowkey against real databases: one suite, every
// database, each in the modes its drivers have. See suite_test.go for what is
// held, databases_test.go for where. Encoders and web frameworks, which need no
// database, are in the folders encoding and binding.
//
// PostgreSQL and MariaDB are started privately from the programs on the machine.
// With SNOWKEY_TEST_POSTGRES the server given is used instead, and with
// SNOWKEY_TEST_MYSQL one more is run beside MariaDB, for example a MySQL.
package integration

//go:generate go run gen/generate.go
