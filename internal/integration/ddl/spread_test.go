package ddl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// The shard of every int64 is that of core.Shard in every database, and in a column of MySQL that has no sign.
func TestShard(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		kinds := []string{"bigint"}
		if s.Dialect == ddl.MySQL {
			kinds = append(kinds, "bigint unsigned")
		}
		for _, kind := range kinds {
			ids := []int64{0, 1, math.MaxInt64, math.MaxInt64 - 1, 3863124193, 2387542127, 3863124193 * 2387542127, 3863124192 * 2387542126}
			for range 2000 {
				ids = append(ids, rand.Int64(), rand.Int64()>>rand.IntN(63))
			}
			if kind == "bigint" {
				ids = append(ids, -1, math.MinInt64+1)
				for range 1000 {
					ids = append(ids, -rand.Int64())
				}
			}
			slices.Sort(ids)
			ids = slices.Compact(ids)
			s.Run(t, "CREATE TABLE ids (id "+kind+" PRIMARY KEY)", "INSERT INTO ids VALUES ("+strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", "), (")+")")
			for _, n := range []int{1, 2, 16, 1000, core.MaxShards} {
				t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
					for _, line := range s.Lines(t, "SELECT id, "+ok(ddl.Config{Dialect: s.Dialect}.Shard(n, "id"))(t)+" FROM ids") {
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
			s.Run(t, "DROP TABLE ids")
		}
	})
}
