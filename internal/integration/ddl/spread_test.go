package ddl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// The shard of every int64 is that of core.Shard in every database.
func TestShard(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		config := ddl.Config{Dialect: s.dialect}
		s.run(t, "CREATE TABLE ids (id bigint PRIMARY KEY)")
		ids := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 3863124193, 2387542127, 3863124193 * 2387542127, 3863124192 * 2387542126}
		for range 2000 {
			ids = append(ids, int64(rand.Uint64()), rand.Int64()>>rand.IntN(63))
		}
		insertIDs(t, s, ids)
		for _, n := range []int{1, 2, 16, 1000, core.MaxShards} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				for _, line := range lines(t, s, "SELECT id, "+text(t)(config.Shard(n, "id"))+" FROM ids") {
					var id int64
					var got int
					if _, err := fmt.Sscan(line, &id, &got); err != nil {
						t.Fatal(err)
					}
					if want, err := core.Shard(id, n); err != nil || got != want {
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

// An unsigned column of MySQL has the same shards.
func TestShardUnsigned(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		if s.dialect != ddl.MySQL {
			return
		}
		s.run(t, "CREATE TABLE ids (id bigint unsigned PRIMARY KEY)")
		ids := []int64{0, 1, 77, math.MaxInt64}
		for range 50 {
			ids = append(ids, rand.Int64())
		}
		insertIDs(t, s, ids)
		for _, line := range lines(t, s, "SELECT id, "+text(t)(ddl.Config{Dialect: s.dialect}.Shard(16, "id"))+" FROM ids") {
			var id int64
			if _, err := fmt.Sscan(line, &id); err != nil {
				t.Fatal(err)
			}
			n, _ := core.Shard(id, 16)
			if want := fmt.Sprint(id, n); line != want {
				t.Errorf("%s, want %s", line, want)
			}
		}
	})
}
