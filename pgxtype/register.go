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
// these columns, and also its arrays, ranges and multiranges of bigint.
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
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapInt64, wrapSlice, wrapKey, wrapContainer}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapSliceTarget, wrapContainerTarget}, m.TryWrapScanPlanFuncs...)
	registerDefaults[sqltype.ID](m)
	registerDefaults[sqltype.NullID](m)
	registerContainers(m)
}

// registered marks a map that has our wrappers and defaults. A copy of the map keeps or loses the
// mark together with them.
type registered struct{}

// decorate wraps the codecs of the types that hold ids or must refuse them, and
// rebuilds the types that refer to an old codec.
func decorate(m *pgtype.Map) {
	if int8Type, ok := around(m, pgtype.Int8OID, func(t *pgtype.Type) codec { return codec{t.Codec} }); ok {
		rebuild(m, "_int8", int8Type)
		if r, ok := rebuild(m, "int8range", int8Type); ok {
			rebuild(m, "_int8range", r)
			if mr, ok := rebuild(m, "int8multirange", r); ok {
				rebuild(m, "_int8multirange", mr) // there if the program has loaded it
			}
		}
	}
	for _, oid := range []uint32{pgtype.JSONOID, pgtype.JSONBOID} {
		if t, ok := around(m, oid, func(t *pgtype.Type) jsonCodec { return jsonCodec{t.Codec, oid == pgtype.JSONBOID} }); ok {
			rebuild(m, "_"+t.Name, t)
		}
	}
	for _, oid := range textOIDs {
		around(m, oid, func(t *pgtype.Type) textCodec { return textCodec{t.Codec} })
	}
	for _, oid := range refusingOIDs {
		if t, ok := around(m, oid, func(t *pgtype.Type) refusingCodec { return refusingCodec{t.Codec, t.Name} }); ok {
			rebuild(m, "_"+t.Name, t)
		}
	}
}

// around registers a type again with a codec that wraps its own. ok is false if it did so before.
func around[C pgtype.Codec](m *pgtype.Map, oid uint32, by func(*pgtype.Type) C) (t *pgtype.Type, ok bool) {
	old, ok := m.TypeForOID(oid)
	if !ok { // every map has it
		return nil, false
	}
	if _, done := old.Codec.(C); done {
		return nil, false
	}
	t = &pgtype.Type{Name: old.Name, OID: old.OID, Codec: by(old)}
	m.RegisterType(t)
	return t, true
}

// rebuild registers the type called name again over element. A codec that is not pgx's own is the
// program's choice, and is kept.
func rebuild(m *pgtype.Map, name string, element *pgtype.Type) (*pgtype.Type, bool) {
	old, ok := m.TypeForName(name)
	if !ok {
		return nil, false
	}
	t := &pgtype.Type{Name: old.Name, OID: old.OID}
	switch c := old.Codec.(type) {
	case *pgtype.ArrayCodec:
		t.Codec = &pgtype.ArrayCodec{ElementType: element, Delimiter: c.Delimiter}
	case *pgtype.RangeCodec:
		t.Codec = &pgtype.RangeCodec{ElementType: element}
	case *pgtype.MultirangeCodec:
		t.Codec = &pgtype.MultirangeCodec{ElementType: element}
	default:
		return nil, false
	}
	m.RegisterType(t)
	return t, true
}

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

// hint adds Register to pgx's error about a value that it could not encode, if the
// call is missing and would fix it.
func hint(m *pgtype.Map, oid uint32, v any, err error) error {
	if _, done := m.TypeForValue(registered{}); done || err == nil {
		return err
	}
	full := m.Copy()
	Register(full)
	if _, other := full.Encode(oid, pgtype.BinaryFormatCode, v, nil); other != nil {
		return err
	}
	return fmt.Errorf("%w: call pgxtype.Register for the connection, such as by AfterConnect", err)
}
