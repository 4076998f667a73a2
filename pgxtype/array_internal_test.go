package pgxtype

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// refusing is a plan that must not be needed.
type refusing struct{ t *testing.T }

func (p refusing) Encode(any, []byte) ([]byte, error) {
	p.t.Error("encoded element by element")
	return nil, nil
}

func (p refusing) Scan([]byte, any) error {
	p.t.Error("scanned element by element")
	return nil
}

// headOnly gives the head of an empty array and refuses all else.
type headOnly struct {
	refusing
	m *pgtype.Map
}

func (p headOnly) Encode(value any, buf []byte) ([]byte, error) {
	if a, ok := value.(pgtype.ArrayGetter); ok && len(a.Dimensions()) == 1 && a.Dimensions()[0].Length == 0 {
		return p.m.Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, []int64{}, buf)
	}
	return p.refusing.Encode(value, buf)
}

// A sound array of bigint does not come to pgx's loop over its elements.
func TestArrayInOneLoop(t *testing.T) {
	id, k := sqltype.ID(7), key(7)
	targets := []any{new([]sqltype.ID), new([]*sqltype.ID), new([]sqltype.NullID), new([]key), new([]*key), new([]nullKey)}
	for i, value := range []any{
		[]sqltype.ID{7, 8}, []*sqltype.ID{&id, nil}, []sqltype.NullID{{ID: 7, Valid: true}, {}},
		[]key{7, 8}, []*key{&k, nil}, []nullKey{{Key: 7, Valid: true}, {}},
	} {
		encode, _, ok := wrapSlice(value)
		if !ok {
			t.Fatalf("%T is not wrapped", value)
		}
		encode.SetNext(headOnly{refusing{t}, pgtype.NewMap()})
		b, err := encode.(pgtype.EncodePlan).Encode(value, nil)
		if err != nil {
			t.Fatal(err)
		}
		scan, _, ok := wrapSliceTarget(targets[i])
		if !ok {
			t.Fatalf("%T is not wrapped", targets[i])
		}
		scan.SetNext(refusing{t})
		if err := scan.(pgtype.ScanPlan).Scan(b, targets[i]); err != nil {
			t.Error(err)
		}
	}
}
