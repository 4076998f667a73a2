// Package models does not compile without the aliases.
package models

import (
	"net/url"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Order struct {
	ID       sqltype.Key[Order]
	ParentID sqltype.NullKey[Order]
	Lines    []Line
}

type Line struct {
	ID      sqltype.ID
	OrderID OrderKey
	BoxID   *BoxKey
	Page    sqltype.Key[url.URL] // of another package
	tag     sqltype.Key[hidden]
}

type (
	box    struct{}
	hidden struct{}
)

// TagKey is an alias by hand.
type TagKey = sqltype.Key[hidden]

func find[T any](key sqltype.Key[T]) {} // T is no row

type LineOrder struct{}

var _ = sqltype.Key[LineOrder](0)
