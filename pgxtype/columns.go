package pgxtype

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// textOIDs are the types that hold an id as decimal text.
var textOIDs = []uint32{pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID}

// textCodec lets a column of text accept an id. pgx alone would encode it as a number.
type textCodec struct{ pgtype.Codec }

func (c textCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	switch {
	case isKey(value):
		return nil // see wrapKey
	case isID(value):
		return encodeText{} // the binary format of a text is the same
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// refusingOIDs are the types that pgx would convert to or from an id by way of text,
// although they do not hold ids, and the types that would round an id.
var refusingOIDs = []uint32{
	pgtype.ByteaOID, pgtype.QCharOID, pgtype.BitOID, pgtype.VarbitOID, pgtype.JSONPathOID, pgtype.XMLOID,
	pgtype.Float4OID, pgtype.Float8OID,
}

// refusingCodec refuses ids and passes all other types to its Codec.
type refusingCodec struct {
	pgtype.Codec
	name string
}

func (c refusingCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if isID(value) || isKey(value) {
		return refuse(c)
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

func (c refusingCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if isTarget(target) || isKeyTarget(target) {
		return refuse(c)
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

// refuse is every plan of a refusingCodec.
type refuse refusingCodec

func (r refuse) Encode(value any, _ []byte) ([]byte, error) {
	_, ok, err := idOf(asID(value))
	if err != nil || !ok {
		return nil, err // NULL fits every column
	}
	return nil, fmt.Errorf("pgxtype: encode %T for a column of type %s: %w", value, r.name, sqltype.ErrType)
}

func (r refuse) Scan(src []byte, target any) error {
	if src == nil {
		return setNull(asID(target))
	}
	return fmt.Errorf("pgxtype: scan a column of type %s into %T: %w", r.name, target, sqltype.ErrType)
}

// isTarget reports whether target is of a type that set and setNull write to.
func isTarget(target any) bool {
	switch target.(type) {
	case *sqltype.ID, **sqltype.ID, *sqltype.NullID:
		return true
	}
	return false
}
