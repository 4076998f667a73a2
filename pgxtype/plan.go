package pgxtype

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// plan encodes values of one Go type, which is an id type or points to one, or scans into them.
type plan struct {
	typ    reflect.Type
	column string
	number bool // the eight bytes of a bigint; otherwise decimal text
}

func (p *plan) Encode(value any, buf []byte) ([]byte, error) {
	if reflect.TypeOf(value) != p.typ {
		return nil, mismatch(value, p.typ)
	}
	n := idOf(reflect.ValueOf(value))
	switch {
	case !n.Valid:
		return nil, nil
	case n.ID < 0:
		return nil, negative("encode", n.ID, p.typ)
	case p.number:
		return binary.BigEndian.AppendUint64(buf, uint64(n.ID)), nil
	}
	return n.ID.AppendText(buf)
}

func (p *plan) Scan(src []byte, target any) error {
	if err := checkTarget(target, p.typ); err != nil {
		return err
	}
	n := sqltype.NullID{Valid: src != nil}
	switch {
	case src == nil:
	case !p.number:
		if err := n.ID.UnmarshalText(src); err != nil {
			return fmt.Errorf("pgxtype: scan %s into %v: %w", p.column, p.typ, err)
		}
	case len(src) != 8:
		return fmt.Errorf("pgxtype: scan %s into %v: %d bytes %x, want 8", p.column, p.typ, len(src), src[:min(len(src), 32)])
	default:
		if n.ID = sqltype.ID(binary.BigEndian.Uint64(src)); n.ID < 0 {
			return negative("scan", n.ID, p.typ)
		}
	}
	to := reflect.ValueOf(target).UnsafePointer()
	switch kind := p.typ.Elem().Kind(); {
	case kind == reflect.Struct:
		*(*sqltype.NullID)(to) = n
	case kind == reflect.Pointer && n.Valid:
		id := n.ID
		*(**sqltype.ID)(to) = &id
	case kind == reflect.Pointer:
		*(**sqltype.ID)(to) = nil
	case !n.Valid:
		return fmt.Errorf("pgxtype: scan into %v: %w", p.typ, sqltype.ErrNull)
	default:
		*(*sqltype.ID)(to) = n.ID
	}
	return nil
}
