package serial

import "context"

// A Counter hands out numbers, for each key from 1 on, and never the same twice.
// Reserve takes n of them at once, first to first+n-1. After an error they may be
// taken all the same; they are then nobody's.
//
// sqlstore and redisstore of this module have it.
type Counter interface {
	Reserve(ctx context.Context, key string, n int64) (first int64, err error)
}

// CounterFunc makes a Counter of a function.
type CounterFunc func(ctx context.Context, key string, n int64) (first int64, err error)

// Reserve implements Counter.
func (f CounterFunc) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	return f(ctx, key, n)
}
