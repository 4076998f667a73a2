package pgxtype

import (
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// codec adds direct plans for the id types to the codec it wraps. pgx has no other place for those
// that scan: it calls a type's own Scan before it tries any wrapper. DecodeValue is that of the
// wrapped codec, because every bigint of the connection uses it.
type codec struct{ pgtype.Codec }

func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	switch {
	case isKey(value):
		return nil // see wrapKey
	case !isID(value):
	case format == pgtype.BinaryFormatCode:
		return encodeBinary{}
	case format == pgtype.TextFormatCode:
		return encodeText{}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if isTarget(target) {
		switch format {
		case pgtype.BinaryFormatCode:
			return scanBinary{}
		case pgtype.TextFormatCode:
			return scanText{}
		}
	}
	if plan := planKey(target, format); plan != nil {
		return plan
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

type (
	encodeBinary struct{}
	encodeText   struct{}
	scanBinary   struct{}
	scanText     struct{}
)

func (encodeBinary) Encode(value any, buf []byte) ([]byte, error) {
	id, ok, err := idOf(value)
	if err != nil || !ok {
		return nil, err
	}
	return binary.BigEndian.AppendUint64(buf, uint64(id)), nil
}

func (encodeText) Encode(value any, buf []byte) ([]byte, error) {
	id, ok, err := idOf(value)
	if err != nil || !ok {
		return nil, err
	}
	return id.AppendText(buf)
}

// isID reports whether value is of a type that idOf reads.
func isID(value any) bool {
	switch value.(type) {
	case sqltype.ID, *sqltype.ID, sqltype.NullID, *sqltype.NullID:
		return true
	}
	return false
}

// idOf returns the id in value; ok is false for NULL.
func idOf(value any) (id sqltype.ID, ok bool, err error) {
	switch v := value.(type) {
	case sqltype.ID:
		id, ok = v, true
	case *sqltype.ID:
		if v != nil {
			id, ok = *v, true
		}
	case sqltype.NullID:
		id, ok = v.ID, v.Valid
	case *sqltype.NullID:
		if v != nil {
			id, ok = v.ID, v.Valid
		}
	default:
		return 0, false, fmt.Errorf("pgxtype: encode %T: %w", value, sqltype.ErrType)
	}
	if ok && id < 0 {
		return 0, false, negative("encode", id)
	}
	return id, ok, nil
}

func negative(op string, id sqltype.ID) error {
	return fmt.Errorf("pgxtype: %s %d: %w", op, int64(id), sqltype.ErrNegative)
}

func (scanBinary) Scan(src []byte, target any) error {
	if t, ok := target.(*sqltype.ID); ok && t != nil && len(src) == 8 {
		if id := sqltype.ID(binary.BigEndian.Uint64(src)); id >= 0 {
			*t = id
			return nil
		}
	}
	if src == nil {
		return setNull(target)
	}
	if len(src) != 8 {
		return fmt.Errorf("pgxtype: scan bigint: %d bytes %x, want 8", len(src), src[:min(len(src), 32)])
	}
	id := sqltype.ID(binary.BigEndian.Uint64(src))
	if id < 0 {
		return negative("scan", id)
	}
	return set(target, id)
}

func (scanText) Scan(src []byte, target any) error {
	if src == nil {
		return setNull(target)
	}
	var id sqltype.ID
	if err := id.UnmarshalText(src); err != nil {
		return fmt.Errorf("pgxtype: scan bigint: %w", err)
	}
	return set(target, id)
}

func set(target any, id sqltype.ID) error {
	switch t := target.(type) {
	case *sqltype.ID:
		if t != nil {
			*t = id
			return nil
		}
	case **sqltype.ID:
		if t != nil {
			*t = new(sqltype.ID) // not &id, which would move every id to the heap
			**t = id
			return nil
		}
	case *sqltype.NullID:
		if t != nil {
			*t = sqltype.NullID{ID: id, Valid: true}
			return nil
		}
	default:
		return fmt.Errorf("pgxtype: scan into %T: %w", target, sqltype.ErrType)
	}
	return fmt.Errorf("pgxtype: scan: destination %T is %w", target, sqltype.ErrNil)
}

func setNull(target any) error {
	switch t := target.(type) {
	case **sqltype.ID:
		if t != nil {
			*t = nil
			return nil
		}
	case *sqltype.NullID:
		if t != nil {
			*t = sqltype.NullID{}
			return nil
		}
	case *sqltype.ID:
		return fmt.Errorf("pgxtype: scan: %w", sqltype.ErrNull)
	}
	return fmt.Errorf("pgxtype: scan NULL: destination %T is %w", target, sqltype.ErrNil)
}

// wrapInt64 passes an id as an int64 to the codecs of columns other than bigint,
// such as int2 and numeric, so that they check their own bounds. pgx has a similar
// wrapper, but does not use it for a type with a Value method.
func wrapInt64(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if isID(value) {
		return &viaInt64{}, int64(0), true
	}
	return nil, nil, false
}

type viaInt64 struct{ next pgtype.EncodePlan }

func (p *viaInt64) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *viaInt64) Encode(value any, buf []byte) ([]byte, error) {
	id, ok, err := idOf(value)
	if err != nil || !ok {
		return nil, err
	}
	return p.next.Encode(int64(id), buf)
}
