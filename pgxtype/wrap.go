package pgxtype

import "github.com/jackc/pgx/v5/pgtype"

// wrapInt64 presents an id as the int64 it is to the columns that are no bigint,
// such as int2 and numeric, so that their codec checks its own bounds. pgx has a
// wrapper of its own for that, which it does not use for a type with a Value method.
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
