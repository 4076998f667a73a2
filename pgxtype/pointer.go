package pgxtype

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// pgx encodes a pointer, such as *string, by copying its target into an interface. That allocates
// for each value. Pointers to the types below implement the interfaces that pgx's codecs read
// values by, so the codecs read the target without a copy in an interface.
type (
	textValue  string
	intValue   int
	int16Value int16
	int32Value int32
	int64Value int64
	floatValue float64
	timeValue  time.Time
)

var (
	_ pgtype.TextValuer        = (*textValue)(nil)
	_ pgtype.Int64Valuer       = (*intValue)(nil)
	_ pgtype.Int64Valuer       = (*int16Value)(nil)
	_ pgtype.Int64Valuer       = (*int32Value)(nil)
	_ pgtype.Int64Valuer       = (*int64Value)(nil)
	_ pgtype.Float64Valuer     = (*floatValue)(nil)
	_ pgtype.TimestamptzValuer = (*timeValue)(nil)
	_ pgtype.TimestampValuer   = (*timeValue)(nil)
	_ pgtype.DateValuer        = (*timeValue)(nil)
)

func (p *textValue) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: string(*p), Valid: true}, nil
}

func (p *intValue) Int64Value() (pgtype.Int8, error)   { return int8Of(int64(*p)) }
func (p *int16Value) Int64Value() (pgtype.Int8, error) { return int8Of(int64(*p)) }
func (p *int32Value) Int64Value() (pgtype.Int8, error) { return int8Of(int64(*p)) }
func (p *int64Value) Int64Value() (pgtype.Int8, error) { return int8Of(int64(*p)) }

func int8Of(n int64) (pgtype.Int8, error) { return pgtype.Int8{Int64: n, Valid: true}, nil }

func (p *floatValue) Float64Value() (pgtype.Float8, error) {
	return pgtype.Float8{Float64: float64(*p), Valid: true}, nil
}

func (p *timeValue) TimestamptzValue() (pgtype.Timestamptz, error) {
	return pgtype.Timestamptz{Time: time.Time(*p), Valid: true}, nil
}

func (p *timeValue) TimestampValue() (pgtype.Timestamp, error) {
	return pgtype.Timestamp{Time: time.Time(*p), Valid: true}, nil
}

func (p *timeValue) DateValue() (pgtype.Date, error) {
	return pgtype.Date{Time: time.Time(*p), Valid: true}, nil
}

// family says which of these pointers a codec reads.
type family uint8

const (
	others family = iota // none, as of a program's own codec, which gets the caller's pointer
	texts
	integers
	floats
	times
)

// familyOf returns the family of the codec that m has for a type.
func familyOf(m *pgtype.Map, oid uint32) family {
	t, known := m.TypeForOID(oid)
	if !known {
		return others
	}
	c := t.Codec
	switch own := c.(type) { // Register wraps pgx's codecs in these
	case codec:
		c = own.Codec
	case textCodec:
		c = own.Codec
	case refusingCodec:
		c = own.Codec
	}
	switch c.(type) {
	case pgtype.TextCodec:
		return texts
	case pgtype.Int2Codec, pgtype.Int4Codec, pgtype.Int8Codec, pgtype.NumericCodec:
		return integers
	case pgtype.Float8Codec:
		return floats
	case *pgtype.TimestamptzCodec, *pgtype.TimestampCodec, pgtype.DateCodec:
		return times
	}
	return others
}

// direct converts the pointer v to one that the codecs of the family read. It reports false if
// there is none.
func (f family) direct(v any) (pointer any, ok bool) {
	switch p := v.(type) {
	case *string:
		if f == texts {
			return (*textValue)(p), true
		}
	case *int:
		if f == integers {
			return (*intValue)(p), true
		}
	case *int16:
		if f == integers {
			return (*int16Value)(p), true
		}
	case *int32:
		if f == integers {
			return (*int32Value)(p), true
		}
	case *int64:
		if f == integers {
			return (*int64Value)(p), true
		}
	case *float64:
		if f == floats {
			return (*floatValue)(p), true
		}
	case *time.Time:
		if f == times {
			return (*timeValue)(p), true
		}
	}
	return nil, false
}
