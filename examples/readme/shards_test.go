package readme

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/shard"
)

func TestShards(t *testing.T) {
	orders := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Count: 4, Servers: []string{"alpha", "beta"}}
	const id = 2124050177848258560
	n, err := shard.Of(id, 4)
	if err != nil {
		t.Fatal(err)
	}
	table, server, err := shardOf(id, orders)
	if err != nil || n != 2 || table != "orders_s2" || server != "alpha" {
		t.Errorf("shard %d, %s, %s, %v", n, table, server, err)
	}
	scatter, err := shard.NewScatter(core.Layout{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	condition, err := dayOfEvents(core.Twitter(), scatter, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	if err != nil || strings.Count(condition, "BETWEEN") != 16 {
		t.Errorf("%s, %v", condition, err)
	}
}
