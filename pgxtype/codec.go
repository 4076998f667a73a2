package pgxtype

import (
	"reflect"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// wrappedOIDs are the PostgreSQL types that get a codec: bigint, and types that hold its decimal text. All
// others, and arrays of these, keep pgx's codec, which encodes an id with Value and scans it with Scan,
// or asks the map for the codec of the elements. So the results of queries do not change.
var wrappedOIDs = []uint32{pgtype.Int8OID, pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID}

// decorate wraps the codecs of wrappedOIDs, except those that are already wrapped.
func decorate(m *pgtype.Map) {
	for _, oid := range wrappedOIDs {
		t, known := m.TypeForOID(oid)
		if !known {
			continue // every map has it
		}
		if _, done := t.Codec.(codec); !done {
			m.RegisterType(&pgtype.Type{Name: t.Name, OID: oid, Codec: codec{t.Codec, t.Name, new([2]sync.Map)}})
		}
	}
	if t, _ := m.TypeForOID(pgtype.Int8ArrayOID); t != nil {
		if pgx, ok := t.Codec.(*pgtype.ArrayCodec); ok { // the program may have chosen another
			m.RegisterType(&pgtype.Type{Name: t.Name, OID: t.OID, Codec: arrayCodec{pgx}})
		}
	}
}

// codec adds plans for the id types to the codec that it wraps. Plans that scan cannot be added
// elsewhere, because pgx calls a type's own Scan before it tries any wrapper. DecodeValue is promoted
// from the wrapped codec, because every value of the column uses it.
type codec struct {
	pgtype.Codec
	column string
	plans  *[2]sync.Map // for each format, a *plan for each Go type, because pgx asks for a scan plan in each query
}

// Unwrap returns the codec that was registered before.
func (c codec) Unwrap() pgtype.Codec { return c.Codec }

func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if t := reflect.TypeOf(value); t != nil && (isID(t) || pointsToID(t)) {
		return c.plan(t, format)
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if t := reflect.TypeOf(target); isTarget(t) {
		return c.plan(t, format)
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

func (c codec) plan(t reflect.Type, format int16) *plan {
	plans := &c.plans[format&1]
	p, known := plans.Load(t)
	if !known {
		p, _ = plans.LoadOrStore(t, &plan{t, c.column, c.column == "int8" && format == pgtype.BinaryFormatCode})
	}
	return p.(*plan)
}
