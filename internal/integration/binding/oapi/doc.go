// Package oapi has a REST API whose ids are of package sqltype, as oapi-codegen generates it.
package oapi

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi.yaml openapi.yaml
