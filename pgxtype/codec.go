package pgxtype

import (
	"reflect"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// A form is how a column holds an id.
type form uint8

const (
	refused   form = iota // not at all
	number                // the eight bytes of a bigint
	decimal               // text
	document              // JSON, in the Form of a key
	versioned             // the same, after the version of a binary jsonb
)

// columns are the types of PostgreSQL that get a codec, with the forms of their text and their
// binary format. Refused are those that pgx would convert to or from an id by way of text, although
// they do not hold ids, and those that would round an id.
var columns = map[uint32][2]form{
	pgtype.Int8OID:     {decimal, number},
	pgtype.TextOID:     {decimal, decimal},
	pgtype.VarcharOID:  {decimal, decimal},
	pgtype.BPCharOID:   {decimal, decimal},
	pgtype.NameOID:     {decimal, decimal},
	pgtype.JSONOID:     {document, document},
	pgtype.JSONBOID:    {document, versioned},
	pgtype.ByteaOID:    {},
	pgtype.QCharOID:    {},
	pgtype.BitOID:      {},
	pgtype.VarbitOID:   {},
	pgtype.JSONPathOID: {},
	pgtype.XMLOID:      {},
	pgtype.Float4OID:   {},
	pgtype.Float8OID:   {},
}

// decorate wraps the codecs of columns that have none of ours.
func decorate(m *pgtype.Map) {
	for oid, forms := range columns {
		t, known := m.TypeForOID(oid)
		if !known {
			continue // every map has it
		}
		if _, done := t.Codec.(codec); !done {
			t = &pgtype.Type{Name: t.Name, OID: oid, Codec: codec{t.Codec, t.Name, forms, new(sync.Map)}}
			m.RegisterType(t)
			rebuild(m, t)
		}
	}
}

// ranges are the types whose elements are bigints.
var ranges = map[string]string{"int8": "int8range", "int8range": "int8multirange"}

// rebuild registers again the types that refer to an old codec of element. A codec that is not pgx's
// own is the program's choice, and is kept.
func rebuild(m *pgtype.Map, element *pgtype.Type) {
	for _, name := range []string{"_" + element.Name, ranges[element.Name]} {
		old, ok := m.TypeForName(name)
		if !ok {
			continue
		}
		t := &pgtype.Type{Name: name, OID: old.OID}
		switch c := old.Codec.(type) {
		case *pgtype.ArrayCodec:
			t.Codec = &pgtype.ArrayCodec{ElementType: element, Delimiter: c.Delimiter}
		case *pgtype.RangeCodec:
			t.Codec = &pgtype.RangeCodec{ElementType: element}
		case *pgtype.MultirangeCodec:
			t.Codec = &pgtype.MultirangeCodec{ElementType: element}
		default:
			continue
		}
		m.RegisterType(t)
		rebuild(m, t)
	}
}

// codec adds plans for the id types to the codec it wraps. pgx has no other place for those that
// scan: it calls a type's own Scan before it tries any wrapper. DecodeValue is promoted from the
// wrapped codec, because every value of the column uses it.
type codec struct {
	pgtype.Codec
	column string
	forms  [2]form   // by the format's code
	plans  *sync.Map // [2]*plan by the Go type, because pgx asks for a plan to scan in each query
}

// Unwrap returns the codec that was registered before.
func (c codec) Unwrap() pgtype.Codec { return c.Codec }

func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if p := c.plan(reflect.TypeOf(value), format); p != nil {
		return p
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if t := reflect.TypeOf(target); t != nil && t.Kind() == reflect.Pointer {
		if p := c.plan(t, format); p != nil {
			return p
		}
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

// plan returns the plan for t, or nil if t holds no id.
func (c codec) plan(t reflect.Type, format int16) *plan {
	if format != pgtype.TextFormatCode && format != pgtype.BinaryFormatCode {
		return nil
	}
	plans, known := c.plans.Load(t)
	if !known {
		if !holdsID(t) {
			return nil
		}
		key := t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Int64
		plans, _ = c.plans.LoadOrStore(t, [2]*plan{{t, c.column, c.forms[0], key}, {t, c.column, c.forms[1], key}})
	}
	return plans.([2]*plan)[format]
}
