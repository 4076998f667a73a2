// Package lint finds mistakes in the use of snowkey that compile and that gormplugin.Validate
// cannot see, such as ids that JavaScript rounds, and generators that are made for each request.
//
//	go run github.com/seed-299c1d6b/snowkey/contrib/lint/cmd/snowkeylint@latest ./...
//
// Each rule is an analyzer of golang.org/x/tools/go/analysis, so the rules also run in go vet, in
// golangci-lint (package plugin) and in other drivers. docs/testing.md in the repository explains them.
//
// A package is checked only if it imports snowkey, imports a package that does, or has a field with
// the tag snowflake. Generated files are not checked. The rules look at one package at a time, and
// follow values within a function, and through the fields and results of the package.
//
// A comment //nolint:snowkeylint suppresses the reports of its line, and //nolint:snowjson those of
// one rule. Before a declaration or a statement, the comment covers all of it.
//
// ours.go recognizes the API of snowkey, and ids.go finds the values that are ids. Each rule is a
// file of its own; close.go also follows the variables that hold generators, for scope.go.
package lint
