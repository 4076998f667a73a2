// Package orms runs sqltype through the libraries for SQL. One suite, in conformance_test.go, writes
// and reads the same rows with all of them, on every database. docs/sql.md quotes the files
// recipe_*_test.go. The other tests show what the modules for ent and bun prevent, and measure the
// table of that page: what column a library makes for an ID and a NullID, what NULL means in its
// conditions, and that a negative ID is refused.
package orms

//go:generate go run entshop/generate.go
//go:generate cp ../../../examples/sqlc/overrides.yaml sqlcshop/sqlc.yaml
//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate -f sqlcshop/sqlc.yaml
//go:generate go test -run ^TestJetIsGenerated$ -update .
