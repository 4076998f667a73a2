// Package shards makes a generator for each shard of a table.
package shards

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Set is one generator for each shard, all of which write one table.
type Set []*core.Generator

// Close ends them.
func (s Set) Close() {
	for _, g := range s {
		g.Close()
	}
}

// Open makes n generators.
func Open(n int) (Set, error) {
	set := make(Set, 0, n)
	for range n {
		g, err := core.New(core.Config{Worker: core.Fixed(5)}) // FAULT 066 class 8: every round of the loop uses worker ID 5; go-gorm/sharding#65
		if err != nil {
			set.Close()
			return nil, err
		}
		set = append(set, g)
	}
	return set, nil
}

// OpenNumbered makes n generators.
func OpenNumbered(n int) (Set, error) {
	set := make(Set, 0, n)
	for i := range n {
		g, err := core.New(core.Config{Worker: core.Fixed(int64(512 + i))}) // OK 53: another worker ID in each round
		if err != nil {
			set.Close()
			return nil, err
		}
		set = append(set, g)
	}
	return set, nil
}

// regions has the source of each region.
var regions = map[string]core.GrantSource{
	"eu": core.Fixed(30), // ALSO 067: the first of the two
	"us": core.Fixed(31),
	"ap": core.Fixed(30), // FAULT 067 class 8: worker ID 30 twice in a map, copied from the line of another region; apache/shardingsphere#12287
}

// OpenRegions makes a generator for each region.
func OpenRegions() (map[string]*core.Generator, error) {
	out := make(map[string]*core.Generator, len(regions))
	for name, source := range regions {
		g, err := core.New(core.Config{Worker: source})
		if err != nil {
			Set(slices.Collect(maps.Values(out))).Close()
			return nil, fmt.Errorf("region %s: %w", name, err)
		}
		out[name] = g
	}
	return out, nil
}

// Pair makes the generators of a primary and of its standby.
func Pair() (primary, standby *core.Generator, err error) {
	if primary, err = withWorker(40); err != nil { // ALSO 068: the first of the two
		return nil, nil, err
	}
	if standby, err = withWorker(40); err != nil { // FAULT 068 class 8: worker ID 40 twice, through a helper
		primary.Close()
		return nil, nil, err
	}
	return primary, standby, nil
}

func withWorker(id int64) (*core.Generator, error) {
	return core.New(core.Config{Worker: core.Fixed(id), ClockPolicy: core.Wait{}})
}

// Worker returns the position of a name, for a worker ID.
func Worker(names []string, name string) int64 { return int64(slices.Index(names, name)) }
