package core_test

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// One id a second: id % 16 is always the same, and the shards are not.
func ExampleShard() {
	id, err := core.Twitter().Compose(core.Parts{Time: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Worker: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 6 {
		n, err := core.Shard(id, 16)
		fmt.Println(id, id%16, n, err)
		id += 1000 << 22
	}
	_, err = core.Shard(id, 0)
	fmt.Println(err)
	// Output:
	// 2124050177848258560 0 10 <nil>
	// 2124050182042562560 0 0 <nil>
	// 2124050186236866560 0 2 <nil>
	// 2124050190431170560 0 15 <nil>
	// 2124050194625474560 0 12 <nil>
	// 2124050198819778560 0 1 <nil>
	// core: n 0: must be 1 to 65536
}
