package pgxtype

import (
	"bytes"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// jsonCodec writes an id as the JSON string that it is within a struct or a slice,
// and reads a JSON string or number into one. Without it, pgx would use
// Value and Scan instead of the methods for JSON.
type jsonCodec struct {
	pgtype.Codec
	jsonb bool
}

// jsonbVersion comes before the text in the binary format of jsonb.
const jsonbVersion = 1

func (c jsonCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if isID(value) {
		return encodeJSON{c.versioned(format)}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

func (c jsonCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if isTarget(target) {
		return scanJSON{c.versioned(format)}
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

func (c jsonCodec) versioned(format int16) bool {
	return c.jsonb && format == pgtype.BinaryFormatCode
}

type (
	encodeJSON struct{ versioned bool }
	scanJSON   struct{ versioned bool }
)

// Encode writes a NULL as the NULL of SQL, not as the null of JSON.
func (p encodeJSON) Encode(value any, buf []byte) ([]byte, error) {
	id, ok, err := idOf(value)
	if err != nil || !ok {
		return nil, err
	}
	if p.versioned {
		buf = append(buf, jsonbVersion)
	}
	buf, err = id.AppendText(append(buf, '"'))
	return append(buf, '"'), err
}

// Scan reads the null of JSON as NULL.
func (p scanJSON) Scan(src []byte, target any) error {
	if src == nil {
		return setNull(target)
	}
	if p.versioned {
		if len(src) == 0 || src[0] != jsonbVersion {
			return fmt.Errorf("pgxtype: scan jsonb: %x is not of version %d", src[:min(len(src), 32)], jsonbVersion)
		}
		src = src[1:]
	}
	src = bytes.Trim(src, " \t\r\n") // a json column keeps the spaces of its input
	if string(src) == "null" {
		return setNull(target)
	}
	var id sqltype.ID
	if err := id.UnmarshalJSON(src); err != nil {
		return fmt.Errorf("pgxtype: scan JSON: %w", err)
	}
	return set(target, id)
}
