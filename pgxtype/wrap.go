package pgxtype

import "github.com/jackc/pgx/v5/pgtype"

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
