package pgxtype

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// jsonCodec writes an id or a key as the JSON string that it is within a struct or a slice,
// and reads what UnmarshalJSON reads: a string or a number into an ID, and the text of its Form
// into a key. Without it, pgx would use Value and Scan instead of the methods for JSON.
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
	if k, ok := keyTypeOf(value); ok && isID(k.twin) {
		return &encodeKeyJSON{k, encodeJSON{c.versioned(format)}}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

func (c jsonCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if isTarget(target) {
		return scanJSON{c.versioned(format)}
	}
	if k, ok := keyTypeOf(target); ok && isTarget(k.twin) {
		return &scanKeyJSON{k, scanJSON{c.versioned(format)}}
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
	buf, err = id.AppendText(p.head(buf))
	return append(buf, '"'), err
}

// head appends what is before the text.
func (p encodeJSON) head(buf []byte) []byte {
	if p.versioned {
		buf = append(buf, jsonbVersion)
	}
	return append(buf, '"')
}

// Scan reads the null of JSON as NULL.
func (p scanJSON) Scan(src []byte, target any) error {
	src, null, err := p.value(src)
	switch {
	case err != nil:
		return err
	case null:
		return setNull(target)
	}
	var id sqltype.ID
	if err := id.UnmarshalJSON(src); err != nil {
		return fmt.Errorf("pgxtype: scan JSON: %w", err)
	}
	return set(target, id)
}

// value returns the JSON. NULL and null are null.
func (p scanJSON) value(src []byte) (json []byte, null bool, err error) {
	if src == nil {
		return nil, true, nil
	}
	if p.versioned {
		if len(src) == 0 || src[0] != jsonbVersion {
			return nil, false, fmt.Errorf("pgxtype: scan jsonb: %x is not of version %d", src[:min(len(src), 32)], jsonbVersion)
		}
		src = src[1:]
	}
	src = bytes.Trim(src, " \t\r\n") // a json column keeps the spaces of its input
	return src, string(src) == "null", nil
}

// encodeKeyJSON is encodeJSON for a key, whose text has the Form of its type.
type encodeKeyJSON struct {
	keyType
	json encodeJSON
}

func (p *encodeKeyJSON) Encode(value any, buf []byte) ([]byte, error) {
	twin, err := p.ids(value)
	if err != nil {
		return nil, err
	}
	_, ok, err := idOf(twin)
	if err == nil && !ok {
		return nil, nil
	}
	if err == nil {
		buf, err = value.(encoding.TextAppender).AppendText(p.json.head(buf))
	}
	if err != nil {
		return nil, named(err, value)
	}
	return append(buf, '"'), nil
}

// scanKeyJSON is scanJSON for a key.
type scanKeyJSON struct {
	keyType
	json scanJSON
}

func (p *scanKeyJSON) Scan(src []byte, target any) error {
	twin, err := p.ids(target)
	if err == nil {
		err = p.scan(src, twin, reflect.ValueOf(target))
	}
	if err != nil {
		return named(err, target)
	}
	return nil
}

func (p *scanKeyJSON) scan(src []byte, twin any, target reflect.Value) error {
	src, null, err := p.json.value(src)
	switch {
	case err != nil:
		return err
	case target.IsNil():
		return fmt.Errorf("pgxtype: scan: destination is %w", sqltype.ErrNil)
	case null:
		return setNull(twin)
	}
	key := target
	if _, ok := twin.(**sqltype.ID); ok {
		key = reflect.New(target.Type().Elem().Elem())
	}
	if err := key.Interface().(json.Unmarshaler).UnmarshalJSON(src); err != nil {
		return fmt.Errorf("pgxtype: scan JSON: %w", err)
	}
	if key != target {
		target.Elem().Set(key)
	}
	return nil
}
