package shard

import (
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/idhash"
)

// MaxShards is the greatest number of shards.
const MaxShards = 65536

// Of returns the shard of an id among n shards: 0 to n-1. n is 1 to [MaxShards]; the error
// is a [*core.ConfigError]. Every int64 has a shard, 0 and negative ones too.
//
// The shard of an id depends on n. With 2n shards, the rows of shard s are in s and s+n; with
// any other number, almost all rows move. So begin with many more shards than servers,
// and move whole shards to new servers.
func Of(id int64, n int) (int, error) {
	if n < 1 || n > MaxShards {
		return 0, fields.Error("shard", "n", n, "must be 1 to %d", MaxShards)
	}
	return int(idhash.Of(id) % int64(n)), nil
}
