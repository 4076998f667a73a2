package pgxtype

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// plan encodes values of one Go type that holds an id, or scans into them.
type plan struct {
	typ    reflect.Type
	column string
	form   form
	key    bool // typ is a pointer to a Key
}

// jsonbVersion comes before the text in the binary format of jsonb.
const jsonbVersion = 1

// Encode writes JSON as it is within a struct or a slice. Without it, pgx would use Value instead of
// the methods for JSON. NULL is the NULL of SQL in every column, and not the null of JSON.
func (p *plan) Encode(value any, buf []byte) ([]byte, error) {
	n, err := p.read(value)
	if err != nil || !n.Valid {
		return nil, err
	}
	switch p.form {
	case number:
		return binary.BigEndian.AppendUint64(buf, uint64(n.ID)), nil
	case decimal:
		return n.ID.AppendText(buf)
	case refused:
		return nil, fmt.Errorf("pgxtype: encode %T for a column of type %s: %w", value, p.column, sqltype.ErrType)
	case versioned:
		buf = append(buf, jsonbVersion)
	}
	text, ok := value.(encoding.TextAppender)
	for v := reflect.ValueOf(value); !ok; { // a pointer to a pointer
		v = v.Elem()
		text, ok = v.Interface().(encoding.TextAppender)
	}
	if buf, err = text.AppendText(append(buf, '"')); err != nil {
		return nil, named(err, p.typ)
	}
	return append(buf, '"'), nil
}

// read returns the id in value.
func (p *plan) read(value any) (n sqltype.NullID, err error) {
	switch v := value.(type) { // the usual ones, without package reflect
	case sqltype.ID:
		n = sqltype.NullID{ID: v, Valid: true}
	case sqltype.NullID:
		n = v
	case *sqltype.ID:
		if v != nil {
			n = sqltype.NullID{ID: *v, Valid: true}
		}
	default:
		if reflect.TypeOf(value) != p.typ {
			return n, mismatch(value, p.typ)
		}
		n = idOf(reflect.ValueOf(value))
	}
	if n.Valid && n.ID < 0 {
		return n, named(negative("encode", n.ID), p.typ)
	}
	return n, nil
}

// Scan reads JSON as UnmarshalJSON does, and the null of JSON as NULL.
func (p *plan) Scan(src []byte, target any) error {
	if p.form == number && len(src) == 8 {
		if id := sqltype.ID(binary.BigEndian.Uint64(src)); id >= 0 { // the short way for the usual types
			switch t := target.(type) {
			case *sqltype.ID:
				if t != nil {
					*t = id
					return nil
				}
			case *sqltype.NullID:
				if t != nil {
					*t = sqltype.NullID{ID: id, Valid: true}
					return nil
				}
			default:
				if v := reflect.ValueOf(target); p.key && reflect.TypeOf(target) == p.typ && !v.IsNil() {
					v.Elem().SetInt(int64(id))
					return nil
				}
			}
		}
	}
	to, err := destination(target, p.typ)
	if err != nil {
		return err
	}
	var n sqltype.NullID
	switch {
	case src == nil:
	case p.form == number:
		n, err = p.readNumber(src)
	case p.form == decimal:
		n.Valid = true
		if err = n.ID.UnmarshalText(src); err != nil {
			err = fmt.Errorf("pgxtype: scan %s: %w", p.column, err)
		}
	case p.form == refused:
		return fmt.Errorf("pgxtype: scan a column of type %s into %T: %w", p.column, target, sqltype.ErrType)
	default:
		n, err = p.unmarshal(src, target)
	}
	if err == nil {
		err = setID(to, n)
	}
	if err != nil {
		return named(err, p.typ)
	}
	return nil
}

func (p *plan) readNumber(src []byte) (n sqltype.NullID, err error) {
	if len(src) != 8 {
		return n, fmt.Errorf("pgxtype: scan %s: %d bytes %x, want 8", p.column, len(src), src[:min(len(src), 32)])
	}
	n = sqltype.NullID{ID: sqltype.ID(binary.BigEndian.Uint64(src)), Valid: true}
	if n.ID < 0 {
		return n, negative("scan", n.ID)
	}
	return n, nil
}

// unmarshal reads JSON by the methods of target, or else of what it points to at last.
func (p *plan) unmarshal(src []byte, target any) (n sqltype.NullID, err error) {
	if p.form == versioned {
		if len(src) == 0 || src[0] != jsonbVersion {
			return n, fmt.Errorf("pgxtype: scan jsonb: %x is not of version %d", src[:min(len(src), 32)], jsonbVersion)
		}
		src = src[1:]
	}
	src = bytes.Trim(src, " \t\r\n") // a json column keeps the spaces of its input
	if string(src) == "null" {
		return n, nil
	}
	to, ok := target.(json.Unmarshaler)
	if !ok {
		target = reflect.New(base(p.typ)).Interface()
		to = target.(json.Unmarshaler)
	}
	if err = to.UnmarshalJSON(src); err != nil {
		return n, fmt.Errorf("pgxtype: scan JSON: %w", err)
	}
	return idOf(reflect.ValueOf(target)), nil
}

// wrapID passes an id as an int64 to the codecs of other columns, such as int2 and numeric, so that
// they check their own bounds. pgx has a similar wrapper, but does not use it for a type with a
// Value method. A key passes as an ID before, which has a default type if pgx knows no column.
func wrapID(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	switch t := reflect.TypeOf(value); {
	case !holdsID(t):
		return nil, nil, false
	case t == idType:
		return &viaID{plan: plan{typ: t}}, int64(0), true
	default:
		return &viaID{plan: plan{typ: t}}, sqltype.ID(0), true
	}
}

type viaID struct {
	plan
	next pgtype.EncodePlan
}

func (p *viaID) SetNext(next pgtype.EncodePlan) {
	if own, ok := next.(*plan); ok { // it takes the key as well, without a copy on the heap
		p.column, p.form = own.column, own.form
	}
	p.next = next
}

func (p *viaID) Encode(value any, buf []byte) ([]byte, error) {
	next, number := p.next, p.typ == idType
	switch own := next.(type) {
	case *plan:
		return p.plan.Encode(value, buf)
	case *viaID:
		next, number = own.next, true
	}
	n, err := p.read(value)
	if err != nil || !n.Valid {
		return nil, err
	}
	if number {
		buf, err = next.Encode(int64(n.ID), buf)
	} else {
		buf, err = next.Encode(n.ID, buf)
	}
	if err != nil {
		return nil, named(err, p.typ)
	}
	return buf, nil
}
