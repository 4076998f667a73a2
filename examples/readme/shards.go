package readme

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/shard"
)

// shardOf returns the name of the table that holds an order, and the server that it is on.
func shardOf(id int64, orders ddl.Sharding) (table, server string, err error) {
	n, err := shard.Of(id, orders.Count)
	if err != nil {
		return "", "", err
	}
	shards, err := orders.Shards()
	if err != nil {
		return "", "", err
	}
	return shards[n].Table, shards[n].Server, nil
}

// dayOfEvents returns a condition on the keys of a day's rows.
func dayOfEvents(layout core.Layout, scatter shard.Scatter, day time.Time) (string, error) {
	min, max, err := layout.Range(day, day.AddDate(0, 0, 1))
	if err != nil {
		return "", err
	}
	ranges, err := scatter.Ranges(min, max)
	if err != nil {
		return "", err
	}
	var any []string
	for _, r := range ranges {
		any = append(any, fmt.Sprintf("id BETWEEN %d AND %d", r.First, r.Last))
	}
	return strings.Join(any, " OR "), nil
}
