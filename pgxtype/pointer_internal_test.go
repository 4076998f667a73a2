package pgxtype

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// ownText is a program's codec for text. It takes strings only.
type ownText struct{ pgtype.TextCodec }

func (c ownText) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(string); !ok {
		return nil
	}
	return upper{}
}

type upper struct{}

func (upper) Encode(value any, buf []byte) ([]byte, error) {
	return append(buf, bytes.ToUpper([]byte(value.(string)))...), nil
}

// A pointer is encoded for each type as pgx does it, with the same errors.
func TestPointersAreEncodedAsByPgx(t *testing.T) {
	pointers := []any{(*string)(nil), (*int)(nil), (*int16)(nil), (*int32)(nil), (*int64)(nil), (*float64)(nil), (*time.Time)(nil), new(bool)}
	for _, s := range []string{"", "a text", "7", "2026-01-02", "\x00\xff"} {
		pointers = append(pointers, &s)
	}
	for _, n := range []int64{0, -1, 300, math.MaxInt16 + 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64, math.MinInt64} {
		i, i16, i32 := int(n), int16(n), int32(n)
		pointers = append(pointers, &n, &i, &i16, &i32)
	}
	for _, f := range []float64{0, 1.5, -2, 1e300, math.NaN(), math.Inf(-1)} {
		pointers = append(pointers, &f)
	}
	for _, at := range []time.Time{{}, time.Unix(1, 999), time.Date(2026, 7, 1, 23, 30, 0, 1500, time.FixedZone("east", 5*3600)), time.Date(999_999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		pointers = append(pointers, &at)
	}
	bare, full, own := pgtype.NewMap(), pgtype.NewMap(), pgtype.NewMap()
	Register(full)
	own.RegisterType(&pgtype.Type{Name: "text", OID: pgtype.TextOID, Codec: ownText{}})
	for name, m := range map[string]*pgtype.Map{"bare": bare, "registered": full, "own": own} {
		read := 0
		for oid := range uint32(10_000) {
			if _, known := m.TypeForOID(oid); !known && oid != 0 {
				continue
			}
			column := column{oid: oid, codec: oid, family: familyOf(m, oid)}
			for _, p := range pointers {
				want, wantErr := column.pgx().encode(m, p, nil)
				got, err := column.encode(m, p, nil)
				if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%s: %T to %d: %x, %v; pgx %x, %v", name, p, oid, got, err, want, wantErr)
				}
				if _, ok := column.family.direct(p); ok && err == nil {
					read++
				}
			}
		}
		if read < 100 {
			t.Errorf("%s: %d values were read directly", name, read)
		}
	}
}

// pgx returns the column as one that only pgx encodes.
func (c column) pgx() column {
	c.family = others
	return c
}
