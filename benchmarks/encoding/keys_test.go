package encoding

import (
	"testing"

	bwmarrin "github.com/bwmarrin/snowflake"
	disgoorg "github.com/disgoorg/snowflake/v2"
	gofrs "github.com/gofrs/uuid/v5"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/peers"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/smoke"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const rows = 1000

// snowflakes are ids as they come today, of 19 digits.
func snowflakes(b *testing.B) []int64 {
	b.Helper()
	ids := make([]int64, rows)
	if err := peers.Generator(b, core.Twitter()).Fill(b.Context(), ids); err != nil {
		b.Fatal(err)
	}
	return ids
}

// from makes an id of type T for each row.
func from[T any](b *testing.B, make1 func(i int) (T, error)) []T {
	b.Helper()
	ids := make([]T, rows)
	for i := range ids {
		var err error
		if ids[i], err = make1(i); err != nil {
			b.Fatal(err)
		}
	}
	return ids
}

func integers[T ~int64 | ~uint64](b *testing.B) []T {
	b.Helper()
	plain := snowflakes(b)
	return from(b, func(i int) (T, error) { return T(plain[i]), nil })
}

func texts(b *testing.B) []string {
	b.Helper()
	plain := snowflakes(b)
	return from(b, func(i int) (string, error) { return sqltype.ID(plain[i]).String(), nil })
}

func uuids(b *testing.B) []uuid.UUID {
	b.Helper()
	return from(b, func(int) (uuid.UUID, error) { return uuid.NewV7() })
}

func gofrsUUIDs(b *testing.B) []gofrs.UUID {
	b.Helper()
	return from(b, func(int) (gofrs.UUID, error) { return gofrs.NewV7() })
}

func ulids(b *testing.B) []ulid.ULID {
	b.Helper()
	return from(b, func(int) (ulid.ULID, error) { return ulid.Make(), nil })
}

func xids(b *testing.B) []xid.ID {
	b.Helper()
	return from(b, func(int) (xid.ID, error) { return xid.New(), nil })
}

func ksuids(b *testing.B) []ksuid.KSUID {
	b.Helper()
	return from(b, func(int) (ksuid.KSUID, error) { return ksuid.NewRandom() })
}

type (
	bwmarrinID = bwmarrin.ID
	disgoorgID = disgoorg.ID
)

func TestBenchmarks(t *testing.T) { smoke.Run(t, "JSON", "Value", "Scan") }
