package pgxload

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// strict wraps a codec, and refuses a value that the codec would change: pgx sends 1.5 as 1 for a bigint,
// and "abc" as 000 for a varbit.
type strict struct{ pgtype.Codec }

// otherValueError is the error for such a value.
type otherValueError struct{ sent any }

func (e otherValueError) Error() string { return "it would be stored as " + formatValue(e.sent) }

// strictMap returns a copy of m that is strict with numbers and times, even in arrays and ranges.
func strictMap(m *pgtype.Map) *pgtype.Map {
	c := m.Copy()
	c.TryWrapEncodePlanFuncs = m.TryWrapEncodePlanFuncs // Copy drops them
	for _, name := range []string{"int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz"} {
		if t, ok := c.TypeForName(name); ok {
			c.RegisterType(&pgtype.Type{Name: name, OID: t.OID, Codec: strict{t.Codec}})
		}
	}
	return c
}

// Unwrap returns the codec that was registered before.
func (s strict) Unwrap() pgtype.Codec { return s.Codec }

// PlanEncode adds a check to the plans for numbers and times.
func (s strict) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	plan := s.Codec.PlanEncode(m, oid, format, value)
	switch value.(type) {
	case pgtype.Int64Valuer, pgtype.Float64Valuer, pgtype.DateValuer, pgtype.TimestampValuer, pgtype.TimestamptzValuer:
		if plan != nil {
			return strictPlan{plan, func(src []byte) (any, error) { return s.Codec.DecodeValue(m, oid, format, src) }}
		}
	}
	return plan
}

// strictPlan decodes each encoded value again, to compare it.
type strictPlan struct {
	pgtype.EncodePlan
	decode func(src []byte) (any, error)
}

// Encode returns an error if another value would be sent.
func (p strictPlan) Encode(value any, buf []byte) ([]byte, error) {
	encoded, err := p.EncodePlan.Encode(value, buf)
	if err != nil || encoded == nil {
		return encoded, err
	}
	sent, err := p.decode(encoded[len(buf):])
	if err == nil && !equal(value, sent) {
		err = otherValueError{sent}
	}
	return encoded, err
}

// equal compares numbers, or the years of times. The zone may differ, and a float may be rounded to a
// real, but not to 0 or infinity.
func equal(value, sent any) bool {
	var number float64
	s := reflect.ValueOf(sent)
	switch at, isTime := sent.(time.Time); {
	case isTime:
		return math.Abs(float64(at.Year()-yearOf(value))) <= 1
	case s.CanInt():
		number = float64(s.Int())
	case s.CanUint():
		number = float64(s.Uint())
	case s.CanFloat():
		number = s.Float()
	default:
		return true
	}
	switch v := value.(type) {
	case pgtype.Float64Valuer:
		given, _ := v.Float64Value()
		if s.CanFloat() {
			return math.IsInf(number, 0) == math.IsInf(given.Float64, 0) && (number == 0) == (given.Float64 == 0)
		}
		return number == given.Float64 && number < 1<<63
	case pgtype.Int64Valuer:
		given, _ := v.Int64Value()
		return !s.CanFloat() || number < 1<<63 && int64(number) == given.Int64
	}
	return true
}

func yearOf(value any) int {
	switch v := value.(type) {
	case pgtype.TimestamptzValuer:
		t, _ := v.TimestamptzValue()
		return t.Time.Year()
	case pgtype.TimestampValuer:
		t, _ := v.TimestampValue()
		return t.Time.Year()
	case pgtype.DateValuer:
		t, _ := v.DateValue()
		return t.Time.Year()
	}
	return 0
}

// DecodeValue returns an error for text that pgx accepts but the server would not. pgx reads the text of
// many types more loosely than the server. For most of them, the value must encode to the same text again.
func (s strict) DecodeValue(m *pgtype.Map, oid uint32, format int16, src []byte) (any, error) {
	v, err := s.Codec.DecodeValue(m, oid, format, src)
	if err != nil || src == nil || format != pgtype.TextFormatCode {
		return v, err
	}
	given, loose := string(src), false
	switch unwrap(s.Codec).(type) {
	case pgtype.Int2Codec, pgtype.Int4Codec, pgtype.Int8Codec, pgtype.MacaddrCodec, *pgtype.TimestampCodec,
		*pgtype.TimestamptzCodec, pgtype.TextCodec, *pgtype.JSONCodec, *pgtype.JSONBCodec, *pgtype.XMLCodec:
	case pgtype.NumericCodec:
		loose = strings.LastIndexAny(given, "+-") > 0 // .-5
	case pgtype.Float4Codec, pgtype.Float8Codec:
		loose = strings.Contains(given, "_")
	case pgtype.InetCodec:
		loose = strings.Contains(given, "%") // the zone
	case pgtype.BoolCodec:
		loose = strings.EqualFold(strings.TrimSpace(given), "o") || strings.TrimSpace(given) == ""
	default:
		written, err := m.Encode(oid, pgtype.TextFormatCode, v, nil)
		if err != nil {
			return nil, err
		}
		if !strings.EqualFold(shortest(given), shortest(string(written))) {
			return nil, otherValueError{string(written)}
		}
	}
	if loose {
		err = otherValueError{v}
	}
	return v, err
}

// shortest removes the zeros at the end of a fraction, and a time of 0 from an interval.
func shortest(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return strings.TrimSuffix(s, " 00:00:00")
}
