package encoding

import (
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type sqlCase struct {
	name        string
	value, scan func(b *testing.B)
}

// sqlOf measures a type as database/sql meets it: as an argument through the
// default converter, and from a row through convertAssign, which sql.Null calls.
// What is scanned is what the same value was stored as: an int64, a text, or bytes.
func sqlOf[T comparable](name string, ids func(b *testing.B) []T) sqlCase {
	convert := driver.DefaultParameterConverter.ConvertValue
	return sqlCase{
		name,
		func(b *testing.B) {
			id := any(ids(b)[0])
			b.ReportAllocs()
			for b.Loop() {
				if _, err := convert(id); err != nil {
					b.Fatal(err)
				}
			}
		},
		func(b *testing.B) {
			id := ids(b)[0]
			v, err := convert(id)
			if err != nil {
				b.Fatal(err)
			}
			column := any(v)
			var back sql.Null[T]
			b.ReportAllocs()
			for b.Loop() {
				if err := back.Scan(column); err != nil {
					b.Fatal(err)
				}
			}
			if back.V != id {
				b.Fatalf("%v came back as %v", id, back.V)
			}
		},
	}
}

// valuer is the least that a type with a Value method does: an int64 in an interface, which is an
// allocation, and no check.
type valuer int64

func (v valuer) Value() (driver.Value, error) { return int64(v), nil }

func sqlCases() []sqlCase {
	return []sqlCase{
		sqlOf("snowkey", integers[sqltype.ID]),
		sqlOf("bwmarrin", integers[bwmarrinID]),
		sqlOf("disgoorg", integers[disgoorgID]),
		sqlOf("google-uuid", uuids),
		sqlOf("gofrs-uuid", gofrsUUIDs),
		sqlOf("ulid", ulids),
		sqlOf("xid", xids),
		sqlOf("ksuid", ksuids),
		sqlOf("floor-valuer", integers[valuer]),
		sqlOf("floor-int64", snowflakes),
	}
}

// BenchmarkValue hands an id to database/sql.
func BenchmarkValue(b *testing.B) {
	for _, c := range scale.Rotate(b, sqlCases()) {
		b.Run("lib="+c.name, c.value)
	}
}

// BenchmarkScan takes an id from a row of database/sql.
func BenchmarkScan(b *testing.B) {
	for _, c := range scale.Rotate(b, sqlCases()) {
		b.Run("lib="+c.name, c.scan)
	}
}
