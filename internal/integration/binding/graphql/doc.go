// Package graphql has a GraphQL API whose ids are of package sqltype, as gqlgen generates it.
package graphql

//go:generate go run github.com/99designs/gqlgen@v0.17.98 generate
