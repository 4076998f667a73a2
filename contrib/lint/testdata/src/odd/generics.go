package odd

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"

	. "github.com/seed-299c1d6b/snowkey/sqltype"
)

type ordered[T any] interface {
	~int64 | ~string
	Less(T) bool
}

type node[T ordered[T]] struct {
	Key  Key[node[T]] `json:"key"`
	Next *node[T]
	Kids map[ID][]*node[T]
	V    T
}

type row[R any] interface {
	*R
	SetID(ID)
}

type number interface{ ~int64 | ~uint64 }

type recursive interface{ M() interface{ recursive } }

type alias[T any] = Key[T]

type forest []forest

type chain map[string]*chain

type list[S ~[]E, E ~int64] struct {
	S S `json:"s"`
	E E `json:"e"`
}

func convert[T number](id ID) T { return T(id) }

func widen[T number](v T) ID { return ID(v) }

func fill[R any, P row[R]](ctx context.Context, gen Source, rows []R) error {
	for i := range rows {
		id, err := NextID(ctx, gen)
		if err != nil {
			return err
		}
		P(&rows[i]).SetID(id)
	}
	return nil
}

func each[T cmp.Ordered](all ...T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, v := range all {
			if !yield(i, v) {
				return
			}
		}
	}
}

func instances(k alias[string]) {
	f, g := convert[int64], widen[uint64]
	_, _, _ = f(1), g(2), list[[]int64, int64]{nil, 3}
	for i, id := range each(ID(1), ID(2)) {
		_ = i < 2 && id < ID(k.Int64())
	}
	_, _ = json.Marshal(struct{ F, C any }{forest{nil}, chain{}})
	for range each[int64]() {
	}
	for i := range 3 {
		_ = func(ID) ID { return ID(i) }
	}
}
