package pgxkeys

import (
	"testing"

	bwmarrin "github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	"github.com/google/uuid"
	pgxgofrs "github.com/jackc/pgx-gofrs-uuid"
	"github.com/jackc/pgx/v5/pgtype"
	pgxgoogle "github.com/vgarvardt/pgx-google-uuid/v5"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const many = 1000

// key is one type of key. The functions are of the benchmarks.
type key struct {
	name         string
	encode, scan func(b *testing.B, array bool)
	row          func(tb testing.TB) (columnType string, register func(*pgtype.Map), row func(i int) []any)
}

func nothing(*pgtype.Map) {}

// keyOf is a key of type T; make1 makes the i-th.
func keyOf[T any](name string, register func(*pgtype.Map), oid, arrayOID uint32, columnType string, make1 func(i int) T) key {
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
		func(testing.TB) (string, func(*pgtype.Map), func(i int) []any) {
			keys, row := make([]T, many), make([]any, 2)
			for i := range keys {
				keys[i] = make1(i)
			}
			return columnType, register, func(i int) []any {
				if name == "google-uuid" || name == "gofrs-uuid" { // by pointer they cost 46 allocations a row
					row[0], row[1] = keys[i%many], keys[(i+1)%many]
				} else {
					row[0], row[1] = &keys[i%many], &keys[(i+1)%many]
				}
				return row
			}
		},
	}
}

const someID = 1996573624012345677

func keys() []key {
	return []key{
		keyOf("snowkey", pgxtype.Register, pgtype.Int8OID, pgtype.Int8ArrayOID, "bigint", func(i int) sqltype.ID { return sqltype.ID(someID + i) }),
		keyOf("snowkey-bare", nothing, pgtype.Int8OID, pgtype.Int8ArrayOID, "bigint", func(i int) sqltype.ID { return sqltype.ID(someID + i) }),
		keyOf("bwmarrin", nothing, pgtype.Int8OID, pgtype.Int8ArrayOID, "bigint", func(i int) bwmarrin.ID { return bwmarrin.ID(someID + i) }),
		keyOf("google-uuid", pgxgoogle.Register, pgtype.UUIDOID, pgtype.UUIDArrayOID, "uuid", func(int) uuid.UUID { return uuid.New() }),
		keyOf("gofrs-uuid", pgxgofrs.Register, pgtype.UUIDOID, pgtype.UUIDArrayOID, "uuid", func(int) gofrs.UUID { return gofrs.UUID(uuid.New()) }),
		keyOf("pgx-uuid", nothing, pgtype.UUIDOID, pgtype.UUIDArrayOID, "uuid", func(int) pgtype.UUID { return pgtype.UUID{Bytes: uuid.New(), Valid: true} }),
		keyOf("floor-int64", nothing, pgtype.Int8OID, pgtype.Int8ArrayOID, "bigint", func(i int) int64 { return int64(someID + i) }),
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
