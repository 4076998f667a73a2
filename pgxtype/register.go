package pgxtype

import (
	"context"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// AfterConnect registers the types for one connection. Use it as AfterConnect of pgxpool.Config, or
// with stdlib.OptionAfterConnect. It sends no query, and returns an error only if c is nil.
func AfterConnect(_ context.Context, c *pgx.Conn) error {
	if c == nil {
		return fmt.Errorf("pgxtype: AfterConnect: connection is %w", sqltype.ErrNil)
	}
	Register(c.TypeMap())
	return nil
}

// Register makes m encode and scan sqltype's types, including the keys of every type, as bigint and
// text, and slices of them as arrays, without database/sql's interfaces. It wraps the codecs that m has
// for these columns. A query that works without it has the same result with it.
//
// Calling it again, or with a nil m, has no effect. As with every change of a [pgtype.Map], m must not
// be in use by another goroutine.
func Register(m *pgtype.Map) {
	if m == nil {
		return
	}
	decorate(m)
	if _, done := m.TypeForValue(registered{}); done {
		return
	}
	m.RegisterDefaultPgType(registered{}, "int8")
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapKeys}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapKeysTarget}, m.TryWrapScanPlanFuncs...)
	registerDefaults[sqltype.ID](m)
	registerDefaults[sqltype.NullID](m)
}

// registered marks a map that has this package's wrappers and defaults. A copy of the map keeps or
// loses the mark together with them.
type registered struct{}

// RegisterKey lets [pgtype.Map.SQLScanner] scan an array of keys of T, which database/sql needs
// before Go 1.27. Everything else works without it. It calls Register, and m must not be in use by
// another goroutine.
func RegisterKey[T any](m *pgtype.Map) {
	if m == nil {
		return
	}
	Register(m)
	registerDefaults[sqltype.Key[T]](m)
	registerDefaults[sqltype.NullKey[T]](m)
}

// registerDefaults registers the default PostgreSQL type of T, *T, and slices of them. pgx uses it if
// the server has not described a parameter: in the modes Exec and SimpleProtocol, and for the OID of
// an unknown domain.
func registerDefaults[T any](m *pgtype.Map) {
	for _, pointer := range []any{new(T), new(*T), new([]T), new([]*T), new([][]T)} {
		name := "int8"
		if reflect.TypeOf(pointer).Elem().Kind() == reflect.Slice {
			name = "_int8"
		}
		m.RegisterDefaultPgType(pointer, name)
		m.RegisterDefaultPgType(reflect.ValueOf(pointer).Elem().Interface(), name)
	}
}
