package pgxtype

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// AfterConnect registers the types for one connection. Use it as
// AfterConnect of pgxpool.Config and with stdlib.OptionAfterConnect. It sends no
// query, and returns an error only if c is nil.
func AfterConnect(_ context.Context, c *pgx.Conn) error {
	if c == nil {
		return fmt.Errorf("pgxtype: AfterConnect: connection is %w", sqltype.ErrNil)
	}
	Register(c.TypeMap())
	return nil
}

// Register makes m encode and scan sqltype's types, with the keys of every type, as bigint, text
// and JSON, and refuse them for columns that cannot hold ids. It wraps the codecs that m has for
// these columns, and also its arrays, ranges and multiranges of them.
//
// Calling it again has no effect, and neither has a nil m. As with every
// change of a [pgtype.Map], m must not be in use by another goroutine.
func Register(m *pgtype.Map) {
	if m == nil {
		return
	}
	decorate(m)
	if _, done := m.TypeForValue(registered{}); done {
		return
	}
	m.RegisterDefaultPgType(registered{}, "int8")
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapID, wrapSlice, wrapContainer}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapSliceTarget, wrapContainerTarget}, m.TryWrapScanPlanFuncs...)
	registerDefaults[sqltype.ID](m)
	registerDefaults[sqltype.NullID](m)
	registerContainers(m)
}

// registered marks a map that has our wrappers and defaults. A copy of the map keeps or loses the
// mark together with them.
type registered struct{}

// RegisterKey lets [pgtype.Map.SQLScanner] scan an array, a range or a multirange of keys of T,
// which database/sql needs before Go 1.27. Everything else works without it. It calls Register,
// and m must not be in use by another goroutine.
func RegisterKey[T any](m *pgtype.Map) {
	if m == nil {
		return
	}
	Register(m)
	registerDefaults[sqltype.Key[T]](m)
	registerDefaults[sqltype.NullKey[T]](m)
}

// registerDefaults registers the PostgreSQL type of every Go type that is made of
// T. pgx uses it if the server has not described a parameter: in the
// modes Exec and SimpleProtocol, and for the OID of an unknown domain.
func registerDefaults[T any](m *pgtype.Map) {
	defaults[T](m, "int8")
	defaults[*T](m, "int8")
	defaults[pgtype.Range[T]](m, "int8range")
	setDefault[pgtype.Multirange[pgtype.Range[T]]](m, "int8multirange")
}

// defaults registers name for T, and its array type for every array of T.
func defaults[T any](m *pgtype.Map, name string) {
	setDefault[T](m, name)
	setDefault[[]T](m, "_"+name)
	setDefault[[][]T](m, "_"+name)
	setDefault[pgtype.Array[T]](m, "_"+name)
	setDefault[pgtype.FlatArray[T]](m, "_"+name)
}

func setDefault[T any](m *pgtype.Map, name string) {
	m.RegisterDefaultPgType(*new(T), name)
	m.RegisterDefaultPgType(new(T), name)
}
