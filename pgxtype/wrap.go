package pgxtype

import (
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"
)

// The wrappers are for columns that are no bigint: int2, int4, numeric, text.
// pgx asks them in turn, with the same type, until the column's codec accepts
// what one of them makes of it: a number first, then text. Without them a type
// that has a Value method gets none of pgx's own wrappers.

// wrapInt64 presents an id as the int64 it is, so that the column's codec
// checks its own bounds.
func wrapInt64(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if isID(value) {
		return &viaInt64{}, int64(0), true
	}
	return nil, nil, false
}

// wrapText presents an id as decimal text.
func wrapText(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if isID(value) {
		return &viaText{}, decimal(0), true
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

type viaText struct{ next pgtype.EncodePlan }

func (p *viaText) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *viaText) Encode(value any, buf []byte) ([]byte, error) {
	id, ok, err := idOf(value)
	if err != nil || !ok {
		return nil, err
	}
	return p.next.Encode(decimal(id), buf)
}

type decimal int64

var _ pgtype.TextValuer = decimal(0)

// TextValue has the signature that pgx looks for.
func (d decimal) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: strconv.FormatInt(int64(d), 10), Valid: true}, nil
}
