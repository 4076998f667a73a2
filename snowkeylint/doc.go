// Package snowkeylint finds mistakes in the use of snowkey that compile: tags that gorm ignores,
// ids that JavaScript rounds, generators that are made for each row, and others.
//
//	go run github.com/seed-299c1d6b/snowkey/snowkeylint/cmd/snowkeylint@latest ./...
//
// Each rule is an analyzer of golang.org/x/tools/go/analysis, so the rules also run in go vet, in
// golangci-lint (package plugin) and in other drivers. docs/lint.md of the repository explains each
// rule, with what it does not see.
//
// # What is guaranteed
//
// A package that neither imports snowkey, nor a package that does, nor has a field with the tag
// snowflake, gets no report. Files that a program generated get none.
//
// A report is left out on a line with a comment //nolint:snowkeylint, or with the name of the
// rule, such as //nolint:snowjson; before a declaration or a statement, the comment covers all of
// it.
package snowkeylint
