// Package snowkeylint finds mistakes in the use of snowkey that compile, such as tags that gorm
// ignores, ids that JavaScript rounds, and generators that are made for each row.
//
//	go run github.com/seed-299c1d6b/snowkey/contrib/lint/cmd/snowkeylint@latest ./...
//
// Each rule is an analyzer of golang.org/x/tools/go/analysis, so the rules also run in go vet, in
// golangci-lint (package plugin) and in other drivers. docs/lint.md in the repository explains each
// rule, and what it does not find.
//
// # What is guaranteed
//
// A package is checked only if it imports snowkey, imports a package that does, or has a field with
// the tag snowflake. Generated files are not checked.
//
// A comment //nolint:snowkeylint suppresses the reports of its line, and //nolint:snowjson those of
// one rule. Before a declaration or a statement, the comment covers all of it.
package snowkeylint
