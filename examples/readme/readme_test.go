package readme

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

func Example_core() {
	gen, err := core.New(core.Config{Worker: core.Fixed(3)}) // a worker ID that no other process may have
	id, errNext := gen.Next(context.Background())            // errNext may be core.ErrTimestampExhausted, in 2080
	fmt.Println(err, errNext, id > 0)
	// Output: <nil> <nil> true
}
