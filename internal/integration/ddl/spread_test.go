package ddl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/shard"
)

// The shard of every int64 is that of shard.Of, in every database.
func TestShardIsOf(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		config := ddl.Config{Dialect: s.dialect}
		s.run(t, "CREATE TABLE ids (id bigint PRIMARY KEY)")
		ids := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 3863124193, 2387542127, 3863124193 * 2387542127, 3863124192 * 2387542126}
		for range 2000 {
			ids = append(ids, int64(rand.Uint64()), rand.Int64()>>rand.IntN(63))
		}
		insertIDs(t, s, ids)
		for _, n := range []int{1, 2, 16, 1000, shard.MaxShards} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				for _, line := range lines(t, s, "SELECT id, "+text(t)(config.Shard(n, "id"))+" FROM ids") {
					var id int64
					var got int
					if _, err := fmt.Sscan(line, &id, &got); err != nil {
						t.Fatal(err)
					}
					if want, err := shard.Of(id, n); err != nil || got != want {
						t.Fatalf("id %d is in shard %d, want %d, %v", id, got, want, err)
					}
				}
			})
		}
	})
}

// insertIDs fills the table ids, each id once.
func insertIDs(t *testing.T, s *server, ids []int64) {
	t.Helper()
	seen := map[int64]bool{}
	var rows []string
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			rows = append(rows, fmt.Sprintf("(%d)", id))
		}
	}
	s.run(t, "INSERT INTO ids VALUES "+strings.Join(rows, ","))
}

// The keys of ids, and the ids of keys, are those of shard.Scatter, in every database and for
// every layout. What is outside the layout has none.
func TestScatterIsScatter(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		s.run(t, "CREATE TABLE ids (id bigint PRIMARY KEY)")
		for _, c := range layouts() {
			for _, bits := range []int{1, 4, 9} {
				t.Run(fmt.Sprintf("%s by %d", c.name, bits), func(t *testing.T) {
					scatter, err := shard.NewScatter(c.layout, bits)
					if err != nil {
						t.Fatal(err)
					}
					config := ddl.Config{Dialect: s.dialect, Layout: c.layout}
					last := lastID(c.layout)
					ids := []int64{0, 1, last, last - 1, last / 2, last/2 + 1, -1}
					if last < math.MaxInt64 {
						ids = append(ids, last+1)
					}
					for range 50 {
						ids = append(ids, rand.Int64()&last)
					}
					s.run(t, "DELETE FROM ids")
					insertIDs(t, s, ids)
					query := "SELECT id, " + text(t)(config.ScatterKey(bits, "id")) + ", " + text(t)(config.ScatterID(bits, "ids", "id")) + " FROM ids"
					for _, line := range lines(t, s, query) {
						var id int64
						if _, err := fmt.Sscan(line, &id); err != nil {
							t.Fatal(err)
						}
						want := fmt.Sprint(id, " NULL NULL")
						if id >= 0 && id <= last {
							key, err := scatter.Key(id)
							if err != nil {
								t.Fatal(err)
							}
							of, err := scatter.ID(id)
							if err != nil {
								t.Fatal(err)
							}
							want = fmt.Sprint(id, key, of)
						}
						if line != want {
							t.Errorf("%s, want %s", line, want)
						}
					}
				})
			}
		}
	})
}

// An unsigned column of MySQL has the same keys: there, no difference may be below zero.
func TestScatterUnsigned(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		if s.dialect != ddl.MySQL {
			return
		}
		s.run(t, "CREATE TABLE ids (id bigint unsigned PRIMARY KEY)")
		scatter, err := shard.NewScatter(core.Layout{}, 4)
		if err != nil {
			t.Fatal(err)
		}
		ids := []int64{0, 1, 77, math.MaxInt64}
		for range 50 {
			ids = append(ids, rand.Int64())
		}
		insertIDs(t, s, ids)
		config := ddl.Config{Dialect: s.dialect}
		for _, line := range lines(t, s, "SELECT id, "+text(t)(config.Shard(16, "id"))+", "+text(t)(config.ScatterKey(4, "id"))+", "+text(t)(config.ScatterID(4, "id"))+" FROM ids") {
			var id int64
			if _, err := fmt.Sscan(line, &id); err != nil {
				t.Fatal(err)
			}
			n, _ := shard.Of(id, 16)
			key, _ := scatter.Key(id)
			of, _ := scatter.ID(id)
			if want := fmt.Sprint(id, n, key, of); line != want {
				t.Errorf("%s, want %s", line, want)
			}
		}
	})
}

// The ranges of a day find its rows, and no other, by their keys.
func TestScatteredDay(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		s.run(t, "CREATE TABLE ids (id bigint PRIMARY KEY)")
		scatter, err := shard.NewScatter(core.Layout{}, 4)
		if err != nil {
			t.Fatal(err)
		}
		const first, perHour = int64(2123929448243200000) >> 22 << 22, 3_600_000 << 22
		var keys []int64
		for hour := range int64(1000) {
			key, err := scatter.Key(first + hour*perHour)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		insertIDs(t, s, keys)
		ranges, err := scatter.Ranges(first+100*perHour, first+124*perHour)
		if err != nil || len(ranges) != 16 {
			t.Fatalf("%v, %v", ranges, err)
		}
		var between []string
		for _, r := range ranges {
			between = append(between, fmt.Sprintf("id BETWEEN %d AND %d", r.First, r.Last))
		}
		where := " FROM ids WHERE " + strings.Join(between, " OR ")
		id := text(t)(ddl.Config{Dialect: s.dialect}.ScatterID(4, "id"))
		if got, want := lines(t, s, "SELECT count(*), min("+id+"), max("+id+")"+where)[0], fmt.Sprint(24, first+100*perHour, first+123*perHour); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
