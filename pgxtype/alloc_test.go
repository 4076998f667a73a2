package pgxtype_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

const (
	bin = pgtype.BinaryFormatCode
	txt = pgtype.TextFormatCode
)

func manyIDs() []ID {
	ids := make([]ID, 1000)
	for i := range ids {
		ids[i] = big + ID(i)
	}
	return ids
}

func TestAllocations(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage changes what escapes")
	}
	m := registered()
	buf := make([]byte, 0, 1<<15)
	var (
		id                ID
		null              NullID
		ids               []ID
		value, pointer    any = big, new(big)
		nullable, missing any = valid(big), NullID{}
		array             any = manyIDs()
		number, text          = wire(bin, int64(big)), wire(txt, int64(big))
	)
	arrayBytes, err := m.Encode(pgtype.Int8ArrayOID, bin, array, nil)
	must(t, err)
	for kind, as := range kinds {
		encode := func(oid uint32, format int16, v any) func() error {
			v = as(v)
			return func() error { _, err := m.Encode(oid, format, v, buf); return err }
		}
		// A rows object plans a scan once per column, so the plan is not counted.
		scan := func(oid uint32, format int16, src []byte, target any) func() error {
			target = as(target)
			plan := m.PlanScan(oid, format, target)
			return func() error { return plan.Scan(src, target) }
		}
		plan := func(target any) func() error {
			target = as(target)
			return func() error { m.PlanScan(pgtype.Int8OID, bin, target); return nil }
		}
		for _, tt := range []struct {
			name string
			max  float64
			f    func() error
		}{
			{"encode ID binary", 0, encode(pgtype.Int8OID, bin, value)},
			{"encode ID text", 0, encode(pgtype.Int8OID, txt, value)},
			{"encode *ID binary", 0, encode(pgtype.Int8OID, bin, pointer)},
			{"encode *ID text", 0, encode(pgtype.Int8OID, txt, pointer)},
			{"encode NullID binary", 0, encode(pgtype.Int8OID, bin, nullable)},
			{"encode NULL", 0, encode(pgtype.Int8OID, bin, missing)},
			{"encode ID to text", 0, encode(pgtype.TextOID, bin, value)},
			{"scan ID binary", 0, scan(pgtype.Int8OID, bin, number, &id)},
			{"scan ID text", 0, scan(pgtype.Int8OID, txt, text, &id)},
			{"scan NullID binary", 0, scan(pgtype.Int8OID, bin, number, &null)},
			{"scan NULL", 0, scan(pgtype.Int8OID, bin, nil, &null)},
			{"scan *ID", 1, scan(pgtype.Int8OID, bin, number, new(*ID))}, // the ID it points to
			{"plan to scan ID", 0, plan(&id)},
			{"plan to scan *ID", 0, plan(new(*ID))},
			{"plan to scan NullID", 0, plan(&null)},
			{"encode []ID of 1,000", 2, encode(pgtype.Int8ArrayOID, bin, array)},
			{"scan []ID of 1,000", 2, scan(pgtype.Int8ArrayOID, bin, arrayBytes, &ids)},
		} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				if err := tt.f(); err != nil {
					t.Errorf("%s: %v", tt.name, err)
				}
				if got := testing.AllocsPerRun(100, func() { _ = tt.f() }); got > tt.max {
					t.Errorf("%s: %v allocations, want at most %v", tt.name, got, tt.max)
				}
			})
		}
	}
}
