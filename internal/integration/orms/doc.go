// Package orms runs sqltype through the libraries for SQL. One suite, in conformance_test.go, writes
// and reads the same rows with all of them, on every database: docs/sql.md says
// what it does. The other tests show what the modules for ent and bun prevent.
package orms

//go:generate go run entshop/generate.go
//go:generate cp ../../../examples/sqlc/overrides.yaml sqlcshop/sqlc.yaml
//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate -f sqlcshop/sqlc.yaml
