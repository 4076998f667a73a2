package ddl

import (
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestShardingRefuses(t *testing.T) {
	valid := func() Sharding {
		return Sharding{Dialect: Postgres, Table: "orders", Count: 2, Servers: []string{"a", "b"}}
	}
	for _, c := range []struct {
		name   string
		change func(*Sharding)
		want   string
	}{
		{"no dialect", func(s *Sharding) { s.Dialect = "" }, "Dialect"},
		{"layout", func(s *Sharding) { s.Layout = core.Layout{TimeBits: 99} }, "Layout.TimeBits"},
		{"no table", func(s *Sharding) { s.Table = "" }, "Table"},
		{"long shard", func(s *Sharding) { s.Table = strings.Repeat("t", 62) }, `Table "` + strings.Repeat("t", 62) + `": with "_s1" after it has 65 bytes`},
		{"long function", func(s *Sharding) { s.Table = strings.Repeat("t", 60) }, `Table "` + strings.Repeat("t", 60) + `": with "_shard" after it has 66 bytes`},
		{"no shards", func(s *Sharding) { s.Count = 0 }, "Count 0: must be 1 to 65536"},
		{"many shards", func(s *Sharding) { s.Count = 65537 }, "Count 65537: must be 1 to 65536"},
		{"no servers", func(s *Sharding) { s.Servers = nil }, "Servers nil: must not be empty"},
		{"many servers", func(s *Sharding) { s.Count = 1 }, "Servers [a b]: must be at most 1, one for each shard"},
		{"unnamed server", func(s *Sharding) { s.Servers[1] = "" }, `Servers "": must not be empty`},
		{"field", func(s *Sharding) { s.Field = Sequence }, `Field "sequence": must be datacenter or worker_id, or empty`},
		{"no field", func(s *Sharding) { s.Field, s.Layout = WorkerID, core.Mastodon() }, `Field "worker_id": must have bits in the layout`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := valid()
			c.change(&s)
			_, clause := s.Clause()
			_, create := s.Create()
			_, shards := s.Shards()
			for _, err := range []error{clause, create, shards} {
				if err == nil || !strings.HasPrefix(err.Error(), "ddl: "+c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
			}
		})
	}
	if _, err := valid().Create(); err != nil {
		t.Error(err)
	}
}
