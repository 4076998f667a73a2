package pgxtype_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Every benchmark runs int64, the floor, beside ID and Key in a bare and in a
// registered map, so that a ratio can be taken within one run.

type subject struct {
	name string
	m    *pgtype.Map
	v    any
}

func subjects[A, B any](plain A, id B) []subject {
	return []subject{
		{"int64", pgtype.NewMap(), plain}, {"ID", registered(), id}, {"Key", registered(), keyed(id)},
		{"ID-bare", pgtype.NewMap(), id}, {"Key-bare", pgtype.NewMap(), keyed(id)},
	}
}

func benchEncode(b *testing.B, oid uint32, format int16, subjects []subject) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			buf := make([]byte, 0, 1<<15)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.m.Encode(oid, format, s.v, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchScan(b *testing.B, oid uint32, format int16, src []byte, subjects []subject) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			plan := s.m.PlanScan(oid, format, s.v)
			b.ReportAllocs()
			for b.Loop() {
				if err := plan.Scan(src, s.v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	benchEncode(b, pgtype.Int8OID, bin, subjects(int64(big), big))
}

func BenchmarkEncodeText(b *testing.B) {
	benchEncode(b, pgtype.Int8OID, txt, subjects(int64(big), big))
}

func BenchmarkEncodeNull(b *testing.B) {
	benchEncode(b, pgtype.Int8OID, bin,
		subjects(pgtype.Int8{Int64: int64(big), Valid: true}, valid(big)))
}

func BenchmarkScan(b *testing.B) {
	benchScan(b, pgtype.Int8OID, bin, wire(bin, int64(big)), subjects(new(int64), new(ID)))
}

func BenchmarkScanText(b *testing.B) {
	benchScan(b, pgtype.Int8OID, txt, wire(txt, int64(big)), subjects(new(int64), new(ID)))
}

func BenchmarkScanNull(b *testing.B) {
	benchScan(b, pgtype.Int8OID, bin, wire(bin, int64(big)), subjects(new(pgtype.Int8), new(NullID)))
}

func thousand() ([]int64, []ID) {
	ids := manyIDs()
	ints := make([]int64, len(ids))
	for i, id := range ids {
		ints[i] = int64(id)
	}
	return ints, ids
}

func BenchmarkEncode1000(b *testing.B) {
	benchEncode(b, pgtype.Int8ArrayOID, bin, subjects(thousand()))
}

func BenchmarkScan1000(b *testing.B) {
	ints, _ := thousand()
	src, err := pgtype.NewMap().Encode(pgtype.Int8ArrayOID, bin, ints, nil)
	if err != nil {
		b.Fatal(err)
	}
	benchScan(b, pgtype.Int8ArrayOID, bin, src, subjects(new([]int64), new([]sqltype.ID)))
}
