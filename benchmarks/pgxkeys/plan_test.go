package pgxkeys

import (
	"testing"

	bwmarrin "github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestBenchmarks(t *testing.T) { smoke.Run(t, "PgxEncode", "PgxScan") }

const many = 1000

// key is one type of key. The functions are of the benchmarks.
type key struct {
	name         string
	encode, scan func(b *testing.B, array bool)
}

func nothing(*pgtype.Map) {}

// keyOf is a key of type T; make1 makes the i-th.
func keyOf[T any](name string, register func(*pgtype.Map), oid, arrayOID uint32, make1 func(i int) T) key {
	value := func(array bool) (any, any, uint32) {
		if !array {
			return make1(1), new(T), oid
		}
		list := make([]T, many)
		for i := range list {
			list[i] = make1(i)
		}
		return list, new([]T), arrayOID
	}
	newMap := func() *pgtype.Map {
		m := pgtype.NewMap()
		register(m)
		return m
	}
	return key{
		name,
		func(b *testing.B, array bool) {
			m, buf := newMap(), make([]byte, 0, 1<<15)
			v, _, oid := value(array)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Encode(oid, pgtype.BinaryFormatCode, v, buf); err != nil {
					b.Fatal(err)
				}
			}
		},
		func(b *testing.B, array bool) {
			m := newMap()
			v, target, oid := value(array)
			src, err := m.Encode(oid, pgtype.BinaryFormatCode, v, nil)
			if err != nil {
				b.Fatal(err)
			}
			plan := m.PlanScan(oid, pgtype.BinaryFormatCode, target)
			b.ReportAllocs()
			for b.Loop() {
				if err := plan.Scan(src, target); err != nil {
					b.Fatal(err)
				}
			}
		},
	}
}

const someID = 1996573624012345677

func keys() []key {
	return []key{
		keyOf("snowkey", pgxtype.Register, pgtype.Int8OID, pgtype.Int8ArrayOID, func(i int) sqltype.ID { return sqltype.ID(someID + i) }),
		keyOf("snowkey-bare", nothing, pgtype.Int8OID, pgtype.Int8ArrayOID, func(i int) sqltype.ID { return sqltype.ID(someID + i) }),
		keyOf("bwmarrin", nothing, pgtype.Int8OID, pgtype.Int8ArrayOID, func(i int) bwmarrin.ID { return bwmarrin.ID(someID + i) }),
		keyOf("pgx-uuid", nothing, pgtype.UUIDOID, pgtype.UUIDArrayOID, func(int) pgtype.UUID { return pgtype.UUID{Bytes: uuid.New(), Valid: true} }),
		keyOf("floor-int64", nothing, pgtype.Int8OID, pgtype.Int8ArrayOID, func(i int) int64 { return int64(someID + i) }),
	}
}

func each(b *testing.B, run func(k key) func(b *testing.B, array bool)) {
	for _, shape := range []string{"value", "array1000"} {
		for _, k := range scale.Rotate(b, keys()) {
			b.Run("shape="+shape+"/lib="+k.name, func(b *testing.B) { run(k)(b, shape != "value") })
		}
	}
}

func BenchmarkPgxEncode(b *testing.B) {
	each(b, func(k key) func(*testing.B, bool) { return k.encode })
}

func BenchmarkPgxScan(b *testing.B) {
	each(b, func(k key) func(*testing.B, bool) { return k.scan })
}
