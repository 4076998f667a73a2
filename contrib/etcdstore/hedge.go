package etcdstore

import (
	"context"
	"time"
)

// ask sends a request when the limiter lets it; see hedge.
func ask[T any](ctx context.Context, s *Store, what string, request func(context.Context) (T, error)) (answer T, err error) {
	err = s.limiter.Do(ctx, func() error {
		if answer, err = hedge(ctx, request); err != nil {
			return s.failed(ctx, what, err)
		}
		return nil
	})
	return answer, err
}

// hedge sends a request. If there is no answer after a third of the time that the context has
// left, it sends the request again: the client asks the members in turn, and the first may
// hang. The first result counts, and an error only if there is no result. So the request must
// be one that may be carried out twice, such as one that compares a revision.
func hedge[T any](ctx context.Context, request func(context.Context) (T, error)) (T, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return request(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 2)
	send := func() {
		value, err := request(ctx)
		answers <- answer{value, err}
	}
	go send()
	timer := time.NewTimer(time.Until(deadline) / 3)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-timer.C:
	}
	go send()
	a := <-answers
	if a.err != nil {
		if other := <-answers; other.err == nil {
			return other.value, nil
		}
	}
	return a.value, a.err
}
