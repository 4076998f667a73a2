package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
)

// Any client will do. This one stands for a Redis whose user lacks a right.
func ExampleOpen() {
	eval := func(context.Context, string, []string, ...any) (any, error) {
		// client.Eval(ctx, script, keys, args...).Result() of go-redis
		return nil, errors.New("NOPERM leases need the command INFO, which shows whether Redis has lost writes: grant +info to the user")
	}
	_, err := redisstore.Open(context.Background(), eval, worker.Config{Namespace: "orders"})
	_, cause, _ := strings.Cut(err.Error(), "redisstore: ")
	fmt.Println(cause)
	// Output: read in snowkey:lease:{orders}: NOPERM leases need the command INFO, which shows whether Redis has lost writes: grant +info to the user
}

func ExampleNew() {
	_, err := redisstore.New(nil, redisstore.Config{Prefix: "shop:"})
	var wrong *core.ConfigError
	if errors.As(err, &wrong) {
		fmt.Println(wrong)
	}
	// Output: redisstore: eval nil: must be given
}

// This client stands for a Redis that counts the 40th start. The first start has worker ID 0. A
// Redis that may lose a count is refused.
func ExampleStore_Reserve() {
	eval := func(_ context.Context, _ string, keys []string, _ ...any) (any, error) {
		fmt.Println(keys)
		return []any{"ok", "40"}, nil
	}
	store, err := redisstore.New(eval, redisstore.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, left, err := worker.FromCounter(context.Background(), store, core.Layout{}, "starts")
	fmt.Println(n, left, err)

	lossy := func(context.Context, string, []string, ...any) (any, error) {
		return []any{"no", "appendonly", "no", "yes"}, nil
	}
	if store, err = redisstore.New(lossy, redisstore.Config{}); err == nil {
		_, err = store.Reserve(context.Background(), "starts", 1)
	}
	fmt.Println(err)
	// Output:
	// [snowkey:counter:{starts}]
	// 39 984 <nil>
	// worker: the store has appendonly = no and may lose an acknowledged write, which can lead to duplicate numbers: set it to yes, or allow it with AllowDataLoss
}

// This client stands for a Redis that is a replica.
func ExampleStore_Raise() {
	eval := func(context.Context, string, []string, ...any) (any, error) {
		return nil, errors.New("READONLY this Redis is a replica, and what is written to it may be overwritten: connect to its primary")
	}
	store, err := redisstore.New(eval, redisstore.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Raise(context.Background(), "orders", 60_000)
	fmt.Println(err)
	// Output: redisstore: read in snowkey:lease:{orders}: READONLY this Redis is a replica, and what is written to it may be overwritten: connect to its primary
}
