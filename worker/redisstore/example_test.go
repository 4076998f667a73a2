package redisstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
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

// What is wrong with the client is told by the first call.
func ExampleNew() {
	store := redisstore.New(nil, redisstore.Config{Prefix: "shop:"})
	_, err := worker.Acquire(context.Background(), store, worker.Config{Space: "orders"})
	var wrong *worker.ConfigError
	if errors.As(err, &wrong) {
		fmt.Println(wrong)
	}
	// Output: worker: Evaler nil: must be given
}

// This client stands for a Redis that has counted to 40.
func ExampleStore_Count() {
	eval := func(_ context.Context, _ string, keys []string, _ ...any) (any, error) {
		fmt.Println(keys)
		return []any{"ok", "40"}, nil
	}
	store := redisstore.New(redisstore.EvalFunc(eval), redisstore.Config{})
	n, err := worker.FromCounter(context.Background(), store, core.Layout{}, "starts")
	fmt.Println(n, err)
	// Output:
	// [snowkey:counter:{starts}]
	// 40 (from counter "starts", 983 left) <nil>
}

// This client stands for a Redis that knows the address by its number.
func ExampleStore_NumberOf() {
	eval := func(_ context.Context, _ string, _ []string, args ...any) (any, error) {
		fmt.Println(args[0], args[1])
		return []any{"ok", "3"}, nil
	}
	store := redisstore.New(redisstore.EvalFunc(eval), redisstore.Config{})
	n, err := store.NumberOf(context.Background(), "orders", "10.0.0.7", 1024)
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := worker.Config{Space: "orders", Preferred: worker.Prefer(n)} // another process may have the address too
	fmt.Println(cfg.Preferred)
	// Output:
	// 10.0.0.7 1024
	// 3
}

func ExampleEvalFunc_Eval() {
	eval := redisstore.EvalFunc(func(_ context.Context, script string, keys []string, args ...any) (any, error) {
		return []any{script, keys[0], args[0]}, nil // a client's
	})
	fmt.Println(eval.Eval(context.Background(), "return …", []string{"key"}, "1"))
	// Output: [return … key 1] <nil>
}
