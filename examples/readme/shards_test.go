package readme

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

func TestShards(t *testing.T) {
	orders := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Count: 4, Servers: []string{"alpha", "beta"}}
	const id = 2124050177848258560
	n, err := core.Shard(id, 4)
	if err != nil {
		t.Fatal(err)
	}
	table, server, err := shardOf(id, orders)
	if err != nil || n != 2 || table != "orders_s2" || server != "alpha" {
		t.Errorf("shard %d, %s, %s, %v", n, table, server, err)
	}
}
