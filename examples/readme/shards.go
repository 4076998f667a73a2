package readme

import (
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// shardOf returns the name of the table that holds an order, and the server that it is on.
func shardOf(id int64, orders ddl.Sharding) (table, server string, err error) {
	n, err := core.Shard(id, orders.Count)
	if err != nil {
		return "", "", err
	}
	shards, err := orders.Shards()
	if err != nil {
		return "", "", err
	}
	return shards[n].Table, shards[n].Server, nil
}
