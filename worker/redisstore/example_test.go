package redisstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
)

// Any client will do. This one stands for a Redis that is not durable.
func ExampleEvalFunc() {
	eval := func(context.Context, string, []string, ...any) (any, error) {
		// client.Eval(ctx, script, keys, args...).Result() of go-redis
		return []any{"lossy", "appendonly", "no", "yes"}, nil
	}
	_, err := worker.Acquire(context.Background(), redisstore.New(redisstore.EvalFunc(eval), redisstore.Config{}), worker.Config{})
	var lossy *worker.LossyError
	if errors.As(err, &lossy) {
		fmt.Println(lossy)
	}
	// Output: worker: the store has appendonly = no and may lose an acknowledged write, which makes duplicates possible: set it to yes, or allow it with AllowLossy
}
